--- Set tenant_id by what the object key says: LMCache's salt or a tag, or how the key begins.
--
-- The store knows nothing of these tenants, so its `cleared` is repeated for each of them.

local check = require "kvgate.options"
local keys = require "kvgate.keys"
local match = require "kvgate.match"
local tenants = require "kvgate.tenants"

--- Tenants by prefix, the longest first.
local function by_prefix(map, known)
  local prefixes, templates = {}, {}
  for prefix, tenant in pairs(map) do
    known:add(tenant)
    prefixes[#prefixes + 1] = prefix
  end
  table.sort(prefixes, function(a, b) return #a > #b end)
  for i, prefix in ipairs(prefixes) do templates[i] = keys.starting_with(prefix) end
  return function(event)
    for i = 1, #templates do
      if templates[i]:match(event, "object_key") then return map[prefixes[i]] end
    end
  end
end

--- Tenants by a tag of the engine workers' keys, or by the salt of the MP server's.
local function by_part(tag)
  local reader = keys.reader(tag and "lmcache" or "lmcache-mp")
  return function(event)
    if tag then
      local record = reader:read(event)
      return record and record.tags and record.tags[tag]
    end
    local _, key = reader:hash(event)
    return key and key:string "salt"
  end
end

--- Without tag and prefixes it is the salt. `default` is for keys that name no tenant.
---@param options { tag?: string, prefixes?: table<string, string>, default?: string,
---   tenants?: string|string[] }
---@return kvgate.Filter
return function(options)
  local given = check.options(options,
    { tag = "string", prefixes = "map", default = "string", tenants = "strings" })
  if given.prefixes and given.tag then check.one_of(given, "prefixes", "tag") end
  local known, default = tenants.new(given.tenants), given.default
  if default then known:add(default) end
  local read = given.prefixes and by_prefix(given.prefixes, known) or by_part(given.tag)

  return function(event)
    if match.is_cleared(event) then return known:clear(event) end
    local tenant = read(event) or default
    if not tenant then return true end
    known:add(tenant)
    event.tenant_id = tenant
    return event
  end
end
