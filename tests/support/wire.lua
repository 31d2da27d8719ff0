--- The msgpack writer and reader, which comes with kvgate.testing.
package.path = "./lua/?.lua;" .. package.path

return require "kvgate.testing_wire"
