--- Turn vLLM's object key into the hash of its block, by string.match.
local u64 = require "kvgate.u64"
local PATTERN = "^(.+)@tp_rank:(%d+)@pcp(%d+)@dcp(%d+)@pp_rank:(%d+)(.-)@(%x+)$"

return function()
  return function(event)
    local key = event.object_key
    if key then
      local _, _, _, _, _, _, digest = key:match(PATTERN)
      if digest then event.seq_hashes = u64.low(digest) end
    end
    return true
  end
end
