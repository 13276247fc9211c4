
-- The number of each mode in ArduPilot.
local MODES = {%s}

local function mode()
  for word, number in pairs(MODES) do
    if vehicle:get_mode() == number then
      return word
    end
  end
  return 0
end

-- The time of the last value of a source.
local stamps = {}
local function stamp(source, is_known, time)
  if is_known then
    stamps[source] = time
  end
  return stamps[source] or -math.huge
end

-- Gives an order when something else is wanted, until the autopilot takes it. So the pilot can take over.
local taken, refused = {}, false
local function order(what, wanted, give)
  if taken[what] ~= wanted then
    if give() then
      taken[what] = wanted
    else
      refused = true
    end
  end
end

local function carry_out(w)
  refused = false
  if w.arm or taken.arm then
    order("arm", w.arm, function()
      if w.arm then
        return arming:is_armed() or arming:arm()
      end
      return not vehicle:get_likely_flying() and arming:disarm()
    end)
  end
  local number = MODES[math.floor(w.wanted_mode)]
  if number then
    order("mode", number, function() return vehicle:set_mode(number) end)
  end
  if w.target_h ~= 0.0 and vehicle:get_mode() == MODES[%d] then
    local flies = vehicle:get_likely_flying()
    order("target", string.format("%%.2f %%.2f %%.2f %%s", w.target_north, w.target_east, w.target_h, flies), function()
      if not flies then
        return %s
      end
      local to = ahrs:get_home()
      to:offset(w.target_north, w.target_east)
      to:alt(to:alt() + math.floor(w.target_h * 100.0))
      return vehicle:set_target_location(to)
    end)
  end
end
