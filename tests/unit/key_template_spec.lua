local gateway = require "gateway"

local VLLM = "[{prefix}@]{model}@tp_rank:{tp:int}@pcp{pcp:int}@dcp{dcp:int}"
  .. "@pp_rank:{pp:int}[@group:{group:int}]@{hash:hex}"

describe("a key template", function()
  it("numbers its captures in the order of the text", function()
    assert.same({ "prefix", "model", "tp", "pcp", "dcp", "pp", "group", "hash" },
      gateway.template(VLLM):names())
  end)

  it("takes 16 captures and 6 groups", function()
    local text, key = "", ""
    for i = 1, 16 do
      text = text .. (i <= 6 and "[x{n%d:int}]" or "x{n%d:int}"):format(i)
      key = key .. "x" .. i
    end
    local template = assert(gateway.template(text))
    assert.equal("16", template:match(key).n16)
    assert.equal("7", template:match(key:sub(13)).n7)
  end)
end)

describe("a template is refused that", function()
  for _, case in ipairs({
    { "is empty", "", 1, "1 to 1024 bytes" },
    { "is too long", ("x"):rep(1025), 1, "1 to 1024 bytes" },
    { "never closes a capture", "ab{c", 3, "{ is never closed" },
    { "closes no capture", "ab}", 3, "} closes nothing" },
    { "never closes a group", "ab[c", 3, "[ is never closed" },
    { "closes no group", "ab]c", 3, "] closes nothing" },
    { "nests groups", "a[b[c]]", 4, "inside a [group]" },
    { "has an empty group", "a[]b", 2, "empty" },
    { "is wholly optional", "[a][b]", 1, "everything is optional" },
    { "has a capture without a name", "a{}", 3, "name" },
    { "has a name with a space", "a{b c}", 3, "name" },
    { "has a name that starts with a digit", "a{1b}", 3, "name" },
    { "has a name that is too long", "a{" .. ("n"):rep(32) .. "}", 3, "name" },
    { "repeats a name", "{a}@{a}", 6, "of that name" },
    { "repeats a name in a group", "{a}[@{a}]", 7, "of that name" },
    { "has an unknown kind", "{a:float}", 4, "int, hex or hex64" },
    { "has an empty kind", "{a:}", 4, "int, hex or hex64" },
    { "has a group inside a capture", "{a[b]}", 2, "name" },
    { "ends in an escape", "a\\", 2, "stands before" },
    { "escapes a letter", "a\\n", 2, "stands before" },
    { "has two texts side by side", "{a}{b}", 4, "nothing tells" },
    { "has two texts side by side when a group is missing", "{a}[@]{b}", 7, "nothing tells" },
    { "has a text behind a number", "{a:int}{b}", 8, "nothing tells" },
    { "has two numbers side by side", "{a:int}{b:hex}", 8, "nothing tells" },
    { "has a number behind a digest", "{a:hex64}{b:int}", 10, "nothing tells" },
    { "has a number behind a digit", "a0{b:int}", 3, "nothing tells" },
    { "has hex behind a hex digit", "a{b:hex}", 2, "nothing tells" },
    { "has a number behind a digit when a group is missing", "a0[x]{b:int}", 6, "nothing tells" },
  }) do
    it(case[1], function()
      local template, why = gateway.template(case[2])
      assert.is_nil(template)
      assert.equal(("column %d: "):format(case[3]), why:match("^column %d+: "))
      assert.truthy(why:find(case[4], 1, true), why)
    end)
  end

  it("has more than 16 captures or 6 groups", function()
    local function refusal(part, count)
      local text = {}
      for i = 1, count do
        text[i] = part:format(i)
      end
      return select(2, gateway.template("x" .. table.concat(text)))
    end
    assert.truthy(refusal("@{n%d}", 17):find("16 are the most", 1, true))
    assert.truthy(refusal("[@%d]", 7):find("6 are the most", 1, true))
    assert.truthy(refusal("[@{n%d}]", 7):find("6 are the most", 1, true))
    assert.is_nil(refusal("@{n%d}", 16))
    assert.is_nil(refusal("[@%d]", 6))
  end)
end)
