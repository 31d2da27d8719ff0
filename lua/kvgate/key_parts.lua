--- Which part of which block a key names.
--
-- A key is what all parts of a block have in common, its digest, and what tells them apart: ranks,
-- group, layer, component. A block's own key is the same with the latter taken as those of the
-- first part, so that it does not depend on which part came when.
--
-- A form says in `parts` what is special about a capture: function(text) that returns the text in
-- the block's key (nil: none, nor the byte in front of it), the text that tells parts apart, and
-- the text that tells models apart (without it, that of the block's key).

local ffi = require "ffi"
local key_template = require "kvgate.key_template"

local key_parts = {}

local function rank(text) return "0", text end
local function salt(text) return text, "", "" end

local COMMON = {
  tp = rank, pcp = rank, dcp = rank, pp = rank, head_or_tp = rank, group = rank, layer = rank,
  worker = rank, salt = salt,
}

local function same(text) return text, "", text end

--- The captures of the match at hand, from left to right: number, name, start and size.
local function each_capture(form)
  local index = 0
  return function()
    while index < #form.names do
      index = index + 1
      local name = form.names[index]
      local found, number = key_template.parts(form.template, name)
      local capture = found.captures[number]
      if capture.size > 0 then return name, capture.start, capture.size end
    end
  end
end

---@class kvgate.KeyParts
---@field head string the block's own key in front of its digest
---@field tail string and behind it
---@field block string what all its parts have in common, without the digest
---@field model string what blocks of its model have in common
---@field part string what tells its parts apart

--- Texts as one, from which they could be told again: a stranger's text cannot pass for two.
local function join(texts)
  local sizes = {}
  for i = 1, #texts do sizes[i] = #texts[i] end
  return table.concat(sizes, ",") .. ":" .. table.concat(texts)
end

--- Take the key apart that the form has just matched.
---@param form table of key_reader.inside
---@param key string
---@return kvgate.KeyParts
function key_parts.read(form, key)
  local head, tail, model, part = {}, {}, { tostring(form.number) }, {}
  local block, behind = head, 0
  for name, start, size in each_capture(form) do
    local between, text = key:sub(behind + 1, start), key:sub(start + 1, start + size)
    behind = start + size
    if name == "digest" then
      block[#block + 1] = between
      block = tail
    else
      local shown, own, kind = (form.parts[name] or COMMON[name] or same)(text)
      if not shown then between, shown = between:sub(1, -2), "" end
      block[#block + 1] = between .. shown
      model[#model + 1] = kind or shown
      part[#part + 1] = own
    end
  end
  tail[#tail + 1] = key:sub(behind + 1)
  local left, right = table.concat(head), table.concat(tail)
  return {
    head = left,
    tail = right,
    block = join { tostring(form.number), left, right },
    model = join(model),
    part = join(part),
  }
end

--- Whether the form's keys tell parts apart at all: some name them in a text of their own.
---@param form table
---@return boolean
function key_parts.knows(form)
  for _, name in ipairs(form.names) do
    if name == "rest" then return false end
  end
  return true
end

--- For C: where the form's matches are.
---@param form table
---@return ffi.cdata* struct shard_form
function key_parts.form(form)
  local found, digest = key_template.parts(form.template, "digest")
  return ffi.new("struct shard_form", { found, digest, form.number })
end

return key_parts
