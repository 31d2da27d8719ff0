--- Environment variables of this process.

local ffi = require "ffi"

ffi.cdef [[
int setenv(const char *name, const char *value, int overwrite);
int unsetenv(const char *name);
]]

local environment = {}

---@param name string
---@param value? string without it the variable is taken away
function environment.set(name, value)
  if value then ffi.C.setenv(name, value, 1) else ffi.C.unsetenv(name) end
end

return environment
