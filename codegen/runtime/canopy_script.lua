
local ROUNDS = 100 -- of a step
local SLOWEST = 65535 -- the longest time between two steps [ms]

-- Returns what ArduPilot expects of a script: the function that it calls, and after how many milliseconds. That steps
-- an execution, at least once in a period [ms], and sooner if a timer ends. The time begins with it.
local function schedule(x, step, period)
  if math.type(period) ~= "integer" or period < 1 or period > SLOWEST then
    error("the period is not a whole number from 1 to " .. SLOWEST)
  end
  local start, before = millis(), 0
  local function update()
    local now = (millis() - start):toint()
    if now < before then
      error("the script has run for more than 24 days")
    end
    before = now
    step(now)
    local due = x.next()
    if due and due - now < period then
      return update, math.max(1, due - now)
    end
    return update, period
  end
  return update, 1
end

-- Copies the inputs to the signals of an execution, and removes them: each is to be set before each step.
local function take(names, from, signals)
  for i = 1, #names do
    local name = names[i]
    local is = from[name]
    if is == true then
      is = 1.0
    elseif is == false then
      is = 0.0
    elseif is == nil then
      error("not connected: " .. name)
    elseif type(is) ~= "number" then
      error(name .. " is no number")
    end
    signals[i + 1], from[name] = is + 0.0, nil
  end
end

-- Copies what the plan writes from the signals of an execution, behind its inputs.
local function give(names, truths, signals, inputs, to)
  for i = 1, #names do
    local is = signals[1 + inputs + i]
    if truths[i] then
      to[names[i]] = is ~= 0.0
    else
      to[names[i]] = is
    end
  end
end
