package simulated

import (
	"math"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
)

// silent is a recorder that counts.
type silent struct {
	record.Nothing
	changes, texts int
}

func (s *silent) Event(e record.Event) error {
	if e.Kind != "time" {
		s.texts++
	}
	return nil
}

func (s *silent) Status(float64, int, bt.Change) error {
	s.changes++
	return nil
}

// TestEventsAllocateNothing asserts that a run in steady state allocates nothing, with all that an event brings about:
// loops, timers, scripts, entries of the blackboard, preconditions, postconditions, latches and guards.
func TestEventsAllocateNothing(t *testing.T) {
	for name, body := range map[string]string{
		"repeat":        `<Repeat num_cycles="-1"><Sleep msec="1000"/></Repeat>`,
		"retry":         `<RetryUntilSuccessful num_attempts="-1"><Inverter><Sleep msec="1000"/></Inverter></RetryUntilSuccessful>`,
		"until failure": `<KeepRunningUntilFailure><Sequence><Sleep msec="1000"/><Action ID="a" write="v := 1" done="elapsed ge 0.5 [s]"/></Sequence></KeepRunningUntilFailure>`,
		"delay":         `<Repeat num_cycles="-1"><Delay delay_msec="1000"><Action ID="a" done="true"/></Delay></Repeat>`,
		"timeout":       `<Repeat num_cycles="-1"><ForceSuccess><Timeout msec="1000"><Action ID="a" done="false"/></Timeout></ForceSuccess></Repeat>`,
		"script":        `<Repeat num_cycles="-1"><Sequence><Script code="n := 1; m := n + 1; n = m"/><Sleep msec="1000"/></Sequence></Repeat>`,
		"set":           `<Repeat num_cycles="-1"><Sequence><SetBlackboard value="3" output_key="n"/><Sleep msec="1000"/><UnsetBlackboard key="n"/></Sequence></Repeat>`,
		"precondition":  `<Repeat num_cycles="-1"><Sequence><Script code="n := 1"/><Sleep msec="1000" _skipIf="n == 2" _while="n == 1"/><Script code="n = 2" _failureIf="n == 2"/></Sequence></Repeat>`,
		"postcondition": `<Repeat num_cycles="-1"><Sequence><Script code="n := 0"/><Sleep msec="1000" _onSuccess="n = n + 1" _post="n = n + 2"/><ForceSuccess><Timeout msec="500" _onFailure="n = 5" _failureIf="n == 0"><Sleep msec="600" _onHalted="n = 7"/></Timeout></ForceSuccess></Sequence></Repeat>`,
		"updated":       `<Parallel success_count="2"><Repeat num_cycles="-1"><Sequence><Sleep msec="1000"/><Script code="n := 1"/></Sequence></Repeat><KeepRunningUntilFailure><Fallback><WasEntryUpdated entry="{n}"/><Sleep msec="300"/></Fallback></KeepRunningUntilFailure></Parallel>`,
		"guard":         `<Parallel success_count="2"><Repeat num_cycles="-1"><Guard resource="r"><Sleep msec="1000"/></Guard></Repeat><Repeat num_cycles="-1"><Guard resource="r"><Sleep msec="700"/></Guard></Repeat></Parallel>`,
		"latch":         `<KeepRunningUntilFailure><ReactiveFallback><ReactiveSequence><Condition name="c" on="x ge 1 [m]" until="b"/><Action ID="b" write="v := -1" done="x le 0 [m]"/></ReactiveSequence><Action ID="a" write="v := 1" done="false"/></ReactiveFallback></KeepRunningUntilFailure>`,
		"utility":       `<UtilitySelector2 utility_1="x" utility_2="1 [m] - x" margin="1 [m]"><Action ID="a" write="v := -1"/><Action ID="b" write="v := 1"/></UtilitySelector2>`,
		"attributes":    `<Repeat num_cycles="-1"><Sequence><ForceSuccess><Action ID="a" done="false" timeout="2 [s]" retry="2"/></ForceSuccess><Sleep msec="10"/></Sequence></Repeat>`,
		"every":         `<Action ID="a" done="true" every="2 [s]"/>`,
	} {
		t.Run(name, func(t *testing.T) {
			m := cartMission(t, body, "", "horizon=1e9", "site.noon=1e6")
			log := &silent{}
			r := begin(t, m, run.Continuous{}, math.Inf(1), log)
			steps := func() {
				for range 20 {
					if more, err := r.Step(); !more || err != nil {
						t.Fatal(more, err, r.Summary())
					}
				}
			}
			for range 20 {
				steps()
			}
			*log = silent{}
			const runs = 50
			if n := testing.AllocsPerRun(runs-1, steps); n > float64(log.texts)/runs {
				t.Errorf("%v allocations in 20 steps with %d changes of a status and %d texts", n, log.changes/runs, log.texts/runs)
			}
			if log.changes < 100 {
				t.Errorf("%d changes of a status", log.changes)
			}
		})
	}
}
