package sim

import (
	"fmt"
	"math"
	"testing"

	"github.com/canopy-uav/canopy/ode"
)

// dice is a small generator of random numbers (splitmix64), the same everywhere.
type dice uint64

func (d *dice) next() float64 { // in [-1, 1)
	*d += 0x9e3779b97f4a7c15
	z := uint64(*d)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64((z^z>>31)>>11)/(1<<52) - 1
}

// randomSystem makes a hybrid system of two or three states with three modes, driven linear oscillators, and up to four
// indicators, affine or quadratic in the states, some of them driven by time. Its reaction to an event changes the mode
// or kicks a state.
func randomSystem(d *dice) (sys *System, y0 []float64, react func(i int, y, u []float64)) {
	n, m := 2, 1+int(2*(d.next()+1))
	if d.next() > 0 {
		n = 3
	}
	matrix := func(rows, columns int, scale float64) [][]float64 {
		a := make([][]float64, rows)
		for i := range a {
			for range columns {
				a[i] = append(a[i], scale*d.next())
			}
		}
		return a
	}
	var a [3][][]float64
	for k := range a {
		a[k] = matrix(n, n+2, 2)
		for i := range n { // skew and damped, so that nothing runs away
			for j := range i {
				a[k][i][j] = -a[k][j][i]
			}
			a[k][i][i] = -0.1 * math.Abs(a[k][i][i])
		}
	}
	b, action := matrix(m, n+4, 1), matrix(m, 2, 1)
	sys = &System{Inputs: 1}
	for i := range n {
		sys.States = append(sys.States, fmt.Sprint("y", i))
		y0 = append(y0, 2*d.next())
	}
	for i := range m {
		sys.Indicators = append(sys.Indicators, Indicator{Name: fmt.Sprint("g", i)})
	}
	sys.Derivatives = func(t float64, y []float64, d *Discrete, dydt []float64) {
		for i, row := range a[int(d.U[0])] {
			dydt[i] = row[n]*math.Sin(t) + row[n+1]
			for j := range n {
				dydt[i] += row[j] * y[j]
			}
		}
	}
	sys.Zeros = func(t float64, y []float64, _ *Discrete, _ []int, g []float64) {
		for i, row := range b {
			g[i] = row[n]/2 + row[n+1]*math.Cos(3*t)/3 + row[n+2]*y[0]*y[1]/4
			for j := range n {
				g[i] += row[j] * y[j]
			}
		}
	}
	return sys, y0, func(i int, y, u []float64) {
		switch {
		case action[i][0] > 0.3:
			u[0] = math.Mod(u[0]+1, 3)
		case action[i][0] > 0:
			y[0] += 0.2 * action[i][1]
		}
	}
}

// The simulator and the plain finder see the same events on random hybrid systems, up to the first two that are so close
// that the plain one's fixed step decides what is seen.
func TestAgreesWithADumbFinder(t *testing.T) {
	systems := short(60, 300)
	const until, most, apart, tolerance = 12, 60, 6e-3, 1e-6
	compared := 0
	for seed := range systems {
		d := dice(seed)
		sys, y0, react := randomSystem(&d)
		var logs [2][]happening
		for k := range logs {
			o := Options{Options: ode.Options{RelTol: 1e-9}, Chattering: Continue}
			s := start(t, sys, y0, []float64{0}, o)
			f := finder(s)
			if k > 0 {
				f = &plain{Simulator: s, step: 1. / 512}
			}
			err := fly(s, f, until, func(Segment) {}, func(changed []int, _ bool) {
				for _, i := range changed {
					logs[k] = append(logs[k], happening{s.T, i})
					answer(s, react, i)
				}
				if len(logs[k]) >= most {
					s.T = until
				}
			})
			if err != nil {
				t.Fatalf("system %d: %v", seed, err)
			}
		}
		// The first place at which either log has two events close together ends the comparison.
		got, want, limit := logs[0], logs[1], until-apart
		for _, log := range logs {
			if len(log) >= most {
				limit = min(limit, log[len(log)-1].T-apart)
			}
			for k := 1; k < len(log); k++ {
				if gap := log[k].T - log[k-1].T; gap > 0 && gap < apart {
					limit = min(limit, log[k-1].T-apart)
				}
			}
		}
		for k := 0; ; k++ {
			more := k < len(got) && got[k].T < limit
			if more != (k < len(want) && want[k].T < limit) {
				t.Errorf("system %d: event %d is seen by one only:\n%v\n%v", seed, k, got, want)
				break
			}
			if !more {
				break
			}
			if got[k].Indicator != want[k].Indicator || math.Abs(got[k].T-want[k].T) > tolerance {
				t.Errorf("system %d: event %d: got %v, want %v", seed, k, got[k], want[k])
				break
			}
			compared++
		}
	}
	t.Logf("%d events compared", compared)
	if compared < 4*systems {
		t.Errorf("only %d events compared", compared)
	}
}

// On the same dense output, at a loose tolerance and so with long steps, a thousand samples a step see no change of
// side that the search does not. Looking at the ends of the steps alone would miss some.
func TestSearchMissesNothingThatDenseSamplesSee(t *testing.T) {
	systems := short(100, 400)
	const fine = 1000
	seen, found, ends := 0, 0, 0
	for seed := range systems {
		d := dice(1000 + seed)
		sys, y0, _ := randomSystem(&d)
		o := Options{Options: ode.Options{RelTol: 1e-3, Method: ode.Explicit}}
		exact := start(t, sys, y0, []float64{0}, o)
		exact.accuracy = 0 // no change is a touch
		found += len(play(t, exact, 12, nil))
		s := start(t, sys, y0, []float64{0}, o)
		for i := range s.Above {
			s.Watch(i, 0)
		}
		y, g := make([]float64, len(y0)), make([]float64, len(s.Above))
		above, last := append([]bool(nil), s.Above...), append([]bool(nil), s.Above...)
		err := fly(s, s, 12, func(seg Segment) {
			for k := 1; k <= fine; k++ {
				at := seg.From + (seg.To-seg.From)*float64(k)/fine
				s.Interpolate(at, y)
				sys.Zeros(at, y, &s.Discrete, nil, g)
				for i, v := range g {
					if (v >= 0) != above[i] {
						above[i] = !above[i]
						seen++
					}
				}
			}
			for i, a := range above {
				if a != last[i] {
					ends++
				}
			}
			copy(last, above)
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d changes seen, %d found, %d visible at the ends of steps", seen, found, ends)
	if ends > seen*99/100 {
		t.Error("the steps are too short to show anything")
	}
	if seen < 6*systems || found < seen {
		t.Errorf("of %d changes of side %d found", seen, found)
	}
}
