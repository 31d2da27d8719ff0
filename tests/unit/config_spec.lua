--- base/config.c and its parts: a file is read exactly, or every mistake is told with its place.
local environment = require "tests.support.environment"
local folder = require "tests.support.folder"
local gateway = require "gateway"
local subject = require "tests.support.config"
local file = subject.file
local source = subject.source
local stream = subject.stream
local filter = subject.filter
local read = subject.read
local mistakes_of = subject.mistakes_of

--- The keys in the tables of config/README.md, sorted, by the heading above.
local function documented_keys()
  local keys, section = {}, nil
  for line in io.lines "config/README.md" do
    section = line:match "^##+ (.+)$" or section
    local key = line:match "^| `([%w_]+)` |"
    if key then
      keys[section] = keys[section] or {}
      table.insert(keys[section], key)
    end
  end
  for _, list in pairs(keys) do
    table.sort(list)
  end
  return keys
end

--- The keys that were expected in the place of zzzzzzzz, sorted.
local function known_keys(yaml)
  local _, text = gateway.config(yaml)
  local listed = assert(text:match '"zzzzzzzz", expected ([^\n]*)'):gsub("^one of ", "")
  local keys = {}
  for key in listed:gmatch "[%w_]+" do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  return keys
end

describe("config", function()
  it("fills in the defaults", function()
    local config = read(file())
    assert.same({
      admin_port = 0,
      script_path = { ".", "/installed" },
      filters = {},
      sources = {
        {
          name = "store",
          connect = "tcp://master:5557",
          hwm = 10000,
          topic = "",
          gap_guard = true,
        },
      },
      streams = {
        {
          name = "out",
          bind = "tcp://127.0.0.1:6001",
          hwm = 1000,
          queue_bytes = 67108864,
          topic = "",
          event_id = "keep",
          announce_after_ms = 1000,
          heartbeat_ms = 0,
          sources = { "store" },
          accept = {},
          filters = {},
        },
      },
    }, config)
  end)

  it("takes every key", function()
    local config = read([[
admin: { bind: "127.0.0.1:9480" }
log: { level: debug }
script_path: [ lua, /opt/filters ]
sources:
- name: a
  bind: tcp://*:5557
  format: mooncake
  topic: kv
  hwm: 7
  gap_guard: false
- { name: b, connect: "ipc:///run/b" }
filters:
- { script: one.lua, options: { n: 1 }, on_error: drop }
- { script: two.lua, on_error: pass }
streams:
- name: out
  connect: tcp://[::1]:6001
  topic: t
  hwm: 5
  queue_bytes: 1GiB
  sources: [ b, a ]
  accept: { tenant_id: acme, dp_rank: [ 0, 18446744073709551615 ], medium: null }
  filters: [ { script: three.lua, on_error: lose } ]
  event_id: keep
  announce_after: 500ms
  heartbeat: 2m
]], "/etc/kvgate/c.yaml")
    assert.equal("127.0.0.1", config.admin_host)
    assert.equal(9480, config.admin_port)
    assert.equal("debug", config.log_level)
    assert.same({ "/etc/kvgate", "/etc/kvgate/lua", "/opt/filters", "/installed" },
      config.script_path)
    assert.same({ name = "a", bind = "tcp://*:5557", topic = "kv", hwm = 7, gap_guard = false },
      config.sources[1])
    assert.same({
      {
        script = "one.lua",
        on_error = "drop",
        options = { "map", { { "string", "n" }, { "integer", "1" } } },
      },
      { script = "two.lua", on_error = "pass", options = { "null" } },
    }, config.filters)
    assert.same({
      name = "out",
      connect = "tcp://[::1]:6001",
      topic = "t",
      hwm = 5,
      queue_bytes = 1073741824,
      sources = { "b", "a" },
      accept = {
        tenant_id = { { "string", "acme" } },
        dp_rank = { { "integer", "0" }, { "uinteger", "18446744073709551615" } },
        medium = { { "null" } },
      },
      filters = { { script = "three.lua", on_error = "lose", options = { "null" } } },
      event_id = "keep",
      announce_after_ms = 500,
      heartbeat_ms = 120000,
    }, config.streams[1])
  end)

  it("feeds a stream from all sources and restamps what several of them send", function()
    local config = read [[
streams:
- { name: all, bind: "ipc:///all" }
- { name: one, bind: "ipc:///one", sources: [ b ] }
- { name: forced, bind: "ipc:///forced", sources: [ b ], event_id: restamp }
sources:
- { name: a, connect: "ipc:///a" }
- { name: b, connect: "ipc:///b" }
]]
    assert.same({ "a", "b" }, config.streams[1].sources)
    assert.equal("restamp", config.streams[1].event_id)
    assert.same({ "b" }, config.streams[2].sources)
    assert.equal("keep", config.streams[2].event_id)
    assert.equal("restamp", config.streams[3].event_id)
  end)

  it("takes an empty list of filters and of directories for none", function()
    local config = read(file { more = "filters:\nscript_path:" })
    assert.same({}, config.filters)
    assert.same({ ".", "/installed" }, config.script_path)
  end)

  it("reads a file, and says why when it cannot", function()
    local path = folder.file(file())
    assert.equal("store", gateway.config_load(path).sources[1].name)
    path = folder.path()
    local config, mistakes = gateway.config_load(path)
    assert.is_nil(config)
    assert.equal(path .. ": cannot be read: No such file or directory\n", mistakes)
    config, mistakes = gateway.config_load "/"
    assert.is_nil(config)
    assert.equal("/: cannot be read: Is a directory\n", mistakes)
  end)

  it("refuses more streams, sources and filters than it can hold", function()
    local function many(count, text)
      return "[ " .. (text .. ", "):rep(count) .. "]"
    end
    assert.same({ "1:10: sources: 1025 sources, expected at most 1024" },
      mistakes_of(file { sources = many(1025, "{ }") }))
    assert.same({ "2:10: streams: 4097 streams, expected at most 4096" },
      mistakes_of(file { streams = many(4097, "{ }") }))
    assert.same({ "3:10: filters: 257 filters, expected at most 256" },
      mistakes_of(file { more = "filters: " .. many(257, "{ }") }))
  end)

  it("holds as many streams as it promises, fast", function()
    local streams = {}
    for i = 1, 4096 do
      streams[i] = ('  - { name: s%d, bind: "tcp://127.0.%d.%d:6001", accept: { tenant_id: t%d } }')
        :format(i, math.floor(i / 256), i % 256, i)
    end
    local config = read(file { streams = "\n" .. table.concat(streams, "\n") })
    assert.equal(4096, #config.streams)
  end)

  it("reads every file of config/", function()
    environment.set("KVGATE_REDACTION_KEY", "0123456789abcdef")
    local count = 0
    for path in io.popen("ls config/*.yaml"):lines() do
      local config, text = gateway.config_load(path)
      assert.equal("", text)
      assert.is_table(config)
      count = count + 1
    end
    assert.is_true(count > 0)
  end)

  it("knows the keys that config/README.md lists, and no others", function()
    local unknown = "{ zzzzzzzz: 1 }"
    local documented = documented_keys()
    for section, yaml in pairs {
      ["Top level"] = file { more = "zzzzzzzz: 1" },
      sources = file { sources = "[ " .. unknown .. " ]" },
      streams = file { streams = "[ " .. unknown .. " ]" },
      filters = file { more = "filters: [ " .. unknown .. " ]" },
      admin = file { more = "admin: " .. unknown },
      log = file { more = "log: " .. unknown },
      dead_letters = file { more = "dead_letters: " .. unknown },
      curve = source("connect: ipc:///a, curve: " .. unknown),
      plain = source("connect: ipc:///a, plain: " .. unknown),
    } do
      assert.same(known_keys(yaml), documented[section])
    end
  end)

  local mistakes = {
    { "an empty file", "§", "the configuration: expected a map, got null" },
    { "a list", "§- 1\n", "the configuration: expected a map, got a list" },
    {
      "an empty map",
      "§§{}",
      "sources is missing, expected in the configuration",
      "streams is missing, expected in the configuration",
    },
    {
      "empty lists",
      "sources: §[]\nstreams: §[]\n",
      "sources: an empty list, expected at least one",
      "streams: an empty list, expected at least one",
    },
    {
      "lists that are none",
      "sources: §1\nstreams:§\n",
      "sources: expected a list of sources, got the number 1",
      "streams: expected a list of streams, got null",
    },
    {
      "a second document",
      file() .. "§---\na: b\n",
      "a second document, expected one for the whole file",
    },

    {
      "a misspelt key once, not as a missing one too",
      file { sources = '[ { §nmae: a, §conect: "tcp://h:1" } ]' },
      'unknown key of a source "nmae", did you mean "name"?',
      'unknown key of a source "conect", did you mean "connect"?',
    },
    {
      "a source and a stream without a name",
      file { sources = '[ §{ connect: "ipc:///a" } ]', streams = '[ §{ bind: "ipc:///b" } ]' },
      "name is missing, expected in a source",
      "name is missing, expected in a stream",
    },
    {
      "names that are empty, too long, not printable, no string",
      ([[
  sources:
  - { name: §"", connect: "ipc:///a" }
  - { name: §%s, connect: "ipc:///a" }
  - { name: §"a\nb", connect: "ipc:///a" }
  - { name: §"a\0b", connect: "ipc:///a" }
  - { name: §"a\u009bb", connect: "ipc:///a" }
  - { name: §5, connect: "ipc:///a" }
  - { name: §null, connect: "ipc:///a" }
  - { name: §[ a ], connect: "ipc:///a" }
  - { name: %s, connect: "ipc:///a" }
  streams: [ { name: out, bind: "ipc:///b" } ]
  ]]):format(("x"):rep(129), ("y"):rep(128)),
      "name: empty, expected at least one character",
      'name: "' .. ("x"):rep(64) .. '…" is 129 bytes long, expected at most 128',
      'name: "a\\nb" holds a control character, expected printable UTF-8',
      'name: "a\\x00b" holds a NUL, expected none',
      'name: "a\\xc2\\x9bb" holds a control character, expected printable UTF-8',
      "name: expected a string (in quotes), got the number 5",
      "name: expected a string, got null",
      "name: expected a string, got a list",
    },
    {
      "a name twice",
      [[
  sources:
  - { name: a, connect: "ipc:///a" }
  - { name: b, connect: "ipc:///b" }
  - { name: §a, connect: "ipc:///c" }
  streams:
  - { name: a, bind: "ipc:///d" }
  - { bind: "ipc:///e", name: §a }
  - { name: §a, bind: "ipc:///f" }
  ]],
      'source "a" again, it is in line 2 already, expected another name',
      'stream "a" again, it is in line 6 already, expected another name',
      'stream "a" again, it is in line 6 already, expected another name',
    },
    {
      "an unknown format",
      source 'connect: "tcp://h:1", format: §moncake',
      'unknown format "moncake", did you mean "mooncake"?',
    },
    {
      "a format that is far from all",
      source 'connect: "tcp://h:1", format: §protobuf',
      'unknown format "protobuf", expected mooncake',
    },
    {
      "wrong kinds in a source",
      source 'connect: §5, topic: §[ ], hwm: §"7", gap_guard: §yes, format: §{ }',
      "connect: expected a string (in quotes), got the number 5",
      "topic: expected a string, got a list",
      'hwm: expected a whole number of messages from 1 to 2147483647, got "7"',
      'gap_guard: expected true or false, got "yes"',
      "format: expected a string, got a map",
    },
    {
      "a queue without an end",
      source 'connect: "tcp://h:1", hwm: §0',
      "hwm: expected a whole number of messages from 1 to 2147483647, got the number 0",
    },
    {
      "a queue of more than an int",
      source 'connect: "tcp://h:1", hwm: §2147483648',
      "hwm: expected a whole number of messages from 1 to 2147483647, got the number 2147483648",
    },
    {
      "a topic that is too long or holds a NUL",
      file {
        sources = '[ { name: store, connect: "ipc:///a", topic: §' .. ("t"):rep(256) .. " } ]",
        streams = [=[[ { name: out, bind: "ipc:///b", topic: §"a\0" } ]]=],
      },
      'topic: "' .. ("t"):rep(64) .. '…" is 256 bytes long, expected at most 255',
      'topic: "a\\x00" holds a NUL, expected none',
    },
    {
      "a source without a name that can be read, and a stream that may mean it",
      file {
        sources = '[ { §name2: store, connect: "ipc:///a" } ]',
        streams = [=[[ { name: out, bind: "ipc:///b", sources: [stor, store] } ]]=],
      },
      'unknown key of a source "name2", did you mean "name"?',
    },
    {
      "wrong words and times",
      stream "event_id: §kep, announce_after: §1ms, heartbeat: §5ms, hwm: §1.5",
      'unknown event_id "kep", did you mean "keep"?',
      'announce_after: expected a time like 500ms, 1s or 2m, from 10ms to 24 hours, got "1ms"',
      "heartbeat: expected 0 (off) or a time like 500ms, 1s or 2m, from 10ms to 24 hours, "
        .. 'got "5ms"',
      "hwm: expected a whole number of messages from 1 to 2147483647, got the number 1.5",
    },
    {
      "the log's level",
      file { more = "log: { level: §warning }" },
      'unknown level "warning", did you mean "warn"?',
    },
    {
      "a log that is a word, and an admin without an address",
      file { more = "log: §info\nadmin: §{ }" },
      'log: expected a map, got "info"',
      "bind is missing, expected in admin",
    },
    {
      "directories that are none",
      file { more = 'script_path: [ a, §"", §5 ]' },
      "script_path: empty, expected at least one character",
      "script_path: expected a string (in quotes), got the number 5",
    },
    {
      "one directory that is not in a list",
      file { more = "script_path: §lua" },
      'script_path: expected a list of directories, got "lua"',
    },
    {
      "sources that a stream names wrongly",
      [[
  streams:
  - { name: a, bind: "ipc:///a", sources: [ §stor, §other, store, §store, §5 ] }
  - { name: b, bind: "ipc:///b", sources: §[ ] }
  - { name: c, bind: "ipc:///c", sources: §store }
  - { name: d, bind: "ipc:///d", sources: §}
  sources: [ { name: store, connect: "ipc:///in" } ]
  ]],
      'unknown source "stor", did you mean "store"?',
      'unknown source "other", expected store',
      'source "store" again, expected each once',
      "sources: expected a string (in quotes), got the number 5",
      "sources: nobody feeds this stream, expected names of sources, "
        .. "or no such key for all of them",
      'sources: expected a list of source names, got "store"',
      "sources: expected a list of source names, got null",
    },
    {
      "filters that are none",
      file { more = "filters:\n  - §f.lua\n  - §{ }\n  - { script: §}" },
      'a filter: expected a map, such as { script: x.lua }, got "f.lua"',
      "script is missing, expected in a filter",
      "script: expected a string, got null",
    },
    {
      "options that are no map",
      filter "script: f.lua, options: §[ 1 ], on_error: §lost",
      "options: expected a map, got a list",
      'unknown on_error "lost", did you mean "lose"?',
    },
    {
      "a filter of a stream",
      stream "filters: [ { §scrip: f.lua } ]",
      'unknown key of a filter "scrip", did you mean "script"?',
    },
  }
  subject.tells(mistakes)
end)
