-- Executes plans by the inputs on standard input, and prints what they do: programs.lua FOLDER, in which plan 3 is the
-- module m3_plan.lua. Statuses and tasks have numbers from 0, as in C.

local numbers = {Success = 0, Failure = 1, Accept = 2, Activating = 3, Running = 4, Finished = 5, Aborted = 6,
  Deactivating = 7, Skipped = 8, Dropped = 9}
local special = {NaN = 0.0 / 0.0, ["+Inf"] = math.huge, ["-Inf"] = -math.huge}

local function changed(task, from, to)
  print(string.format("%d: %d -> %d", task - 1, numbers[from], numbers[to]))
end

local x, inputs
local commands = {}

function commands.plan(number, n)
  x, inputs = dofile(string.format("%s/m%d_plan.lua", arg[1], number)).begin(changed), n
  print(string.format("plan %d", number))
end

function commands.step(t, ...)
  for i, value in ipairs({...}) do
    x.signals[i + 1] = value
  end
  print("step " .. (x.step(math.tointeger(t * 1000.0), 200) and 1 or 0))
  local line = {}
  for i = inputs + 2, #x.signals do
    line[#line + 1] = string.format("%.17g ", x.signals[i])
  end
  print(table.concat(line))
end

function commands.halt()
  x.halt()
end

for line in io.lines() do
  local word, rest = line:match("^(%a+)(.*)$")
  local arguments = {}
  for number in rest:gmatch("%S+") do
    arguments[#arguments + 1] = special[number] or number + 0.0
  end
  commands[word](table.unpack(arguments))
end
