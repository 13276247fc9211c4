-- Runs trees for tests, behind canopy.lua and count.lua: standard input has tables of trees, inputs and commands, and
-- standard output what happens. Tasks and statuses have numbers from 0, as in C. With an argument, the largest number
-- of instructions of a settling is written to standard error.

local words = {"Success", "Failure", "Accept", "Activating", "Running", "Finished", "Aborted", "Deactivating",
  "Skipped", "Dropped"}
local numbers = {}
for i, word in ipairs(words) do
  numbers[word] = i - 1
end

local timings = {}
local hooks = {}

function hooks.changed(task, from, to, iteration)
  print(string.format("%d: %d -> %d (%d)", task - 1, numbers[from], numbers[to], iteration))
end

function hooks.started(leaf, leaving)
  print(string.format("%d: %s", leaf - 1, leaving and "exit" or "entry"))
end

function hooks.timer(task, starts)
  timings[#timings + 1] = string.format("%d: the timer %s", task - 1, starts and "starts" or "stops")
end

local function write_timings()
  for i, line in ipairs(timings) do
    print(line)
    timings[i] = nil
  end
end

local run, tree
local most = 0
local commands = {}

function commands.tree(lines)
  local text = {}
  for i = 1, lines do
    text[i] = io.read("L")
  end
  tree = assert(load(table.concat(text)))()
  run = new_run(tree, hooks)
end

function commands.judge()
  run.judge()
end

function commands.settle(limit)
  local settled, n = counted(run.settle, limit)
  most = math.max(most, n)
  if not settled then
    print("loop")
  end
  write_timings()
end

function commands.halt()
  run.halt()
  write_timings()
end

function commands.state()
  local line = {}
  for t = 1, #tree.nodes do
    local held = run.hold[t] and run.hold[t]:sub(1, 1) .. numbers[run.result[t]] or ""
    line[t] = numbers[run.status[t]] .. (run.active[t] and "a" or "") .. held .. " "
  end
  print(table.concat(line))
end

function commands.set(task, value) run.set(task + 1, value ~= 0) end
function commands.request(task, verdict) run.ask(task + 1, words[verdict + 1]) end
commands["end"] = function(task, verdict) run.finish(task + 1, words[verdict + 1]) end
function commands.slow(task, entry, exit) run.slow(task + 1, entry ~= 0, exit ~= 0) end
function commands.entered(task) run.entered(task + 1) end
function commands.exited(task) run.exited(task + 1) end
function commands.elapsed(task) run.elapsed(task + 1) end
function commands.wait(task) run.wait(task + 1, true) end
function commands.again(task) run.again(task + 1) end

for line in io.lines() do
  local word, rest = line:match("^(%a+)(.*)$")
  local arguments = {}
  for number in rest:gmatch("%S+") do
    arguments[#arguments + 1] = math.tointeger(number) or tonumber(number)
  end
  commands[word](table.unpack(arguments))
end

if arg[1] then
  io.stderr:write(most, "\n")
end
