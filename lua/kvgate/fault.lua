--- Turns what a script raised into text for the person who can mend it.
--
--   /etc/kvgate/route.lua:12: attempt to index field 'x' (a nil value) (in function 'pick'
--   < function 'filter' route.lua:20)
--
-- all in one line, as logs want it. It begins with the innermost line of a script, whatever raised:
-- a script's chunks are named "@path", the runtime's "=kvgate/…", and only the former are shown. A
-- tail call leaves no line; then it is the one where the filter begins. In brackets is the way
-- there, if it leads through more than that line.

local getinfo = debug.getinfo

local MESSAGE_MAX = 1024
local TEXT_MAX = 2048
local FRAMES_MAX = 32
local LEVELS_MAX = 400 -- the runtime's own frames among them
local KNOWN_MAX = 24   -- names in a hint

local fault = {}

--- Paths of all files that were loaded: a message that starts with one has its place already.
local sources = {}

---@param path string
function fault.know(path) sources[path] = true end

local described = {} -- the last text made here, as a key
local mistake = {} -- the last text of fault.refuse
local running -- the function of a filter that runs, or nil
local hook -- what it is called

---@param func function?
---@param name? string "filter" unless given
function fault.enter(func, name) running, hook = func, name or "filter" end

--- Where a function starts, as "path:line".
---@param func function
---@return string
function fault.place(func)
  local info = getinfo(func, "S")
  return ("%s:%d"):format(info.source:sub(2), info.linedefined)
end

---@param value any
---@return string # "nil", "the number 5", "a table", …
function fault.name(value)
  local kind = type(value)
  if kind == "nil" or kind == "boolean" then return tostring(value) end
  if kind == "number" then return "the number " .. tostring(value) end
  if kind == "string" then return ("the string %q"):format(value:sub(1, 64)) end
  return "a " .. (kind == "cdata" and "64-bit integer or event" or kind)
end

local function distance(a, b)
  local row = {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local corner = row[0]
    row[0] = i
    for j = 1, #b do
      local change = corner + (a:byte(i) == b:byte(j) and 0 or 1)
      corner = row[j]
      row[j] = math.min(change, row[j] + 1, row[j - 1] + 1)
    end
  end
  return row[#b]
end

--- The known name that a misspelt one is most like, if any is like it.
---@param name string
---@param known string[]
---@return string?
function fault.nearest(name, known)
  local nearest, least = nil, math.floor(#name / 3) + 1
  if #name > 64 then return nil end
  for _, candidate in ipairs(known) do
    local edits = #candidate <= 64 and distance(name, candidate) or math.huge
    if edits <= least and edits < #candidate then
      nearest, least = candidate, edits - 1
    end
  end
  return nearest
end

--- For a message about a name that is none: what may have been meant, and what there is.
---@param name any
---@param known string[]
---@return string # such as '; did you mean "keep"? known are drop, keep'
function fault.hint(name, known)
  local nearest = type(name) == "string" and fault.nearest(name, known)
  local text = nearest and ("did you mean %q? "):format(nearest) or ""
  local more = #known > KNOWN_MAX and ", …" or ""
  return "; " .. text .. "known are "
    .. table.concat(known, ", ", 1, math.min(#known, KNOWN_MAX)) .. more
end

--- Raise what is wrong with what an operator wrote: while filters load, no line of a script is
--- shown, as the configuration is what must be mended.
---@param text string
function fault.refuse(text)
  mistake = text
  error(text, 0)
end

local function is_script(info) return info.source:sub(1, 1) == "@" end

--- The innermost script frames of the stack, from the inside out.
local function frames()
  local found = {}
  for level = 3, LEVELS_MAX do
    local info = getinfo(level, "Slnf")
    if not info or #found == FRAMES_MAX then break end
    if is_script(info) then found[#found + 1] = info end
  end
  return found
end

local function message_of(raised)
  local kind = type(raised)
  if kind == "number" then return tostring(raised) end
  if kind == "string" then
    return #raised <= MESSAGE_MAX and raised or raised:sub(1, MESSAGE_MAX) .. "…"
  end
  return ("raised %s instead of a message"):format(kind == "nil" and "nil" or "a " .. kind)
end

--- Split "path:12: text" if the path is a script's; LuaJIT shortens long ones.
local function placed(message, stack)
  local path, line, text = message:match("^(.-):(%d+): (.*)$")
  if not path then return nil end
  if sources[path] then return path, line, text end
  for _, info in ipairs(stack) do
    if info.short_src == path then return info.source:sub(2), line, text end
  end
  return nil
end

local function headline(message, stack)
  local path, line, text = placed(message, stack)
  if path then return ("%s:%s: %s"):format(path, line, text) end
  message = message:gsub("^kvgate/[%w_]+%.lua:%d+: ", "")
  if not stack[1] then
    return running and ("%s: %s"):format(fault.place(running), message) or message
  end
  return ("%s:%d: %s"):format(stack[1].source:sub(2), stack[1].currentline, message)
end

--- "function 'pick' route.lua:12"; the place only if the text does not begin with it.
local function describe_frame(info, text)
  local what
  if info.what == "main" then
    what = "the file"
  elseif info.name then
    what = ("function '%s'"):format(info.func == running and hook or info.name)
  else
    what = "function"
  end
  local path, line = info.source:sub(2), info.currentline
  local place = ("%s:%d: "):format(path, line)
  if text:sub(1, #place) == place then return what end
  return ("%s %s:%d"):format(what, path:match "[^/]*$", line)
end

--- How the script got there: " (in … < …)", or nothing where that is plain.
local function way(text, stack)
  local parts, size = {}, #text
  for index, info in ipairs(stack) do
    parts[index] = describe_frame(info, text)
    size = size + #parts[index] + #" < "
    if size > TEXT_MAX then
      parts[index] = "…"
      break
    end
  end
  if not parts[1] or #parts == 1 and not parts[1]:find ":%d+$" then return "" end
  return (" (in %s)"):format(table.concat(parts, " < "))
end

--- The message handler of every protected call. What an inner one described stays as it is.
---@param raised any
---@return string
function fault.describe(raised)
  if raised ~= nil and described[raised] then return raised end
  local text = message_of(raised)
  if running or raised ~= mistake then
    local stack = frames()
    text = headline(text, stack)
    text = text .. way(text, stack)
  end
  described = { [text] = true }
  return text
end

return fault
