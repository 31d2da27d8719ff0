--- Fill the fields that say what model and layout an event is about, where the publisher left them
--- nil: Mooncake's Conductor rejects `stored` events without model_name and block_size.
--
-- `cleared` carries the same fields, and they are filled in it too.

local check = require "kvgate.options"

local FIELDS = {
  model_name = "string", block_size = "count", additional_salt = "string", lora_name = "string",
  dp_rank = "count",
}

--- The names and values of a context, in two lists.
local function read_context(given, defaults)
  local names, values = {}, {}
  for name in pairs(FIELDS) do
    local value = given[name] == nil and defaults[name] or given[name]
    if value ~= nil then
      names[#names + 1], values[#values + 1] = name, value
    end
  end
  return { names = names, values = values }
end

--- The contexts of `backends` or `tenants` stand before what is given for all.
---@param options table FIELDS for all; backends or tenants: name to FIELDS; overwrite: boolean
---@return kvgate.Filter
return function(options)
  local known = { backends = "map", tenants = "map", overwrite = "boolean" }
  for name, kind in pairs(FIELDS) do known[name] = kind end
  local given = check.options(options, known)
  if given.backends and given.tenants then check.one_of(given, "backends", "tenants") end
  if next(given) == nil then check.refuse("model_name", "at least one field to fill", nil) end
  local by = given.tenants and "tenant_id" or "backend_id"
  local contexts, overwrite = {}, given.overwrite
  for name, context in pairs(given.tenants or given.backends or {}) do
    contexts[name] = read_context(check.options(context, FIELDS), given)
  end
  local default = read_context(given, given)

  return function(event)
    local context = contexts[event[by]] or default
    for i = 1, #context.names do
      local name = context.names[i]
      if overwrite or event[name] == nil then event[name] = context.values[i] end
    end
    return event
  end
end
