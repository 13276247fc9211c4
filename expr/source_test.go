package expr

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// lossy is a scope with signals of two sources.
var lossy = Scope{
	"t": Number(Second), "z": {}, "x": {Sources: []string{"A"}}, "y": {Sources: []string{"B"}},
	"w": {Sources: []string{"A", "B"}}, "a": {Type: Boolean, Sources: []string{"A"}}, "b": {Type: Boolean, Sources: []string{"B"}},
	"known.A": {Type: Boolean}, "known.B": {Type: Boolean}, "stamp.A": Number(Second), "stamp.B": Number(Second),
}

var lossyNames = []string{"t", "x", "y", "z", "w", "a", "b", "known.A", "known.B", "stamp.A", "stamp.B"}

// guess is a value of three: what an expression is if signals may be unknown.
type guess struct {
	value float64 // 1 and 0 of a condition
	known bool
}

// interpret evaluates a tree with unknown signals, node by node, without any expansion.
func interpret(t *testing.T, n *Node, values map[string]float64, lost map[string]bool) guess {
	arg := func(i int) guess { return interpret(t, n.Arg(i), values, lost) }
	truth := func(b bool) guess { return guess{map[bool]float64{true: 1}[b], true} }
	switch n.Op() {
	case OpNumber:
		return guess{n.Value(), true}
	case OpTruth:
		return guess{n.Value(), true}
	case OpName:
		for _, s := range lossy[n.Name()].Sources {
			if lost[s] {
				return guess{}
			}
		}
		return guess{values[n.Name()], true}
	case OpNot:
		x := arg(0)
		return guess{1 - x.value, x.known}
	case OpAnd, OpOr:
		decides := map[Op]float64{OpAnd: 0, OpOr: 1}[n.Op()]
		x, y := arg(0), arg(1)
		if x.known && x.value == decides || y.known && y.value == decides {
			return guess{decides, true}
		}
		return guess{1 - decides, x.known && y.known}
	case OpIf:
		switch c := arg(0); {
		case !c.known:
			return guess{}
		case c.value != 0:
			return arg(1)
		default:
			return arg(2)
		}
	case OpCall:
		switch x := arg(0); n.Name() {
		case "known":
			return truth(x.known)
		case "max":
			y := arg(1)
			return guess{max(x.value, y.value), x.known && y.known}
		}
	case OpGreater, OpEqual:
		x, y := arg(0), arg(1)
		r := truth(x.value > y.value)
		if n.Op() == OpEqual {
			r = truth(x.value == y.value)
		}
		r.known = x.known && y.known
		return r
	}
	t.Fatalf("%v", n)
	return guess{}
}

func randomNumber(r *rand.Rand, depth int) string {
	switch k := r.IntN(7); {
	case k < 4 || depth == 0:
		return []string{"x", "y", "z", "w", "1"}[r.IntN(5)]
	case k == 4:
		return fmt.Sprintf("max(%s, %s)", randomNumber(r, depth-1), randomNumber(r, depth-1))
	default:
		return fmt.Sprintf("if(%s, %s, %s)", randomCondition(r, depth-1), randomNumber(r, depth-1), randomNumber(r, depth-1))
	}
}

func randomCondition(r *rand.Rand, depth int) string {
	c := func() string { return "(" + randomCondition(r, depth-1) + ")" }
	switch k := r.IntN(10); {
	case k < 2 || depth == 0:
		return []string{"a", "b", "true", "x > 0", "y > z", "w > 1"}[r.IntN(6)]
	case k == 2:
		return "not " + c()
	case k < 5:
		return c() + []string{" and ", " or "}[r.IntN(2)] + c()
	case k == 5:
		return "if(" + c() + ", " + c() + ", " + c() + ")"
	case k == 6:
		return "(" + c() + " == " + c() + ")"
	case k == 7:
		return "known(" + randomNumber(r, depth-1) + ") or known" + c()
	default:
		return randomNumber(r, depth-1) + " > " + randomNumber(r, depth-1)
	}
}

