-- The law of the tree is that of docs/semantics.md of Canopy: an instant settles by sweeps over the tasks, up and down,
-- until nothing changes. Children come before their parent, the root is the last. A sweep passes over the tasks about
-- which, and about whose children, nothing has changed since they were visited.

local judgement = {
  Success = "Success", Failure = "Failure", Accept = "Accept", Activating = "Accept", Running = "Accept",
  Finished = "Success", Aborted = "Failure", Deactivating = "Accept", Skipped = "Skipped", Dropped = "Skipped",
}
local transient = {Success = true, Failure = true, Accept = true, Skipped = true}
local asks = {Accept = true, Activating = true, Running = true}
local ended = {Finished = true, Aborted = true}
local switching = {Activating = true, Deactivating = true}
local after = {Success = "Finished", Failure = "Aborted", Skipped = "Dropped", Accept = "Running"}

-- The place of a judgement in verdicts of chains and, without Accept, in moves of automata.
local place_of = {Success = 1, Failure = 2, Accept = 3, Skipped = 3}

-- The children of states other than by their place, from 0, by the count of a script and its number of children.
local elsewhere = {
  [-1] = function() return -1 end,
  [-2] = function(count) return count end,
  [-3] = function(count) return count + 1 end,
  [-4] = function(_, n) return n - 1 end,
}

local none = {}
local LIMIT = 1000 -- iterations of a settling
local LAST = 2147483647 -- the last time [ms]

-- The time that is so many milliseconds later.
local function later(now, msec)
  return msec < LAST - now and now + math.floor(msec) or LAST
end

-- The status that follows, by the cycle of section 1.
local function cycle(status, verdict, active, busy)
  if status == "Accept" then
    return verdict == "Accept" and active and "Activating" or verdict
  elseif transient[status] then
    return verdict
  elseif status == "Deactivating" then
    return busy and status or verdict
  elseif not active then
    return "Deactivating"
  elseif status == "Activating" then
    return busy and status or "Running"
  elseif status == "Running" then
    return after[verdict]
  end
  return status
end

