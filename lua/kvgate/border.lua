--- The C half of the border, as the runtime sees it: `struct border *` of border_abi.h.
--
-- For the runtime's own modules only: a script that held this could write anywhere.

local ffi = require "ffi"

return ffi.cast("struct border *", require("kvgate.world").border)
