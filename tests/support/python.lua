--- Debian's python3 in another process: the oracle that shares no line with the gateway.

local folder = require "tests.support.folder"

local python = {}

--- Run a script with `input` on its standard input; returns its output.  Raises when it fails.
---@param script string
---@param input? string
---@return string
function python.run(script, input)
  local code, stdin = folder.file(script), folder.file(input or "")
  local command = ("/usr/bin/python3 %s < %s; echo; echo $?"):format(code, stdin)
  local pipe = assert(io.popen(command, "r"))
  local output = pipe:read("*a")
  pipe:close()
  local text, status = output:match "^(.*)\n(%d+)\n$"
  assert(status == "0", "python3 failed: " .. tostring(text))
  return text
end

--- Run a script on lines of text; returns its lines, one for each.
---@param script string
---@param lines string[]
---@return string[]
function python.lines(script, lines)
  local result = {}
  for line in python.run(script, table.concat(lines, "\n") .. "\n"):gmatch "[^\n]+" do
    result[#result + 1] = line
  end
  assert(#result == #lines, "python3 answered " .. #result .. " of " .. #lines .. " lines")
  return result
end

return python
