package simulated

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
)

// forgers are runs whose saved states are changed, one of each way to decide.
func forgers(t testing.TB) []func() *run.Run {
	day := solarDay(t)
	cart := cartMission(t, `<ReactiveFallback>
		<ReactiveSequence><Condition ID="early" on="t lt 20 [s]"/>
			<Action ID="a" entry="v := 0.5" entry_time="4" exit="v := -1" exit_until="x le 0 [m]"/></ReactiveSequence>
		<Action ID="b" write="v := 2; gear := t / 1 [s]"/></ReactiveFallback>`, "")
	scripts := cartMission(t, `<Fallback>
		<RunOnce then_skip="false"><RetryUntilSuccessful num_attempts="3"><IfThenElse>
			<Action ID="a" write="v := 0.5" done="t gt 20 [s]"/>
			<Action ID="b" write="v := -1" failed="x le 0 [m]"/></IfThenElse></RetryUntilSuccessful></RunOnce>
		<Action ID="c" write="v := 2"/></Fallback>`, "")
	var list []func() *run.Run
	add := func(begin func() (*run.Run, error)) {
		list = append(list, func() *run.Run {
			r, err := begin()
			if err != nil {
				t.Fatal(err)
			}
			r.Attach(record.Nothing{})
			return r
		})
	}
	add(func() (*run.Run, error) { return New(cart, run.Continuous{}, math.Inf(1)) })
	for _, c := range []run.Configuration{run.Continuous{}, run.Ticked{Period: 1}, run.Ticked{Period: 1, Conventional: true}} {
		add(func() (*run.Run, error) { return New(scripts, c, math.Inf(1)) })
	}
	for _, c := range run.Configurations(day, []float64{600}) {
		add(func() (*run.Run, error) { return New(day, c, math.Inf(1)) })
	}
	add(func() (*run.Run, error) {
		return New(day, run.Ticked{Period: 60, Conventional: true}, math.Inf(1))
	})
	return list
}

func save(t testing.TB, r *run.Run, steps int) []byte {
	for range steps {
		if _, err := r.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return snapshot.Save(nil, r)
}

// goOn loads a state into a run that has not begun, and reports whether it is taken. Whatever it is, the run does not
// panic.
func goOn(r *run.Run, state []byte) bool {
	if snapshot.Load(state, r) != nil {
		return false
	}
	for range 20 {
		if more, err := r.Step(); !more || err != nil {
			break
		}
	}
	_ = r.Stop("tried")
	return true
}

// A state that was changed in one bit is refused, or a run continues from it, to its end or to an error.
func TestForgedStates(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 2))
	for k, begin := range forgers(t) {
		saved := save(t, begin(), 300)
		for range 200 {
			data := append([]byte(nil), saved...)
			at, bit := rnd.IntN(len(data)), rnd.IntN(8)
			data[at] ^= 1 << bit
			t.Logf("run %d, byte %d of %d, bit %d", k, at, len(data), bit)
			goOn(begin(), data)
		}
	}
}

// FuzzState: a run continues from any bytes as a saved state without a panic, or refuses them.
func FuzzState(f *testing.F) {
	runs := forgers(f)
	for k, begin := range runs {
		f.Add(uint8(k), save(f, begin(), 40))
	}
	f.Fuzz(func(_ *testing.T, k uint8, data []byte) { goOn(runs[int(k)%len(runs)](), data) })
}
