package verify

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/script"
)

// The worst case of the reaction is proved, by visiting all states or by the structure, and its script shows it.
func TestReaction(t *testing.T) {
	const harvest = `<ReactiveSequence name="harvest"><Condition ID="surplus"/><Action ID="potential"/></ReactiveSequence>`
	chain := `<ReactiveFallback name="root">`
	for i := range 40 {
		chain += fmt.Sprintf(`<Sequence name="s%d"><Condition ID="c%d"/><Action ID="a%d"/></Sequence>`, i, i, i)
	}
	for want, text := range map[string]string{
		"one input takes at most 2 event iterations and 6 status changes": harvest,
		"by the structure of the tree; the maximum in":                    chain + `</ReactiveFallback>`,
	} {
		s, found := check(t, text, "")
		f := byQuestion(found, "reaction")
		if len(f) != 1 || f[0].Verdict != Proved || !strings.Contains(f[0].Text, want) {
			t.Errorf("%+v, want %q", f, want)
			continue
		}
		var log bytes.Buffer
		src := &diag.Source{Name: "script.txt", Text: f[0].Script}
		if err := script.Print(&plan.Plan{Tree: s.Plan.Tree}, src, nil, &log); err != nil || log.Len() == 0 {
			t.Errorf("the script does nothing: %v\n%s", err, f[0].Script)
		}
	}
}
