--- base/config_security.c: curve, plain and the files that they name.
local folder = require "tests.support.folder"
local gateway = require "gateway"
local subject = require "tests.support.config"
local file = subject.file
local source = subject.source

local KEY = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
local BIND = 'bind: "tcp://*:6009", '
local CONNECT = 'connect: "tcp://h:6001", '

describe("config_security", function()
  it("takes what goes together", function()
    for _, text in ipairs {
      BIND .. "curve: { secret_key_file: k }",
      BIND .. "curve: { secret_key_file: k, allow: [ '" .. KEY .. "' ] }",
      BIND .. "curve: { secret_key_file: k, allow: [ ], allow_file: l }",
      BIND .. "curve: { secret_key_file: k, role: client, server_key: '" .. KEY .. "' }",
      CONNECT .. "curve: { secret_key_file: k, server_key: '" .. KEY .. "' }",
      CONNECT .. "curve: { secret_key_file: k, server_key_file: k.pub }",
      CONNECT .. "curve: { secret_key_file: k, role: server, allow_file: l }",
      "bind: ipc:///s, plain: { username: u, password_file: p }",
      'connect: "tcp://127.0.0.1:1", plain: { username: u, password_file: p }',
      'bind: "tcp://[::1]:1", plain: { username: u, password_file: p, role: client }',
      'bind: "tcp://lo:1", plain: { username: u, password_file: p }',
    } do
      subject.read(source(text))
    end
  end)

  subject.tells {
    { "curve that is no map", source(BIND .. "curve: §yes"),
      'curve: expected a map, got "yes"' },
    { "curve without a key", source(BIND .. "curve: §{ }"),
      "secret_key_file is missing, expected in curve" },
    { "plain without a name and a password", source "bind: ipc:///s, plain: §§{ }",
      "username is missing, expected in plain", "password_file is missing, expected in plain" },
    { "plain without a name in it",
      source 'bind: ipc:///s, plain: { username: §"", password_file: p }',
      "username: empty, expected at least one character" },
    { "a misspelt key", source(BIND .. "curve: { secret_key_file: k, §alow: [ ] }"),
      'unknown key of curve "alow", did you mean "allow"?' },
    { "a role that is none", source(BIND .. "curve: { secret_key_file: k, role: §peer }"),
      'unknown role "peer", expected one of client, server' },
    { "a client that does not know its server",
      source(CONNECT .. "curve: §{ secret_key_file: k }"),
      "curve: this end is the client, as it connects, and must know the server's public key, "
        .. "expected server_key, server_key_file or role: server" },
    { "a client with a list",
      source(CONNECT .. "curve: { secret_key_file: k, server_key_file: s, allow: §[ ] }"),
      "allow: this end is the client, as it connects, which lets nobody in, "
        .. "expected role: server or no such key" },
    { "a server with another's key",
      source(BIND .. "curve: { secret_key_file: k, server_key_file: §s }"),
      "server_key: this end is the server, as it binds, expected only secret_key_file and "
        .. "allow, or role: client" },
    { "two server keys",
      source(CONNECT .. "curve: §{ secret_key_file: k, server_key_file: s, server_key: '"
        .. KEY .. "' }"),
      "curve: both server_key and server_key_file, expected one of the two" },
    { "keys that are none, and does not show them",
      source(BIND .. "curve: { secret_key_file: k, allow: [ §secret, §7, '" .. KEY .. "' ] }"),
      "allow: that is no key: expected 40 characters of Z85, got 6",
      "allow: expected a string (in quotes), got the number 7" },
    { "curve and plain at once",
      source "bind: ipc:///s, curve: { secret_key_file: k }, plain: §{ }",
      "both curve and plain, expected one of the two" },
    { "plain that others could read",
      source(BIND .. "plain: §{ username: u, password_file: p }"),
      "plain: the password could be read on the way, expected curve, or an address of this "
        .. "machine alone: ipc:// or tcp://127.0.0.1" },
  }

  describe("files", function()
    local function private(path, text)
      folder.write(path, text)
      assert(os.execute("chmod 600 " .. path) == 0)
    end

    --- A configuration with all kinds of files, in a folder of its own.
    local function write_all()
      local home = folder.new()
      private(home .. "/key", KEY .. "\n")
      private(home .. "/password", "open sesame\n")
      private(home .. "/token", "0123456789abcdef\n")
      folder.write(home .. "/key.pub", KEY .. "\n")
      folder.write(home .. "/clients", KEY .. " me\n")
      local yaml = file {
        sources = "\n- { name: store, connect: tcp://h:1,"
          .. " curve: { secret_key_file: §key, server_key_file: §key.pub } }",
        streams = "\n- { name: a, bind: tcp://*:2,"
          .. " curve: { secret_key_file: §key, allow_file: §clients } }\n"
          .. "- { name: b, bind: ipc:///b, plain: { username: u, password_file: §password } }",
        more = "admin: { bind: '127.0.0.1:9480', token_file: §token }",
      }
      local text, places = subject.unmark(yaml)
      return home, text, places
    end

    it("are found beside the configuration", function()
      local home, yaml = write_all()
      assert.equal("", gateway.config_secrets(yaml, home .. "/c.yaml"))
    end)

    it("are not looked at by those who open no socket", function()
      local _, yaml = write_all()
      subject.read(yaml)
    end)

    it("have all their mistakes told, each at its place", function()
      local home, yaml, places = write_all()
      local path = home .. "/c.yaml"
      folder.write(home .. "/key.pub", "# none\n")
      folder.write(home .. "/clients", KEY .. "x\n")
      os.remove(home .. "/password")
      private(home .. "/token", "too short\n")
      assert(os.execute("chmod 644 " .. home .. "/key") == 0)
      local open = home .. "/key is open to others (mode 0644), expected 0600: chmod 600 "
        .. home .. "/key"
      local expected = {
        "secret_key_file: " .. open,
        "server_key_file: " .. home .. "/key.pub: there is no key in it",
        "secret_key_file: " .. open,
        "allow_file: " .. home
          .. "/clients:1: that is no key: expected 40 characters of Z85, got 41",
        "password_file: " .. home .. "/password: No such file or directory",
        "token_file: " .. home .. "/token holds no token: expected 16 to 256 visible ASCII "
          .. "characters without a space",
      }
      for i, text in ipairs(expected) do
        expected[i] = path .. ":" .. places[i] .. ": " .. text .. "\n"
      end
      assert.equal(table.concat(expected), gateway.config_secrets(yaml, path))
    end)

    it("do not show what they hold", function()
      local home, yaml = write_all()
      private(home .. "/key", "secret-but-no-key\n")
      assert.is_nil(gateway.config_secrets(yaml, home .. "/c.yaml"):find "but%-no")
    end)
  end)
end)
