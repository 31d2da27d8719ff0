--- Scripts in a folder of their own, loaded and run by the gateway's own code.
--
--   local script = scripts.new { ["f.lua"] = "return function() … end" }
--   local report = script:filter("f.lua", wire.event { tenant_id = "a" })

local folders = require "tests.support.folder"
local gateway = require "gateway"
local wire = require "tests.support.wire"

local scripts = {}
scripts.__index = scripts

--- Specs that are not about limits run on slow machines, too.
local PATIENT = { event = 60000 }

--- Write a file into the script path.
function scripts:write(name, text) return folders.write(self.folder .. "/" .. name, text) end

---@param files table<string, string> name to text
---@param world? { streams: string[]?, sources: string[]?, path: string[]?, limits: table? }
function scripts.new(files, world)
  local self = setmetatable({ folder = folders.new() }, scripts)
  local path = { self.folder }
  for _, folder in ipairs(world and world.path or {}) do path[#path + 1] = folder end
  for name, text in pairs(files or {}) do self:write(name, text) end
  self.state = assert(gateway.script {
    path = path,
    streams = world and world.streams or { "a", "b", "c" },
    sources = world and world.sources or { "store" },
    limits = world and world.limits or PATIENT,
  })
  return self
end

--- Remove the files; what is loaded stays so.
function scripts:remove() os.execute("rm -r " .. self.folder) end

--- Load a filter that must load.
function scripts:load(name, options) return assert(self.state:load(name, options)) end

--- What is wrong with a filter that must not load; its folder is written as @.
function scripts:refusal(name, options)
  local filter, text = self.state:load(name, options)
  assert(filter == nil, "the filter loaded")
  return self:plain(text)
end

--- A text with the folder written as @.
function scripts:plain(text) return (text:gsub(self.folder:gsub("%p", "%%%0"), "@")) end

--- A message without the way there, in brackets behind it.
function scripts.headline(text) return (text:gsub(" %(in .*%)$", "")) end

--- Run loaded filters over one message.
function scripts:run(filters, events, fate)
  local report = assert(self.state:run(wire.payload(nil, events), filters, fate))
  for _, event in ipairs(report.events) do
    event.map = event.bytes and wire.decode(event.bytes)
  end
  for _, failure in ipairs(report.failures) do failure.error = self:plain(failure.error) end
  return report
end

--- A filter's text around the body of its function.
function scripts.body(body)
  return "return function(options) return function(event)\n" .. body .. "\nend end"
end

--- Load one body as a filter and run it over events in one go.
---@param body string of function(event)
---@param events table
---@param files? table<string, string> more files
function scripts.try(body, events, files)
  local self = scripts.new(files)
  self:write("f.lua", scripts.body(body))
  local filter = self:load "f.lua"
  local report = self:run({ filter }, events)
  report.about = self.state:about(filter)
  self:remove()
  return report
end

--- The same for a body that must raise on its one event; returns the error without its
--- place and the way there.
function scripts.error_of(body, event, files)
  local report = scripts.try(body, { event or wire.event {} }, files)
  assert(#report.failures == 1, "the filter did not fail")
  local line = scripts.headline(report.failures[1].error)
  return (line:gsub("^@/f%.lua:%d+: ", "")), report.failures[1]
end

--- What a body that ends with a value sees, as text; the event is kept.
function scripts.seen(body, event, files)
  local wrapped = ("local value = (function() %s end)()\nevent.seen = tostring(value)\nreturn true")
    :format(body)
  local report = scripts.try(wrapped, { event or wire.event {} }, files)
  assert(#report.failures == 0, report.failures[1] and report.failures[1].error)
  return wire.get(report.events[1].map, "seen")
end

return scripts
