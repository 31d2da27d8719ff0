--- Read one field and keep the event: a link of a long chain.
return function()
  return function(event)
    return event.medium ~= "tape"
  end
end
