--- Counters and gauges of a filter's own, on /metrics.
--
--   local metrics = require "kvgate.metrics"
--   local events = metrics.counter("tenant_events_total", { labels = { "tenant_id" } })  -- at load
--   events:add(1, event.tenant_id)
--
-- Values lie in C by series; a table of tables leads from label values to the number of the series.
-- What has no series of its own is counted in number 0, and not remembered here: strangers choose
-- label values.

local ffi = require "ffi"
local border = require "kvgate.border"
local fault = require "kvgate.fault"
local u64 = require "kvgate.u64"
local world = require "kvgate.world"

local C = border.metrics
local ABI = ffi.C
local LABELS_MAX, SERIES_MAX = ABI.METRIC_LABELS, ABI.METRIC_SERIES
local LIMIT = 1000 -- series, unless a filter says otherwise
local NAME_MAX = 64
local EXACT = 2 ^ 53
local apart = world.apart

local metrics = {}

-- ---- declaring ----

local OPTIONS = { "help", "labels", "limit" }

--- Families that /metrics has of each filter anyway.
local TAKEN = {}
for name in ("kept dropped rewritten split errors emitted"):gmatch "%a+" do
  TAKEN[name .. "_total"] = true
end

--- Labels that each series has anyway.
local PLACE = { filter = true, stream = true, position = true }

local function check_name(what, name)
  if type(name) ~= "string" or #name > NAME_MAX or not name:find "^%l[%l%d_]*$" then
    error(("%s: a name is a text of up to %d bytes, lower-case letters, digits and _, not %s")
      :format(what, NAME_MAX, fault.name(name)), 0)
  end
  if TAKEN[name] then error(("%s %q: each filter has that anyway"):format(what, name), 0) end
end

local function check_labels(what, labels)
  local seen = {}
  if type(labels) ~= "table" or #labels > LABELS_MAX then
    error(("%s: labels is a list of up to %d names, not %s")
      :format(what, LABELS_MAX, type(labels) == "table" and "of " .. #labels
        or fault.name(labels)), 0)
  end
  for _, label in ipairs(labels) do
    if type(label) ~= "string" or #label > NAME_MAX or not label:find "^%a[%w_]*$" then
      error(("%s: a label is a text of up to %d bytes, letters, digits and _, not %s")
        :format(what, NAME_MAX, fault.name(label)), 0)
    end
    if PLACE[label] or seen[label] then
      error(("%s: the label %q is there already"):format(what, label), 0)
    end
    seen[label] = true
  end
end

local function check_options(what, options)
  for key in next, options do
    if key ~= "help" and key ~= "labels" and key ~= "limit" then
      error(("%s: unknown option '%s'%s"):format(what, tostring(key), fault.hint(key, OPTIONS)), 0)
    end
  end
  local help, limit = options.help or "Counted by a filter.", options.limit or LIMIT
  if type(help) ~= "string" or #help > 256 then
    error(("%s: help is a text of up to 256 bytes, not %s"):format(what, fault.name(help)), 0)
  end
  if type(limit) ~= "number" or limit % 1 ~= 0 or limit < 1 or limit > SERIES_MAX then
    error(("%s: limit is a whole number of series, 1 to %d, not %s")
      :format(what, SERIES_MAX, fault.name(limit)), 0)
  end
  check_labels(what, options.labels or {})
  return help, options.labels or {}, limit
end

local REFUSED = {
  [ABI.METRIC_TWICE] = "this filter has it already",
  [ABI.METRIC_OTHER] = "a filter in front has a metric of this name and the other kind",
  [ABI.METRIC_TOO_MANY] = ("all filters together may have %d metrics"):format(ABI.METRIC_MAX),
}

