--- Turn vLLM's object key into the hash of its block, by hand: its last 16 digits, byte by byte,
--- with no look at the rest of the key.
local byte = string.byte

local digits = {}
for value = 0, 15 do
  digits[byte(("%x"):format(value))] = value
  digits[byte(("%X"):format(value))] = value
end

--- Eight digits; nil if one is none.
local function half(key, from)
  local a, b, c, d, e, f, g, h = byte(key, from, from + 7)
  a, b, c, d = digits[a], digits[b], digits[c], digits[d]
  e, f, g, h = digits[e], digits[f], digits[g], digits[h]
  if not (a and b and c and d and e and f and g and h) then return nil end
  return ((((((a * 16 + b) * 16 + c) * 16 + d) * 16 + e) * 16 + f) * 16 + g) * 16 + h
end

return function()
  return function(event)
    local key = event.object_key
    if key and #key >= 16 then
      local high, low = half(key, #key - 15), half(key, #key - 7)
      if high and low then event.seq_hashes = (high + 0ULL) * 2 ^ 32 + low end
    end
    return true
  end
end
