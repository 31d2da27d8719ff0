std = "luajit"
max_line_length = 100
files["tests/**/*_spec.lua"] = { std = "luajit+busted" }
files["tests/support/*.lua"] = { std = "luajit+busted" }
not_globals = { "os.tmpname" } -- it leaves a file behind: tests/support/folder.lua
