# Reads what `go test -fuzz` prints, passes on all but its progress, and prints executions per second over the whole run.
# Exit status 1 below the floor, or if no input ran.
/^fuzz: elapsed: .* execs: / {
  split($0, word, /[ ()\/,]+/)
  for (i in word) if (word[i] == "execs:") runs = word[i + 1]
  seconds = 0
  time = $3
  while (match(time, /^[0-9]+[hms]/)) {
    n = substr(time, 1, RLENGTH - 1)
    unit = substr(time, RLENGTH, 1)
    seconds += n * (unit == "h" ? 3600 : unit == "m" ? 60 : 1)
    time = substr(time, RLENGTH + 1)
  }
  next
}
/^(fuzz: elapsed: .* gathering baseline|PASS$|ok )/ { next }
{ print }
END {
  rate = seconds > 0 ? runs / seconds : 0
  printf "%-60s %9d executions %7d per second\n", name, runs, rate
  if (rate < floor) {
    printf "%s: below the floor of %d executions per second\n", name, floor
    exit 1
  }
}
