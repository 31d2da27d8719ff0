--- Keep a fraction of the objects: the same ones always, in every gateway.
--
-- An object is kept or dropped with all that ever happens to it, since its key decides. `cleared`
-- concerns all objects and passes.

local check = require "kvgate.options"
local digest = require "kvgate.digest"
local match = require "kvgate.match"

local rshift = bit.rshift

--- The fraction to keep, out of `rate` or `one_in`.
local function rate_of(given)
  if check.one_of(given, "rate", "one_in") == "one_in" then
    if given.one_in == 0 then check.refuse("one_in", "an integer from 1", 0) end
    return 1 / given.one_in
  end
  if given.rate < 0 or given.rate > 1 then
    check.refuse("rate", "a number from 0 to 1", given.rate)
  end
  return given.rate
end

--- `by` is the field that tells objects apart; with another `salt` others are kept.
---@param options { rate?: number, one_in?: integer, by?: string, salt?: string }
---@return kvgate.Filter
return function(options)
  local given = check.options(options,
    { rate = "number", one_in = "count", by = "string", salt = "string" })
  local below, by = rate_of(given) * 2 ^ 53, given.by or "object_key"
  local keyed = digest.new(given.salt or "")

  return function(event)
    local number = keyed:field(event, by)
    if number == nil or tonumber(rshift(number, 11)) < below then return true end
    return match.is_cleared(event)
  end
end
