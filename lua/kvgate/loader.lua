--- From a script's name to the function that runs it over a batch.
--
-- A script file is loaded afresh for every filter that names it, a module once. Both see the
-- sandbox only. What a filter is made of, its file and all modules that it required, is remembered:
-- C makes the filter's signature of it.

local ffi = require "ffi"
local border = require "kvgate.border"
local fault = require "kvgate.fault"
local hooks = require "kvgate.hooks"
local sandbox = require "kvgate.sandbox"
local world = require "kvgate.world"

assert(ffi.abi "gc64", "this build of LuaJIT lacks GC64")
sandbox.seal_strings()

local loader = {}

--- Modules of the runtime that scripts may require.
local PUBLIC = {
  ["kvgate.digest"] = true,
  ["kvgate.emit"] = true,
  ["kvgate.keys"] = true,
  ["kvgate.log"] = true,
  ["kvgate.match"] = true,
  ["kvgate.metrics"] = true,
  ["kvgate.options"] = true,
  ["kvgate.shards"] = true,
  ["kvgate.state"] = true,
  ["kvgate.tenants"] = true,
  ["kvgate.u64"] = true,
  ["kvgate.value"] = true,
}

local modules = {} -- name to { value, file }, or to { loading = true }
local chain = {}   -- names of the modules whose chunks run now, outermost first

-- ---- files ----

local load_file

local function public_names()
  local names = {}
  for name in pairs(PUBLIC) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(names, ", ")
end

--- What reads a name that the module has not. A name that the script took away itself is nil.
local function refuse_names(module, original)
  local known = {}
  for name in pairs(original) do known[#known + 1] = name end
  table.sort(known)
  return function(_, name)
    if original[name] ~= nil then return nil end
    local shown = type(name) == "string" and ("%q"):format(name:sub(1, 64)) or fault.name(name)
    error(("%s has no %s%s"):format(module, shown, fault.hint(name, known)), 0)
  end
end

--- A copy, so that no script changes what another one gets.
local function public_module(name)
  if not PUBLIC[name] then
    error(("there is no module %q; there are %s"):format(name, public_names()), 0)
  end
  local original = require(name)
  if type(original) ~= "table" then return original end
  if name == "kvgate.value" then original = original.public end
  local copy = {}
  for key, item in pairs(original) do copy[key] = item end
  return setmetatable(copy, { __index = refuse_names(name, original) })
end

local function load_module(name)
  if border.batch.serial ~= 0 then
    error(("module %q is not loaded: require it while the filter loads"):format(name), 0)
  end
  local path, text = world.find(name, true)
  chain[#chain + 1] = name
  modules[name] = { loading = true }
  local ok, result, file = xpcall(load_file, fault.describe, path, text, name)
  chain[#chain] = nil
  modules[name] = nil
  if not ok then error(result, 0) end
  if result == nil then result = true end
  modules[name] = { value = result, file = file }
  return modules[name]
end

local function required_module(name)
  local module = modules[name] or load_module(name)
  if module.loading then
    local way = table.concat(chain, " -> ") .. " -> " .. name
    error(("module %q requires itself: %s"):format(name, way), 0)
  end
  return module
end

--- The `require` of one file.
local function make_require(file)
  local own = {}
  return function(name)
    if type(name) ~= "string" then error("require takes a module's name", 0) end
    local module = own[name]
    if module == nil then
      if name:sub(1, 7) == "kvgate." then
        module = { value = public_module(name) }
      else
        module = required_module(name)
        file.parts[#file.parts + 1] = module.file
      end
      own[name] = module
    end
    return module.value
  end
end

--- Compile and run a file in a sandbox of its own.
---@return any value what its chunk returned
---@return table file
function load_file(path, text, ...)
  local file = { text = text, parts = {} }
  fault.know(path)
  if text:byte(1) == 27 then error(path .. ":1: is bytecode; scripts are source text", 0) end
  local chunk, message = load(text, "@" .. path, "t", sandbox.environment(make_require(file)))
  if not chunk then error(path .. message:match(":%d+: .*$"), 0) end
  return chunk(...), file
end

-- ---- filters ----

--- Without its lines: what can be stopped looks, compiled, at a bit at each line, and the driver
--- need not be.
local function make_driver()
  local chunk = assert(load(world.driver, "=kvgate/driver.lua", "t"))
  return assert(load(string.dump(chunk, true), "=kvgate/driver.lua", "b"))()
end

--- What a stop in the middle of loading left behind.
local function forget_unfinished()
  chain = {}
  for key, module in pairs(modules) do
    if module.loading then modules[key] = nil end
  end
end

--- What the file makes with these options: its hooks, checked.
local function filter_of(path, factory, options)
  if type(factory) ~= "function" then
    error(("%s:1: returned %s, not a function that takes the options")
      :format(path, fault.name(factory)), 0)
  end
  local filter = factory(options)
  if type(filter) == "function" then return { on_event = filter } end
  local place = fault.place(factory)
  if type(filter) == "table" then return hooks.check(filter, place) end
  error(("%s: returned %s, not a function that takes an event, or a table of hooks")
    :format(place, fault.name(filter)), 0)
end

--- All texts that a file is made of, each once.
local function texts_of(file, texts, seen)
  if seen[file] then return texts end
  seen[file] = true
  texts[#texts + 1] = #file.text .. ":" .. file.text
  for _, part in ipairs(file.parts) do texts_of(part, texts, seen) end
  return texts
end

--- Load one filter. Raises what is wrong with it.
---@param name string
---@param options table
---@param counters lightuserdata struct filter_counters
---@return function run from a slot on, over the batch in hand
---@return string path
---@return string texts that the filter is made of
---@return table hooks as hooks.check returns them
function loader.load(name, options, counters)
  forget_unfinished()
  fault.enter(nil)
  local path, text = world.find(name, false)
  local factory, file = load_file(path, text)
  local filter = filter_of(path, factory, options)
  local run = make_driver()(filter, ffi.cast("struct filter_counters *", counters))
  return run, path, table.concat(texts_of(file, {}, {})), filter
end

--- For C, which cannot make 64-bit cdata: the integer in the border's token.
function loader.unsigned() return border.token.u64 end
function loader.signed() return border.token.i64 end

--- And the other way: its bits into the token. 1: it is unsigned, 2: signed, 0: it is none.
function loader.wide(item)
  local kind = ffi.istype("uint64_t", item) and 1 or ffi.istype("int64_t", item) and 2 or 0
  if kind ~= 0 then border.token.u64 = item end
  return kind
end

return loader
