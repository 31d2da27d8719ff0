--- Calls go down only, and each foreign library has one door.

local LAYERS = { base = 1, codec = 2, script = 3, relay = 4, io = 5, cli = 6 }

--- Where each library's header may be included.
local DOORS = {
  ["zmq.h"] = { "^gateway/io/" },
  ["lua.h"] = { "^gateway/script/" },
  ["luajit.h"] = { "^gateway/script/" },
  ["lauxlib.h"] = { "^gateway/script/" },
  ["lualib.h"] = { "^gateway/script/" },
  ["sodium.h"] = { "^gateway/script/" },
  ["yaml.h"] = { "^gateway/base/config" },
  ["microhttpd.h"] = { "^gateway/io/" },
  ["msgpack.h"] = {
    "^gateway/base/", "^gateway/codec/", "^gateway/script/", "^gateway/io/", "^gateway/cli/",
  },
}

--- Every #include of the C program, as { file, line, header, quoted }.
local function includes()
  local found, files = {}, 0
  for path in io.popen("find gateway -name '*.[ch]' | sort"):lines() do
    files = files + 1
    local number = 0
    for line in io.lines(path) do
      number = number + 1
      local open, header = line:match '^%s*#%s*include%s*([<"])([^>"]+)[>"]'
      if header then
        found[#found + 1] = { file = path, line = number, header = header, quoted = open == '"' }
      end
    end
  end
  assert(files > 50, "run from the repository's root")
  return found
end

local function matches(path, patterns)
  for _, pattern in ipairs(patterns) do
    if path:find(pattern) then
      return true
    end
  end
  return false
end

--- The offences among all includes, by a function that says what is wrong with one.
local function offences(judge)
  local list = {}
  for _, include in ipairs(includes()) do
    local offence = judge(include)
    if offence then
      list[#list + 1] = ("%s:%d: %s"):format(include.file, include.line, offence)
    end
  end
  return list
end

describe("layering", function()
  it("lets a layer include its own headers and those of the layers below", function()
    assert.same({}, offences(function(include)
      local from = LAYERS[include.file:match "^gateway/(%w+)/"]
      if include.file:find "^gateway/script/module/" then
        from = LAYERS.relay -- the core for busted: no part of the daemon
      end
      local to = include.quoted and LAYERS[include.header:match "^(%w+)/"]
      if include.quoted and (not from or not to) then
        return include.header .. " is in no layer"
      elseif to and to > from then
        return include.header .. " is above it"
      end
    end))
  end)

  it("gives each library one door", function()
    local seen = {}
    assert.same({}, offences(function(include)
      local name = include.header:match "[^/]+$"
      local door = not include.quoted and DOORS[name]
      seen[name] = true
      return door and not matches(include.file, door) and name .. " does not belong here"
    end))
    for _, name in ipairs { "zmq.h", "lua.h", "yaml.h", "microhttpd.h" } do
      assert.is_true(seen[name] or false, name .. " is included nowhere: is the spec still right?")
    end
  end)

  it("keeps the clock out of the heart", function()
    assert.same({}, offences(function(include)
      local heart = include.file:find "^gateway/relay/" or include.file:find "^gateway/codec/"
      return heart and matches(include.header, { "^time%.h$", "^sys/time%.h$" })
        and include.header .. ": time is an argument"
    end))
  end)
end)
