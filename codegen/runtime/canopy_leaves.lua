
-- Begins an execution of a tree whose leaves are functions, by their names: judge returns true or false for a
-- condition, and "Success", "Failure" or "Accept" for an action while it is not active; start is called when an action
-- becomes Activating, poll while it is active, and stop when it becomes Deactivating, for whatever reason. Poll returns
-- "Success", "Failure" or "Running". A condition needs judge, an action poll.
local function new_plan(tree, functions, changed)
  local run, now, begun, leaves = nil, 0, false, {}
  local told = {changed = changed or function() end}

  function told.started(leaf, leaving)
    local call = functions[tree.nodes[leaf].name][leaving and "stop" or "start"]
    if call then
      call()
    end
  end

  function told.timer(task, starts)
    if starts then
      run.start_timer(task, now)
    end
  end

  run = new_run(tree, told)
  for t, node in ipairs(tree.nodes) do
    if node.family == "leaf" then
      leaves[#leaves + 1] = t
      local of = functions[node.name]
      if not of or not of[node.acts and "poll" or "judge"] then
        error("not connected: " .. node.name)
      end
    end
  end

  -- What a leaf says, if it is one of these words.
  local function answer(node, is, ...)
    for _, word in ipairs({...}) do
      if is == word then
        return is
      end
    end
    error(node.name .. " answers " .. tostring(is))
  end

  -- Asks the leaves, and reports whether something is new.
  local function ask()
    local news = run.expire(now)
    for _, t in ipairs(leaves) do
      local node = tree.nodes[t]
      local of = functions[node.name]
      local engaged = run.status[t] == "Activating" or run.status[t] == "Running"
      if not engaged and of.judge then
        local is = of.judge()
        if not node.acts then
          is = answer(node, is, true, false) and "Success" or "Failure"
        end
        is = answer(node, is, "Success", "Failure", "Accept")
        if is ~= run.request[t] then
          run.ask(t, is)
          news = true
        end
      elseif engaged and of.poll then
        local is = answer(node, of.poll(), "Success", "Failure", "Running")
        if is ~= "Running" and is ~= run.outcome[t] then
          run.finish(t, is)
          news = true
        end
      end
    end
    return news
  end

  local x = {halt = run.halt, next = run.next_timer}

  -- Brings the plan up to date, at a time [ms] that must not decrease: asks all leaves, and settles until they say
  -- nothing new, in at most so many rounds. It returns nil, or "unsettled".
  function x.step(msec, rounds)
    now = msec
    local news = ask()
    if not begun then
      run.judge()
      begun, news = true, true
    end
    for round = 1, rounds do
      if not news and round > 1 then
        return nil
      elseif not run.settle(LIMIT) then
        return "unsettled"
      end
      news = ask()
    end
    return news and "unsettled" or nil
  end

  return x
end
