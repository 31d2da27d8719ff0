--- Run first where a sanitizer's runtime was loaded for gateway.so: this process has it now, and
--- what it starts (python3, kvgate) must not get it too.

local ffi = require "ffi"

ffi.cdef "int unsetenv(const char *name);"
ffi.C.unsetenv "LD_PRELOAD"
