package expr

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// inputs finds the one-line inputs of golden scripts.
var inputs = regexp.MustCompile(`(?m)^(?:parse|script|condition|number.*|unit|assignments)\n(.*)\n----$`)

// seed adds the inputs of the golden scripts to those of a fuzz test in testdata/fuzz.
func seed(f *testing.F) {
	files, _ := filepath.Glob("testdata/golden/*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for _, input := range inputs.FindAllSubmatch(text, -1) {
			f.Add(string(input[1]))
		}
	}
}

// within fails if an error lies outside the text or has no message.
func within(t *testing.T, src string, errs ...*Error) {
	t.Helper()
	for _, e := range errs {
		if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(src) || e.Text == "" || e.Code == "" {
			t.Errorf("%q: %#v is not a mistake in the text", src, *e)
		}
	}
}

// FuzzParse: no text makes Parse, Check or Compile panic; canonical text gives the same tree and itself; an expression
// without mistakes of names and types can be compiled and evaluated, its sides as its signals.
func FuzzParse(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		e, err := Parse(src)
		if err != nil {
			within(t, src, mistake(t, err))
			return
		}
		again, err := Parse(e.String())
		if err != nil || !sameTree(e.root, again.root) || again.String() != e.String() {
			t.Fatalf("%q: canonical %q comes back as %v, %v", src, e, again, err)
		}
		within(t, src, e.Check(Boolean, AnyUnit, nil)...)
		within(t, src, e.Check(Real, One, Scope{})...)
		errs := e.Check(e.Type(nil), AnyUnit, nil)
		if slices.ContainsFunc(errs, func(e *Error) bool { return e.Code != CodeIncoherence }) {
			return
		}
		scope, declared := discrete()
		if want := (Variable{Type: e.Type(scope), Unit: AnyUnit, Values: scope["mode"].Values}); e.CheckFor(want, scope) == nil {
			c := NewCompiler(scope, slotsOf(declared...))
			code := c.CompileFor(e, want)
			signals := []float64{5, 0.5, 1, 2, 1, 3, 1, c.Text("a")}
			above := []bool{}
			for _, i := range c.Indicators() {
				above = append(above, i.Value(signals, nil) >= 0)
			}
			if direct, frozen := code.Value(signals, nil), code.Value(signals, above); !same(direct, frozen) {
				t.Errorf("%v is %v from signals, %v from sides", e, direct, frozen)
			}
		}
		names := e.Names()
		c := NewCompiler(nil, slotsOf(names...))
		code := c.Compile(e)
		signals := make([]float64, len(names))
		for i := range signals {
			signals[i] = float64(i) - 0.5
		}
		above := []bool{}
		for _, i := range c.Indicators() {
			above = append(above, i.Value(signals, nil) >= 0)
		}
		NewCompiler(nil, slotsOf(names...)).Hold(max(1, len(names))).Compile(e)
		if e.Type(nil) == Boolean {
			if code.Bool(signals, nil) != code.Bool(signals, above) {
				t.Errorf("%v differs between signals and sides", e)
			}
		} else if !same(code.Real(signals, nil), code.Real(signals, above)) {
			t.Errorf("%v differs between signals and sides", e)
		}
	})
}

// FuzzParseAssignments: each assignment of a list has the right place, and each part is read or refused.
func FuzzParseAssignments(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		list, errs := ParseAssignments(src)
		within(t, src, errs...)
		for _, a := range list {
			if written := src[a.Offset : a.Offset+a.Length]; written != a.Target && written != "{"+a.Target+"}" {
				t.Errorf("%q: target %q stands at %q", src, a.Target, written)
			}
			for _, e := range a.Value.Check(Real, One, Scope{}) {
				within(t, src, e)
			}
		}
	})
}

// FuzzParseScript: the canonical text of a script gives the same script; statements have the right places, and can be
// made at once or are too large.
func FuzzParseScript(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		list, errs := ParseScript(src)
		within(t, src, errs...)
		again, errs := ParseScript(written(list))
		if len(errs) > 0 || written(again) != written(list) {
			t.Fatalf("%q: canonical %q comes back as %q, %v", src, written(list), written(again), errs)
		}
		for i, a := range list {
			if !sameTree(a.Value.root, again[i].Value.root) || a.Target != again[i].Target || a.Creates != again[i].Creates {
				t.Errorf("%q: %q is another statement", src, written(again[i:i+1]))
			}
			written := src[a.Offset : a.Offset+a.Length]
			if a.Target != "" && written != a.Target && written != "{"+a.Target+"}" {
				t.Errorf("%q: target %q stands at %q", src, a.Target, written)
			}
			within(t, src, a.Value.Check(Real, One, Scope{})...)
			scope, declared := discrete()
			scope["x"] = Variable{Held: true, Unit: One}
			for _, want := range []Variable{{Type: Boolean}, {Unit: AnyUnit}, {Type: Integer}, scope["mode"], {Type: Text}} {
				if e := a.Value.Adapted(want, scope); e.CheckFor(want, scope) == nil {
					code := NewCompiler(scope, slotsOf(append(declared, "x")...)).CompileFor(e, want)
					code.Value([]float64{5, 0.5, 1, 2, 1, 3, 1, 0, 0.5}, nil)
				}
			}
		}
		if e, err := ParseScriptCondition(src); err != nil {
			within(t, src, mistake(t, err))
		} else if again, err := ParseScriptCondition(e.String()); err != nil || !sameTree(e.root, again.root) {
			t.Errorf("%q: canonical %q comes back as %v, %v", src, e, again, err)
		}
	})
}

// FuzzParseUnit: the text of a unit gives the same unit.
func FuzzParseUnit(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, src string) {
		u, err := ParseUnit(src)
		if err != nil {
			within(t, src, mistake(t, err))
			return
		}
		if again, err := ParseUnit(u.String()); err != nil || again != u {
			t.Errorf("%q: %q comes back as %v, %v", src, u, again, err)
		}
	})
}
