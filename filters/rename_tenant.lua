--- Give tenants other names: by a map, one name for all others, or something in front or behind.
--
-- `cleared` carries its tenant like every other event, and is renamed with it. So several tenants
-- get one name only if the operator says that a `cleared` of one may retract what all have.

local check = require "kvgate.options"

--- What the map says, and the old name for each new one.
local function read_map(given)
  local map, taken = {}, {}
  for old, new in pairs(given.map or {}) do
    if type(new) ~= "string" or new == "" then check.refuse("map." .. old, "a string", new) end
    if taken[new] and not given.merge then
      check.refuse("map." .. old, "a name that no other tenant gets, or merge: true", new)
    end
    map[old], taken[new] = new, old
  end
  return map, taken
end

--- `prefix` and `suffix` are for tenants that the map does not name.
---@param options { map?: table<string, string>, default?: string, prefix?: string,
---   suffix?: string, merge?: boolean }
---@return kvgate.Filter
return function(options)
  local given = check.options(options, {
    map = "map", default = "string", prefix = "string", suffix = "string", merge = "boolean",
  })
  local merge, default = given.merge, given.default
  local affix = given.prefix and "prefix" or given.suffix and "suffix"
  if default and affix then check.one_of(given, "default", affix) end
  if default and not merge then
    check.refuse("merge", "true, as default makes one tenant of many", merge)
  end
  if not (given.map or default or affix) then
    check.refuse("map", "a map, or a default, prefix or suffix", nil)
  end
  local map, taken = read_map(given)
  local prefix, suffix = given.prefix or "", given.suffix or ""

  return function(event)
    local old = event.tenant_id
    if old == nil then return true end
    local new = map[old]
    if not new then
      new = default or prefix .. old .. suffix
      if taken[new] and not merge then
        error(("tenant %q would be %q, as %q is: name it in map, or say merge: true")
          :format(old:sub(1, 64), new:sub(1, 64), taken[new]))
      end
    end
    if new ~= old then event.tenant_id = new end
    return event
  end
end
