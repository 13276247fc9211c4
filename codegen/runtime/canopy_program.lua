
-- The law of the leaves: they judge, and write, by functions of a vector of signals, of which the first is the time
-- [s].

local nan = 0.0 / 0.0

local function is_negative(x) return x < 0.0 or x == 0.0 and 1.0 / x < 0.0 end

local function min(x, y)
  if x ~= x or y ~= y then
    return (x == -math.huge or y == -math.huge) and -math.huge or nan
  end
  return (x < y or x == y and is_negative(x)) and x or y
end

local function max(x, y)
  if x ~= x or y ~= y then
    return (x == math.huge or y == math.huge) and math.huge or nan
  end
  return (x > y or x == y and not is_negative(x)) and x or y
end

local function sign(x) return x > 0.0 and 1.0 or x < 0.0 and -1.0 or x end

local function square(x) return x * x end

-- A floor is a float: whole numbers would wrap around.
local function floor(x)
  local whole = math.floor(x) + 0.0
  return whole == x and x or whole
end

local function mod(x, y) return x - y * floor(x / y) end

local function tanh(x)
  local e = math.exp(-2.0 * math.abs(x))
  local is = (1.0 - e) / (1.0 + e)
  return x < 0.0 and -is or x == 0.0 and x or is
end

-- The bits of two whole numbers; NaN if they are none, or have more bits than this Lua's.
local function bits(operation, x, y)
  local most = 9007199254740992.0
  local a, b = math.tointeger(x), math.tointeger(y)
  if not a or not b or not (math.abs(x) <= most and math.abs(y) <= most) then
    return nan
  end
  return operation(a, b) + 0.0
end

local function both(a, b) return a & b end

local function either(a, b) return a | b end

local function differ(a, b) return a ~ b end

-- Finds the point of an axis at which the piece of a number begins, and the share of the way to the next point; nil:
-- the number is outside.
local function share_of(points, clamp, x)
  local n, at = #points, 1
  if x >= points[n] then
    return (clamp or x <= points[n]) and n - 1 or nil, 1.0
  elseif x < points[1] then
    return clamp and 1 or nil, 0.0
  end
  while at + 1 < n and points[at + 1] <= x do
    at = at + 1
  end
  return at, (x - points[at]) / (points[at + 1] - points[at])
end

-- The value on the way from a to b; exactly b at its end.
local function between(a, b, share)
  return share >= 1.0 and b or a + share * (b - a)
end

-- The value of a function of one or two numbers that is linear between the points of a table.
local function look_up(of, x, y)
  local v, i, p = of.values, nil, nil
  if x == x then
    i, p = share_of(of.x, of.clamp, x)
  end
  if not i or y ~= y then
    return nan
  elseif not of.y then
    return between(v[i], v[i + 1], p)
  end
  local j, q = share_of(of.y, of.clamp, y)
  if not j then
    return nan
  end
  local first = (i - 1) * #of.y + j
  local second = first + #of.y
  return between(between(v[first], v[first + 1], q), between(v[second], v[second + 1], q), p)
end

