package simulated

import (
	"errors"
	"strings"
	"testing"

	"canopy/executive"
)

// Work that has an end is done, however many settlings of one instant it takes. A loop without end is found when a
// state occurs again; the message names the tasks in it, not those before it.
func TestInstantsWithAnEnd(t *testing.T) {
	for _, test := range []struct{ trees, want string }{
		{`<BehaviorTree ID="main"><Sequence><Script code="n := 0"/><Repeat num_cycles="150"><Script code="n := n + 1"/>
			</Repeat></Sequence></BehaviorTree>`, "SUCCESS, n = 150"},
		{`<BehaviorTree ID="main"><Sequence><Script code="n := 0"/><Repeat num_cycles="5000"><Script code="n := n + 1"/>
			</Repeat></Sequence></BehaviorTree>`, "SUCCESS, n = 5000"},
		{`<BehaviorTree ID="main"><Sequence><Script code="n := 0; m := 0"/><Repeat num_cycles="20"><Sequence>
			<Script code="n := n + 1"/><Repeat num_cycles="20"><Script code="m := m + 1"/></Repeat></Sequence></Repeat>
			</Sequence></BehaviorTree>`, "SUCCESS, m = 400, n = 20"},
		{`<BehaviorTree ID="main"><Sequence><Script code="n := 0"/><RetryUntilSuccessful num_attempts="-1"><Sequence>
			<Script code="n := n + 1"/><ScriptCondition code="n >= 1000"/></Sequence></RetryUntilSuccessful>
			</Sequence></BehaviorTree>`, "SUCCESS, n = 1000"},
		{`<BehaviorTree ID="main"><Sequence><Script name="first" code="n := 1"/><KeepRunningUntilFailure>
			<Script name="again" code="n := 3 - n"/></KeepRunningUntilFailure></Sequence></BehaviorTree>`,
			"do not settle at t = 0 s: these keep changing: again"},
		{`<BehaviorTree ID="main"><Sequence><Script name="first" code="n := 1"/><KeepRunningUntilFailure>
			<Script name="again" code="n := n + 1"/></KeepRunningUntilFailure></Sequence></BehaviorTree>`,
			"do not settle within 100000 settlings at t = 0 s: these keep changing: again"},
	} {
		got, err := left(test.trees)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasSuffix(got, test.want) || strings.Contains(got, "settle") != errors.Is(err, executive.ErrUnsettled) {
			t.Errorf("%s\n%s, want %s", test.trees, got, test.want)
		}
	}
}
