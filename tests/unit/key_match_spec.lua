local gateway = require "gateway"

local H64 = "6358e31578a64b75ebe28cdb99d3beae65de82a2087321dc6ec84ae048faaaa6"
local VLLM = "[{prefix}@]{model}@tp_rank:{tp:int}@pcp{pcp:int}@dcp{dcp:int}"
  .. "@pp_rank:{pp:int}[@group:{group:int}]@{hash:hex}"

local function match(template, key)
  return assert(gateway.template(template)):match(key)
end

describe("a key template", function()
  -- template, key, captures (false: no match)
  for _, case in ipairs({
    { "abc", "abc", {} },
    { "abc", "abcd", false },
    { "abc", "xabc", false },
    { "{a}", "x", { a = "x" } },
    { "{a}", "", false },
    { "{a}", "any\0bytes\255", { a = "any\0bytes\255" } },
    { "{a}@{b}", "x@y", { a = "x", b = "y" } },
    { "{a}@{b}", "x@y@z", { a = "x@y", b = "z" } },
    { "{a}@{b}", "@y", false },
    { "{a}@{b}", "x@", false },
    { "{a}@{b}", "x@@", { a = "x", b = "@" } },
    { "{a}@{b}", "@@@", { a = "@", b = "@" } },
    { "{a}ab{b}", "xabab", { a = "x", b = "ab" } },
    { "{n:int}", "0", { n = "0" } },
    { "{n:int}", "007", { n = "007" } },
    { "{n:int}", "18446744073709551615", { n = "18446744073709551615" } },
    { "{n:int}", "18446744073709551616", false },
    { "{n:int}", "000000000000000000001", false },
    { "{n:int}", "-1", false },
    { "{n:int}", "+1", false },
    { "{n:int}", " 1", false },
    { "{n:int}", "", false },
    { "{n:int}", "1f", false },
    { "{n:hex}", "1fF", { n = "1fF" } },
    { "{n:hex}", "0x1f", false },
    { "[0x]{n:hex}", "0x1f", { n = "1f" } },
    { "{n:hex}", "g", false },
    { "{n:hex}", "", false },
    { "{n:hex}", H64 .. H64, { n = H64 .. H64 } },
    { "{h:hex64}", H64, { h = H64 } },
    { "{h:hex64}", H64:upper(), { h = H64:upper() } },
    { "{h:hex64}", H64 .. "0", false },
    { "{h:hex64}", H64:sub(2), false },
    { "{h:hex64}", H64:sub(2) .. "g", false },
    { "{a}{h:hex64}", "f" .. H64, { a = "f", h = H64 } },
    { "{a}{n:int}", "pcp12", { a = "pcp", n = "12" } },
    { "{a}{n:int}", "12", false },
    { "{a}{n:int}", "x000000000000000000001", false },
    { "x{a:int}0", "x120", { a = "12" } },
    { "a[b]c", "abc", {} },
    { "a[b]c", "ac", {} },
    { "a[b]c", "abbc", false },
    { "[{p}@]{m}@z", "m@z", { m = "m" } },
    { "[{p}@]{m}@z", "p@m@z", { p = "p", m = "m" } },
    { "[{p}@]{m}@z", "p@q@m@z", { p = "p@q", m = "m" } },
    { "[{p}@]{m}@z", "@m@z", { m = "@m" } },
    { "{m}[@{t}]", "m", { m = "m" } },
    { "{m}[@{t}]", "m@t@u", { m = "m@t", t = "u" } },
    { "{m}[@a:{a:int}][@b:{b:int}]", "m@a:1", { m = "m", a = "1" } },
    { "{m}[@a:{a:int}][@b:{b:int}]", "m@b:1", { m = "m", b = "1" } },
    { "{m}[@a:{a:int}][@b:{b:int}]", "m@b:1@a:1", { m = "m@b:1", a = "1" } },
    { "\\{{a}\\}\\[\\]\\\\", "{x}[]\\", { a = "x" } },
    { "a:b", "a:b", {} },
    { "é{a}", "éü", { a = "ü" } },
    { VLLM, "deployment-a@model-a@tp_rank:2@pcp1@dcp0@pp_rank:3@group:4@"
        .. "0123456789abcdef000000000000002a",
      { prefix = "deployment-a", model = "model-a", tp = "2", pcp = "1", dcp = "0", pp = "3",
        group = "4", hash = "0123456789abcdef000000000000002a" } },
    { VLLM, "model-b@tp_rank:0@pcp0@dcp0@pp_rank:0@000000000000002b",
      { model = "model-b", tp = "0", pcp = "0", dcp = "0", pp = "0", hash = "000000000000002b" } },
    { VLLM, "a@b@c@tp_rank:1@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. H64,
      { prefix = "a@b@c", model = "tp_rank:1", tp = "0", pcp = "0", dcp = "0", pp = "0",
        hash = H64 } },
    { VLLM, "m@tp_rank:x@pcp0@dcp0@pp_rank:0@" .. H64, false },
    { VLLM, "m@tp_rank:0@pcp0@dcp0@pp_rank:0@group:@" .. H64, false },
    { VLLM, "@tp_rank:0@pcp0@dcp0@pp_rank:0@" .. H64, false },
    { VLLM, "", false },
  }) do
    local text = ("%q %s %q"):format(case[1], case[3] and "matches" or "does not match", case[2])
    it(text:sub(1, 150), function()
      assert.same(case[3] or nil, match(case[1], case[2]))
    end)
  end
end)

