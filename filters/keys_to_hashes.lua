--- Turn an object key into the hash that the engine's own events use: seq_hashes, and block_hashes
--- where the event has that alias.
--
-- Keys of another kind pass as they are, unless `unmatched: drop`. `cleared` names no key and
-- passes.

local check = require "kvgate.options"
local keys = require "kvgate.keys"
local match = require "kvgate.match"

local PROJECTIONS = { low64 = "hex", high64 = "hex", int = "int" }

--- A template of the operator's own: its {hash} is read as `project` says.
local function own_template(given)
  local template, project = keys.template(given.template), given.project or "low64"
  local kind = PROJECTIONS[project]
  if not kind then check.refuse("project", "low64, high64 or int", project) end
  if template:kind "hash" ~= kind then
    check.refuse("template", ("a template with {hash:%s}"):format(kind), given.template)
  end
  return template, project
end

---@param options { convention: string, unmatched?: "pass"|"drop" }
--- | { template: string, project?: "low64"|"high64"|"int", unmatched?: "pass"|"drop" }
---@return kvgate.Filter
return function(options)
  local given = check.options(options, {
    convention = "string", template = "string", project = "string", unmatched = "string",
  })
  local template, project
  if check.one_of(given, "convention", "template") == "template" then
    template, project = own_template(given)
  else
    template, project = keys.convention(given.convention)
    if given.project then check.refuse("project", "a template to go with it", given.project) end
  end
  local unmatched = given.unmatched or "pass"
  if unmatched ~= "pass" and unmatched ~= "drop" then
    check.refuse("unmatched", "pass or drop", unmatched)
  end

  return function(event)
    local key = template:match(event, "object_key")
    if not key then return unmatched == "pass" or match.concerns_all(event, event.object_key) end
    local hash = key[project](key, "hash")
    event.seq_hashes = hash
    if event:has "block_hashes" then event.block_hashes = hash end
    return event
  end
end
