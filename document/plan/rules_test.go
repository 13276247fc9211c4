package plan

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
)

// Lists of rules, and the reasons why other plans are none.
func TestRules(t *testing.T) {
	const goal, fly = `<Condition name="goal"/>`, `<Action name="fly"/>`
	for _, c := range []struct{ text, want, wrong string }{
		{`<ReactiveFallback name="r">` + goal + `<ReactiveSequence name="way"><Condition name="a"/><Condition name="b"/>` +
			`<Parallel name="both"><Action name="x"/><Condition name="y"/></Parallel></ReactiveSequence>` +
			`<ReactiveSequence name="rest"><Condition name="c"/><Condition name="d"/></ReactiveSequence>` + fly +
			`</ReactiveFallback>`, "goal: goal -> nothing; way: a b -> both; rest: c d -> nothing; fly: -> fly", ""},
		{`<Fallback name="r">` + goal + fly + `</Fallback>`, "", "r: only a ReactiveFallback is a list of rules; it is a Fallback"},
		{`<ReactiveFallback name="r">` + fly + goal + `</ReactiveFallback>`, "", "its first rule, fly, has no condition"},
		{`<ReactiveFallback name="r">` + goal + `<Condition name="b"/></ReactiveFallback>`, "", "none of its rules has an action"},
		{`<ReactiveFallback name="r">` + goal + `<ReactiveSequence name="s">` + fly + `<Condition name="b"/></ReactiveSequence></ReactiveFallback>`,
			"", "s: only a ReactiveFallback is a list of rules; fly is not a condition"},
		{`<ReactiveFallback name="r">` + goal + `<Inverter name="not"><Condition name="b"/></Inverter>` + fly + `</ReactiveFallback>`,
			"", "no action is in not"},
	} {
		p, list := Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4"><BehaviorTree ID="p">` + c.text +
			`</BehaviorTree></root>`}, nil)
		if p == nil {
			t.Fatal(list)
		}
		name := func(task bt.Task) string { return p.Tree.Name(task) }
		rules, err := Rules(p.Tree, p.Tree.Root())
		var texts []string
		for _, r := range rules {
			text := name(r.Task) + ":"
			for _, k := range r.Conditions {
				text += " " + name(k)
			}
			if text += " -> "; r.Action < 0 {
				texts = append(texts, text+"nothing")
			} else {
				texts = append(texts, text+name(r.Action))
			}
		}
		if got := strings.Join(texts, "; "); got != c.want || (err == nil) != (c.wrong == "") ||
			err != nil && (!errors.Is(err, ErrRules) || !strings.Contains(fmt.Sprint(err), c.wrong)) {
			t.Errorf("%s\n%s %v", c.text, got, err)
		}
	}
}
