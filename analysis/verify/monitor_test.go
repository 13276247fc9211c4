package verify

import (
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/temporal"
)

// exactly lets a time pass, and nothing else.
func exactly(z *zone.Zone, t float64) {
	const clock = 1000
	z.Start(clock)
	z.Pass()
	below, _ := zone.Seconds(t)
	z.Restrict(clock, zone.AtLeast, below)
	z.Restrict(clock, zone.AtMost, below)
	z.Stop(clock)
}

// numbered returns numbers of a formula's conditions.
func numbered(f *temporal.Formula) map[*expr.Expr]int {
	of := map[*expr.Expr]int{}
	f.Conditions(func(e *expr.Expr) {
		if _, twice := of[e]; !twice && e != expr.True && e != expr.False {
			of[e] = len(of)
		}
	})
	return of
}

// holding returns the conditions that hold in a state, as bits by their numbers.
func holding(of map[*expr.Expr]int, truth map[string]bool) (holds uint64) {
	for e, i := range of {
		if truthIn(e.Logic(func(string) bool { return true }), truth) {
			holds |= 1 << i
		}
	}
	return holds
}

// timedFormula writes formulas whose bounded operations are about one time.
func timedFormula(r *rand.Rand, depth int) string {
	names := []string{"a", "b", "c"}
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	if depth == 0 {
		return pick("", "not ") + pick(names...)
	}
	x, y, now := "("+timedFormula(r, depth-1)+")", "("+timedFormula(r, depth-1)+")", "("+timedFormula(r, 0)+")"
	now = "(" + pick("", "not ") + now + pick(" and ", " or ") + timedFormula(r, 0) + ")"
	length := pick("0.5 [s]", "1 [s]", "2 [s]", "2.5 [s]")
	return pick("always "+x, "always ("+now+" -> "+x+")", "always ("+now+" -> "+y+")", x+" and "+y, x+" or "+y,
		"always "+x, now+" before "+x, "within "+length+" "+now, "for "+length+" "+now, "within "+length+" "+now,
		"for "+length+" "+now, "not within "+length+" "+now, "after "+now+" before "+now+", always "+now)
}

// moment is a place of a run on a grid of times that is finer than all lengths: there, conditions have their truth.
type moment struct {
	at    int // [quarters of a second]
	truth map[string]bool
}

// bestOn judges a formula at each moment by its definition. What follows is taken at its best.
func bestOn(f *temporal.Formula, run []moment) []bool {
	var args [][]bool
	for _, a := range f.Args {
		args = append(args, bestOn(a, run))
	}
	value := make([]bool, len(run))
	for i := len(run) - 1; i >= 0; i-- {
		last := i == len(run)-1
		switch f.Op {
		case temporal.Condition:
			value[i] = truthIn(f.Cond.Logic(func(string) bool { return true }), run[i].truth)
		case temporal.Not:
			value[i] = !args[0][i]
		case temporal.And:
			value[i] = args[0][i] && args[1][i]
		case temporal.Or:
			value[i] = args[0][i] || args[1][i]
		case temporal.Weak, temporal.Until:
			value[i] = args[1][i] || args[0][i] && (last || value[i+1])
		case temporal.Within, temporal.For:
			end := run[i].at + int(4*f.Bound)
			some, all := run[len(run)-1].at <= end, true
			for k := i; k < len(run) && run[k].at <= end; k++ {
				some, all = some || args[0][k], all && args[0][k]
			}
			value[i] = f.Op == temporal.Within && some || f.Op == temporal.For && all
		}
	}
	return value
}

// TestMonitorsAreTheDefinition compares monitors with the definition, on random properties and random runs of states that
// last for some time: what is violated, whatever follows, is the same.
func TestMonitorsAreTheDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 3))
	violated, satisfied, unknown, ended := 0, 0, 0, 0
	cases := 20000
	if testing.Short() {
		cases = 2000
	}
	for range cases {
		text := timedFormula(r, 1+r.IntN(3))
		p, mistakes := temporal.Read(text, expr.TaskNames{"a", "b", "c"}, nil)
		if len(mistakes) > 0 {
			t.Fatal(text, mistakes[0])
		}
		f := followed(p.Formula.Positive(false), false)
		x, why := newMonitor(f, numbered(f), 3)
		if why != "" {
			continue
		}
		task, again, late, known := -1, uint64(0), false, true
		var z zone.Zone
		var run []moment
		now := 0
		for k := range 1 + r.IntN(8) {
			state := r.IntN(8)
			if k > 0 {
				task, _ = x.leave(task, again, &z, false, nil)
			}
			truth := map[string]bool{"a": state&1 != 0, "b": state&2 != 0, "c": state&4 != 0}
			if task, again, known = x.enter(task, holding(x.of, truth), &z); !known {
				break
			}
			length := 1 + r.IntN(6) // halves of a second
			exactly(&z, float64(length)/2)
			for q := range 2*length + 1 {
				run = append(run, moment{now + q, truth})
			}
			now += 2 * length
			if late = x.overdue(task, &z); late || x.violated(task) || x.satisfied(task) {
				break
			}
		}
		if !known {
			unknown++
			continue
		}
		is, want := late || x.violated(task), !bestOn(f, run)[0]
		switch {
		case is != want:
			t.Fatalf("%s\n%v\nviolated: %v", text, run, is)
		case is:
			violated++
		case x.satisfied(task):
			ended++
		default:
			satisfied++
		}
	}
	t.Logf("%d violated, %d satisfied for ever, %d not yet, %d not followed", violated, ended, satisfied, unknown)
	if violated < cases/20 || satisfied < cases/20 || ended < cases/20 || unknown > cases/10 {
		t.Error("too few")
	}
}
