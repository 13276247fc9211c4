package temporal

import (
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/expr"
)

// TestForeignOperators: an operator of another notation is named, at its place, with what to write instead; not where a
// task or a signal has its name.
func TestForeignOperators(t *testing.T) {
	scope := expr.Scope{"h": {}, "F": {}, "x.G": {}}
	tasks := expr.TaskNames{"a", "b", "H"}
	for text, want := range map[string]string{
		"G(a)": "0 G always", "G a": "0 G always", "[](a -> <> b)": "0 [] always|8 <> eventually",
		"□ a": "0 □ always", "a U b": "2 U until", "U(a, b)": "0 U until", "G[0,10] a": "0 G for",
		"always (a -> F_[0,5] b)": "", "[] a": "0 [] always", "AG(a -> AF b)": "0 AG always|8 AF eventually",
		"EF a": "0 EF never", "X a": "0 X within", "ALWAYS a": "0 ALWAYS always",
		"eventually[0,5] a": "0 eventually within", "always [0,5] a": "0 always for", "a => b": "2 => ->",
		"a implies b": "2 implies ->", "a W b": "2 W before", "a R b": "2 R before",
		"globally a": "0 globally always", "a ∧ ¬b": "2 ∧ and|6 ¬ not", "O(a)": "0 O after",
		"P>=0.9 [<> a]": "0 P leave|8 <> eventually", "a ~> b": "2 ~> always", "F > 3 or": "", "H and": "",
		"x.G >": "", "always G > a": "7 G always", "finally(a)": "0 finally eventually",
		"a unless b": "2 unless before", "a iff b": "2 iff ->",
	} {
		_, mistakes := Read(text, tasks, scope)
		if len(mistakes) == 0 {
			t.Errorf("%s is a property", text)
		}
		for i, part := range strings.Split(want, "|") {
			foreign := slices.ContainsFunc(mistakes, func(e *expr.Error) bool {
				return strings.Contains(e.Text, "another notation")
			})
			if part == "" {
				if foreign {
					t.Errorf("%s: %v", text, mistakes)
				}
				continue
			}
			words := strings.Fields(part)
			if !foreign || len(mistakes) <= i || text[mistakes[i].Offset:][:mistakes[i].Length] != words[1] ||
				!strings.Contains(mistakes[i].Hint, words[2]) || !strings.HasPrefix(text[mistakes[i].Offset:], words[1]) {
				t.Errorf("%s: %v, want %s", text, mistakes, part)
			}
		}
	}
}
