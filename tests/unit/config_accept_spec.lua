--- base/config_accept.c: tests on what identifies an object, and on nothing else.
local subject = require "tests.support.config"
local stream = subject.stream

describe("config_accept", function()
  local mistakes = {
    {
      "an accept that is none",
      stream "accept: §[ tenant_id ]",
      "accept: expected a map of fields and values, got a list",
    },
    {
      "fields that cannot be tested",
      stream "accept: { §tenant: a, §event_id: 5, §7: x }",
      'unknown field in accept "tenant", did you mean "tenant_id"?',
      'unknown field in accept "event_id", expected one of model_name, block_size, '
        .. "additional_salt, lora_name, tenant_id, backend_id, medium, dp_rank, group_id, "
        .. "object_key",
      "the number 7 is no field, expected a string",
    },
    {
      "a test on the type of an event, and says why it cannot be",
      stream "accept: { §event_type: stored, §type: stored }",
      "event_type cannot be tested: a stream without removed or cleared events keeps ghosts "
        .. "in every indexer, expected a field that identifies the object",
      "type cannot be tested: a stream without removed or cleared events keeps ghosts "
        .. "in every indexer, expected a field that identifies the object",
    },
    {
      "values that no event has",
      stream(
        "accept: { tenant_id: [ §5, §[ a ] ], dp_rank: §x, medium: §[ ], "
          .. "block_size: [ §1.5, §-1, §true ] }"
      ),
      "tenant_id: expected a string (in quotes), or null, got the number 5",
      "tenant_id: expected a string (in quotes), or null, got a list",
      'dp_rank: expected a whole number from 0, or null, got "x"',
      "medium: an empty list accepts nothing, expected values",
      "block_size: expected a whole number from 0, or null, got the number 1.5",
      "block_size: expected a whole number from 0, or null, got the number -1",
      "block_size: expected a whole number from 0, or null, got true",
    },
  }
  subject.tells(mistakes)
end)