-- Begins an execution of a plan. The hook changed, if there is one, is told each change of a status.
local function new_plan(tree, program, changed)
  local leaves, slots, evaluations, relations = program.leaves, program.slots, program.evaluations, program.relations
  local signals, held, captured = {}, {}, {} -- false: no value
  local x = {signals = signals}
  local run, now, fault, outside, begun, reran, last = nil, 0, nil, false, false, false, nil
  local writer, writes, stale = {}, {}, true -- of slots; the slots of leaves
  local value, spent, passed, req, out, procedure, phase, watched, due, above =
    {}, {}, {}, {}, {}, {}, {}, {}, {}, {}
  local leaf_of, lasting, interrupted = {}, {}, {}
  local active, status

  for i = 1, program.signals do
    signals[i] = 0.0
  end
  for i = 1, #leaves do
    writes[i] = {}
  end
  for i, slot in ipairs(slots) do
    held[i] = not slot.empty and slot.initial
    for _, w in ipairs(slot.writers) do
      local of = writes[w.leaf]
      if of[#of] ~= i then
        of[#of + 1] = i
      end
    end
  end

  -- Sets the phase of a leaf, and finds for the slots that it writes the writer whose value they have now: the first
  -- one that is active. Without one, a slot has its held value.
  local function set_phase(i, to)
    phase[i], stale = to, true
    for _, slot in ipairs(writes[i]) do
      writer[slot] = nil
      for _, w in ipairs(slots[slot].writers) do
        if phase[w.leaf] == w.phase then
          writer[slot] = w
          break
        end
      end
    end
  end

  -- The stored value of a slot, unless its writer computes it; false: none.
  local function stored(slot)
    local w = writer[slot]
    if w then
      return captured[w.captured]
    end
    return held[slot]
  end

  -- Whether one of these entries of the blackboard has no value.
  local function unset(reads)
    for i = 1, #reads do
      local w = writer[reads[i]]
      if not (w and w.value or stored(reads[i])) then
        return true
      end
    end
    return false
  end

  -- Whether a formula holds: none that reads an entry without a value does.
  local function holds(leaf, criterion)
    local is, reads = leaf.formulas[criterion], leaf.reads[criterion]
    return is and not (reads and unset(reads)) and is(signals) or false
  end

  -- Evaluates all signals with the present inputs, if something has changed.
  local function evaluate()
    if not stale then
      return
    end
    stale = false
    for i = 1, #evaluations do
      local e = evaluations[i]
      if e.value then
        signals[e.signal] = e.value(signals)
      else
        local w = writer[e.slot]
        if not w then
          signals[e.signal] = held[e.slot] or nan
        elseif w.value then
          signals[e.signal] = w.value(signals)
        else
          signals[e.signal] = captured[w.captured] or nan
        end
      end
    end
  end

  -- The present value of a slot; false: none.
  local function present(slot)
    local w = writer[slot]
    return (w and w.value or stored(slot)) and signals[slots[slot].signal]
  end

  -- Sets a leaf to a phase in which it writes the values of assignments, captured one after the other, each with the
  -- effect of the earlier ones; before its turn, an assignment's slot keeps its value.
  local function assign(i, to, list)
    evaluate()
    for _, a in ipairs(list) do
      captured[a.captured] = present(a.slot)
    end
    set_phase(i, to)
    for _, a in ipairs(list) do
      evaluate()
      if unset(a.reads) then
        fault = "unset"
        break
      end
      captured[a.captured], stale = a.value and a.value(signals) or false, true
    end
  end

  -- Notes that an action makes assignments, at its start or at its end: leaves before it in the order of the tree that
  -- judge by what it writes are judged in the next pass, at its end also itself.
  local function reach(i, list, at_end)
    local place = leaves[i].place
    for _, a in ipairs(list) do
      for _, reader in ipairs(slots[a.slot].readers) do
        local at = leaves[reader].place
        passed[reader] = passed[reader] or at < place or at == place and at_end
      end
    end
  end

  -- Lets the slots that keep their values have what an action writes now.
  local function keep_values(i)
    evaluate()
    for k, slot in ipairs(slots) do
      for _, w in ipairs(slot.hold and slot.writers or none) do
        if w.leaf == i and w.phase == "writing" then
          held[k] = present(k)
        end
      end
    end
  end

  -- Completes the exit procedure of an action.
  local function exited(i)
    for _, a in ipairs(leaves[i].exit) do
      if slots[a.slot].hold then
        held[a.slot] = captured[a.captured]
      end
    end
    set_phase(i, "resting")
  end

  -- Starts the clock of a procedure.
  local function start_clock(i, length)
    due[i] = nil
    if length then
      evaluate()
      local seconds = length(signals)
      if not (seconds >= 0.0) then
        fault, seconds = fault or "duration", 0.0
      end
      due[i] = later(now, seconds * 1000.0 + 0.5)
    end
  end

  local function is_slow(leaf, leaving)
    if leaving then
      return leaf.exit_time ~= nil or leaf.formulas.exited ~= nil
    end
    return leaf.entry_time ~= nil or leaf.formulas.entered ~= nil
  end

  local told = {}

  function told.started(task, leaving)
    local i = leaf_of[task]
    local leaf = leaves[i]
    local takes_time = is_slow(leaf, leaving)
    procedure[i], out[i], due[i] = nil, "Accept", nil
    if leaving then
      reach(i, leaf.exit, true)
      keep_values(i)
      assign(i, "leaving", leaf.exit)
      if not takes_time then
        exited(i)
      end
    else
      reach(i, leaf.entry, false)
      assign(i, "writing", leaf.entry)
    end
    if takes_time then
      procedure[i] = leaving and "exited" or "entered"
      start_clock(i, leaving and leaf.exit_time or not leaving and leaf.entry_time)
    end
  end

  function told.changed(task, from, to, iteration)
    if changed then
      changed(task, from, to, iteration)
    end
    if ended[to] then
      for _, i in ipairs(lasting[task] or none) do
        value[i], spent[i] = false, true
      end
    elseif to == "Deactivating" and not ended[from] then
      for _, i in ipairs(interrupted[task] or none) do
        assign(i, "writing", leaves[i].entry)
        keep_values(i)
        set_phase(i, "resting")
      end
    end
  end

  function told.timer(task, starts)
    if starts then
      run.start_timer(task, now)
    end
  end

  run = new_run(tree, told)
  status, active = run.status, run.active
  for i, leaf in ipairs(leaves) do
    leaf_of[leaf.task] = i
    value[i], spent[i], passed[i] = false, false, false
    req[i], out[i], phase[i], watched[i] = "Accept", "Accept", "resting", {}
    if not leaf.condition then
      run.slow(leaf.task, is_slow(leaf, false), is_slow(leaf, true))
    end
    if leaf.interrupted then
      interrupted[leaf.interrupted] = interrupted[leaf.interrupted] or {}
      table.insert(interrupted[leaf.interrupted], i)
    end
  end
  for _, l in ipairs(tree.lasting) do
    lasting[l["until"]] = lasting[l["until"]] or {}
    table.insert(lasting[l["until"]], leaf_of[l.condition])
  end

  -- Judges a condition, and reports whether that is new.
  local function judge(i, leaf)
    local before, on, off = value[i], holds(leaf, "on"), nil
    if before then
      if leaf.formulas.off then
        off = holds(leaf, "off")
      else
        off = not leaf.lasts
      end
    end
    value[i] = (on or before and not off) and not spent[i]
    spent[i] = spent[i] and on
    if value[i] ~= before then
      run.set(leaf.task, value[i])
    end
    return value[i] ~= before
  end

  -- Failure if the first formula holds, else success if the second does.
  local function verdict(leaf, failure, success)
    return holds(leaf, failure) and "Failure" or holds(leaf, success) and "Success" or "Accept"
  end

  -- Tells the engine what is new of an action, and reports whether something is.
  local function ask_action(i, leaf)
    local task, news = leaf.task, false
    local engaged = status[task] == "Activating" or status[task] == "Running"
    local is = verdict(leaf, "failure_if", "success_if")
    if is ~= req[i] then
      req[i], news = is, true
      run.ask(task, is)
    end
    if engaged then
      is = verdict(leaf, "failed", "done")
      if is ~= "Accept" and is ~= out[i] then
        out[i], news = is, true
        run.finish(task, is)
      end
    end
    local running = procedure[i]
    if running and (due[i] and now >= due[i] or holds(leaf, running)) then
      procedure[i], due[i], news = nil, nil, true
      run[running](task)
    end
    return news
  end

  -- Tells the engine what is new, and reports whether something is.
  local function inputs()
    local news = run.expire(now)
    evaluate()
    for i = 1, #leaves do
      local leaf = leaves[i]
      if not passed[i] or not (leaf.condition or transient[status[leaf.task]]) then
        local is
        if leaf.condition then
          is = judge(i, leaf)
        else
          is = ask_action(i, leaf)
        end
        news = news or is
      end
    end
    for i = 1, #leaves do -- exit procedures that are over, once all inputs are known
      if phase[i] == "leaving" and not procedure[i] then
        exited(i)
      end
    end
    return news
  end

  -- Ends a pass: what tasks write acts as in a tree that is ticked, on leaves after them at once, and on those before
  -- them when there is nothing left to do after them.
  local function end_pass()
    for i = 1, #leaves do
      passed[i] = false
    end
  end

  local function loops_wait()
    for _, t in ipairs(run.scripts) do
      if run.waits[t] then
        return true
      end
    end
    return false
  end

  -- All that decides how the step goes on, as a text.
  local function situation()
    local of = {tostring(reran)}
    local function add(list, first, n)
      for i = first, n do
        of[#of + 1] = tostring(list[i])
      end
    end
    for _, list in ipairs({status, run.hold, run.result, run.request, run.outcome, active, run.busy}) do
      add(list, 1, #status)
    end
    for _, t in ipairs(run.scripts) do
      for _, list in ipairs({run.state, run.timed, run.waits, run.count, run.timed[t] and run.due or none}) do
        add(list, t, t)
      end
    end
    for _, list in ipairs({value, spent, req, out, procedure, phase, due}) do
      add(list, 1, #leaves)
    end
    add(held, 1, #slots)
    add(captured, 1, program.captured)
    return table.concat(of, " ")
  end

  -- Notes the sides of the relations, and whether one has changed that can change a leaf.
  local function look()
    evaluate()
    for i = 1, #relations do
      local relation = relations[i]
      local is = relation.difference(signals) >= 0.0
      if is ~= above[i] then
        above[i] = is
        for _, heed in ipairs(relation.of) do
          for _, criterion in ipairs(heed.criteria) do
            outside = outside or watched[heed.leaf][criterion] or false
          end
        end
      end
    end
  end

  -- Notes which relations can change a leaf: of a condition those for becoming true while it is false, and those for
  -- becoming false while it is true.
  local function watch()
    local waiting = loops_wait()
    for i = 1, #leaves do
      local leaf, of = leaves[i], watched[i]
      if leaf.condition then
        local off = leaf.formulas.off
        of.off = value[i] and (off ~= nil or leaf.lasts) or false
        if off then
          off = holds(leaf, "off")
        else
          off = not leaf.lasts
        end
        of.on = not of.off or off
      else
        local engaged = phase[i] == "writing" or waiting
        of.success_if, of.failure_if, of.done, of.failed = true, true, engaged, engaged
        of.entered, of.exited = procedure[i] == "entered", procedure[i] == "exited"
      end
    end
  end

  -- Tells the engine what is new in the present pass or, if nothing is, in the next one; with that, the next runs of
  -- loops begin, as it reports, too. A loop whose run has changed nothing waits for a change.
  local function in_passes(first)
    local news = inputs()
    local begins = news or outside
    if not first then
      begins = not news
      if begins then
        end_pass()
        news = inputs()
      end
    end
    if not program.passes then
      return news, false
    end
    local some = reran
    for i = 1, #leaves do
      some = some or passed[i]
    end
    for _, t in ipairs(run.scripts) do
      run.wait(t, some)
    end
    if not begins or not loops_wait() then
      return news, false
    end
    if not news and not first then
      local is = situation()
      if is == last then
        return news, false
      end
      last = is
    end
    for _, t in ipairs(run.scripts) do
      run.again(t)
    end
    return news, true
  end

  -- Brings the plan up to date with the inputs among its signals, at a time [ms] that must not decrease: it settles
  -- until nothing new follows, in at most so many rounds. It returns nil, or how it failed: "unsettled", "duration",
  -- "unset".
  function x.step(msec, rounds)
    local goes_on, round = true, 0
    now, fault, outside, reran, last, stale = msec, nil, false, false, nil, true
    signals[1] = msec / 1000.0
    if begun and program.passes then
      look()
    end
    if not begun then
      inputs()
      run.judge()
    end
    while goes_on and round < rounds do
      local news, again = in_passes(round == 0)
      goes_on = news or again or not begun
      outside, begun, round = false, true, round + 1
      if goes_on then
        if not run.settle(LIMIT) then
          break
        end
        reran = reran or run.reran
      end
    end
    end_pass()
    evaluate()
    if program.passes then
      if round > 1 or goes_on then
        look()
      end
      watch()
    end
    return fault or goes_on and "unsettled" or nil
  end

  -- Withdraws activity from the plan for ever, and starts all exit procedures. Those that take time end in later steps.
  function x.halt()
    run.halt()
    evaluate()
  end

  -- The time [ms] at which a step is due if no input changes before; nil: none.
  function x.next()
    local first = run.next_timer()
    for i = 1, #leaves do
      if due[i] and (not first or due[i] < first) then
        first = due[i]
      end
    end
    return first
  end

  return x
end