// The expansion of conditions over unknown signals is the logic of three values.
func TestCertain(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 2))
	expanded := 0
	for range 3000 {
		text := randomCondition(r, 4)
		original := parsed(t, text)
		found := original.Check(Boolean, AnyUnit, lossy)
		if len(found) > 0 {
			if found[0].Code != CodeSource && found[0].Text != tooLarge {
				t.Fatalf("%s: %v", text, found[0])
			}
			continue
		}
		e := original.Resolved(lossy)
		holds, fails, ok := e.Certain(lossy)
		if !ok {
			continue
		}
		if fails == nil {
			holds, fails = e, e.Not()
		}
		known, _ := e.KnownIn(lossy)
		if known == nil {
			known = True
		}
		expanded++
		for range 8 {
			values, lost := map[string]float64{}, map[string]bool{"A": r.IntN(2) == 0, "B": r.IntN(2) == 0}
			for _, name := range lossyNames {
				values[name] = float64(r.IntN(3))
				if lossy[name].Type == Boolean {
					values[name] = float64(r.IntN(2))
				}
			}
			for s, is := range lost {
				values["known."+s] = map[bool]float64{false: 1}[is]
			}
			want := interpret(t, original.Root(), values, lost)
			for what, e := range map[string]*Expr{"holds": holds, "fails": fails, "known": known} {
				is := evaluate(t, e, values)
				should := want.known && (what == "known" || (want.value != 0) == (what == "holds"))
				if is != should {
					t.Fatalf("%s: %s is %s = %t with %v, not %t", text, what, e, is, values, should)
				}
			}
		}
	}
	if expanded < 1000 {
		t.Fatalf("only %d conditions were expanded", expanded)
	}
}

func evaluate(t *testing.T, e *Expr, values map[string]float64) bool {
	t.Helper()
	list := make([]float64, len(lossyNames))
	for i, name := range lossyNames {
		list[i] = values[name]
	}
	c := NewCompiler(lossy, slotsOf(lossyNames...))
	return c.CompileAtOnce(e, Variable{Type: Boolean}).Bool(list, nil)
}

func TestResolved(t *testing.T) {
	for text, want := range map[string]string{
		"known(x)":                      "known.A",
		"known(w + x) and a":            "known.A and known.B and a",
		"known(x > y)":                  "known.A and known.B",
		"age(x) > 3 [s]":                "t - stamp.A > 3 [s]",
		"age(w) > 3":                    "t - min(stamp.A, stamp.B) > 3",
		"known(if(known(x), x, z))":     "known.A and known.A or not known.A",
		"x > 0 and (known(y) or z > 0)": "x > 0 and (known.B or z > 0)",
		"z > 0 and not a":               "z > 0 and not a",
	} {
		e := parsed(t, text)
		if list := e.Check(Boolean, AnyUnit, lossy); len(list) > 0 {
			t.Errorf("%s: %v", text, list[0])
		} else if got := e.Resolved(lossy).String(); got != want {
			t.Errorf("%s is %s, not %s", text, got, want)
		}
	}
	if got := parsed(t, "known(h) and age(v) > 2").Resolved(nil).String(); got != "known.h and t - stamp.v > 2" {
		t.Errorf("without a vocabulary: %s", got)
	}
}

func TestSourceMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"known(z)":                    "z is always known",
		"known(q)":                    `unknown signal "q"`,
		"known(x, y)":                 "known takes 1 argument, not 2",
		"age(t) > 3":                  "t is always known",
		"age(x) > 3 [m]":              "age(x) is in s, but 3 [m] is in m",
		"known(x) > 0":                "known(x) is a condition",
		"age(x)":                      "age(x) is a number",
		"knwn(x)":                     `unknown function "knwn"`,
		"known(x + a)":                "a is a condition",
		"if(known(x), 1, 0) > age(x)": "",
	} {
		list := parsed(t, text).Check(Boolean, AnyUnit, lossy)
		if got := fmt.Sprint(list); (len(list) == 0) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %s, not %q", text, got, want)
		}
	}
}

// Conditions inside each other do not make an expansion that takes memory: it is refused.
func TestSourceBudget(t *testing.T) {
	text := "a"
	for range 200 {
		text = "if(" + text + ", b, a)"
	}
	e := parsed(t, text)
	if _, _, ok := e.Certain(lossy); ok {
		t.Error("the expansion is small")
	}
	if list := parsed(t, "known("+text+")").Check(Boolean, AnyUnit, lossy); len(list) != 1 || list[0].Text != tooLarge {
		t.Errorf("%v", list)
	}
}
