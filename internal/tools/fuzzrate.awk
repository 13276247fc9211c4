# Reads what `go test -fuzz` prints, passes on what is not progress, and prints executions per second over the whole run.
# Exit status 1 below the floor, or if the run failed; that a run of Go's fuzzer ends now and then with "context deadline
# exceeded" at the end of its time is no failure (golang/go issue 75804).
/^fuzz: elapsed: .* execs: / {
  n = split($0, word, /[ ()\/,]+/)
  for (i = 1; i < n; i++) if (word[i] == "execs:") runs = word[i + 1]
  seconds = 0
  time = $3
  while (match(time, /^[0-9]+[hms]/)) {
    unit = substr(time, RLENGTH, 1)
    seconds += substr(time, 1, RLENGTH - 1) * (unit == "h" ? 3600 : unit == "m" ? 60 : 1)
    time = substr(time, RLENGTH + 1)
  }
  next
}
/^fuzz: elapsed: / || /^PASS$/ { next }
/^ok / { passed = 1; next }
/^ +context deadline exceeded$/ { passed = 1; next }
{ text = text $0 "\n" }
END {
  rate = seconds > 0 ? runs / seconds : 0
  printf "%-56s %9d executions, %6d per second\n", name, runs, rate
  if (!passed) printf "%s", text
  if (rate < floor) printf "%s: below the floor of %d executions per second\n", name, floor
  exit !passed || rate < floor
}
