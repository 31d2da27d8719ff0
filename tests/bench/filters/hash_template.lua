--- Turn vLLM's object key into the hash of its block, by a template.
local keys = require "kvgate.keys"
local vllm = keys.template("{model}@tp_rank:{tp:int}@pcp{pcp:int}@dcp{dcp:int}"
  .. "@pp_rank:{pp:int}[@group:{group:int}]@{hash:hex}")

return function()
  return function(event)
    local key = vllm:match(event, "object_key")
    if key then event.seq_hashes = key:low64 "hash" end
    return true
  end
end
