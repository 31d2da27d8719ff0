--- Every code sample of lua/README.md and filters/README.md is run.
--
-- A fenced block with a file's name behind its language is written to a directory. Lua is a whole
-- filter or the body of one, and must get over a stored and a cleared event; but a *_spec.lua is
-- run here. YAML must load; sh is run with the program that was built, and a text behind it is what
-- it prints; JSON is a file of events for it.

local environment = require "tests.support.environment"
local filter = require "kvgate.testing"
local folder = require "tests.support.folder"
local relay = require "tests.support.relay"

environment.set("REDACTION_KEY", "0123456789abcdef") -- for filters/README.md

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

--- The fenced blocks of a page: { language, name, text, line }.
local function samples(path)
  local list, current, number = {}, nil, 0
  for line in io.lines(path) do
    number = number + 1
    local fence = line:match "^```(.*)$"
    if fence and current then
      current = nil
    elseif fence then
      current = { language = fence:match "^(%w+)", name = fence:match " (%S+)", text = "" }
      current.line = number
      list[#list + 1] = current
    elseif current then
      current.text = current.text .. line .. "\n"
    end
  end
  assert(#list > 0 and not current, path .. ": no sample, or one without an end")
  return list
end

local YAML = [[
sources: [ { name: store, connect: "tcp://127.0.0.1:5557" } ]
filters: [ { script: sample.lua } ]
streams: [ { name: blocks, bind: "tcp://127.0.0.1:6001" } ]
]]

--- Run a Lua sample on a stored and a cleared event, a loss and the time of a tick; it must load
--- and may not fail.
local function run_lua(text)
  if not text:find "return function" then
    text = ("return function() return function(event)\n%s\n%s end end")
      :format(text, text:find "\nreturn " and "" or "return event")
  end
  local subject = relay.new(YAML, { ["sample.lua"] = text })
  local key = "m@tp_rank:0@pcp0@dcp0@pp_rank:0@6358e31578a64b75"
  subject:send { relay.event(key), relay.event(key, { event_type = "cleared" }) }
  subject:send({ relay.event(key) }, { seq = 10 })
  subject:at(86400000)
  assert.equal(0, subject:metric
    'kvgate_filter_errors_total{filter="sample.lua",stream="",position="1"}')
end

--- Where the program is: beside the module that this spec runs with.
local function build_directory()
  for pattern in package.cpath:gmatch "[^;]+" do
    local directory = pattern:match "^(.*)/%?%.so$"
    local file = directory and io.open(directory .. "/kvgate")
    if file then
      file:close()
      return directory
    end
  end
  error "there is no kvgate beside gateway.so: build it"
end

--- Run a shell sample in `directory`. Ports become names in it, so that tests may run side by side.
local function run_shell(text, directory)
  folder.write(directory .. "/sample.sh",
    "set -eu\nexec </dev/null 2>sample.err\nPATH=$PWD/bin:$PATH\n" .. text)
  local command = ([[
    cd %s && mkdir -p bin && ln -sfn "$(realpath %s)/kvgate" bin/kvgate
    sed -i 's,tcp://127.0.0.1:\([0-9]*\),ipc://%s/\1,' *.yaml sample.sh
    timeout 60 sh sample.sh; echo "status $?"; cat sample.err]])
    :format(directory, build_directory(), directory)
  local pipe = assert(io.popen(command))
  local output = pipe:read "*a"
  pipe:close()
  return output
end

for _, page in ipairs({ "lua/README.md", "filters/README.md" }) do
  describe("every sample of " .. page .. " works:", function()
    local directory = folder.new()
    local list = samples(page)
    local configured = {} -- scripts with a configuration of their own
    for i, sample in ipairs(list) do
      if sample.language == "text" then list[i - 1].prints = sample.text end
      if sample.name then folder.write(directory .. "/" .. sample.name, sample.text) end
      if sample.language == "yaml" and sample.name then
        configured[sample.text:match "script: (%S+)"] = true
      end
    end

    for _, sample in ipairs(list) do
      local title = ("line %d, %s"):format(sample.line, sample.name or sample.language)
      if sample.name and sample.name:find "_spec%.lua$" then
        describe(title, function()
          filter.path = { directory, "filters" }
          setfenv(assert(loadstring(sample.text, "@" .. page)), getfenv(1))()
          teardown(function() filter.path = { "filters" } end)
        end)
      elseif sample.language == "lua" and not configured[sample.name] then
        it(title, function() run_lua(sample.text) end)
      elseif sample.language == "yaml" then
        it(title, function()
          local text = sample.text
          if not text:find "^sources:" then
            text = YAML:gsub("filters:.-\n", "") .. "filters:\n" .. text
          end
          local gateway = require "gateway"
          gateway.relay(text, { path = directory .. "/sample.yaml", installed = { "filters" } })
        end)
      elseif sample.language == "sh" then
        it(title, function()
          local output = run_shell(sample.text, directory)
          assert.truthy(output:find("status 0\n", 1, true), output)
          if sample.prints then assert.truthy(output:find(sample.prints, 1, true), output) end
          if not sample.text:find "tap" then return end
          assert.equal(5, select(2, output:gsub('"seq":', "")), output)
          for line in output:gmatch "[^\n]*object_key[^\n]*" do
            assert.truthy(line:find("@tp_rank:0@", 1, true), line)
          end
        end)
      elseif not ({ lua = true, text = true, json = true })[sample.language] then
        error(page .. ": nobody runs samples in " .. tostring(sample.language))
      end
    end
  end)
end

it("the ready filters are all in their catalogue, short and specified", function()
  local catalogue = read "filters/README.md"
  local pipe = assert(io.popen "ls filters/*.lua")
  local count = 0
  for path in pipe:lines() do
    local name = path:match "([^/]+)%.lua$"
    local text = read(path)
    count = count + 1
    assert.truthy(catalogue:find("### `" .. name .. ".lua`", 1, true), name .. " is not there")
    assert.is_true(select(2, text:gsub("\n", "")) < 60, name .. " is too long")
    assert.truthy(text:find "^%-%-%- %u", name .. " does not say what it is for")
    assert.truthy(text:find "\n%-%-%-@param options", name .. " does not type its options")
    assert.truthy(read("tests/filters/" .. name .. "_spec.lua"):find("cleared", 1, true),
      name .. " has no cleared case")
  end
  pipe:close()
  assert.is_true(count >= 9)
end)
