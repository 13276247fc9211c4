package plan

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// entriesOf returns a plan of leaves, each made for a number.
func entriesOf(n int, leaf func(i, n int) string) string {
	var b strings.Builder
	b.WriteString(`<root BTCPP_format="4" main_tree_to_execute="main"><BehaviorTree ID="main"><Sequence>`)
	for i := range n {
		b.WriteString(leaf(i, n) + "\n")
	}
	b.WriteString(`</Sequence></BehaviorTree><BehaviorTree ID="s"><Script code="n := 1"/></BehaviorTree></root>`)
	return b.String()
}

// allocations counts the allocations with which a plan is read.
func allocations(t *testing.T, text string) float64 {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if p, list := Read(&diag.Source{Name: "x.xml", Text: text}, signals); p == nil {
		t.Fatal(list)
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs - before.Mallocs)
}

// Twice as many entries are at most little more than twice the work, in whatever order their types become known.
func TestTypesOfEntriesAreLinear(t *testing.T) {
	for name, leaf := range map[string]func(i, n int) string{
		"a chain backwards": func(i, n int) string {
			if i == n-1 {
				return fmt.Sprintf(`<Script code="e%d := 1"/>`, i)
			}
			return fmt.Sprintf(`<Script code="e%d := e%d"/>`, i, i+1)
		},
		"one entry of all, backwards": func(i, n int) string {
			if i == n-1 {
				return fmt.Sprintf(`<Script code="e%d := 1"/>`, i)
			}
			return fmt.Sprintf(`<Script code="all := e%d; e%d := e%d"/>`, i+1, i, i+1)
		},
		"equal names": func(i, _ int) string {
			return fmt.Sprintf(`<SubTree ID="s" name="%c%c"/>`, '一'+i/64, '一'+i%64)
		},
	} {
		t.Run(name, func(t *testing.T) {
			const n = 1000
			one, two := allocations(t, entriesOf(n, leaf)), allocations(t, entriesOf(2*n, leaf))
			if two > 2.5*one {
				t.Errorf("%v allocations for %d, %v for %d", one, n, two, 2*n)
			}
		})
	}
}

// The entries of a plan, and what its scripts tell those that wait for them, are bounded.
func TestEntriesAreBounded(t *testing.T) {
	const watch = `<WasEntryUpdated entry="n"/>`
	script := func(i, _ int) string { return fmt.Sprintf(`<Script code="e%d := 1"/>`, i) }
	for name, c := range map[string]struct{ text, says string }{
		"as many as allowed": {entriesOf(maxEntries, script), ""},
		"one too many":       {entriesOf(maxEntries+1, script), "more than 10000 entries"},
		"with those that wait": {entriesOf(maxEntries/2, func(i, _ int) string {
			return watch + map[bool]string{true: `<Script code="n := 1"/>`}[i == 0]
		}), "more than 10000 entries"},
		"writes by watchers": {entriesOf(1001, func(int, int) string { return watch + `<Script code="n := 1"/>` }), "more than 100000"},
	} {
		t.Run(name, func(t *testing.T) {
			p, list := Read(&diag.Source{Name: "x.xml", Text: c.text}, signals)
			if c.says == "" {
				if p == nil || len(p.Entries) != maxEntries {
					t.Fatal(list)
				}
				return
			}
			if p != nil || len(list) == 0 || list[0].Code != xmltree.CodeTooLarge || !strings.Contains(list[0].Text, c.says) {
				t.Errorf("%.300v", list)
			}
		})
	}
}
