--- The publisher's golden messages by name, see tests/fixtures/README.md.

local wire = require "tests.support.wire"

local golden = {}
for line in io.lines "tests/fixtures/publisher.json" do
  local name, digits = line:match '"name": "(%w+)".*"hex": "(%x+)"'
  if name then golden[name] = wire.unhex(digits) end
end
assert(golden.C1, "tests/fixtures/publisher.json: run from the root of the repository")

return golden
