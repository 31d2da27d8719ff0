--- The configuration of a chain under test, and what is wrong with it.

local config = {}

local function quote(text)
  local escaped = text:gsub('[%c"\\]', function(char) return ("\\x%02x"):format(char:byte()) end)
  return '"' .. escaped .. '"'
end

--- A value as YAML in one line.
local function yaml(value)
  if type(value) == "string" then return quote(value) end
  if type(value) ~= "table" then return (tostring(value):gsub("U?LL$", "")) end
  local parts = {}
  if #value > 0 then
    for index, item in ipairs(value) do parts[index] = yaml(item) end
    return "[" .. table.concat(parts, ", ") .. "]"
  end
  for name, item in pairs(value) do parts[#parts + 1] = quote(name) .. ": " .. yaml(item) end
  return "{" .. table.concat(parts, ", ") .. "}"
end

local function sockets(names, side, first_port)
  local list = {}
  for index, name in ipairs(names) do
    list[index] = { name = name, [side] = "tcp://127.0.0.1:" .. first_port + index }
  end
  return yaml(list)
end

--- The text of a configuration.
---@param filters table[]
---@param streams string[]
---@param sources string[]
---@return string
function config.write(filters, streams, sources)
  return ("sources: %s\nfilters: %s\nstreams: %s\ndead_letters: %s\n"):format(
    sockets(sources, "connect", 5000), yaml(filters), sockets(streams, "bind", 6000),
    yaml { bind = "inproc://letters" })
end

--- Mistakes without their places, which are of a file that nobody wrote.
---@param mistakes string
---@return string
function config.without_places(mistakes)
  return (("\n" .. mistakes):gsub("\ntest%.yaml:%d+:%d+: ", "\n"):gsub("^\n", ""):gsub("\n$", ""))
end

return config
