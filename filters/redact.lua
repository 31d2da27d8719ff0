--- Make events unreadable to whoever lacks the key, and keep equal values equal: object keys, block
-- hashes and other fields become keyed digests of themselves; token ids go.
--
-- `cleared` retracts by tenant and backend: where these are redacted, they are so in every event.

local check = require "kvgate.options"
local digest = require "kvgate.digest"

local KEY_MIN = 16 -- bytes
local HASHES = {
  "seq_hashes", "block_hashes", "parent_hash", "parent_block_hash", "connector_block_hash",
}
local NEEDED = check.set { "event_id", "event_type", "type", "source" }

--- A mistake does not show the key.
local function keyed_by(key)
  if type(key) ~= "string" or #key < KEY_MIN then
    error(("option \"key\": expected a text of %d bytes or more"):format(KEY_MIN), 0)
  end
  return digest.new(key)
end

--- `fields`: what to redact besides object_key and the hashes.
---@param options { key: string, fields?: string|string[], keep_hashes?: boolean }
---@return kvgate.Filter
return function(options)
  local given = check.options(options, { key = "any", fields = "strings", keep_hashes = "boolean" })
  local keyed, names = keyed_by(given.key), check.set(given.fields or {})
  names.object_key = true
  for _, name in ipairs(given.keep_hashes and {} or HASHES) do names[name] = true end
  local fields = {}
  for name in pairs(names) do
    if NEEDED[name] then check.refuse("fields", "fields that readers can do without", name) end
    fields[#fields + 1] = name
  end

  return function(event)
    for i = 1, #fields do keyed:replace(event, fields[i]) end
    if event.token_ids ~= nil then event.token_ids = nil end
    return event
  end
end
