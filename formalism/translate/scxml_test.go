package translate

import (
	"encoding/xml"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/formalism/stategraph"
)

// chart is the part of an SCXML document that SCXML writes.
type chart struct {
	XMLName xml.Name
	Version string `xml:"version,attr"`
	Model   string `xml:"datamodel,attr"`
	Initial string `xml:"initial,attr"`
	Data    []struct {
		ID string `xml:"id,attr"`
	} `xml:"datamodel>data"`
	States []state `xml:"state"`
}

type state struct {
	ID          string `xml:"id,attr"`
	Initial     string `xml:"initial,attr"`
	Transitions []struct {
		Event  string `xml:"event,attr"`
		When   string `xml:"cond,attr"`
		Target string `xml:"target,attr"`
		Assign []struct {
			Location string `xml:"location,attr"`
			Value    string `xml:"expr,attr"`
		} `xml:"assign"`
	} `xml:"transition"`
	Active []struct {
		Location string `xml:"location,attr"`
		Value    string `xml:"expr,attr"`
	} `xml:"onentry>assign"`
	States []state `xml:"state"`
}

var ncName = regexp.MustCompile(`^[\p{L}_][\p{L}\p{Nd}_.-]*$`)

// readChart reads a document and checks its structure: identifiers unique and well-formed, targets there, initial
// states inside.
func readChart(t *testing.T, text string) *chart {
	t.Helper()
	var c chart
	if err := xml.Unmarshal([]byte(text), &c); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if c.XMLName.Space != "http://www.w3.org/2005/07/scxml" || c.XMLName.Local != "scxml" || c.Version != "1.0" ||
		c.Model != "ecmascript" {
		t.Fatalf("not SCXML 1.0: %+v", c)
	}
	ids := map[string]bool{}
	var collect func(states []state)
	collect = func(states []state) {
		for _, s := range states {
			if ids[s.ID] || !ncName.MatchString(s.ID) {
				t.Fatalf("the identifier %q is not well-formed or not unique\n%s", s.ID, text)
			}
			ids[s.ID] = true
			collect(s.States)
		}
	}
	collect(c.States)
	var check func(states []state, initial string)
	check = func(states []state, initial string) {
		if len(states) > 0 && !slices.ContainsFunc(states, func(s state) bool { return s.ID == initial }) {
			t.Fatalf("the initial state %q is not inside\n%s", initial, text)
		}
		for _, s := range states {
			for _, tr := range s.Transitions {
				if tr.Target != "" && !ids[tr.Target] || tr.Target == "" && tr.Event == "" {
					t.Fatalf("a transition of %q leads nowhere", s.ID)
				}
			}
			check(s.States, s.Initial)
		}
	}
	check(c.States, c.Initial)
	return &c
}

// TestSCXML: the charts of random trees have the structure that the standard requires, and the content of the graphs.
func TestSCXML(t *testing.T) {
	trees := 500
	if testing.Short() {
		trees = 100
	}
	for seed := range trees {
		r := rand.New(rand.NewPCG(7, uint64(seed)))
		tree, inputs := compile(t, r, 5)
		g, err := StateGraphOf("a name", tree, inputs, Assumptions{})
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := SCXML(&b, g); err != nil {
			t.Fatal(err)
		}
		c := readChart(t, b.String())
		if len(c.States) != 2 || len(c.States[1].States) != g.Len() {
			t.Fatalf("%d states outside, %d inside, want 2, %d", len(c.States), len(c.States[1].States), g.Len())
		}
		var got, want []string
		inside := c.States[1].States
		for i, s := range inside {
			for _, tr := range s.Transitions {
				to := slices.IndexFunc(inside, func(s state) bool { return s.ID == tr.Target })
				when := "always"
				if tr.When != "" {
					e, err := expr.Parse(strings.ReplaceAll(tr.When, "inputs.", ""))
					if err != nil {
						t.Fatal(err)
					}
					when = e.String()
				}
				got = append(got, fmt.Sprint(i, to, when))
			}
			var actions []string
			for _, a := range g.StepActions(stategraph.Step(i)) {
				actions = append(actions, "'"+g.Actions()[a]+"'")
			}
			if text := "[" + strings.Join(actions, ", ") + "]"; s.Active[0].Value != text {
				t.Errorf("state %s has %s active, want %s", s.ID, s.Active[0].Value, text)
			}
		}
		for _, tr := range g.Transitions() {
			when := "always"
			if tr.When != nil {
				when = tr.When.String()
			}
			want = append(want, fmt.Sprint(tr.From, tr.To, when))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("seed %d: the chart has\n%s\nthe graph\n%s", seed, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Names that mean something in XML or ECMAScript are spelled so that they do not.
func TestSCXMLNames(t *testing.T) {
	g, list := stategraph.Read(&diag.Source{Name: "g.yaml", Text: `
steps:
  "a <b> & 'c'": {initial: true, actions: ["it's <\\>"]}
  before: {actions: [new]}
transitions:
  - {from: "a <b> & 'c'", to: before, when: new and not (énot or a.b)}
  - {from: before, to: "a <b> & 'c'", after: 3, when: not new}
`}, nil)
	if len(list) > 0 {
		t.Fatal(list)
	}
	if err := SCXML(&strings.Builder{}, g); !errors.Is(err, ErrSCXML) {
		t.Errorf("a delay: error %v", err)
	}
	g, list = stategraph.Read(&diag.Source{Name: "g.yaml", Text: strings.Replace(g.Source.Text, "after: 3,",
		"loop_check: false,", 1)}, nil)
	if len(list) > 0 {
		t.Fatal(list)
	}
	var b strings.Builder
	if err := SCXML(&b, g); err != nil {
		t.Fatal(err)
	}
	c := readChart(t, b.String())
	first := c.States[1].States[0]
	if first.ID != "a_b_c" || first.Active[0].Value != `['it\'s <\\>']` ||
		first.Transitions[0].When != "inputs.new && !(inputs['énot'] || inputs['a.b'])" {
		t.Errorf("%+v", first)
	}
	if c.States[1].States[1].ID != "before_2" {
		t.Errorf("the step before has the identifier %q", c.States[1].States[1].ID)
	}
}
