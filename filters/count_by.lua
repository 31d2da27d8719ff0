--- Count events on /metrics: by tenant, or by any fields. Changes nothing and drops nothing.
--
-- `cleared` is counted like every event. A field that is absent or nil counts as the empty text.

local check = require "kvgate.options"
local metrics = require "kvgate.metrics"

local MOST = 4 -- labels that a metric may have

--- What a field holds, as a label: lists and maps are none.
local function label(value)
  return type(value) == "table" and "_other" or value
end

--- `name` is the metric's, behind kvgate_filter_; `limit` is how many series it may have.
---@param options { fields?: string|string[], name?: string, limit?: integer }
---@return kvgate.Filter
return function(options)
  local given = check.options(options, { fields = "strings", name = "string", limit = "count" })
  local fields = given.fields or { "tenant_id" }
  if #fields > MOST then
    check.refuse("fields", ("up to %d fields"):format(MOST), fields)
  end
  local count = metrics.counter(given.name or "events_total", {
    help = "Events that came to the filter, by their fields.", labels = fields,
    limit = given.limit,
  })
  local first, second, third, fourth = unpack(fields)

  return function(event)
    count:add(1, label(event[first]), second and label(event[second]),
      third and label(event[third]), fourth and label(event[fourth]))
    return true
  end
end
