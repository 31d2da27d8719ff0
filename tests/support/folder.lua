--- Folders and files of one spec: gone when it is over, however it ends.

local busted = require "busted"

local folder = {}

local root, count = nil, 0

local function make_root()
  local pipe = assert(io.popen("mktemp -d -t kvgate-spec-XXXXXX"))
  root = assert(pipe:read "*l", "mktemp made no folder")
  pipe:close()
  busted.subscribe({ "suite", "end" }, function() os.execute("rm -r " .. root) end)
end

--- A path where nothing is yet.
---@return string
function folder.path()
  if not root then make_root() end
  count = count + 1
  return root .. "/" .. count
end

--- An empty folder.
---@return string
function folder.new()
  local path = folder.path()
  assert(os.execute("mkdir " .. path) == 0)
  return path
end

--- Write a file, over the one that is there.
---@param path string
---@param text string
---@return string path
function folder.write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
  return path
end

--- A file with this text.
---@param text string
---@return string path
function folder.file(text) return folder.write(folder.path(), text) end

return folder
