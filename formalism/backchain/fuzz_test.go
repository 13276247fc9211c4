package backchain

import (
	"testing"

	"github.com/canopy-uav/canopy/diag"
)

// FuzzRead: for any world and goal a plan is built, or each mistake is at a place inside them.
func FuzzRead(f *testing.F) {
	const head, tail = `<root BTCPP_format="4"><TreeNodesModel>`, `</TreeNodesModel></root>`
	f.Add(head+`<Condition ID="at" on="x gt 1"/><Condition ID="key"/><Action ID="go" post="at" write="v := 1"/>
		<Action ID="fetch" pre="at" post="key and not at"/>`+tail, "at and key")
	f.Add(head+`<Condition ID="a"/><Action ID="b" pre="a" post="a"/>`+tail, "not a")
	f.Add(head+`<Condition ID="a"/><Action ID="b" pre="c" post="a and not a"/>`+tail, "a")
	f.Add(head+tail, "a")
	f.Add("<root", "")
	f.Fuzz(func(t *testing.T, world, goal string) {
		w, list := Read(&diag.Source{Name: "world.xml", Text: world})
		if (w == nil) != list.HasErrors() {
			t.Fatalf("world %v with %v", w, list)
		}
		if w != nil {
			src := &diag.Source{Name: "goal", Text: goal}
			facts, more := w.Goal(src)
			if list = append(list, more...); !more.HasErrors() {
				_, more = w.Build("plan", src, facts)
				list = append(list, more...)
			}
		}
		for _, d := range list {
			if d.Offset < 0 || d.Length < 0 || d.Offset+d.Length > len(d.Source.Text) || d.Text == "" || d.Code == "" {
				t.Errorf("%#v", d)
			}
		}
	})
}
