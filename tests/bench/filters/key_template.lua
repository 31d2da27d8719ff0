--- Take vLLM's object key apart by a template.
local keys = require "kvgate.keys"
local vllm = keys.template("{model}@tp_rank:{tp:int}@pcp{pcp:int}@dcp{dcp:int}"
  .. "@pp_rank:{pp:int}[@group:{group:int}]@{hash:hex}")

return function()
  return function(event) return vllm:match(event, "object_key") ~= nil end
end
