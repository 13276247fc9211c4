package verify

import (
	"fmt"
	"testing"

	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/expr"
)

// A computed signal that expands to too much is a signal without known properties; others are replaced by their
// expressions.
func TestComputedSignalsAreBounded(t *testing.T) {
	parse := func(text string) *expr.Expr {
		e, err := expr.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	m := &Model{subject: declare.Subject{Computed: map[string]*expr.Expr{"s0": parse("h + 1")}}}
	for i := range 60 {
		m.subject.Computed[fmt.Sprintf("s%d", i+1)] = parse(fmt.Sprintf("s%d + s%[1]d", i))
	}
	for text, want := range map[string]string{
		"s1 > 3 and x > 0": "h + 1 + (h + 1) > 3 and x > 0",
		"s60 > 3":          "s60 > 3",
		"t > 0":            "t > 0",
	} {
		if got := m.subject.Expanded(parse(text)).String(); got != want {
			t.Errorf("%s: %s, not %s", text, got, want)
		}
	}
}
