--- Where a spec is told what is wrong: at its own line, whatever here it went through.

local place = {}

local HERE = debug.getinfo(1, "S").source:match "^.*/"

--- How far above its caller the spec is: the innermost function that is not of this folder. As
--- `error` counts.
local function spec_level()
  local level = 2
  local info = debug.getinfo(level, "S")
  while info and (info.what == "C" or info.source:sub(1, #HERE) == HERE) do
    level = level + 1
    info = debug.getinfo(level, "S")
  end
  return info and level - 1 or 0
end

--- Raise: the spec is wrong, or a filter does not load.
---@param text string
---@param ... any as string.format takes them
function place.raise(text, ...) error(text:format(...), spec_level()) end

--- Fail the test: an assertion does not hold.
---@param message string
function place.fail(message)
  local busted, luassert = pcall(require, "luassert")
  local level = spec_level()
  if busted then luassert(false, message, luassert:level(level)) end
  error(message, level)
end

return place
