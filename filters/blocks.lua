--- Make one event a block and medium of a store's events of parts: `stored` when all parts are
--- there, `removed` when the first goes.
--
-- What a loss leaves in doubt is forgotten, and readers are told with `cleared`.

local check = require "kvgate.options"
local match = require "kvgate.match"
local shards = require "kvgate.shards"

local UNMATCHED = { pass = true, drop = true, lose = true }

--- How many parts a block has; what is not said is 1. Without any of it, it is learned.
---@param options { convention: string|string[], tp?: integer, pp?: integer, pcp?: integer,
---   dcp?: integer, groups?: integer, layers?: integer, components?: string|string[],
---   models?: table<string, table>, blocks?: integer, settle?: integer, connector?: boolean,
---   unmatched?: "pass"|"drop"|"lose" }
---@return kvgate.Filter
return function(options)
  local known = { unmatched = "string" }
  for name, kind in pairs(shards.options) do known[name] = kind end
  local given = check.options(options, known)
  local unmatched = given.unmatched or "pass"
  if not UNMATCHED[unmatched] then check.refuse("unmatched", "pass, drop or lose", unmatched) end
  local blocks = shards.blocks(given)

  return {
    on_event = function(event)
      if match.is_cleared(event) then return blocks:clear(event) end
      local change = blocks:mark(event)
      if change ~= nil then return change and event end
      if unmatched ~= "lose" then return unmatched == "pass" end
      blocks:refuse("object_key is of no convention given: "
        .. tostring(event.object_key):sub(1, 200))
    end,
    on_loss = function(source) blocks:lose(source) end,
  }
end
