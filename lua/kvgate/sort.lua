--- table.sort for scripts: in Lua, so that it can be stopped, and as quick whatever the order.
--
-- Runs of a few items are sorted by insertion, then merged, twice as many each time, from one table
-- into another. Equal items keep their order.

local min = math.min

local RUN = 16

local function is_less(a, b) return a < b end

local function sort_run(items, first, last, comes_before)
  for index = first + 1, last do
    local item, at = items[index], index
    while at > first and comes_before(item, items[at - 1]) do
      items[at] = items[at - 1]
      at = at - 1
    end
    items[at] = item
  end
end

--- Two runs, the right one from `middle` on, into one.
local function merge(from, into, first, middle, last, comes_before)
  local left, right = first, middle
  for index = first, last do
    if left < middle and (right > last or not comes_before(from[right], from[left])) then
      into[index] = from[left]
      left = left + 1
    else
      into[index] = from[right]
      right = right + 1
    end
  end
end

---@param items table
---@param comes_before? fun(a: any, b: any): any
return function(items, comes_before)
  local count, width = #items, RUN
  local from, into = items, {}
  comes_before = comes_before or is_less
  for first = 1, count, RUN do
    sort_run(items, first, min(first + RUN - 1, count), comes_before)
  end
  while width < count do
    for first = 1, count, 2 * width do
      local middle, last = min(first + width, count + 1), min(first + 2 * width - 1, count)
      merge(from, into, first, middle, last, comes_before)
    end
    from, into, width = into, from, 2 * width
  end
  if from == items then return end
  for index = 1, count do items[index] = from[index] end
end
