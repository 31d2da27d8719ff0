--- Questions about an event whose answer depends on what the event may not carry.

local match = {}

--- Does the event retract everything of its backend and tenant at once?
---@param event kvgate.Event
---@return boolean
local function is_cleared(event)
  local kind = event.event_type
  if kind == nil then return event.type == "AllBlocksCleared" end
  return kind == "cleared"
end
match.is_cleared = is_cleared

--- Does the event concern every value of a field? A `cleared` that does not carry the field does:
--- it retracts what lies under each of them, so that no selection by that field may hold it back.
---@param event kvgate.Event
---@param value any what the event has in that field
---@return boolean
function match.concerns_all(event, value) return value == nil and is_cleared(event) end

return match
