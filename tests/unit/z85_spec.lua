--- base/z85.c: keys as text.
local gateway = require "gateway"

describe("z85", function()
  it("reads the examples of ZeroMQ's RFC 32 and of libzmq's manual", function()
    local text = "HelloWorld" .. ("0"):rep(30)
    assert.equal("\134\79\210\111\181\89\247\91" .. ("\0"):rep(24), gateway.z85_key(text))
    -- the public key of its server
    local key = assert(gateway.z85_key "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7")
    assert.equal("54FCBA24E93249969316FB617C872BB0",
      (key:sub(1, 16):gsub(".", function(c) return ("%02X"):format(c:byte()) end)))
  end)

  it("takes nothing else", function()
    for _, text in ipairs {
      "", ("0"):rep(39), ("0"):rep(41), ("0"):rep(39) .. " ", ("0"):rep(39) .. "\0",
      ("0"):rep(39) .. "\200", ("0"):rep(35) .. "#####", ("0"):rep(39) .. '"',
    } do
      assert.is_nil(gateway.z85_key(text))
    end
  end)
end)
