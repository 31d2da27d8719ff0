--- Lines in the gateway's log.
--
--   local log = require "kvgate.log"
--   log.warn("no route for tenant " .. tenant)
--
-- A filter's lines go through a gate: ten in ten seconds, the others are counted.

local ffi = require "ffi"
local border = require "kvgate.border"
local fault = require "kvgate.fault"

local ABI = ffi.C

local log = {}

local function write(word, level, text)
  if type(text) ~= "string" then
    error(("log.%s takes a text, not %s"):format(word, fault.name(text)), 0)
  end
  border.log(border, level, text, #text)
end

--- Shown with `log: debug` in the configuration only.
---@param text string
function log.debug(text) write("debug", ABI.BORDER_LOG_DEBUG, text) end

---@param text string
function log.info(text) write("info", ABI.BORDER_LOG_INFO, text) end

--- Something an operator may want to mend.
---@param text string
function log.warn(text) write("warn", ABI.BORDER_LOG_WARN, text) end

--- Something that is wrong.
---@param text string
function log.error(text) write("error", ABI.BORDER_LOG_ERROR, text) end

return log
