--- base/config_endpoint.c, config_addresses.c: addresses are judged, and compared however written.
local subject = require "tests.support.config"
local file = subject.file
local source = subject.source
local read = subject.read
local mistakes_of = subject.mistakes_of

describe("config_endpoint", function()
  describe("endpoints", function()
    local bad = {
      { "connect", "", "expected tcp://HOST:PORT, ipc://PATH or inproc://NAME" },
      { "connect", "h:1", "expected tcp://HOST:PORT, ipc://PATH or inproc://NAME" },
      { "connect", "udp://h:1", "expected tcp://HOST:PORT, ipc://PATH or inproc://NAME" },
      { "connect", "TCP://h:1", "expected tcp://HOST:PORT, ipc://PATH or inproc://NAME" },
      { "connect", "tcp://h", "expected HOST:PORT" },
      { "connect", "tcp://:1", "expected a host of 1 to 255 characters before the port" },
      { "connect", "tcp://h:", "expected a port from 1 to 65535 behind the last colon" },
      { "connect", "tcp://h:0", "expected a port from 1 to 65535 behind the last colon" },
      { "connect", "tcp://h:*", "expected a port from 1 to 65535 behind the last colon" },
      { "bind", "tcp://*:65536", "expected a port from 1 to 65535 behind the last colon" },
      { "bind", "tcp://*:+1", "expected a port from 1 to 65535 behind the last colon" },
      { "bind", "tcp://*: 1", "expected a port from 1 to 65535 behind the last colon" },
      { "bind", "tcp://*:1x", "expected a port from 1 to 65535 behind the last colon" },
      { "bind", "tcp://*:000001", "expected a port from 1 to 65535 behind the last colon" },
      { "connect", "tcp://*:1", "expected one host to connect to" },
      { "connect", "tcp://0.0.0.0:1", "expected one host to connect to" },
      { "connect", "tcp://[::]:1", "expected one host to connect to" },
      { "connect", "tcp://::1:5", "expected brackets around an IPv6 address: [::1]:5557" },
      { "connect", "tcp://[::1:5", "expected brackets around an IPv6 address: [::1]:5557" },
      { "connect", "tcp://[::g]:5", "expected an IPv6 address in the brackets" },
      { "connect", "tcp://[]:5", "expected an IPv6 address in the brackets" },
      { "connect", "tcp://[fe80::1%]:5", "expected an IPv6 address in the brackets" },
      { "connect", "tcp://256.0.0.1:5", "expected an IPv4 address of four numbers up to 255" },
      { "bind", "tcp://127.0.1:5", "expected an IPv4 address of four numbers up to 255" },
      { "connect", "tcp://a b:5", "expected a host name or an address" },
      { "connect", "tcp://a/b:5", "expected a host name or an address" },
      { "connect", "tcp://-a:5", "expected a host name or an address" },
      {
        "bind",
        "tcp://localhost:5",
        "a name cannot be bound, expected an address such as 127.0.0.1, an interface or *",
      },
      { "bind", "ipc://", "expected a path behind ipc://" },
      { "bind", "ipc://@", "expected a path behind ipc://" },
      { "connect", "ipc://*", "expected one path to connect to" },
      { "bind", "inproc://", "expected a name of 1 to 255 bytes behind inproc://" },
    }
    for _, case in ipairs(bad) do
      local key, endpoint, reason = unpack(case)
      it(("that cannot be: %s to %q"):format(key, endpoint), function()
        assert.same({ ('1:%d: %s: "%s": %s'):format(27 + #key + 2, key, endpoint, reason) },
          mistakes_of(source(('%s: "%s"'):format(key, endpoint))))
      end)
    end

    local good = {
      { "connect", "tcp://master:1" },
      { "connect", "tcp://Master-0.store_a.svc:65535" },
      { "connect", "tcp://10.0.0.1:5557" },
      { "connect", "tcp://[fe80::1%eth0]:5557" },
      { "connect", "tcp://10.0.0.2:0;10.0.0.1:5557" },
      { "connect", "tcp://localhost:5557" },
      { "bind", "tcp://*:5557" },
      { "bind", "tcp://127.0.0.1:*" },
      { "bind", "tcp://127.0.0.1:0" },
      { "bind", "tcp://[::]:5557" },
      { "bind", "tcp://eth0:5557" },
      { "bind", "ipc:///run/kvgate/in.sock" },
      { "bind", "ipc://@abstract" },
      { "bind", "ipc://relative" },
      { "bind", "ipc://*" },
      { "connect", "inproc://a" },
    }
    for _, case in ipairs(good) do
      local key, endpoint = unpack(case)
      it(("that can be: %s to %s"):format(key, endpoint), function()
        local config = read(source(('%s: "%s"'):format(key, endpoint)))
        assert.equal(endpoint, config.sources[1][key])
      end)
    end

    it("refuse an ipc path that no socket address holds", function()
      local path = ("p"):rep(107)
      read(source('bind: "ipc://' .. path .. '"'))
      assert.same({
        '1:33: bind: "ipc://' .. ("p"):rep(58) .. '…": expected a path of at most 107 bytes',
      }, mistakes_of(source('bind: "ipc://p' .. path .. '"')))
    end)
  end)

  describe("the admin address", function()
    for text, expected in pairs {
      ["127.0.0.1:9480"] = { "127.0.0.1", 9480 },
      ["[::1]:9480"] = { "::1", 9480 },
      ["[::]:1"] = { "::", 1 },
      ["localhost:0"] = { "127.0.0.1", 0 },
      ["*:80"] = { "0.0.0.0", 80 },
      ["0.0.0.0:80"] = { "0.0.0.0", 80 },
    } do
      it("can be " .. text, function()
        local config = read(file { more = ('admin: { bind: "%s" }'):format(text) })
        assert.same(expected, { config.admin_host, config.admin_port })
      end)
    end

    for text, reason in pairs {
      ["tcp://*:80"] = "expected an address and a port: 127.0.0.1:9480 or [::1]:9480",
      ["example.org:80"] = "expected an address and a port: 127.0.0.1:9480 or [::1]:9480",
      ["9480"] = "expected HOST:PORT",
      [":9480"] = "expected a host of 1 to 255 characters before the port",
      ["::1:9480"] = "expected brackets around an IPv6 address: [::1]:5557",
      ["127.0.0.1:70000"] = "expected a port from 1 to 65535 behind the last colon",
    } do
      it("cannot be " .. text, function()
        assert.same({ ('3:16: bind: "%s": %s'):format(text, reason) },
          mistakes_of(file { more = ('admin: { bind: "%s" }'):format(text) }))
      end)
    end
  end)

  it("allows the sockets that do not meet", function()
    read [[
admin: { bind: "127.0.0.1:6002" }
sources:
- { name: a, connect: "tcp://127.0.0.1:6003" }
- { name: b, connect: "tcp://127.0.0.1:6003" }
- { name: c, connect: "tcp://elsewhere:6001" }
streams:
- { name: a, bind: "tcp://127.0.0.1:6001" }
- { name: b, bind: "tcp://127.0.0.2:6001" }
- { name: c, bind: "tcp://[::1]:6001" }
- { name: d, bind: "tcp://*:*" }
- { name: e, bind: "tcp://*:*" }
- { name: f, bind: "ipc:///6001" }
- { name: g, bind: "inproc://6001" }
- { name: h, connect: "tcp://indexer:7000" }
- { name: i, connect: "tcp://indexer:7000" }
]]
  end)

  local mistakes = {
    {
      "neither connect nor bind",
      file { sources = "[ §{ name: a } ]", streams = "[ §{ name: b } ]" },
      "a source with neither connect nor bind, expected one of the two",
      "a stream with neither connect nor bind, expected one of the two",
    },
    {
      "both connect and bind",
      file { sources = '[ §{ name: a, connect: "tcp://h:1", bind: "tcp://*:2" } ]' },
      "a source with both connect and bind, expected one of the two",
    },
    {
      "an address that both of two sockets bind, however it is written",
      [[
  sources:
  - { name: in, bind: "tcp://0.0.0.0:9480" }
  streams:
  - { name: a, bind: "tcp://*:6001" }
  - { name: b, bind: §"tcp://127.0.0.1:6001" }
  - { name: c, bind: "tcp://[0:0::1]:6002" }
  - { name: d, bind: §"tcp://[::1]:6002" }
  - { name: e, bind: "ipc:///run/x" }
  - { name: f, bind: §"ipc:///run/.//x" }
  - { name: g, bind: "inproc://x" }
  - { name: h, bind: §"inproc://x" }
  - { name: i, bind: "tcp://[::ffff:10.0.0.1]:6003" }
  - { name: j, bind: §"tcp://10.0.0.1:6003" }
  - { name: k, bind: "tcp://eth0:6004" }
  - { name: l, bind: §"tcp://ETH0:06004" }
  admin: { bind: §"[::1]:9480" }
  ]],
      'stream "b" binds "tcp://127.0.0.1:6001", which stream "a" binds in line 4, '
        .. "expected an address of its own",
      'stream "d" binds "tcp://[::1]:6002", which stream "c" binds in line 6, '
        .. "expected an address of its own",
      'stream "f" binds "ipc:///run/.//x", which stream "e" binds in line 8, '
        .. "expected an address of its own",
      'stream "h" binds "inproc://x", which stream "g" binds in line 10, '
        .. "expected an address of its own",
      'stream "j" binds "tcp://10.0.0.1:6003", which stream "i" binds in line 12, '
        .. "expected an address of its own",
      'stream "l" binds "tcp://ETH0:06004", which stream "k" binds in line 14, '
        .. "expected an address of its own",
      'admin binds "[::1]:9480", which source "in" binds in line 2, '
        .. "expected an address of its own",
    },
    {
      "a loop",
      [[
  sources:
  - { name: a, connect: §"tcp://localhost:6001" }
  - { name: b, connect: §"tcp://[::1]:6002" }
  - { name: c, connect: §"ipc:///x" }
  - { name: d, bind: "tcp://*:7000" }
  streams:
  - { name: a, bind: "tcp://127.0.0.1:6001" }
  - { name: b, bind: "tcp://*:6002" }
  - { name: c, bind: "ipc:///x" }
  - { name: d, connect: §"tcp://127.0.0.1:7000" }
  ]],
      'source "a" connects to "tcp://localhost:6001", which stream "a" binds in line 7, '
        .. "expected no loop",
      'source "b" connects to "tcp://[::1]:6002", which stream "b" binds in line 8, '
        .. "expected no loop",
      'source "c" connects to "ipc:///x", which stream "c" binds in line 9, expected no loop',
      'stream "d" connects to "tcp://127.0.0.1:7000", which source "d" binds in line 5, '
        .. "expected no loop",
    },
  }
  subject.tells(mistakes)
end)
