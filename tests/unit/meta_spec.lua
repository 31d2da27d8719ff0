--- What editors know of the filter API is what filters really get.

local codec = require("gateway").codec
local folder = require "tests.support.folder"
local testing = require "kvgate.testing"

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

--- Names of the fields of a class in meta.lua, as a set: name to its type.
local function class(name)
  local body = read "lua/kvgate/meta.lua":match("%-%-%-@class " .. name:gsub("%.", "%%.")
    .. "[^\n]*\n(.-\n)[^-]")
  local fields = {}
  for field, kind in assert(body, name):gmatch "%-%-%-@field ([%w_]+) ([^\n]+)" do
    fields[field] = kind
  end
  return fields
end

local function sorted(set)
  local names = {}
  for name in pairs(set) do names[#names + 1] = name end
  table.sort(names)
  return names
end

--- The lines of documentation above the place in a text.
local function doc_above(text, at)
  local lines = {}
  for line in text:sub(1, at - 1):gmatch "[^\n]*" do
    if line ~= "" then lines[#lines + 1] = line end
  end
  local doc = {}
  while lines[#lines] and lines[#lines]:find "^%s*%-%-%-" do
    doc[#doc + 1] = table.remove(lines)
  end
  return table.concat(doc, "\n")
end

--- Where the text has the function of that name, or returns the only one, and its parameters.
local function find_function(text, name)
  for _, pattern in ipairs { "function %w+%.NAME%((.-)%)", "local function NAME%((.-)%)",
    "return NAME%((.-)%)" } do
    local at, _, parameters = text:find("\n" .. pattern:gsub("NAME", name))
    if at then return at + 1, parameters end
  end
end

--- Complain of parameters that are not typed.
local function check_doc(text, at, parameters, where)
  local doc = doc_above(text, at)
  assert.is_true(doc ~= "", where .. " is not documented")
  for name in parameters:gmatch "[%w_]+" do
    assert.truthy(doc:find("---@param " .. name .. "%??%s"),
      where .. ": parameter " .. name .. " has no type")
  end
end

describe("meta.lua", function()
  local path

  setup(function()
    path = testing.path
    local directory = folder.new()
    folder.write(directory .. "/exports.lua", [[
      return function(options)
        local module, names = require(options.module), {}
        if type(module) == "function" then error("exports: function", 0) end
        for name, value in pairs(module) do
          if type(value) == "function" then names[#names + 1] = name end
        end
        error("exports: " .. table.concat(names, " "), 0)
      end]])
    testing.path = { directory, "filters" }
  end)

  teardown(function() testing.path = path end)

  --- What an error message says behind a word.
  local function said(module, word)
    return testing.mistake("exports.lua", { module = module }):match(word .. " ([^\n]+)")
  end

  it("has every field of an event, and no other", function()
    local fields, methods = class "kvgate.Event", {}
    for name, kind in pairs(fields) do
      if kind:find "^fun%(" then methods[name], fields[name] = kind, nil end
    end
    fields.source = nil -- of the batch, not of the wire
    local known = codec.fields()
    table.sort(known)
    assert.same(known, sorted(fields))
    local real = {}
    for name in read "lua/kvgate/event.lua":gmatch "\nfunction methods%.([%w_]+)" do
      real[name] = true
    end
    assert.same(sorted(real), sorted(methods))
  end)

  it("has every hook, and no other", function()
    local known = read "lua/kvgate/hooks.lua":match "local NAMES = {(.-)}"
    local real = {}
    for name in known:gmatch '"([%w_]+)"' do real[name] = true end
    assert.same(sorted(real), sorted(class "kvgate.Hooks"))
  end)

  it("names every module that scripts may require, and each types what it exports", function()
    local modules = said("kvgate.nothing", "there are")
    local meta = read "lua/kvgate/meta.lua":match "that scripts require%s+%-*%s*%(([^)]+)%)"
    for module in modules:gmatch "kvgate%.([%w_]+)" do
      assert.truthy(meta:find("%f[%w_]" .. module .. "%f[^%w_]"), module .. " is not named")
      local source = "lua/kvgate/" .. module .. ".lua"
      local text = "\n" .. read(source)
      for name in said("kvgate." .. module, "exports:"):gmatch "[%w_]+" do
        local at, parameters = find_function(text, name)
        if at then
          check_doc(text, at, parameters, module .. "." .. name)
        else -- another file's function under this name
          assert.truthy(text:find(name .. " = [%w_]+%.[%w_]+"), module .. "." .. name)
        end
      end
    end
  end)

  it("finds the parameters of all methods typed", function()
    local pipe = assert(io.popen "ls lua/kvgate/*.lua")
    local count = 0
    for source in pipe:lines() do
      local text = read(source)
      for at, name, parameters in text:gmatch "\n()%s*function methods[:]([%w_]+)%((.-)%)" do
        check_doc(text, at, parameters, source .. ": " .. name)
        count = count + 1
      end
    end
    pipe:close()
    assert.is_true(count > 10)
  end)
end)
