package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/internal/golden"
)

// solarDay reads the plan of the solar day.
func solarDay(t *testing.T) *plan.Plan {
	t.Helper()
	text, err := os.ReadFile("../../missions/solar-day.xml")
	if err != nil {
		t.Fatal(err)
	}
	p, list := plan.Read(&diag.Source{Name: "solar-day.xml", Text: string(text)}, nil)
	if p == nil {
		t.Fatal(list)
	}
	return p
}

func TestDrawing(t *testing.T) {
	var b bytes.Buffer
	if err := SVG(&b, solarDay(t)); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("testdata", "tree.svg"))
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("tree.svg differs; got\n%s", b.String())
	}
}

// TestGraphs draws the state graphs of a golden script.
func TestGraphs(t *testing.T) {
	golden.Run(t, func() golden.Machine {
		return func(t *testing.T, d golden.Directive) string {
			g, list := stategraph.Read(&diag.Source{Name: "graph.yaml", Text: d.Input + "\n"}, nil)
			if g == nil {
				t.Fatal(list)
			}
			var drawn bytes.Buffer
			if err := Graph(&drawn, g); err != nil {
				t.Fatal(err)
			}
			return drawn.String()
		}
	}, "testdata/graph.txt")
}

// FuzzSVG holds that the picture of a plan is XML, whatever its tasks are called and do.
func FuzzSVG(f *testing.F) {
	for _, name := range []string{"a", "<&>\"'", "\x1b]0;\u202e", "W%@→…", "\xff"} {
		f.Add(name, "x == '"+name+"'")
	}
	f.Fuzz(func(t *testing.T, name, code string) {
		root := &bt.Node{Kind: bt.Sequence, Name: name, Children: []*bt.Node{{Kind: bt.Action, Name: code}, {Kind: bt.Action}}}
		p, _ := plan.New("p", root, []plan.Leaf{{ID: code}, {ID: name}})
		if p == nil {
			return
		}
		var picture bytes.Buffer
		if err := SVG(&picture, p); err != nil {
			t.Fatal(err)
		}
		for decoder := xml.NewDecoder(&picture); ; {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				return
			} else if err != nil {
				t.Fatalf("the picture is no XML: %v", err)
			}
		}
	})
}

// FuzzGraph draws any graph that can be read: with a node, or a dot for its entry, for each step.
func FuzzGraph(f *testing.F) {
	f.Add("graph: \"q\\\"\\\\\"\nsteps:\n  \"<a\\n\": {initial: true}\n  p: {entry: [b], steps: {b: }}\n" +
		"transitions:\n  - {from: \"<a\\n\", to: p}\n  - {suspend: p, to: \"<a\\n\", after: 2}\n")
	f.Fuzz(func(t *testing.T, text string) {
		g, _ := stategraph.Read(&diag.Source{Name: "fuzz.yaml", Text: text}, nil)
		if g == nil || g.Len() > 1000 {
			return
		}
		var drawn strings.Builder
		if err := Graph(&drawn, g); err != nil {
			t.Fatal(err)
		}
		for s := range stategraph.Step(g.Len()) {
			node := fmt.Sprintf("n%d [label=", s)
			if g.Parallel(s) {
				node = fmt.Sprintf("n%d_entry [shape=point", s)
			}
			if !strings.Contains(drawn.String(), node) {
				t.Fatalf("step %d is not drawn:\n%s", s, &drawn)
			}
		}
	})
}

// bushy returns a plan of about n tasks with long names.
func bushy(n int) string {
	var b strings.Builder
	b.WriteString(`<root BTCPP_format="4"><BehaviorTree ID="bushy">
		<ReactiveFallback name="everything there is to do today">`)
	for i := range n / 5 {
		fmt.Fprintf(&b, `<ReactiveSequence name="a task with a rather long name, the %d. of them">
			<Condition name="surplus_%[1]d" on="soc gt 0.%[1]d and h lt %[1]d000 [m] and climb_rate gt 0.2 [m/s]"/>
			<Inverter><Condition on="h gt %[1]d [m]"/></Inverter>
			<Action name="WWWWMMMM_%[1]d" write="h_cmd := %[1]d000 [m]; CL_cmd := 0.95"/></ReactiveSequence>`, i+1)
	}
	b.WriteString(`</ReactiveFallback></BehaviorTree></root>`)
	return b.String()
}

// No two boxes overlap, every text fits into its box by the estimate, and all lies inside the picture.
func TestLayoutDoesNotOverlap(t *testing.T) {
	p, list := plan.Read(&diag.Source{Name: "bushy", Text: bushy(50)}, nil)
	if p == nil {
		t.Fatal(list)
	}
	d := &drawing{p}
	boxes, width, height := d.layout()
	for i, a := range boxes {
		if a.x < 0 || a.y < 0 || a.x+a.width > width || a.y+boxHeight > height {
			t.Errorf("%s lies outside the picture", a.name)
		}
		if utf8.RuneCountInString(a.name) == 0 || textWidth(a.note, noteSize) > a.width {
			t.Errorf("%q does not fit", a.note)
		}
		for _, b := range boxes[:i] {
			if a.x < b.x+b.width && b.x < a.x+a.width && a.y < b.y+boxHeight && b.y < a.y+boxHeight {
				t.Errorf("%s and %s overlap", a.name, b.name)
			}
		}
	}
}
