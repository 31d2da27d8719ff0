--- base/security.c: lists of the keys that are let in.
local folder = require "tests.support.folder"
local gateway = require "gateway"

local ONE = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
local TWO = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
local OTHER = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"

local function list(...)
  return folder.file(table.concat({ ... }, "\n") .. "\n")
end

describe("security", function()
  it("without a list lets every key in", function()
    assert.is_true(gateway.listed(nil, ONE))
  end)

  it("with a list lets those on it in", function()
    local path = list("# the routers", "", TWO .. "  router-2", ONE, "#", OTHER:sub(1, 0))
    assert.is_true(gateway.listed(path, ONE))
    assert.is_true(gateway.listed(path, TWO))
    assert.is_false(gateway.listed(path, OTHER))
  end)

  it("with an empty list lets nobody in", function()
    assert.is_false(gateway.listed(list "", ONE))
    assert.is_false(gateway.listed(list "# nobody", ONE))
  end)

  it("finds each of many", function()
    local lines = {}
    for i = 1, 1000 do
      lines[i] = ("%05d"):format(i) .. ONE:sub(6)
    end
    local path = list(unpack(lines))
    for i = 1, 1000 do
      assert.is_true(gateway.listed(path, lines[i]))
    end
    assert.is_false(gateway.listed(path, ONE))
  end)

  it("tells a line that is no key by its number, and does not show it", function()
    local path = list(ONE, "secret words", TWO)
    assert.same({ nil, path .. ":2: that is no key: expected 40 characters of Z85, got 6" },
      { gateway.listed(path, ONE) })
    path = list((ONE:gsub("r", '"')))
    assert.same(
      { nil, path .. ":1: that is no key: expected 40 characters of Z85, got 40, "
        .. "some of which Z85 has not" }, { gateway.listed(path, ONE) })
  end)

  it("says why a list cannot be read", function()
    local path = folder.path()
    assert.same({ nil, path .. ": No such file or directory" }, { gateway.listed(path, ONE) })
    assert(os.execute("mkfifo " .. path) == 0)
    assert.same({ nil, path .. ": it is no regular file" }, { gateway.listed(path, ONE) })
  end)
end)
