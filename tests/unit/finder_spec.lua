local scripts = require "tests.support.script"
local wire = require "tests.support.wire"

local pass = scripts.body "return true"

local function named(name) return scripts.body(("event.seen = %q return true"):format(name)) end

local function seen(script, filter)
  return wire.get(script:run({ filter }, { wire.event {} }).events[1].map, "seen")
end

describe("a script", function()
  it("is found in the first folder of the path that has it", function()
    local second = scripts.new { ["f.lua"] = named "second", ["g.lua"] = named "second" }
    local script = scripts.new({ ["f.lua"] = named "first" }, { path = { second.folder } })
    local f, g = script:load "f.lua", script:load "g.lua"
    assert.equal("first", seen(script, f))
    assert.equal("second", seen(script, g))
    assert.equal(script.folder .. "/f.lua", script.state:about(f).path)
    assert.equal(second.folder .. "/g.lua", script.state:about(g).path)
    script:remove()
    second:remove()
  end)

  it("may be named by an absolute path", function()
    local elsewhere = scripts.new { ["f.lua"] = named "absolute" }
    local script = scripts.new {}
    assert.equal("absolute", seen(script, script:load(elsewhere.folder .. "/f.lua")))
    assert.equal("there is no file " .. elsewhere.folder .. "/nope.lua",
      script:refusal(elsewhere.folder .. "/nope.lua"))
    script:remove()
    elsewhere:remove()
  end)

  it("may be in a folder below", function()
    local script = scripts.new {}
    os.execute("mkdir " .. script.folder .. "/sub")
    script:write("sub/f.lua", named "below")
    assert.equal("below", seen(script, script:load "sub/f.lua"))
    script:remove()
  end)

  it("that is nowhere is refused with the folders that were searched", function()
    local script = scripts.new({}, { path = { "/no/such", "/dev/null" } })
    assert.equal("there is no script f.lua in @, /no/such, /dev/null", script:refusal "f.lua")
    script:remove()
  end)

  it("that is nowhere may be a misspelt one of any of them", function()
    local second = scripts.new { ["keys_to_hashes.lua"] = pass }
    os.execute("mkdir " .. second.folder .. "/sub")
    second:write("sub/relabel.lua", pass)
    local script = scripts.new({ ["other.lua"] = pass }, { path = { second.folder } })
    for name, hint in pairs {
      ["keys_to_hash.lua"] = "keys_to_hashes.lua",
      ["keys_to_hashes"] = "keys_to_hashes.lua",
      ["sub/relable.lua"] = "sub/relabel.lua",
      [second.folder .. "/keys_to_hahses.lua"] = second.folder .. "/keys_to_hashes.lua",
    } do
      local text = script:refusal(name)
      assert.truthy(text:find("; did you mean " .. hint .. "?", 1, true), text)
    end
    script:remove()
    second:remove()
  end)

  it("that cannot be read is refused with the reason", function()
    local script = scripts.new {}
    os.execute("mkdir " .. script.folder .. "/folder.lua")
    os.execute("mkfifo " .. script.folder .. "/pipe.lua")
    assert.equal("@/folder.lua: Is a directory", script:refusal "folder.lua")
    assert.equal("@/pipe.lua: it is no regular file", script:refusal "pipe.lua")
    script:remove()
  end)

  it("may be a mebibyte and no larger", function()
    local script = scripts.new {}
    script:write("most.lua", pass .. (" "):rep(2 ^ 20 - #pass))
    script:write("more.lua", pass .. (" "):rep(2 ^ 20 - #pass + 1))
    script:load "most.lua"
    assert.equal("@/more.lua: File too large", script:refusal "more.lua")
    script:remove()
  end)

  it("may be empty, which is no filter", function()
    local script = scripts.new { ["f.lua"] = "" }
    assert.equal("@/f.lua:1: returned nil, not a function that takes the options",
      script:refusal "f.lua")
    script:remove()
  end)

  it("may hold any byte in its strings", function()
    local script = scripts.new { ["f.lua"] = scripts.body 'event.seen = "\255\1\0z" return true' }
    assert.equal("\255\1\0z", seen(script, script:load "f.lua"))
    script:remove()
  end)
end)
