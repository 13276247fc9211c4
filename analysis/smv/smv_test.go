package smv

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/internal/golden"
)

// The scripts in testdata write plans: `export` with the body of a plan and, after a line `---`, what is declared.
func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine {
		return func(t *testing.T, d golden.Directive) string {
			text, err := Write(read(t, d.Input), "a plan", func() string { return "" })
			if err != nil {
				return err.Error()
			}
			return text
		}
	}, "testdata/*.txt")
}

func read(t *testing.T, text string) declare.Subject {
	t.Helper()
	body, facts, declared := strings.Cut(text, "---\n")
	p, list := plan.Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4"><BehaviorTree ID="p">` + body +
		`</BehaviorTree></root>`}, nil)
	if p == nil {
		t.Fatal(list)
	}
	s := declare.Subject{Plan: p}
	if declared {
		if s.Declared, list = declare.ReadFile(&diag.Source{Name: "facts.yaml", Text: facts + "\n"}, p); list.HasErrors() {
			t.Fatal(list)
		}
	}
	return s
}

// A graph that would be too large is not written.
func TestTooLarge(t *testing.T) {
	s := read(t, `<Sequence><Action name="a" done="x ge 1"/><Action name="b" done="y ge 1"/></Sequence>`)
	_, err := Write(s, "a plan", func() string { return "the time is over" })
	if !errors.Is(err, ErrLarge) || !strings.Contains(err.Error(), "the time is over") {
		t.Error(err)
	}
}

// TestLongModel: a model that would be too long is not written, and a search that is to end is not continued.
func TestLongModel(t *testing.T) {
	wide := func(n int, leaf func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(leaf(i))
		}
		return b.String()
	}
	condition := func(i int) string { return fmt.Sprintf(`<Condition name="a_condition_%d" on="x%d ge 1"/>`, i, i) }
	writer := func(i int) string {
		return fmt.Sprintf(`<Action name="%s_%d" write="v := 1" done="x ge 1"/>`, strings.Repeat("a", 900), i)
	}
	action := func(i int) string { return fmt.Sprintf(`<Action name="a_%d" done="x%d ge 1"/>`, i, i) }
	for name, body := range map[string]string{
		"counts": `<ReactiveParallel success_count="100" failure_count="100">` + wide(200, condition) + `</ReactiveParallel>`,
		"pairs":  `<ReactiveFallback>` + wide(220, writer) + `</ReactiveFallback>`,
		"states": `<Parallel failure_count="20">` + wide(20, action) + `</Parallel>`,
	} {
		asked := 0
		_, err := Write(read(t, body), "a plan", func() string {
			if asked++; asked > 2_000 {
				return "the time is over"
			}
			return ""
		})
		if asked > 2_100 || !errors.Is(err, ErrLarge) || !strings.Contains(err.Error(), "export a smaller plan") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A parallel of which no child must succeed always succeeds; one that allows no number of failures always fails.
func TestCountsOfZero(t *testing.T) {
	text, err := Write(read(t, `<ReactiveFallback><ParallelAll name="all" max_failures="0"><Condition name="c" on="x ge 1"/>
		<Condition name="d" on="x ge 2"/></ParallelAll><ReactiveParallel name="none" success_count="0" failure_count="1">
		<Action name="a"/><Condition name="e" on="x ge 3"/></ReactiveParallel></ReactiveFallback>`), "a plan",
		func() string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"good_all := FALSE;", "bad_all := (good_c | bad_c) & (good_d | bad_d);",
		"good_none := TRUE;", "bad_none := FALSE;"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
