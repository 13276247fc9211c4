-- Returns what a function returns, and the number of its instructions.
local function counted(f, ...)
  local n = 0
  debug.sethook(function() n = n + 1 end, "", 1)
  local is = f(...)
  debug.sethook()
  return is, n
end
