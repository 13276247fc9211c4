package simulated

import (
	"errors"
	"strings"
	"testing"

	"canopy/executive"
	"canopy/internal/cart"
)

// TestUnsetEntriesAreNamed: an action that writes the value of an entry that is not written, or ends by it, stops the
// run with an error that names both.
func TestUnsetEntriesAreNamed(t *testing.T) {
	for _, does := range []string{`write="v := u"`, `done="elapsed gt u"`, `write="v := 1" failed="x gt u"`} {
		m, diags := cart.Read(`<Sequence><Script code="u := 1"/><UnsetBlackboard key="u"/><Action name="a" `+does+`/></Sequence>`, "")
		if m == nil {
			t.Fatal(diags)
		}
		_, _, err := fly(t, m)
		if !errors.Is(err, executive.ErrUnset) || !strings.Contains(err.Error(), "a reads u, to which nothing has been written") {
			t.Errorf("%s: %v", does, err)
		}
	}
}

// TestLaterReadings: what a task that has ended reads for a later run must have a value only if there is one at the same
// instant, or the reading counts at the end of the instant. The answers are those of BehaviorTree.CPP 4.10.0, except for
// the last plan (docs/btcpp.md).
func TestLaterReadings(t *testing.T) {
	const reads = "reads k, to which nothing has been written"
	for nodes, want := range map[string]string{
		`<UnsetBlackboard key="k" _failureIf="n &gt; k"/>`:                              "SUCCESS, k = unset, n = 1",
		`<ForceSuccess><UnsetBlackboard key="k" _failureIf="n &gt; k"/></ForceSuccess>`: "SUCCESS, k = unset, n = 1",
		`<Inverter _failureIf="n &gt; k"><UnsetBlackboard key="k"/></Inverter>`:         "FAILURE, k = unset, n = 1",
		`<Sequence _skipIf="n &gt; k"><UnsetBlackboard key="k"/></Sequence>`:            "SUCCESS, k = unset, n = 1",
		`<Parallel><Action name="a" done="elapsed gt 0.5" _failureIf="n &gt; k"/><Sequence><Sleep msec="100"/>
			<UnsetBlackboard key="k"/></Sequence></Parallel>`: "SUCCESS, k = unset, n = 1",
		`<Repeat num_cycles="1"><UnsetBlackboard key="k" _failureIf="n &gt; k"/></Repeat>`:                   "SUCCESS, k = unset, n = 1",
		`<Repeat num_cycles="2"><UnsetBlackboard key="k" _failureIf="n &gt; k"/></Repeat>`:                   reads,
		`<Repeat num_cycles="2"><Sequence _skipIf="n &gt; k"><UnsetBlackboard key="k"/></Sequence></Repeat>`: reads,
		`<UnsetBlackboard key="k"/><Fallback><ScriptCondition code="k"/><Script code="k := 1"/></Fallback>`:  reads,
		`<ReactiveSequence><Inverter _failureIf="n &gt; k"><ForceFailure><UnsetBlackboard key="k"/></ForceFailure></Inverter>
			<Sleep msec="1"/></ReactiveSequence>`: reads,
	} {
		got, err := left(`<BehaviorTree ID="main"><Sequence><Script code="n := 1; k := 2"/>` + nodes + `</Sequence></BehaviorTree>`)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) && (err == nil || !strings.Contains(got, want)) {
			t.Errorf("%s: %s, not %s", nodes, got, want)
		}
	}
}
