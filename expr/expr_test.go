package expr

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// slotsOf gives each name its index.
func slotsOf(names ...string) func(string) (int, bool) {
	return func(name string) (int, bool) {
		i := slices.Index(names, name)
		return i, i >= 0
	}
}

func parsed(t testing.TB, src string) *Expr {
	t.Helper()
	e, err := Parse(src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	return e
}

func compile(t testing.TB, c *Compiler, src string) *Code {
	t.Helper()
	return c.Compile(parsed(t, src))
}

func TestNames(t *testing.T) {
	e := parsed(t, "h > 5 and {battery.soc} < h + min(t, w) or t > pi")
	if got, want := strings.Join(e.Names(), " "), "h battery.soc t w"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestSubstitute(t *testing.T) {
	e := parsed(t, "target^2 > h and t < 3")
	before := e.String()
	// The replacement of target reads t, which is replaced too, but only where e itself has it.
	got := e.Substitute(map[string]*Expr{"target": parsed(t, "h + t"), "t": parsed(t, "-w")})
	if want := "(h + t)^2 > h and -w < 3"; got.String() != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if e.String() != before {
		t.Errorf("Substitute changed its receiver to %v", e)
	}
	// Both of the mistakes inside h + t are reported at target.
	errs := e.Substitute(map[string]*Expr{"target": parsed(t, "hh + (t > 2)")}).Check(Boolean, AnyUnit, aircraft)
	if len(errs) != 2 {
		t.Fatalf("got %v, want two errors", errs)
	}
	for _, err := range errs {
		if err.Offset != 0 || err.Length != len("target") {
			t.Errorf("%v is reported at [%d,+%d], want the place of target", err, err.Offset, err.Length)
		}
	}
}

func TestNilScopeJudgesNoNames(t *testing.T) {
	e := parsed(t, "h + x > 5 [m] and sqr(y) > 1 [s] and 1 [m] < 2 [s]")
	errs := e.Check(Boolean, AnyUnit, nil)
	if len(errs) != 2 || errs[0].Code != CodeFunction || errs[1].Code != CodeIncoherence {
		t.Errorf("nil scope: %v, want the function and the units of the last relation", errs)
	}
	if errs := e.Check(Boolean, AnyUnit, Scope{}); len(errs) != 5 {
		t.Errorf("empty scope: %v, want the three names besides", errs)
	}
}

func TestIndicatorsAreShared(t *testing.T) {
	c := NewCompiler(nil, slotsOf("h", "soc", "w"))
	for _, test := range []struct {
		src  string
		want []int
	}{
		{"h >= 12980 [m]", []int{0}},
		{"h < 12.98 [km]", []int{0}},
		{"12980 <= h", []int{0}},
		{"12980 > h", []int{0}},
		{"h > 12980", []int{1}}, // at g = 0 it differs from h >= 12980
		{"h <= 10000 + 2980", []int{1}},
		{"soc >= 0.996 and not (soc >= 99.6 [%])", []int{2}},
		{"if(if(w > 1, h, soc) >= 2, 1, 0) > w", []int{3, 4, 5}},
		{"if(w > 1, h, soc)", []int{3}},
		{"h + 1", nil},
		{"2 * h ge 25960", []int{0}}, // multiples, and terms on either side, are the same relation, as in proofs
		{"soc ge 0.6 + w", []int{6}},
		{"soc - 0.6 ge w", []int{6}},
		{"2 * w - 2 * soc lt -1.2", []int{7}}, // at g = 0 it differs
		{"soc - soc + h ge w", []int{8}},      // without a value where soc has none
		{"h ge w", []int{9}},
	} {
		if got := compile(t, c, test.src).Indicators(); !slices.Equal(got, test.want) {
			t.Errorf("%s has the indicators %v, want %v", test.src, got, test.want)
		}
	}
	var texts []string
	for k, i := range c.Indicators() {
		texts = append(texts, i.Text)
		want := []Threshold{{Level: 12980}, {Level: 12980, Falls: true}, {Slot: 1, Level: 0.996}, {Slot: 2, Level: 1, Falls: true}}
		if h, ok := i.Threshold(); ok != (k < len(want)) || ok && h != want[k] {
			t.Errorf("%s is the threshold %+v, %v", i.Text, h, ok)
		}
	}
	want := "h >= 12980 [m]; h > 12980; soc >= 0.996; w > 1; if(w > 1, h, soc) >= 2; " +
		"if(if(w > 1, h, soc) >= 2, 1, 0) > w; soc >= 0.6 + w; 2 * w - 2 * soc < -1.2; soc - soc + h >= w; h >= w"
	if got := strings.Join(texts, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestEvaluationDoesNotAllocate(t *testing.T) {
	c := NewCompiler(nil, slotsOf("soc", "h", "w"))
	condition := compile(t, c, "soc >= 0.996 and not h lt 12980 [m] or max(h, w, soc) > if(w > 1, h^2, h^3)")
	value := compile(t, c, "if(soc > 0.5, atan2(h, w) + sqrt(h) * 2 - min(w, h, 1), w^0.3)")
	s, above := []float64{0.9, 13000, 0.8}, make([]bool, len(c.Indicators()))
	if n := testing.AllocsPerRun(100, func() {
		condition.Bool(s, nil)
		condition.Bool(s, above)
		value.Real(s, nil)
		value.Real(s, above)
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func TestMisusePanics(t *testing.T) {
	c := NewCompiler(nil, slotsOf("x"))
	number, condition := compile(t, c, "x"), compile(t, c, "x > 1")
	for name, misuse := range map[string]func(){
		"Bool of a number":    func() { number.Bool([]float64{1}, nil) },
		"Real of a condition": func() { condition.Real([]float64{1}, nil) },
		"unknown name":        func() { compile(t, c, "x + y") },
		"unknown function":    func() { compile(t, c, "sqr(x)") },
		"constant unknown":    func() { compile(t, c, "sqr(2)") },
		"arguments":           func() { compile(t, c, "sin(x, x)") },
		"if's arguments":      func() { compile(t, c, "if(x > 1, 2)") },
		"number as condition": func() { compile(t, c, "x + 1 and true") },
		"condition as number": func() { compile(t, c, "x + true") },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if s, ok := recover().(string); !ok || !strings.HasPrefix(s, "expr: ") {
					t.Errorf("no panic that begins with expr:")
				}
			}()
			misuse()
		})
	}
}

// TestComputedUnits: the text of a computed unit is read as this unit.
func TestComputedUnits(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	count := 0
	for range 2000 {
		u := One
		for _, symbol := range []string{"m", "kg", "s", "K", "W", "km/h"} {
			v, err := ParseUnit(symbol)
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := v.power(float64(r.IntN(21)-10) / float64(1+r.IntN(10))); ok && r.IntN(2) == 0 {
				u = u.times(p, 1)
			}
		}
		if again, err := ParseUnit(u.Per(One).String()); u.moderate() && (err != nil || !again.Same(u)) {
			if strings.Contains(err.Error(), "up to 9") { // as it is written, no exponent is larger
				continue
			}
			t.Fatalf("%v: %v, %v", u.Per(One), again, err)
		} else if err == nil {
			count++
		}
	}
	if count < 1000 {
		t.Error(count)
	}
}

func TestUnits(t *testing.T) {
	si := func(value float64, unit string) float64 {
		t.Helper()
		u, err := ParseUnit(unit)
		if err != nil {
			t.Fatal(err)
		}
		return u.SI(value)
	}
	// Decimal factors below 1 divide, so that these are the very numbers that an author would write in SI.
	for _, test := range []struct {
		value float64
		unit  string
		want  float64
	}{
		{99.6, "%", 0.996}, {12.98, "km", 12980}, {1.1, "mm", 0.0011}, {36, "km/h", 10}, {180, "deg", math.Pi},
		{1, "kt", 1852.0 / 3600}, {90, "min", 5400}, {1013.25, "hPa", 101325}, {6200, "Wh", 22320000},
	} {
		if got := si(test.value, test.unit); got != test.want {
			t.Errorf("%v [%s] = %v, want %v", test.value, test.unit, got, test.want)
		}
	}
	metre, _ := ParseUnit("m")
	kilometre, _ := ParseUnit("km")
	second, _ := ParseUnit("s")
	degree, _ := ParseUnit("deg")
	empty, _ := ParseUnit(" ")
	switch {
	case !metre.Same(kilometre), metre.Same(second), !metre.Same(AnyUnit), !AnyUnit.Same(second), !degree.Same(One):
		t.Error("Same is not about the dimension")
	case !metre.Coherent(), kilometre.Coherent(), degree.Coherent(), !One.Coherent():
		t.Error("Coherent is not about the factor")
	case empty != One:
		t.Errorf("no unit is %v, want 1", empty)
	}
}

// A mistake in one assignment does not hide the next one, and places are those of the whole list.
func TestAssignmentsAreReadOnce(t *testing.T) {
	list, errs := ParseAssignments(`a := "x; y"; b := 3 [m; c := {d; e := $; f := nope`)
	var got []string
	for _, a := range list {
		errs = append(errs, a.Value.Check(Real, AnyUnit, Scope{})...)
	}
	for _, m := range errs {
		got = append(got, fmt.Sprint(m.Offset, "+", m.Length))
	}
	if want := []string{"20+2", "29+2", "38+1", "5+6", "46+4"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
