package expr

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// discrete is the scope of the tests of discrete values.
func discrete() (scope Scope, names []string) {
	scope = units("h m", "soc 1")
	modes := []string{"survey", "transit", "home"}
	scope["mode"] = Variable{Type: Enumeration, Values: modes}
	scope["last"] = Variable{Type: Enumeration, Values: modes}
	scope["gear"] = Variable{Type: Enumeration, Values: []string{"up", "down"}}
	scope["legs"] = Variable{Type: Integer}
	scope["armed"] = Variable{Type: Boolean}
	scope["note"] = Variable{Type: Text}
	return scope, []string{"h", "soc", "mode", "last", "gear", "legs", "armed", "note"}
}

// TestPageDiscrete evaluates the examples of discrete values of the user's page: directly, and with frozen sides.
func TestPageDiscrete(t *testing.T) {
	scope, names := discrete()
	rows := tables(t)["discrete example | value"][0]
	for _, row := range rows {
		e := parsed(t, row[0])
		want := Variable{Type: e.Type(scope), Unit: AnyUnit}
		if errs := e.CheckFor(want, scope); errs != nil {
			t.Errorf("%s: %v", row[0], errs)
			continue
		}
		c := NewCompiler(scope, slotsOf(names...))
		values := []float64{12990, 0.997, 1, 0, 0, 3, 1, c.Text("on track")}
		code := c.CompileFor(e, want)
		if got := code.Value(values, nil); want.Type == Boolean && strconv.FormatBool(got != 0) != row[1] ||
			want.Type == Real && got != number(t, row[1]) {
			t.Errorf("%s is %v, the page says %s", row[0], got, row[1])
		}
		if len(code.Indicators()) > 0 {
			t.Errorf("%s has indicators", row[0])
		}
		if got := code.Value(values, []bool{}); got != code.Value(values, nil) {
			t.Errorf("%s is %v with frozen sides", row[0], got)
		}
		if d := code.Discrete(); len(d) == 0 || !slices.Contains(code.Reads(), d[0]) {
			t.Errorf("%s reads the discrete signals %v", row[0], d)
		}
	}
	if len(rows) < 8 {
		t.Errorf("%d examples", len(rows))
	}
}

// TestDiscreteMistakes: compared and assigned values have one type.
func TestDiscreteMistakes(t *testing.T) {
	scope, _ := discrete()
	modes := Variable{Type: Enumeration, Values: []string{"survey", "transit", "home"}}
	for _, test := range []struct {
		want Variable
		text string
		errs string // codes, with their places
	}{
		{Variable{Type: Boolean}, "mode == survey and armed and legs == 3 and note == 'x'", ""},
		{Variable{Type: Boolean}, "mode == last or armed == (h > 5) or legs != 2 * legs - 1", ""},
		{Variable{Type: Boolean}, "mode == survy", "8 unknown-value"},
		{Variable{Type: Boolean}, "mode == gear", "8 wrong-type"},
		{Variable{Type: Boolean}, "mode == 1", "8 wrong-type"},
		{Variable{Type: Boolean}, "mode == 'survey'", "8 wrong-type"},
		{Variable{Type: Boolean}, "mode > 1", "0 wrong-type"},
		{Variable{Type: Boolean}, "mode", "0 wrong-type"},
		{Variable{Type: Boolean}, "legs", "0 wrong-type"},
		{Variable{Type: Boolean}, "legs == 3.5 and 1.5 != 2", ""},
		{Variable{Type: Boolean}, "legs == soc", "5 equality"},
		{Variable{Type: Boolean}, "legs / 2 == 1", ""},
		{Variable{Type: Boolean}, "legs = 3", "5 syntax"},
		{Variable{Type: Boolean}, "h <> 3", "2 equality"},
		{Variable{Type: Boolean}, "armed == 1", "9 wrong-type"},
		{Variable{Type: Boolean}, "note == nothing", "8 unknown-signal 8 wrong-type"},
		{Variable{Type: Integer}, "legs + 1", ""},
		{Variable{Type: Integer}, "legs / 2", "0 wrong-type"},
		{Variable{Type: Integer}, "if(armed, legs, 0.5)", "16 wrong-type"},
		{Variable{Unit: One}, "legs * 0.5 + if(armed, 1, soc)", ""},
		{Variable{Unit: One}, "armed + 1", "0 wrong-type"},
		{modes, "if(armed, survey, last)", ""},
		{modes, "if(armed, survey, up)", "18 unknown-value"},
		{modes, "gear", "0 wrong-type"},
		{Variable{Type: Text}, "if(armed, 'a', note)", ""},
		{Variable{Type: Text}, "mode", "0 wrong-type"},
	} {
		var got []string
		for _, m := range parsed(t, test.text).CheckFor(test.want, scope) {
			got = append(got, fmt.Sprint(m.Offset, " ", m.Code))
		}
		if s := strings.Join(got, " "); s != test.errs {
			t.Errorf("%s: %q, want %q", test.text, s, test.errs)
		}
	}
}