-- Begins an execution of a tree. The hooks are told what happens while it settles: changed(task, from, to, iteration),
-- started(leaf, leaving) of a procedure, and timer(task, starts).
local function new_run(tree, hooks)
  local nodes, states = tree.nodes, tree.states
  local root = #nodes
  local run = {
    status = {}, active = {}, hold = {}, result = {}, -- hold: false, "held" or "pinned"
    request = {}, outcome = {}, busy = {}, waits = {}, timed = {}, state = {}, count = {}, due = {},
    reran = false, -- a loop has run its child again in the last settling, or has begun to wait with that
    scripts = {},
  }
  local status, active, hold, result = run.status, run.active, run.hold, run.result
  local request, outcome, busy, waits, timed = run.request, run.outcome, run.busy, run.waits, run.timed
  local state, count, due, scripts = run.state, run.count, run.due, run.scripts
  local said, asking = {}, {} -- what others see of a task: its held result if there is one, else its status
  local slow_entry, slow_exit, wait, granted = {}, {}, {}, {}
  local up, down = {}, {} -- tasks that the next visit may change
  local guards, lasting, spent = {}, {}, {}
  local iteration, changes, halted = 0, false, false

  for t = 1, root do
    local node = nodes[t]
    status[t], said[t], asking[t] = "Success", "Success", false -- until it is judged
    request[t], outcome[t] = node.acts and "Accept" or "Failure", "Accept"
    hold[t], result[t], active[t], busy[t], slow_entry[t], slow_exit[t] = false, "Success", false, false, false, false
    up[t], down[t] = true, true
    if node.family == "script" then
      scripts[#scripts + 1] = t
      state[t], count[t], timed[t], waits[t], wait[t] = 0, 0, false, false, false
    end
    if node.shared then
      guards[node.shared] = guards[node.shared] or {}
      table.insert(guards[node.shared], t)
      granted[t] = false
    end
  end
  for _, l in ipairs(tree.lasting) do
    lasting[l["until"]] = lasting[l["until"]] or {}
    table.insert(lasting[l["until"]], l.condition)
  end

  -- Something about a task is new, which its parent may see.
  local function touch(t)
    local is, parent = hold[t] and result[t] or status[t], nodes[t].parent
    said[t], asking[t] = judgement[is], asks[is] or false
    up[t], down[t] = true, true
    if parent then
      up[parent], down[parent] = true, true
    end
  end

  -- Whether a child is prompt and undecided: meanwhile, no child behind it is activated.
  local function waits_for(child)
    return nodes[child].prompt and said[child] == "Accept"
  end

  -- Each of the functions of decide returns the verdict of a task, and the place of the child that it looks at last, if
  -- it depends on one.
  local decide = {}

  function decide.leaf(t) return request[t] end

  function decide.chain(t)
    local node = nodes[t]
    local kids, over, first, child = node.kids, node.over, 1, nil
    local n = #kids
    if over ~= "Accept" then
      while first <= n and (said[kids[first]] == over or said[kids[first]] == "Skipped") do
        first = first + 1
      end
    end
    if first <= n then
      child = first
    else
      first = n
      while first > 1 and said[kids[first]] == "Skipped" do
        first = first - 1
      end
    end
    local is = said[kids[first]]
    return is == "Skipped" and is or node.verdict[place_of[is]], child
  end

  -- The number of children at which a count looks: those up to the first prompt one that is undecided.
  local function seen_by(node)
    local kids = node.kids
    if node.prompts then
      for i = 1, #kids do
        if waits_for(kids[i]) then
          return i
        end
      end
    end
    return #kids
  end

  -- Which of two thresholds is reached first, if children are counted one by one, pinned ones first.
  local function race(node, seen)
    local kids, good, bad = node.kids, 0, 0
    for pass = 1, 2 do
      for i = 1, #kids do
        local pinned = hold[kids[i]] == "pinned"
        if pinned == (pass == 1) and (pass == 1 or i <= seen) then
          local is = said[kids[i]]
          if is == "Success" or is == "Skipped" and node.lenient then
            good = good + 1
          elseif is == "Failure" then
            bad = bad + 1
          end
          if good >= node.enough then
            return "Success"
          elseif bad >= node.too_many then
            return "Failure"
          end
        end
      end
    end
    return "Accept"
  end

  function decide.count(t)
    local node = nodes[t]
    local kids, seen, good, bad, skipped = node.kids, seen_by(node), 0, 0, 0
    for i = 1, #kids do
      if i <= seen or hold[kids[i]] == "pinned" then
        local is = said[kids[i]]
        if is == "Success" then
          good = good + 1
        elseif is == "Failure" then
          bad = bad + 1
        elseif is == "Skipped" then
          skipped = skipped + 1
        end
      end
    end
    if skipped == #kids and not node.lenient then
      return "Skipped"
    elseif good + skipped + bad < node.quorum then
      return "Accept"
    end
    if node.lenient or node.quorum > 0 then
      good = good + skipped
    end
    if good >= node.enough then
      return bad >= node.too_many and race(node, seen) or "Success"
    end
    return bad >= node.too_many and "Failure" or "Accept"
  end

  -- Whether the run of a child that ends is the last one.
  local function last_run(node, count, has_ended)
    return node.limit >= 0 and (not has_ended or count + 1 >= node.limit)
  end

  -- Follows an automaton from its place. It returns the place that is reached, too, and whether it looks at the child
  -- at the place of. Each move leads to a later state or child, so that this ends.
  local function follow(t, of)
    local node = nodes[t]
    local kids, at, is_timed, is_waiting, k, looks = node.kids, state[t], timed[t], waits[t], count[t], false
    local n = #kids
    while true do
      local s = states[node.states + at]
      local place = s.child
      if place < 0 then
        place = elsewhere[place](k, n)
      end
      if place < 0 or place >= n or node.limit == 0 then
        return s.says, nil, at, is_timed, is_waiting, k, looks
      end
      looks = looks or place + 1 == of
      local child = kids[place + 1]
      local is = said[child]
      if is == "Accept" or is_waiting then
        return "Accept", place + 1, at, is_timed, is_waiting, k, looks
      end
      local move = s.on[place_of[is]]
      local step, further = move.step > 0, k + move.step
      if move.again and not last_run(node, k, not hold[child] and ended[status[child]]) then
        return "Accept", nil, at, is_timed, is_waiting, k, looks
      elseif step and s.whole and further >= n then
        return move.says, nil, 0, false, false, 0, looks
      elseif step and (s.whole or further < n - 1) then
        k, at = further, math.max(at, move.next)
      else
        at, is_timed = math.max(at, move.to), false
        if move.says ~= "Accept" then
          return move.says, nil, at, is_timed, is_waiting, k, looks
        end
      end
    end
  end

  decide.script = follow

  -- Starts the procedure of a task that has become Activating or Deactivating. A composite that becomes Deactivating
  -- drops all holds.
  local function start(t, node)
    local leaving = status[t] == "Deactivating"
    if node.family == "leaf" then
      outcome[t] = "Accept"
      if leaving then
        busy[t] = slow_exit[t]
      else
        busy[t] = slow_entry[t]
      end
      hooks.started(t, leaving)
    elseif leaving then
      for _, child in ipairs(node.kids) do
        if hold[child] then
          hold[child] = false
          touch(child)
        end
      end
      if node.family == "script" then
        waits[t] = false
        if not node.keeps then
          state[t], timed[t], count[t] = 0, false, 0
        end
      end
    end
  end

  -- Drops the held results of the prompt tasks around a leaf whose judgement has changed.
  local function revise(leaf)
    local t = nodes[leaf].parent
    while t and nodes[t].quick do
      if hold[t] == "held" and nodes[t].revised then
        hold[t] = false
        touch(t)
      end
      t = nodes[t].parent
    end
  end

  -- The up visit: applies the status cycle until the status is stable.
  local function visit(t)
    local node = nodes[t]
    local before, is_leaf, decided = status[t], node.family == "leaf", decide[node.family]
    while true do
      local is, verdict, works = status[t], nil, false
      if not is_leaf then
        verdict = decided(t)
        if switching[is] then
          for _, child in ipairs(node.kids) do
            works = works or switching[status[child]]
          end
        end
      else
        works = busy[t]
        verdict = (transient[is] or is == "Deactivating") and request[t] or outcome[t]
      end
      local to = cycle(is, verdict, active[t], works)
      if to == is then
        break
      end
      hooks.changed(t, is, to, iteration)
      status[t], changes = to, true
      touch(t)
      if switching[to] then
        start(t, node)
      end
      if lasting[t] and (ended[to] or to == "Dropped") then
        spent[#spent + 1] = t
      end
    end
    local is = status[t]
    if is_leaf and is ~= before and node.quick and transient[before] and transient[is] then
      revise(t)
    end
    if hold[t] == "held" and is ~= "Accept" and transient[is] then
      hold[t] = false
      touch(t)
    end
  end

  local function keep(t, how)
    result[t], hold[t], changes = said[t], how, true
    touch(t)
  end

  -- Grants or withdraws activity; the result of a task that has ended is held.
  local function set_active(t, is)
    active[t], changes = is, true
    touch(t)
    if not is and not hold[t] and ended[status[t]] then
      keep(t, "held")
    end
  end

  -- Whether a task passes activity on that has this verdict.
  local function passes(t, verdict)
    return active[t] and asks[status[t]] and verdict == "Accept"
  end

  -- Takes activity from a child of a chain or a script.
  local function leave(t, node, place, passing, to_state, to_timed, to_waits, to_count)
    local child = node.kids[place]
    if node.family == "script" and not hold[child] and ended[status[child]] then
      local s = states[node.states + state[t]]
      local move = s.on[place_of[said[child]]]
      if passing and s.child == place - 1 and move.again and not last_run(node, count[t], true) then
        if node.limit >= 0 then
          count[t] = count[t] + 1
        end
        waits[t], active[child] = wait[t], false
        run.reran, changes = true, true
        touch(child)
        return
      elseif node.keeps then
        state[t], timed[t], waits[t], count[t] = to_state, to_timed, to_waits, to_count
      end
    end
    set_active(child, false)
  end

  -- Gives activity to the child that a chain or a script wants, nil: none, once all others are transient. It takes
  -- activity from the others, but not from those that ask from the place stay on.
  local function hand_over(t, node, want, stay, ...)
    local kids, free = node.kids, true
    for i = 1, #kids do
      local child = kids[i]
      if i ~= want and not (active[child] and i >= stay and asking[child]) then
        if active[child] then
          leave(t, node, i, ...)
        end
        free = free and transient[status[child]]
      end
    end
    if want and free and not active[kids[want]] then
      set_active(kids[want], true)
    end
  end

  -- The down visits: each passes the activity of a task on.
  local pass = {}

  function pass.leaf() end

  function pass.chain(t)
    local node = nodes[t]
    local kids, want, stay = node.kids, nil, #node.kids + 1
    local says, child = decide.chain(t)
    if child and passes(t, says) then
      if waits_for(kids[child]) then
        stay = child + 1
      end
      if asking[kids[child]] then
        want = child
        for i = 1, node.memory and want - 1 or 0 do
          if hold[kids[i]] ~= "pinned" then
            keep(kids[i], "pinned")
          end
        end
      end
    end
    hand_over(t, node, want, stay, false)
  end

  function pass.count(t)
    local node = nodes[t]
    local kids, passing, seen = node.kids, passes(t, decide.count(t)), seen_by(node)
    for i = 1, #kids do
      local child = kids[i]
      local looks = passing and i <= seen
      local judged = said[child] == "Success" or said[child] == "Failure"
      if looks and judged and node.memory and hold[child] ~= "pinned" then
        keep(child, "pinned")
      end
      local want = passing and (looks or active[child]) and asking[child] or false
      if want ~= active[child] then
        set_active(child, want)
      end
    end
  end

  -- Whether a state's child can lead to another child.
  local function goes_on(node, at)
    for is = 1, 2 do
      local move = states[node.states + at].on[is]
      if move.step > 0 or move.says == "Accept" and states[node.states + move.to].child ~= -1 then
        return true
      end
    end
    return false
  end

  -- Stores the place that a script has reached, and starts and stops its timer.
  local function store(t, node, passing, wants, to_state, to_timed, to_waits, to_count)
    local at, was_timed = state[t], timed[t]
    local has_timer = states[node.states + to_state].after > 0
    if passing and node.memory and (wants or has_timer) then
      to_timed = has_timer
    else
      to_state, to_timed, to_waits, to_count = at, was_timed, waits[t], count[t]
    end
    to_timed = to_timed and active[t]
    if to_state == at and to_timed == was_timed and to_waits == waits[t] and to_count == count[t] then
      return
    end
    state[t], timed[t], waits[t], count[t], changes = to_state, to_timed, to_waits, to_count, true
    touch(t)
    if was_timed and (not to_timed or to_state ~= at) then
      hooks.timer(t, false)
    end
    if to_timed and (not was_timed or to_state ~= at) then
      hooks.timer(t, true)
    end
  end

  function pass.script(t)
    local node = nodes[t]
    local kids, stay = node.kids, #node.kids + 1
    local says, want, to_state, to_timed, to_waits, to_count = follow(t)
    local passing = passes(t, says)
    if passing and want and waits_for(kids[want]) and goes_on(node, to_state) then
      stay = want + 1
    end
    if not passing or waits[t] or not want or not asking[kids[want]] or node.shared and not granted[t] then
      want = nil
    end
    store(t, node, passing, want, to_state, to_timed, to_waits, to_count)
    hand_over(t, node, want, stay, passing, to_state, to_timed, to_waits, to_count)
    for i = 1, node.memory and 0 or stay - 1 do
      if hold[kids[i]] and not select(7, follow(t, i)) then
        hold[kids[i]], changes = false, true
        touch(kids[i])
      end
    end
  end

  -- Conditions that last until a task has ended become false.
  local function spend()
    for i = #spent, 1, -1 do
      for _, condition in ipairs(lasting[spent[i]]) do
        request[condition] = "Failure"
        touch(condition)
      end
      spent[i] = nil
    end
  end

  -- Grants each shared resource to the guard that has it, or to the first one that needs it.
  local function grant()
    for _, those in ipairs(guards) do
      local holder, needs
      for _, t in ipairs(those) do
        local child = nodes[t].kids[1]
        if not holder and (active[child] or not transient[status[child]]) then
          holder = t
        end
        if not needs and asking[child] and passes(t, (decide[nodes[t].family](t))) then
          needs = t
        end
      end
      for _, t in ipairs(those) do
        local is = t == (holder or needs)
        if is ~= granted[t] then
          granted[t] = is
          touch(t)
        end
      end
    end
  end

  -- Settles an instant after its inputs. It returns false if the tree does not settle within a number of iterations.
  function run.settle(limit)
    run.reran, changes, iteration = false, true, 0
    while changes and iteration < limit do
      changes, iteration = false, iteration + 1
      for t = 1, root do
        if up[t] then
          visit(t)
          up[t] = false
        end
      end
      spend()
      grant()
      local want = not halted and asking[root]
      if want ~= active[root] then
        set_active(root, want)
        if status[root] == "Dropped" then
          keep(root, "held")
        end
      end
      for t = root, 1, -1 do
        if down[t] then
          down[t] = false
          pass[nodes[t].family](t)
        end
      end
    end
    for _, t in ipairs(scripts) do
      wait[t] = false
    end
    return not changes
  end

  -- Judges all tasks before the first settling.
  function run.judge()
    for t = 1, root do
      status[t] = decide[nodes[t].family](t)
      touch(t)
    end
  end

  -- Withdraws activity from the root for ever, and starts all exit procedures. Without activity no loop is possible.
  function run.halt()
    halted = true
    run.settle(65534)
  end

  -- Inputs. A request is the verdict of an action that is not active. The outcome of one is ignored unless it is
  -- Activating or Running. A slow procedure is complete only with entered or exited. A loop that waits runs its child
  -- again only after again.
  function run.set(condition, value)
    run.ask(condition, value and "Success" or "Failure")
  end

  function run.ask(action, verdict)
    request[action] = verdict
    touch(action)
  end

  function run.finish(action, verdict)
    if status[action] == "Activating" or status[action] == "Running" then
      outcome[action] = verdict
      touch(action)
    end
  end

  function run.slow(action, entry, exit)
    slow_entry[action], slow_exit[action] = entry, exit
  end

  function run.entered(action)
    busy[action] = busy[action] and status[action] ~= "Activating"
    touch(action)
  end

  function run.exited(action)
    busy[action] = busy[action] and status[action] ~= "Deactivating"
    touch(action)
  end

  function run.elapsed(t)
    if timed[t] then
      state[t], timed[t] = states[nodes[t].states + state[t]].after, false
      touch(t)
    end
  end

  function run.wait(loop, is)
    wait[loop] = is
  end

  function run.again(loop)
    waits[loop] = false
    touch(loop)
  end

  -- Timers, for an owner that has a time [ms]: start_timer starts the one of a task, expire lets those elapse whose
  -- time is over, and reports whether there are any, and next_timer is the time of the next one, nil: none runs.
  function run.start_timer(t, now)
    due[t] = later(now, nodes[t].msec)
  end

  function run.expire(now)
    local any = false
    for _, t in ipairs(scripts) do
      if timed[t] and now >= due[t] then
        run.elapsed(t)
        any = true
      end
    end
    return any
  end

  function run.next_timer()
    local first
    for _, t in ipairs(scripts) do
      if timed[t] and (not first or due[t] < first) then
        first = due[t]
      end
    end
    return first
  end

  return run
end
