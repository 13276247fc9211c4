package expr

import (
	"fmt"
	"testing"
)

// TestLinear: relations of several signals as sums, derived manually.
func TestLinear(t *testing.T) {
	for text, want := range map[string]string{
		"x ge y":                       "[{x 1} {y -1}] 0",
		"x lt y":                       "[{x 1} {y -1}] 0", // not (x ge y)
		"x le y + 2":                   "[{x -1} {y 1}] -2",
		"2 * x - (y + 3) / 4 gt z - x": "[{x -3} {y 0.25} {z 1}] -0.75",
		"x + y - y ge 1":               "[{x 1}] 1",
		"x * y ge 1":                   "[] 0",
		"x == y":                       "[] 0",
		"abs(x) ge y":                  "[] 0",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		l := e.Logic(nil)
		if l.Op == LogicNot {
			l = l.Args[0]
		}
		terms, limit := l.Linear()
		if got := fmt.Sprint(terms, limit); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