// TestTasksAsConditions: a signal that is no condition needs a relation; the message shows one.
func TestTasksAsConditions(t *testing.T) {
	scope, _ := discrete()
	for text, want := range map[string]string{
		"climb and armed and h > 5": "",
		"not climb or h":            `13 "h" is a real signal in m, not a condition (write a relation such as "h > 0 [m]")`,
		"soc":                       `0 "soc" is a real signal, not a condition (write a relation such as "soc > 0")`,
		"mode":                      `0 "mode" is a value of an enumeration, not a condition (write a relation such as "mode == ...")`,
		"clim":                      `0 no condition or task is called "clim" (did you mean "climb"?)`,
	} {
		got := ""
		_, mistakes := parsed(t, text).CheckTasks(TaskNames{"climb"}, scope)
		for _, m := range mistakes {
			got += fmt.Sprint(m.Offset, " ", m)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestStatements: conditions are joined by arrows; a text may contain one.
func TestStatements(t *testing.T) {
	for text, want := range map[string]string{
		"a -> note == '->' and b->not c": "a; note == \"->\" and b; not c",
		"a":                              "a",
		"a -> ":                          "4 an expression is missing",
		"a -> b )":                       "7 found \")\" where an operator or the end is expected",
		"(a -> b)":                       "3 found \"->\" where \")\" is expected",
	} {
		var got []string
		parts, err := ParseStatement(text)
		for _, e := range parts {
			got = append(got, e.String())
		}
		if err != nil {
			m := mistake(t, err)
			got = append(got, fmt.Sprint(m.Offset, " ", m.Text))
		}
		if s := strings.Join(got, "; "); s != want {
			t.Errorf("%s: %s, want %s", text, s, want)
		}
	}
}

// TestFlatIsNotNested: operators that follow each other nest nothing; what has too many parts is refused, in time.
func TestFlatIsNotNested(t *testing.T) {
	c := NewCompiler(nil, slotsOf("x"))
	for _, test := range []struct {
		text string
		want float64
	}{
		{strings.Repeat("x + ", 3000) + "x", 3001},
		{strings.Repeat("x - 2 + ", 2000) + "x", -1999},
		{"if(" + strings.Repeat("x > 0 and ", 2000) + "x > 1, 1, 2)", 2},
		{"if(" + strings.Repeat("x < 0 or ", 2000) + "x > 0, 1, 2)", 1},
		{"max(" + strings.Repeat("x, ", 9000) + "2)", 2},
	} {
		e := parsed(t, test.text)
		if errs := e.Check(Real, AnyUnit, nil); errs != nil {
			t.Errorf("%.20s: %v", test.text, errs[0])
			continue
		}
		code := c.Compile(e)
		if got := code.Real([]float64{1}, nil); got != test.want {
			t.Errorf("%.20s is %v, want %v", test.text, got, test.want)
		}
		if again := parsed(t, e.String()); !sameTree(e.root, again.root) {
			t.Errorf("%.20s comes back as another tree", test.text)
		}
	}
	for _, text := range []string{strings.Repeat("x+", 10000) + "x", strings.Repeat("(", 501) + "x", strings.Repeat("(", 1e6),
		strings.Repeat("-", 1e6) + "1", strings.Repeat("2^", 1e6) + "1", strings.Repeat("abs(", 1e6),
		"1 [" + strings.Repeat("(", 1e6) + "]"} {
		if _, err := Parse(text); err == nil {
			t.Errorf("%.20s of %d bytes is accepted", text, len(text))
		}
	}
}

// TestWorkIsBounded: the largest expressions, right and wrong, are parsed, checked and reduced at once; a list of 20,000
// assignments is no matter of squares. Work that grows with the square of the length took seconds for each.
func TestWorkIsBounded(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("h + w + ", 2400) + "h > 0",
		strings.Repeat("battery + ", 4900) + "h > 0",
		strings.Repeat("h * w + ", 2400) + "0 > 1",
	} {
		e := parsed(t, text)
		if n := len(e.Check(Boolean, AnyUnit, aircraft)); n > 4900 {
			t.Errorf("%.20s: %d mistakes", text, n)
		}
		e.Logic(nil)
	}
	var b strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&b, "slot%d := 1; ", i)
	}
	if list, errs := ParseAssignments(b.String()); len(list) != 20000 || errs != nil {
		t.Errorf("%d assignments, %d mistakes", len(list), len(errs))
	}
}

