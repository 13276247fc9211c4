package stategraph

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/internal/golden"
)

// The scripts in testdata/examples run state graphs, those in testdata/wrong read documents with mistakes.
// docs/scripts.md describes the directives.
func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine { return new(script).command }, "testdata/examples/*.txt", "testdata/wrong/*.txt")
}

// script is the state of a golden script.
type script struct {
	graph  *Graph
	engine *Engine
}

func (s *script) command(t *testing.T, d golden.Directive) string {
	if s.graph == nil && d.Name != "read" {
		t.Fatalf("%s: no graph was read", d.At)
	}
	switch d.Name {
	case "read":
		var known *Vocabulary
		for _, arg := range d.Args {
			if known == nil {
				known = &Vocabulary{}
			}
			if arg.Key == "conditions" {
				known.Conditions = arg.Values
			} else {
				known.Actions = arg.Values
			}
		}
		g, list := Read(&diag.Source{Name: "graph.yaml", Text: d.Input + "\n"}, known)
		var out bytes.Buffer
		list.Write(&out, false)
		if g != nil {
			s.graph, s.engine = g, NewEngine(g)
			fmt.Fprintf(&out, "%d steps, %d transitions, conditions %v, actions %v\n", g.Len(), len(g.Transitions()),
				g.Conditions(), g.Actions())
		}
		return out.String()
	case "settle", "until":
		var at float64
		names := s.graph.Conditions()
		values := make([]bool, len(names))
		for _, arg := range d.Args {
			if arg.Key == "t" {
				var err error
				if at, err = strconv.ParseFloat(arg.Values[0], 64); err != nil {
					t.Fatal(err)
				}
			} else if i := slices.Index(names, arg.Key); i >= 0 {
				values[i] = true
			} else {
				t.Fatalf("the graph has no condition %q", arg.Key)
			}
		}
		var out strings.Builder
		for next := s.engine.Alarm(); d.Name == "until" && next < at; next = s.engine.Alarm() {
			s.settle(&out, next, values)
		}
		s.settle(&out, at, values)
		return out.String()
	}
	t.Fatalf("unknown command %q", d.Name)
	return ""
}

// settle prints the rounds of an instant, then what is active and the alarm.
func (s *script) settle(out *strings.Builder, t float64, conditions []bool) {
	fmt.Fprintf(out, "t = %g:", t)
	instant, err := s.engine.Settle(t, conditions)
	round := int32(-1)
	for _, c := range instant.Changes {
		if c.Round != round {
			round = c.Round
			fmt.Fprintf(out, " (%d)", round)
		}
		sign := "-"
		if c.Active {
			sign = "+"
		}
		fmt.Fprintf(out, " %s%s", sign, s.graph.StepName(c.Step))
	}
	if err != nil {
		fmt.Fprintf(out, " error: %v", err)
	}
	var active []string
	for i := range s.graph.Len() {
		if s.engine.active[i] {
			active = append(active, s.graph.StepName(Step(i)))
		}
	}
	fmt.Fprintf(out, "  active %v, rounds %d, alarm %g\n", active, instant.Rounds, s.engine.Alarm())
}

// The page's example can be read and uses every key; its table of codes is that of the sources, each shown by a golden
// script; it names all scripts, and none that is not there.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/stategraphs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	if _, list := Read(&diag.Source{Name: "stategraphs.md", Text: example}, nil); len(list) > 0 {
		t.Error(list)
	}
	for _, key := range []string{"graph", "text", "loop_check", "steps", "transitions", "initial", "actions", "entry", "exit", "from", "to",
		"suspend", "resume", "when", "after"} {
		if !regexp.MustCompile(`\b` + key + `:`).MatchString(example) {
			t.Errorf("the example does not show %s", key)
		}
	}
	var want []string
	for _, file := range []string{"read.go", "check.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:m\.Code, m\.Text = |Add\([^"]*, |Unknown\(\w+, )"([a-z-]+)"`).FindAllStringSubmatch(string(text), -1) {
			want = append(want, m[1])
		}
	}
	slices.Sort(want)
	want = slices.Compact(want)
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		got = append(got, m[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has the codes\n%v\nthe source\n%v", got, want)
	}
	scripts, err := filepath.Glob("testdata/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range scripts {
		if !strings.Contains(string(page), filepath.Base(path)) {
			t.Errorf("the page does not name %s", filepath.Base(path))
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, m := range regexp.MustCompile("`([a-z-]+\\.txt)`").FindAllStringSubmatch(string(page), -1) {
		if !slices.ContainsFunc(scripts, func(path string) bool { return filepath.Base(path) == m[1] }) {
			t.Errorf("the page names %s, which is not there", m[1])
		}
	}
	for _, code := range want {
		if !strings.Contains(all.String(), "["+code+"]") {
			t.Errorf("no golden script shows %s", code)
		}
	}
}

// seeds returns the documents of the golden scripts and of the missions.
func seeds(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, path := range append(paths, "../../missions/solar-day.graph.yaml") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(path) == ".yaml" {
			list = append(list, string(text))
			continue
		}
		for _, part := range strings.Split(string(text), "\nread")[1:] {
			_, part, _ = strings.Cut(part, "\n")
			part, _, _ = strings.Cut(part, "----\n")
			list = append(list, part)
		}
	}
	return list
}
