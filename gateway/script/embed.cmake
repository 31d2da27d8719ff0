# Write FILES as C strings into OUT: see embedded.h.
# lua/kvgate/x.lua becomes "kvgate/x.lua"; of a header, only what stands
# between "cdef begins" and "cdef ends".
set(bodies "")
set(table "")
set(number 0)
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  if(name MATCHES "\\.lua$")
    set(name "kvgate/${name}")
    file(READ ${file} hex HEX)
  else()
    file(READ ${file} text)
    string(REGEX REPLACE "^.*/\\* cdef begins \\*/" "" text "${text}")
    string(REGEX REPLACE "/\\* cdef ends \\*/.*$" "" text "${text}")
    string(HEX "${text}" hex)
  endif()
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
  string(APPEND bodies "static const char file${number}[] = {${bytes}0};\n")
  string(APPEND table
         "    {\"${name}\", file${number}, sizeof file${number} - 1},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUT}
     "#include \"script/embedded.h\"\n\n${bodies}\n"
     "const struct embedded_file embedded_files[] = {\n${table}    {0}};\n")
