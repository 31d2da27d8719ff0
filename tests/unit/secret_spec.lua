--- base/secret.c: files that nobody else may read.
local folder = require "tests.support.folder"
local gateway = require "gateway"

local function private(text, mode)
  local path = folder.file(text)
  assert(os.execute("chmod " .. (mode or "600") .. " " .. path) == 0)
  return path
end

describe("secret", function()
  it("is the one line of a file of ours", function()
    assert.equal("word", gateway.secret(private "word"))
    assert.equal("word", gateway.secret(private "word\n"))
    assert.equal("two words", gateway.secret(private "two words\r\n"))
    assert.equal("word", gateway.secret(private("word\n", "400")))
  end)

  for _, mode in ipairs { "604", "640", "620", "602", "610", "666", "4677" } do
    it("is refused when its mode is " .. mode .. ", with what mends it", function()
      local path = private("word\n", mode)
      local line, error = gateway.secret(path)
      assert.is_nil(line)
      assert.equal(("%s is open to others (mode %04o), expected 0600: chmod 600 %s"):format(path,
        tonumber(mode, 8), path), error)
    end)
  end

  it("is refused with a reason when the file is not one line", function()
    for text, reason in pairs {
      [""] = "is empty",
      ["\n"] = "is empty",
      ["a\nb\n"] = "has more than one line",
      ["a\0b"] = "has more than one line",
      [("x"):rep(64)] = "is longer than 63 bytes",
      [("x"):rep(500)] = "is longer than 63 bytes",
    } do
      local path = private(text)
      local line, error = gateway.secret(path)
      assert.is_nil(line)
      assert.equal(path .. " " .. reason, error)
    end
  end)

  it("waits for nobody: a pipe is no file", function()
    local path = folder.path()
    assert(os.execute("mkfifo -m 600 " .. path) == 0)
    assert.same({ nil, path .. " is no regular file" }, { gateway.secret(path) })
    local _, error = gateway.secret(folder.new())
    assert.is_truthy(error:find "is no regular file")
  end)

  it("says why a file cannot be opened", function()
    local path = folder.path()
    assert.same({ nil, path .. ": No such file or directory" }, { gateway.secret(path) })
  end)

  it("equals itself and nothing else", function()
    assert.is_true(gateway.secret_equals("secret", "secret"))
    for _, given in ipairs { "", "s", "secreT", "Secret", "secret ", "secret\0", "secretsecret" } do
      assert.is_false(gateway.secret_equals("secret", given))
    end
    assert.is_false(gateway.secret_equals("", "x"))
  end)
end)
