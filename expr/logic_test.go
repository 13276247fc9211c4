package expr

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// holds judges a structure for signals, relations that are no thresholds by compiling them.
func (l Logic) holds(t *testing.T, names []string, values []float64) bool {
	switch l.Op {
	case LogicTruth:
		return l.Value
	case LogicThreshold:
		x := values[slices.Index(names, l.Signal)]
		return x > l.Limit || !l.Strict && x == l.Limit
	case LogicRelation:
		return compile(t, NewCompiler(nil, slotsOf(names...)), l.Text).Bool(values, nil)
	case LogicNot:
		return !l.Args[0].holds(t, names, values)
	case LogicAnd, LogicOr:
		decides := func(a Logic) bool { return a.holds(t, names, values) == (l.Op == LogicOr) }
		return slices.ContainsFunc(l.Args, decides) == (l.Op == LogicOr)
	}
	t.Fatalf("unexpected %+v", l)
	return false
}

// TestLogicAgreesWithTheCompiledCondition compares the structure with the code on random conditions. Numbers are small
// integers and halves, so that limits are exact and equality is met often.
func TestLogicAgreesWithTheCompiledCondition(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	names := []string{"x", "y"}
	var number func(depth int) string
	number = func(depth int) string {
		if depth == 0 {
			switch rng.IntN(3) {
			case 0:
				return fmt.Sprint(rng.IntN(7) - 3)
			default:
				return names[rng.IntN(2)]
			}
		}
		a, b := number(depth-1), number(rng.IntN(depth))
		switch rng.IntN(9) {
		case 0, 1:
			return "(" + a + " + " + b + ")"
		case 2:
			return "(" + a + " - " + b + ")"
		case 3:
			return "2 * " + a
		case 4:
			return "(" + a + ") / (-2)"
		case 5:
			return "abs(" + a + ")"
		case 6:
			return "min(" + a + ", " + b + ")"
		case 7:
			return "max(" + a + ", " + b + ")"
		default:
			return "-(" + a + ")"
		}
	}
	var condition func(depth int) string
	condition = func(depth int) string {
		if depth == 0 || rng.IntN(3) == 0 {
			return number(rng.IntN(3)) + []string{" >= ", " > ", " <= ", " < "}[rng.IntN(4)] + number(rng.IntN(3))
		}
		switch rng.IntN(3) {
		case 0:
			return "not (" + condition(depth-1) + ")"
		case 1:
			return "(" + condition(depth-1) + ") and (" + condition(depth-1) + ")"
		default:
			return "(" + condition(depth-1) + ") or (" + condition(depth-1) + ")"
		}
	}
	thresholds := 0
	for range 2000 {
		text := condition(2)
		e := parsed(t, text)
		l, code := e.Logic(nil), NewCompiler(nil, slotsOf(names...)).Compile(e)
		thresholds += count(l, LogicThreshold)
		for range 20 {
			values := []float64{float64(rng.IntN(17)-8) / 2, float64(rng.IntN(17)-8) / 2}
			if got, want := l.holds(t, names, values), code.Bool(values, nil); got != want {
				t.Fatalf("%s with %v: the structure says %t, the code %t\n%+v", text, values, got, want, l)
			}
		}
	}
	if thresholds < 1000 {
		t.Errorf("only %d relations became thresholds", thresholds)
	}
}

func count(l Logic, op LogicOp) int {
	n := 0
	if l.Op == op {
		n++
	}
	for _, a := range l.Args {
		n += count(a, op)
	}
	return n
}

// TestLogicOfRelations: comparisons of discrete values are free, and the parts of an if stay what they are.
func TestLogicOfRelations(t *testing.T) {
	task := func(name string) bool { return name == "climb" }
	for _, test := range []struct{ text, want string }{
		{"soc >= 0.2", "soc>=0.2"},
		{"soc < 0.2", "not soc>=0.2"},
		{"0.2 < soc", "soc>0.2"}, // not soc <= 0.2
		{"13 [km] - h >= 0", "not h>13000"},
		{"2 * h + 4 >= 10", "h>=3"},
		{"abs(h - 6000) <= 60", "(not h>6060 and h>=5940)"},
		{"min(a, b) >= 1", "(a>=1 and b>=1)"},
		{"a * b >= 1", "[a * b >= 1]"},
		{"a + b - a >= 1", "[a + b - a >= 1]"},
		{"a > b", "not [b >= a]"}, // one indicator for both
		{"1 < 2", "not false"},
		{"h - h >= 1", "false"},
		{"armed and climb", "([armed] and climb)"},
		{"mode == survey", "[mode == survey]"},
		{"mode != survey", "not [mode == survey]"},
		{"if(armed, h > 1, climb)", "(([armed] and h>1) or (not [armed] and climb))"},
	} {
		if got := text(parsed(t, test.text).Logic(task)); got != test.want {
			t.Errorf("%s is %s, want %s", test.text, got, test.want)
		}
	}
}

func text(l Logic) string {
	switch l.Op {
	case LogicTruth:
		return fmt.Sprint(l.Value)
	case LogicProposition:
		return l.Text
	case LogicRelation:
		return "[" + l.Text + "]"
	case LogicThreshold:
		if l.Strict {
			return fmt.Sprintf("%s>%v", l.Signal, l.Limit)
		}
		return fmt.Sprintf("%s>=%v", l.Signal, l.Limit)
	case LogicNot:
		return "not " + text(l.Args[0])
	}
	word := " and "
	if l.Op == LogicOr {
		word = " or "
	}
	out := "(" + text(l.Args[0])
	for _, a := range l.Args[1:] {
		out += word + text(a)
	}
	return out + ")"
}

// Relations of several signals that are multiples of each other have one key, whatever their rounding.
func TestKeysOfRelations(t *testing.T) {
	key := func(text string) string {
		l := parsed(t, text).Logic(nil)
		if l.Op == LogicNot {
			return "not " + l.Args[0].Key
		}
		return l.Key
	}
	for _, same := range [][]string{
		{"x - y < -0.37", "x < y - 0.37", "0 > x - y + 0.37", "not (x >= y - 0.37)"},
		{"x - y < -0.37 [m]", "3 * (x - y) < -1.11 [m]", "x / 7 < (y - 37 [cm]) / 7"},
		{"x >= y", "x - y >= 0", "0.1 + 0.2 + x >= y + 0.3", "-2 * y + 2 * x >= 0", "2 * x - y >= y"},
		{"survey == mode", "mode == survey"},
		{"a * b >= c + 1", "1 + c <= a * b", "2 * (a * b) - 2 * c >= 2"},
	} {
		for _, text := range same[1:] {
			if key(text) != key(same[0]) {
				t.Errorf("%s: %q, but %s: %q", same[0], key(same[0]), text, key(text))
			}
		}
	}
	if l := parsed(t, "x <= y + 1").Logic(nil); l.Reverse != key("2 * x - 2 >= 2 * y") {
		t.Errorf("%q is not the reverse of x >= y + 1", l.Reverse)
	}
	for _, other := range []string{"x > y", "y >= x", "x >= y + 1e-9", "x >= 1.0000001 * y", "x >= y + z", "x >= y * y"} {
		if key(other) == key("x >= y") {
			t.Errorf("%s has the key of x >= y", other)
		}
	}
}
