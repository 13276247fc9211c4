package expr

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/internal/golden"
)

// aircraft is the scope of the golden scripts and of the examples in the user's page.
var aircraft = units("h m", "w m/s", "EAS m/s", "t s", "soc 1", "phi rad", "omega rad/s", "payload 1", "mass kg",
	"battery.T K", "battery.P W", "I A", "U V")

// units reads "name unit" pairs.
func units(pairs ...string) Scope {
	scope := Scope{}
	for _, p := range pairs {
		name, unit, _ := strings.Cut(p, " ")
		u, err := ParseUnit(unit)
		if err != nil {
			panic(err)
		}
		scope[name] = Number(u)
	}
	return scope
}

// mistake returns an error of this package with its type.
func mistake(t testing.TB, err error) *Error {
	t.Helper()
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("%v is not an *Error", err)
	}
	return e
}

// render returns errors in the form shown to users.
func render(src string, errs ...*Error) string {
	var list diag.List
	source := &diag.Source{Name: "plan", Text: src}
	for _, e := range errs {
		list = append(list, e.In(source, 0))
	}
	var b strings.Builder
	list.Write(&b, false)
	return b.String()
}

// TestGolden runs the scripts of testdata/golden. Commands:
//
//	parse                     the canonical text, or the mistake
//	condition                 all mistakes as a condition
//	number [unit=U]           all mistakes as a number in the unit
//	assignments               the list of assignments, or the mistakes
//	script                    the statements of a script and, if there are fewer, the assignments at once; or the mistakes
//	unit                      the unit in SI, or the mistake
func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine {
		return func(t *testing.T, d golden.Directive) string {
			switch d.Name {
			case "assignments":
				list, errs := ParseAssignments(d.Input)
				var b strings.Builder
				for _, a := range list {
					value := a.Offset + strings.Index(d.Input[a.Offset:], ":=") + len(":=")
					fmt.Fprintf(&b, "%s [%d,+%d] := %v [%d]\n", a.Target, a.Offset, a.Length, a.Value, value)
				}
				return b.String() + render(d.Input, errs...)
			case "script":
				list, errs := ParseScript(d.Input)
				var b strings.Builder
				for _, a := range list {
					fmt.Fprintf(&b, "[%d,+%d] %s\n", a.Offset, a.Length, written([]Assignment{a}))
				}
				return b.String() + render(d.Input, errs...)
			case "unit":
				u, err := ParseUnit(d.Input)
				if err != nil {
					return render(d.Input, mistake(t, err))
				}
				coherent := u
				coherent.text = ""
				return fmt.Sprintf("%v = %.6g %v\n", u, u.SI(1), coherent)
			}
			e, err := Parse(d.Input)
			if err != nil {
				return render(d.Input, mistake(t, err))
			}
			if d.Name == "parse" {
				return e.String() + "\n"
			}
			want, unit := Boolean, AnyUnit
			if d.Name == "number" {
				want = Real
			}
			if text := d.Value("unit"); text != "" {
				if unit, err = ParseUnit(text); err != nil {
					t.Fatal(err)
				}
			}
			errs := e.Check(want, unit, aircraft)
			if len(errs) == 0 {
				return "ok\n"
			}
			return render(d.Input, errs...)
		}
	}, "testdata/golden/*")
}

// written is the canonical text of statements.
func written(statements []Assignment) string {
	var texts []string
	for _, s := range statements {
		text := s.Value.String()
		if s.Target != "" {
			sign := map[bool]string{true: " := ", false: " = "}[s.Creates]
			text = (&Node{op: OpName, name: s.Target}).String() + sign + text
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}
