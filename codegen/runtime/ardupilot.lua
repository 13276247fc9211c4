
-- The modes of the plan by their numbers in ArduPilot, and the numbers that are commanded.
local MODES = {%s}
local NUMBERS = {%s}

local wanted_mode = 0
local function mode()
  local number = vehicle:get_mode()
  return number == NUMBERS[wanted_mode] and wanted_mode or MODES[number] or 0
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

-- Carries out the mode, then the motors, then the target.
local function carry_out(w)
  refused, wanted_mode = false, math.floor(w.wanted_mode)
  local number = NUMBERS[wanted_mode]
  if number then
    order("mode", number, function() return %svehicle:set_mode(number) end)
  end
  if w.arm or taken.arm then
    order("arm", w.arm, function()
      if w.arm then
        return arming:is_armed() or arming:arm()
      end
      return not vehicle:get_likely_flying() and arming:disarm()
    end)
  end
  if w.target_h ~= 0.0 and vehicle:get_mode() == NUMBERS[%d] and arming:is_armed() then
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
