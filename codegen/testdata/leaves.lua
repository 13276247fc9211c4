-- Runs trees whose leaves are functions, behind canopy.lua and canopy_leaves.lua: standard input has tables of trees,
-- and what the leaves answer in each step.

local x, judges, polls, keys

local function begin(lines)
  local text = {}
  for i = 1, lines do
    text[i] = io.read("L")
  end
  local tree, functions = assert(load(table.concat(text)))(), {}
  judges, polls, keys = {}, {}, {}
  for t, node in ipairs(tree.nodes) do
    if node.family == "leaf" then
      local key = #keys + 1
      keys[key] = t
      functions[node.name] = {
        judge = function() return judges[key] end,
        poll = function() return polls[key] end,
        start = function() print(t - 1, "start") end,
        stop = function() print(t - 1, "stop") end,
      }
      if not node.acts then
        functions[node.name].judge = function() return judges[key] == "Success" end
      end
    end
  end
  x = new_plan(tree, functions, function(task, from, to) print(task - 1, from, to) end)
end

for line in io.lines() do
  local words = {}
  for word in line:gmatch("%S+") do
    words[#words + 1] = word
  end
  if words[1] == "tree" then
    begin(tonumber(words[2]))
  elseif words[1] == "halt" then
    x.halt()
  else
    for i = 1, #keys do
      judges[i], polls[i] = words[1 + 2 * i], words[2 + 2 * i]
    end
    print("step", x.step(math.tointeger(words[2]), 50) or "", x.next() or "")
  end
end
