# Shell functions for rows.txt. T is a folder for temporary files, C the C program of the solar day.
set -eu -o pipefail
export GODEBUG=asyncpreemptoff=1
CANOPY=bin/canopy
DAY="$CANOPY run missions/solar-day.yaml -q --out $T/day"

fail() { echo "$*" >&2; exit 1; }
need() { command -v "$1" >/dev/null || fail "$1 is not installed"; }
peer() { command -v ${C:-/} >/dev/null || fail 'no C program is given: C=.../solarday'; } # with its options

# once prints what a command prints; a second time, it is not executed again. A run that violates a property returns 3.
once() { f=$T/$(echo "$PWD $*" | cksum | tr ' ' -)
  [ -f "$f.ok" ] || { "$@" >"$f" 2>&1 || [ $? = 3 ] || fail "$* failed"; touch "$f.ok"; }; cat "$f"; }

# count UNIT COMMAND prints its instructions in units.
count() { need valgrind; u=$1; shift
  GOMAXPROCS=1 once valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" | awk -v u="$u" '/Collected/ { printf "%.1f\n", $4 / u }'; }

# build PACKAGE makes the test program of a package.
build() { once go test -c -o "$T/$(basename "$1").test" "./$1" >/dev/null; }

# bench UNIT PACKAGE NAME N prints the instructions of one iteration: the difference between 3 N and N.
bench() { build "$2"; cd "$2"; export GOGC=off
  b="$T/$(basename "$2").test -test.run ^\$ -test.bench $3\$ -test.benchtime"
  few=$(count 1 $b "$4x"); many=$(count 1 $b "$((3 * $4))x"); cd - >/dev/null
  awk -v u="$1" -v n="$4" "BEGIN { printf \"%.1f\n\", ($many - $few) / (2 * n * u) }"; }

# trips UNIT NAME prints the instructions of the loop over the steps in one iteration of a benchmark of run/simulated.
trips() { build run/simulated; (cd run/simulated; GOGC=off count "$1" --toggle-collect=canopy/run/simulated.roundTrips \
  "$T/simulated.test" -test.run '^$' -test.bench "$2\$" -test.benchtime 1x); }

# steps COMMAND prints steps and evaluations of a run.
steps() { once "$@" --json | awk -F '[:,]' '/"(steps|rhs_evaluations)"/ { print $2 }'; }

# ratios N prints the CPU times, user, and user and system, of the Nth program in relation to those of the C program.
ratios() { peer; once go run ./internal/cmd/numbers "$C" "$DAY --report=false" "$DAY" \
  "$DAY --set method=auto" "$CANOPY --version" | sed 's/- */-/g' | awk -v n="$1" 'NR == n + 3 { print $3, $6 }'; }

faults() { need /usr/bin/time; /usr/bin/time -f 'faults %R' "$@" 2>&1 >/dev/null | awk '/^faults/ { print $2 }'; }

# growth NAME prints evaluations, memory [MB], - for the time, and entries.
growth() { once go test -run '^$' -bench Growth -benchtime 1x ./ode | awk -v name="Growth/$1-" 'index($1, name) {
  printf "%d %.0f - %.0f\n", $7, $9 / 1e6, $5 }'; }