-- The definition in key_template.h, word by word, without any shortcut.
local function by_definition(parts, key)
  local groups = 0
  for _, part in ipairs(parts) do
    groups = math.max(groups, part.group or 0)
  end

  local function rest_matches(chosen, index, at, captures)
    if index == 0 then
      return at == 0
    end
    local part = chosen[index]
    if part.kind == "literal" then
      local start = at - #part.text
      return start >= 0 and key:sub(start + 1, at) == part.text
        and rest_matches(chosen, index - 1, start, captures)
    elseif part.kind == "text" then
      for start = at - 1, 0, -1 do
        captures[part.name] = key:sub(start + 1, at)
        if rest_matches(chosen, index - 1, start, captures) then
          return true
        end
      end
      return false
    end
    local digit, start = part.kind == "int" and "%d" or "%x", at
    while start > 0 and key:sub(start, start):find(digit) do
      start = start - 1
    end
    captures[part.name] = key:sub(start + 1, at)
    return start < at and at - start <= 19 and rest_matches(chosen, index - 1, start, captures)
  end

  for choice = 2 ^ groups - 1, 0, -1 do
    local chosen, captures = {}, {}
    for _, part in ipairs(parts) do
      if not part.group or math.floor(choice / 2 ^ (part.group - 1)) % 2 == 1 then
        chosen[#chosen + 1] = part
      end
    end
    if rest_matches(chosen, #chosen, #key, captures) then
      local kept = {}
      for _, part in ipairs(chosen) do
        if part.name then
          kept[part.name] = captures[part.name]
        end
      end
      return kept
    end
  end
end

describe("matching", function()
  local function pick(list)
    return list[math.random(#list)]
  end

  local literals = { "@", "a", "1", "b@", "_" }

  local function random_template()
    local parts, texts, group = {}, {}, 0
    for i = 1, math.random(2, 7) do
      local kind = pick({ "literal", "literal", "text", "int", "hex" })
      local part = { kind = kind }
      if kind == "literal" then
        part.text = pick(literals)
      else
        part.name = "n" .. i
      end
      local text = part.text or "{" .. part.name .. (kind == "text" and "" or ":" .. kind) .. "}"
      if group < 4 and math.random(3) == 1 then
        group = group + 1
        part.group = group
        text = "[" .. text .. "]"
      end
      parts[i], texts[i] = part, text
    end
    return parts, table.concat(texts)
  end

  local function random_key(parts)
    local key = {}
    for _, part in ipairs(parts) do
      if math.random(8) == 1 then
        key[#key + 1] = pick(literals)
      elseif not part.group or math.random(2) == 1 then
        key[#key + 1] = part.text
          or part.kind == "text" and pick({ "x", "a@", "1", "@1a", "b@b@" })
          or pick({ "1", "11", "01" })
      end
    end
    return table.concat(key)
  end

  --- Match keys with the template and by definition; returns how many matched.
  local function compare(parts, text, template, keys)
    local matched = 0
    for _, key in ipairs(keys) do
      local expected = by_definition(parts, key)
      assert.same(expected, template:match(key), text .. " on " .. key)
      matched = matched + (expected and 1 or 0)
    end
    return matched
  end

  it("agrees with its definition on random templates and keys", function()
    math.randomseed(7)
    local matched, total = 0, 0
    while matched < 3000 or total - matched < 3000 do
      local parts, text = random_template()
      local template = gateway.template(text)
      if template then
        local keys = {}
        for i = 1, 4 do keys[i] = random_key(parts) end
        matched = matched + compare(parts, text, template, keys)
        total = total + #keys
      end
    end
  end)

  -- What stands left of a digest at the right end is remembered, see key_atom.h.
  it("agrees with its definition on keys that differ in their digest only", function()
    math.randomseed(8)
    local matched = 0
    while matched < 3000 do
      local parts, text = random_template()
      parts[#parts + 1] = { kind = "literal", text = "#" }
      parts[#parts + 1] = { kind = "hex", name = "hash" }
      text = text .. "#{hash:hex}"
      local template = gateway.template(text)
      if template then
        local heads, keys = {}, {}
        for i = 1, 6 do heads[i] = random_key(parts):match "^(.-)#?[^#]*$" end
        for i = 1, 12 do keys[i] = pick(heads) .. "#" .. pick({ "0", "1f", "abc", "x" }) end
        matched = matched + compare(parts, text, template, keys)
      end
    end
  end)

  it("tells more heads apart than it can remember, and long ones", function()
    local template = assert(gateway.template "[{p}@]{m}@r{n:int}@{hash:hex}")
    for round = 1, 3 do
      for i = 1, 500 do
        local model = ("m"):rep(i) .. i
        local key = ("%s%s@r%d@%x"):format(i % 2 == 0 and "p@" or "", model, i, i * round)
        local expected = {
          p = i % 2 == 0 and "p" or nil, m = model, n = tostring(i),
          hash = ("%x"):format(i * round),
        }
        assert.same(expected, template:match(key))
      end
    end
  end)

  -- A backtracking matcher would need longer than the age of the universe.
  for _, case in ipairs({
    { "texts that could share a delimiter", "{a}@{b}@{c}@{d}@{e}!", "@" },
    { "texts behind digits", "{a:int}1{b}1{c}!", "1" },
    { "groups that all fit", "x[{a}@][{b}@][{c}@][{d}@][{e}@]{f}@", "@" },
    { "digits up to a literal digit", "{a:int}x{b:int}1{c}!", "1" },
    { "a digest before a text", "[{p}_]{h:hex64}[_{s}]", "a_" },
    { "a literal that nearly fits", "a" .. ("b"):rep(200) .. "{x}", "b" },
  }) do
    it("takes linear time on a key of 1 MiB: " .. case[1], function()
      local template = assert(gateway.template(case[2]))
      local key = case[3]:rep(2 ^ 20 / #case[3])
      local started = os.clock()
      assert.is_nil(template:match(key))
      assert.is_true(os.clock() - started < 30) -- seconds of CPU, under sanitizers too
    end)
  end

  it("gives up on keys above 1 MiB", function()
    assert.equal(2 ^ 20, #match("{a}", ("x"):rep(2 ^ 20)).a)
    assert.is_nil(match("{a}", ("x"):rep(2 ^ 20 + 1)))
  end)
end)
