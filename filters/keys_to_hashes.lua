--- Turn an object key into the hash that the engine's own events use: seq_hashes, and block_hashes
-- where the event has that alias; Mooncake's Conductor also takes the digest.
--
-- What becomes of keys of another kind, `unmatched` says. `cleared` names no key and passes.

local check = require "kvgate.options"
local keys = require "kvgate.keys"
local match = require "kvgate.match"
local metrics = require "kvgate.metrics"

local PROJECTIONS = { low64 = "hex", high64 = "hex", int = "int" }
local UNMATCHED = { pass = true, drop = true, lose = true }

--- A template of the operator's own: its {hash} is read as `project` says.
local function own_template(given)
  local template, project = keys.template(given.template), given.project or "low64"
  local kind = PROJECTIONS[project]
  if not kind then check.refuse("project", "low64, high64 or int", project) end
  if template:kind "hash" ~= kind then
    check.refuse("template", ("a template with {hash:%s}"):format(kind), given.template)
  end
  return function(event)
    local key = template:match(event, "object_key")
    if key then return key[project](key, "hash"), key, "template" end
  end, "hash"
end

local function by_convention(given)
  if given.project then check.refuse("project", "a template to go with it", given.project) end
  local reader = keys.reader(given.convention)
  return function(event) return reader:hash(event) end, "digest"
end

---@param options { convention?: string|string[], template?: string, connector?: boolean,
---   project?: "low64"|"high64"|"int", unmatched?: "pass"|"drop"|"lose" }
---@return kvgate.Filter
return function(options)
  local given = check.options(options, { convention = "strings", template = "string",
    project = "string", unmatched = "string", connector = "boolean" })
  local own = check.one_of(given, "convention", "template") == "template"
  local read, digest = (own and own_template or by_convention)(given)
  local unmatched, connector = given.unmatched or "pass", given.connector
  if not UNMATCHED[unmatched] then check.refuse("unmatched", "pass, drop or lose", unmatched) end
  local count = metrics.counter("keys_total", { labels = { "convention" } })

  return function(event)
    local hash, key, convention = read(event)
    if not hash and match.concerns_all(event, event.object_key) then return true end
    count:add(1, convention or "unmatched")
    if not hash and unmatched ~= "lose" then return unmatched == "pass" end
    if not hash then
      error("object_key is of no convention given: " .. tostring(event.object_key):sub(1, 200))
    end
    event.seq_hashes = hash
    if event:has "block_hashes" then event.block_hashes = hash end
    if connector then event.connector_block_hash = keys.full_digest(hash, key:string(digest)) end
    return event
  end
end
