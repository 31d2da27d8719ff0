--- Turn vLLM's object key into the hash of its block, and route like route.lua.
local keys = require "kvgate.keys"
local vllm = keys.template("{model}@tp_rank:{tp:int}@pcp{pcp:int}@dcp{dcp:int}"
  .. "@pp_rank:{pp:int}[@group:{group:int}]@{hash:hex}")

---@param options { streams: integer }
return function(options)
  local route = {}
  for tenant = 0, 15 do
    route[("tenant-%02d"):format(tenant)] = "s" .. tenant % options.streams
  end

  return function(event)
    local key = vllm:match(event, "object_key")
    if key then
      event.seq_hashes = key:low64 "hash"
    end
    return route[event.tenant_id] or false
  end
end
