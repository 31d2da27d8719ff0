--- Give every tenant the stream of its number, counted round `streams`.
---@param options { streams: integer }
return function(options)
  local route = {}
  for tenant = 0, 15 do
    route[("tenant-%02d"):format(tenant)] = "s" .. tenant % options.streams
  end

  return function(event)
    return route[event.tenant_id] or false
  end
end