// TestExponentsDoNotWrap: 2^16 sixths of an exponent are no exponent of zero.
func TestExponentsDoNotWrap(t *testing.T) {
	text := strings.Repeat("h * ", 10922) + "h" // the exponent was -24 sixths of a metre
	if e, err := Parse(text); err == nil {
		t.Errorf("accepted: %v parts", e.root.parts)
	}
	square := "(" + strings.Repeat("h * ", 20) + "h)"
	if errs := parsed(t, square+" > 0").Check(Boolean, AnyUnit, aircraft); len(errs) != 1 || errs[0].Code != CodeIncoherence {
		t.Errorf("h^21 is %v", errs)
	}
	if _, err := ParseUnit("((m9)9)9"); err == nil {
		t.Error("the unit ((m9)9)9 is accepted")
	}
}

// TestRegistersSuffice: the tree that needs most registers for its parts is a balanced one.
func TestRegistersSuffice(t *testing.T) {
	var balanced func(depth int) string
	balanced = func(depth int) string {
		if depth == 0 {
			return "x"
		}
		return "(" + balanced(depth-1) + " ^ " + balanced(depth-1) + ")"
	}
	e := parsed(t, balanced(12)) // 8191 parts
	if e.root.need > registers-2 {
		t.Errorf("%d registers for %d parts", e.root.need, e.root.parts)
	}
	if got := NewCompiler(nil, slotsOf("x")).Compile(e).Real([]float64{1}, nil); got != 1 {
		t.Errorf("1 to the power of ones is %v", got)
	}
}

// TestOpcodes: every opcode has a name, every function the form for its number of arguments.
func TestOpcodes(t *testing.T) {
	names := map[string]bool{}
	for o := range opcodes {
		if s := o.String(); s == "" || names[s] {
			t.Errorf("opcode %d is called %q", o, s)
		}
		names[o.String()] = true
	}
	for _, f := range functions {
		n := Node{name: f.name, args: slices.Repeat([]*Node{True.root}, f.least)}
		if means := n.meaning() != nil; (f.one != nil) != (f.takes(1) && !means) || (f.two != nil) != f.takes(2) {
			t.Errorf("%s takes from %d to %d arguments", f.name, f.least, f.most)
		}
	}
}
