--- base/config_letters.c: the stream of the dead letters, and the filters that need it.
local subject = require "tests.support.config"
local file = subject.file
local read = subject.read

local LETTERS = 'dead_letters: { bind: "tcp://127.0.0.1:6009" }\n'
local SENDER = "filters: [ { script: f.lua, on_error: %sdead_letter } ]\n"
local NO_STREAM = "on_error: dead_letter, but there is no stream for them, expected "
  .. '"dead_letters" at the top level, with an address to bind or to connect to'

describe("config_letters", function()
  it("takes every key, and has a stream's defaults", function()
    local config = read(file { more = LETTERS .. SENDER:format "" })
    assert.same(
      { bind = "tcp://127.0.0.1:6009", hwm = 1000, queue_bytes = 67108864, topic = "" },
      config.dead_letters)
    assert.equal("dead_letter", config.filters[1].on_error)
    config = read(file { more = 'dead_letters: { connect: "ipc:///l", topic: t, hwm: 5, '
      .. "queue_bytes: 1MiB }" })
    assert.same({ connect = "ipc:///l", hwm = 5, queue_bytes = 1048576, topic = "t" },
      config.dead_letters)
  end)

  it("is not there unless it is named", function()
    assert.is_nil(read(file()).dead_letters)
  end)

  subject.tells {
    {
      "filters that want dead letters where there are none, one in each list",
      file {
        more = SENDER:format "§",
        streams = "[ { name: out, bind: tcp://127.0.0.1:6001, filters: "
          .. "[ { script: a.lua, on_error: §dead_letter }, "
          .. "{ script: b.lua, on_error: dead_letter } ] } ]",
      },
      NO_STREAM,
      NO_STREAM,
    },
    {
      "only what is wrong with the section, if it is there",
      file { more = "dead_letters: §{ }\n" .. SENDER:format "" },
      "dead_letters with neither connect nor bind, expected one of the two",
    },
    {
      "a section that is none",
      file { more = "dead_letters:§\n" .. SENDER:format "" },
      "dead_letters: expected a map, got null",
    },
    {
      "both addresses, and a key of streams that letters have not",
      file { more = 'dead_letters: §{ bind: "ipc:///a", connect: "ipc:///b", §name: x }' },
      "dead_letters with both connect and bind, expected one of the two",
      'unknown key of dead_letters "name", expected one of bind, connect, topic, hwm, '
        .. "queue_bytes, curve, plain",
    },
    {
      "misspelt words, with the nearest",
      file { more = "§dead_letter: { }\nfilters: [ { script: f.lua, on_error: §dead_leter } ]" },
      'unknown key of the configuration "dead_letter", did you mean "dead_letters"?',
      'unknown on_error "dead_leter", did you mean "dead_letter"?',
    },
    {
      "a stream that has its name",
      file { streams = '[ { name: §dead_letters, bind: "ipc:///a" } ]' },
      'name: "dead_letters" is the stream of the dead letters, expected another name',
    },
    {
      "an address that a stream has, and a source that would hear them",
      file {
        sources = '[ { name: store, connect: §"tcp://localhost:6002" } ]',
        streams = '[ { name: out, bind: "ipc:///a" } ]',
        more = 'dead_letters: { bind: "tcp://*:6002" }',
      },
      'source "store" connects to "tcp://localhost:6002", which stream "dead_letters" binds in '
        .. "line 3, expected no loop",
    },
    {
      "an address that a stream has already",
      file { more = 'dead_letters: { bind: §"tcp://127.0.0.1:6001" }' },
      'stream "dead_letters" binds "tcp://127.0.0.1:6001", which stream "out" binds in line 2, '
        .. "expected an address of its own",
    },
  }
end)
