--- Take vLLM's object key apart by string.match.
local PATTERN = "^(.+)@tp_rank:(%d+)@pcp(%d+)@dcp(%d+)@pp_rank:(%d+)(.-)@(%x+)$"

return function()
  return function(event)
    local key = event.object_key
    return not key or key:match(PATTERN) ~= nil
  end
end