--- Declare it in C.
---@return ffi.cdata* metric
---@return integer # how many labels it has
local function declare(kind, word, name, options)
  local what = "metrics." .. word
  check_name(what, name)
  what = ("%s %q"):format(what, name)
  if options ~= nil and type(options) ~= "table" then
    error(("%s: expected options such as { labels = { \"tenant_id\" } }, not %s")
      :format(what, fault.name(options)), 0)
  end
  local help, labels, limit = check_options(what, options or {})
  if border.batch.serial ~= 0 then
    error(what .. ": declare it while the filter loads", 0)
  end
  local wanted = ffi.new("struct metric_wanted", { name = name, help = help, kind = kind,
    limit = limit, label_count = #labels })
  for index, label in ipairs(labels) do wanted.labels[index - 1] = label end
  local box = ffi.new "struct metric *[1]"
  local found = C.declare(border, wanted, box)
  if found ~= ABI.METRIC_DONE then error(what .. ": " .. REFUSED[found], 0) end
  return box[0], #labels
end

-- ---- from label values to a series ----

local function text_of(value)
  local kind = type(value)
  if kind == "string" then return value end
  if kind == "number" or kind == "boolean" then return tostring(value) end
  if kind == "nil" then return "" end
  if ffi.istype("uint64_t", value) or ffi.istype("int64_t", value) then
    return u64.tostring(value)
  end
  error("a label's value is a text, a number, a boolean or nil, not " .. fault.name(value), 0)
end

--- By the number of labels: the series of these values, nil if they have none so far.
local lookups = {
  [0] = function() return 0 end,
  function(series, a) return series[a == nil and "" or a] end,
  function(series, a, b)
    series = series[a == nil and "" or a]
    return series and series[b == nil and "" or b]
  end,
  function(series, a, b, c)
    series = series[a == nil and "" or a]
    series = series and series[b == nil and "" or b]
    return series and series[c == nil and "" or c]
  end,
  function(series, a, b, c, d)
    series = series[a == nil and "" or a]
    series = series and series[b == nil and "" or b]
    series = series and series[c == nil and "" or c]
    return series and series[d == nil and "" or d]
  end,
}

local function remember(series, values, count, number)
  for index = 1, count - 1 do
    local inner = series[values[index]]
    if not inner then
      inner = {}
      series[values[index]] = inner
    end
    series = inner
  end
  series[values[count]] = number
end

--- The slow way, for values that were not met so far, or are no texts.
local function make_finder(metric, count, series)
  local lookup = lookups[count]
  local values, sizes = ffi.new("const char *[?]", LABELS_MAX), ffi.new("size_t[?]", LABELS_MAX)
  return function(...)
    local texts = {}
    for index = 1, count do texts[index] = text_of((select(index, ...))) end
    for index = count + 1, LABELS_MAX do
      if select(index, ...) ~= nil then
        error(("the metric has %d labels, and there is a value for number %d")
          :format(count, index), 0)
      end
    end
    local number = lookup(series, unpack(texts))
    if number then return number end
    for index = 1, count do values[index - 1], sizes[index - 1] = texts[index], #texts[index] end
    number = C.series(border, metric, values, sizes)
    if number ~= 0 then remember(series, texts, count, number) end
    return number
  end
end

--- What leads from label values to the number of their series.
local function make_series(metric, count)
  local series = {}
  local lookup, find = lookups[count], make_finder(metric, count, series)
  return function(a, b, c, d)
    return lookup(series, a, b, c, d) or apart(find, a, b, c, d)
  end
end

-- ---- what scripts hold ----

local function refuse_number(what, expected, value)
  error(("%s takes %s, not %s"):format(what, expected, fault.name(value)), 0)
end

local function sealed(methods)
  return setmetatable({}, {
    __index = methods,
    __newindex = function() error("a metric cannot be changed so", 0) end,
    __metatable = false,
  })
end

--- A number that only grows, from 0 on with each start and reload.
---@param name string such as "tenant_events_total"
---@param options { help?: string, labels?: string[], limit?: integer }?
---@return kvgate.Counter
function metrics.counter(name, options)
  local metric, count = declare(ABI.METRIC_COUNTER, "counter", name, options)
  local counts, series = metric.counts, make_series(metric, count)

  ---@class kvgate.Counter
  local methods = {}

  --- Count: a value for each label, as the declaration lists them; nil is the empty text.
  ---@param amount integer 0 or more
  ---@param a kvgate.Label?
  ---@param b kvgate.Label?
  ---@param c kvgate.Label?
  ---@param d kvgate.Label?
  function methods:add(amount, a, b, c, d) -- luacheck: ignore 212/self
    if type(amount) ~= "number" or not (amount >= 0 and amount <= EXACT) or amount % 1 ~= 0 then
      refuse_number("counter:add", "a whole number from 0 to 2^53", amount)
    end
    local number = series(a, b, c, d)
    counts[number] = counts[number] + amount
  end

  return sealed(methods)
end

--- A number that may be anything.
---@param name string such as "blocks"
---@param options { help?: string, labels?: string[], limit?: integer }?
---@return kvgate.Gauge
function metrics.gauge(name, options)
  local metric, count = declare(ABI.METRIC_GAUGE, "gauge", name, options)
  local levels, series = metric.levels, make_series(metric, count)

  ---@class kvgate.Gauge
  local methods = {}

  --- This is its value: for each label one, as the declaration lists them.
  ---@param value number
  ---@param a kvgate.Label?
  ---@param b kvgate.Label?
  ---@param c kvgate.Label?
  ---@param d kvgate.Label?
  function methods:set(value, a, b, c, d) -- luacheck: ignore 212/self
    if type(value) ~= "number" then refuse_number("gauge:set", "a number", value) end
    levels[series(a, b, c, d)] = value
  end

  --- Its value changes by so much.
  ---@param change number
  ---@param a kvgate.Label?
  ---@param b kvgate.Label?
  ---@param c kvgate.Label?
  ---@param d kvgate.Label?
  function methods:add(change, a, b, c, d) -- luacheck: ignore 212/self
    if type(change) ~= "number" then refuse_number("gauge:add", "a number", change) end
    local number = series(a, b, c, d)
    levels[number] = levels[number] + change
  end

  return sealed(methods)
end

return metrics
