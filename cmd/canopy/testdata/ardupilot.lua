-- Runs a script on a copter that follows at once: ardupilot.lua FOLDER SCRIPT STEPS [TIME], with a last step at the
-- time. It prints what the script orders, and how it ends. This Lua has what ArduPilot's has: no os, coroutine and
-- debug.

package.path = arg[1] .. "/modules/?.lua"

local now, order = 0, print
local armed, mode, flying = false, 0, false
local north, east, down, charge = 0.0, 0.0, 0.0, 100

local function vector(x, y, z)
  return {x = function() return x end, y = function() return y end, z = function() return z end}
end

local function later(msec)
  return setmetatable({toint = function() return msec end},
    {__sub = function(a, b) return later(a:toint() - b:toint()) end})
end

local function home()
  local n, e, height = 0.0, 0.0, 58400
  return {
    offset = function(_, by_north, by_east) n, e = n + by_north, e + by_east end,
    alt = function(_, value)
      height = value or height
      return height
    end,
    place = function() return n, e, (height - 58400) / 100.0 end,
  }
end

local world = {
  millis = function() return later(now) end,
  gcs = {send_text = function(_, severity, text) order("text", severity, text) end},
  ahrs = {
    get_relative_position_NED_home = function() return vector(north, east, down) end,
    get_velocity_NED = function() return vector(0.0, 0.0, 0.0) end,
    get_home = home,
  },
  battery = {capacity_remaining_pct = function() return charge end},
  param = {
    get = function() return 60.0 end,
    set = function(_, name, value)
      order("set", name, value)
      return true
    end,
  },
  arming = {
    is_armed = function() return armed end,
    arm = function()
      order("arm")
      armed = true
      return true
    end,
    disarm = function()
      order("disarm")
      armed = false
      return true
    end,
  },
  vehicle = {
    get_mode = function() return mode end,
    set_mode = function(_, number)
      order("mode", number)
      mode = number
      if number == 6 then
        flying, armed, north, east, down = false, false, 0.0, 0.0, 0.0
      elseif number == 13 then
        flying, down = true, -80.0
      end
      return true
    end,
    get_likely_flying = function() return flying end,
    start_takeoff = function(_, height)
      order("take off", height)
      flying, down = true, -height
      return true
    end,
    set_target_location = function(_, to)
      local n, e, h = to.place()
      order("target", n, e, h)
      north, east, down = n, e, -h
      return true
    end,
  },
}
for _, name in ipairs({"math", "string", "table", "ipairs", "type", "error", "require", "select", "tostring"}) do
  world[name] = _G[name]
end
for _, name in ipairs({"os", "coroutine", "debug"}) do
  _G[name] = nil
end
setmetatable(_G, {__index = world})

local script = assert(loadfile(arg[1] .. "/" .. arg[2], "t", setmetatable({}, {
  __index = world,
  __newindex = function(_, name) error("the script sets the global " .. name) end,
})))
local ok, update, delay = pcall(script)
for _ = 1, tonumber(arg[3]) do
  if not ok then
    break
  end
  now, charge = now + delay, math.max(30, charge - 1)
  local before = delay
  ok, update, delay = pcall(update)
  if ok and delay ~= before then
    order("delay", delay)
  end
end
if ok and arg[4] then
  now = tonumber(arg[4])
  ok, update = pcall(update)
end
order(ok and "goes on" or update:gsub("^.-:%d+: ", ""))
