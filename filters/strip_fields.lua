--- Take fields out of events: token ids, the legacy aliases, or any others.
--
-- `cleared` loses those that it has; what makes it a `cleared` cannot be stripped.

local check = require "kvgate.options"

local LEGACY = { "type", "block_hashes", "parent_block_hash" }
local NEEDED = { event_id = true, event_type = true }

--- `legacy` adds Mooncake's three legacy aliases; `leave_nil` leaves the fields there, as nil.
---@param options { fields?: string|string[], legacy?: boolean, leave_nil?: boolean }
---@return kvgate.Filter
return function(options)
  local given = check.options(options, {
    fields = "strings", legacy = "boolean", leave_nil = "boolean",
  })
  local fields = {}
  for _, name in ipairs(given.fields or {}) do
    if NEEDED[name] then check.refuse("fields", "fields that an event can do without", name) end
    fields[#fields + 1] = name
  end
  for _, name in ipairs(given.legacy and LEGACY or {}) do fields[#fields + 1] = name end
  if #fields == 0 then check.refuse("fields", "at least one field, or legacy: true", nil) end
  local leave_nil = given.leave_nil

  return function(event)
    for i = 1, #fields do
      if not leave_nil then
        event:remove(fields[i])
      elseif event[fields[i]] ~= nil then
        event[fields[i]] = nil
      end
    end
    return event
  end
end
