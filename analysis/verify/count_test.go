package verify

import (
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/declare"
)

// A parallel of which no child must succeed always succeeds; one that allows no number of failures always fails: what
// comes after it decides.
func TestCountsOfZero(t *testing.T) {
	for _, test := range []struct{ parallel, dead string }{
		{`<ReactiveParallel success_count="0" failure_count="1"><Action name="in"/><Condition on="x ge 3"/></ReactiveParallel>`,
			"f"},
		{`<ParallelAll max_failures="0"><Condition on="x ge 1"/><Condition on="x ge 2"/></ParallelAll>`, ""},
		{`<ParallelAll max_failures="0"><Action name="in" done="x ge 1"/><Condition on="x ge 2"/></ParallelAll>`, ""},
	} {
		s := declare.Subject{Plan: readPlan(t, `<Fallback name="f">`+test.parallel+`<Action name="after"/></Fallback>`)}
		dead := ""
		for _, f := range Check(s) {
			if f.Question == "dead" && f.Verdict == Refuted {
				dead += f.Text + " "
			}
		}
		if (dead != "") != (test.dead != "") {
			t.Errorf("%s: dead: %s", test.parallel, dead)
		}
		for name := range strings.FieldsSeq(test.dead) {
			if !strings.Contains(dead, name) {
				t.Errorf("%s: %s is not in %s", test.parallel, name, dead)
			}
		}
	}
}
