-- Executes plans, behind count.lua, by the inputs on standard input, and prints what they do: programs.lua FOLDER, in
-- which plan 3 is the module m3_plan.lua. Statuses and tasks have numbers from 0, as in C. With a second argument, it
-- prints instead how many instructions it takes to load a plan, a step without a change of a status, and the longest
-- step, and how much memory [kB] the plan has.

local numbers = {Success = 0, Failure = 1, Accept = 2, Activating = 3, Running = 4, Finished = 5, Aborted = 6,
  Deactivating = 7, Skipped = 8, Dropped = 9}
local special = {NaN = 0.0 / 0.0, ["+Inf"] = math.huge, ["-Inf"] = -math.huge}

local function changed(task, from, to)
  print(string.format("%d: %d -> %d", task - 1, numbers[from], numbers[to]))
end

local x, inputs
local commands = {}
local load_count, memory, least, most, changes = 0, 0, math.huge, 0, 0

function commands.plan(number, n)
  local file = string.format("%s/m%d_plan.lua", arg[1], number)
  if arg[2] then
    collectgarbage()
    local before = collectgarbage("count")
    local begin = loadfile(file)
    x, load_count = counted(function() return begin().begin(function() changes = changes + 1 end) end)
    collectgarbage()
    memory = collectgarbage("count") - before
  else
    x = dofile(file).begin(changed)
  end
  inputs = n
  print(string.format("plan %d", number))
end

function commands.step(t, ...)
  for i, value in ipairs({...}) do
    x.signals[i + 1] = value
  end
  local before = changes
  local fault, n = counted(x.step, math.tointeger(t * 1000.0), 200)
  most = math.max(most, n)
  if changes == before then
    least = math.min(least, n)
  end
  print("step " .. (fault and 1 or 0))
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

if arg[2] then
  io.stderr:write(string.format("%d %d %d %d\n", load_count, least, most, memory // 1))
end
