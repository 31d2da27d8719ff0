--- Forward the first `stored` and the last `removed` of an object on a backend and medium, and no
--- repeats between them.
--
-- It goes when no source has it any more. What a loss leaves in doubt is forgotten, and readers are
-- told with `cleared`.

local check = require "kvgate.options"
local match = require "kvgate.match"
local shards = require "kvgate.shards"

--- `objects`: how many are kept in mind. `copies`: each `stored` is a copy of its own, which a
--- `removed` takes away, and no repeat.
---@param options { objects?: integer, copies?: boolean }
---@return kvgate.Filter
return function(options)
  local objects = shards.objects(check.options(options, { objects = "count", copies = "boolean" }))

  return {
    on_event = function(event)
      if match.is_cleared(event) then return objects:clear(event) end
      local change = objects:mark(event)
      return change ~= false and event
    end,
    on_loss = function(source) objects:lose(source) end,
  }
end
