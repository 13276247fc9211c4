package expr

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// tables returns the tables of the user's page, each by its header, as rows of cells without their back quotes.
func tables(t *testing.T) map[string][][][]string {
	text, err := os.ReadFile("../docs/expressions.md")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string][][][]string{}
	var header string
	var rows [][]string
	for line := range strings.Lines(string(text) + "\n\n") {
		line = strings.TrimSpace(line)
		switch cells := strings.Trim(strings.ReplaceAll(line, "`", ""), "|"); {
		case !strings.HasPrefix(line, "|"):
			if header != "" {
				found[header] = append(found[header], rows)
			}
			header, rows = "", nil
		case header == "":
			header = strings.TrimSpace(cells)
		case !strings.HasPrefix(line, "|---"):
			row := strings.Split(strings.ReplaceAll(cells, `\|`, "\x00"), "|")
			for i := range row {
				row[i] = strings.ReplaceAll(strings.TrimSpace(row[i]), "\x00", "|")
			}
			rows = append(rows, row)
		}
	}
	return found
}

// page is the scope and the values that the page declares.
func page(t *testing.T) (scope Scope, names []string, values []float64) {
	scope = Scope{}
	for _, row := range tables(t)["signal | unit | value"][0] {
		unit, err := ParseUnit(row[1])
		if err != nil {
			t.Fatal(err)
		}
		scope[row[0]] = Number(unit)
		names, values = append(names, row[0]), append(values, number(t, row[2]))
	}
	return scope, names, values
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestPageExamples evaluates every example of the page.
func TestPageExamples(t *testing.T) {
	scope, names, values := page(t)
	evaluate := func(src, want string) {
		t.Helper()
		e := parsed(t, src)
		kind := Real
		if want == "true" || want == "false" {
			kind = Boolean
		}
		if errs := e.Check(kind, AnyUnit, scope); errs != nil {
			t.Errorf("%s: %v", src, errs)
			return
		}
		code := NewCompiler(nil, slotsOf(names...)).Compile(e)
		if kind == Boolean {
			if got := code.Bool(values, nil); strconv.FormatBool(got) != want {
				t.Errorf("%s is %v, the page says %s", src, got, want)
			}
		} else if got := code.Real(values, nil); math.Abs(got-number(t, want)) > 1e-15*math.Abs(got) {
			t.Errorf("%s is %v, the page says %s", src, got, want)
		}
	}
	examples := tables(t)["example | value"]
	if len(examples) != 2 {
		t.Fatalf("%d tables of examples, want those of numbers and of functions", len(examples))
	}
	used := ""
	for _, row := range slices.Concat(examples...) {
		evaluate(row[0], row[1])
		used += row[0] + " "
	}
	for _, name := range functionNames() {
		if name != isKnown && name != age && !strings.Contains(used, name+"(") {
			t.Errorf("the page has no example of %s", name)
		}
	}
	binds := bindOr - 1
	for _, row := range tables(t)["operators | meaning | example | value | for it means"][0] {
		evaluate(row[2], row[3])
		if !sameTree(parsed(t, row[2]).root, parsed(t, row[4]).root) {
			t.Errorf("%s does not mean %s", row[2], row[4])
		}
		binds++ // each row one step tighter than the row before
		signs := 0
		for sign := range strings.FieldsFuncSeq(row[0], func(r rune) bool { return r == ' ' || r == ',' }) {
			signs++
			if o, ok := infix[sign]; ok && o.bind != binds && row[1] != "negative, opposite bits" {
				t.Errorf("%s stands in the wrong row", sign)
			}
		}
		if signs == 0 {
			t.Errorf("no operators in %v", row)
		}
	}
	for _, sign := range []string{"not", "!"} {
		evaluate(sign+" false", "true")
	}
}

// TestPageSources expands every example of unknown signals.
func TestPageSources(t *testing.T) {
	scope, _, _ := page(t)
	for name, source := range map[string]string{"h": "position", "w": "position", "soc": "battery"} {
		v := scope[name]
		v.Unit, v.Sources = AnyUnit, []string{source}
		scope[name] = v
		scope[Known(source)], scope[Stamp(source)] = Variable{Type: Boolean}, Number(Second)
	}
	for header, expand := range map[string]func(*Expr) *Expr{
		"of sources | means":           func(e *Expr) *Expr { return e.Resolved(scope) },
		"condition | true for certain": func(e *Expr) *Expr { holds, _, _ := e.Resolved(scope).Certain(scope); return holds },
	} {
		for _, row := range tables(t)[header][0] {
			e := parsed(t, row[0])
			if errs := e.Check(Boolean, AnyUnit, scope); errs != nil {
				t.Errorf("%s: %v", row[0], errs)
			} else if got := expand(e).String(); got != row[1] {
				t.Errorf("%s means %s, the page says %s", row[0], got, row[1])
			}
		}
	}
}

// TestPageWords holds the lists of reserved words and units against the tables of the code.
func TestPageWords(t *testing.T) {
	text, err := os.ReadFile("../docs/expressions.md")
	if err != nil {
		t.Fatal(err)
	}
	flat := strings.Join(strings.Fields(string(text)), " ")
	if want := "The words `" + strings.Join(reserved, " ") + "` are reserved"; !strings.Contains(flat, want) {
		t.Errorf("the page does not say: %s", want)
	}
	pattern := regexp.MustCompile("`(m g s [^`]+)`, then `([^`]+)` and, without prefixes, `([^`]+)`")
	lists := pattern.FindStringSubmatch(flat)
	if lists == nil {
		t.Fatal("the page has no lists of units")
	}
	listed := map[string]bool{"1": true, "°": true, "Ω": true} // spellings that the page can do without
	for i, list := range lists[1:] {
		for name := range strings.FieldsSeq(list) {
			listed[name] = true
			s, ok := symbols[name]
			if !ok || s.prefixes != (i < 2) {
				t.Errorf("%s: known %v, takes prefixes %v", name, ok, s.prefixes)
			}
		}
	}
	for name := range symbols {
		if !listed[name] {
			t.Errorf("the page does not list the unit %s", name)
		}
	}
}

// TestPageRelations holds the table of relations: one rule, equality, NaN.
func TestPageRelations(t *testing.T) {
	rows := tables(t)["relation | holds when | at equality | with NaN"][0]
	if len(rows) != 4 {
		t.Fatalf("%d relations, want 4", len(rows))
	}
	for _, row := range rows {
		c := NewCompiler(nil, slotsOf("a", "b"))
		code := compile(t, c, row[0])
		for want, s := range map[string][]float64{row[2]: {3, 3}, row[3]: {3, math.NaN()}} {
			if got := strconv.FormatBool(code.Bool(s, nil)); got != want {
				t.Errorf("%s of %v is %s, the page says %s", row[0], s, got, want)
			}
		}
		_, difference, _ := strings.Cut(row[1], " for g = ")
		g := compile(t, c, difference)
		for _, s := range [][]float64{{5, 2}, {2, 5}, {2, 2}} {
			if got, want := c.Indicators()[0].Value(s, nil), g.Real(s, nil); got != want {
				t.Errorf("the indicator of %s is %v, that of the page %v", row[0], got, want)
			}
			if holds := g.Real(s, nil) >= 0 != strings.HasPrefix(row[1], "not "); code.Bool(s, nil) != holds {
				t.Errorf("%s at %v is %v, the page says %v", row[0], s, !holds, holds)
			}
		}
	}
}

// TestPageMistakes compares the messages of the page with those that come.
func TestPageMistakes(t *testing.T) {
	scope, _, _ := page(t)
	for _, row := range tables(t)["example | message | hint"][0] {
		e, err := Parse(row[0])
		var first *Error
		if err != nil {
			first = mistake(t, err)
		} else {
			errs := e.Check(Boolean, AnyUnit, scope)
			if len(errs) != 1 {
				t.Errorf("%s: %v, want one mistake", row[0], errs)
				continue
			}
			first = errs[0]
		}
		if hint := first.In(nil, 0).Advice(); first.Text != row[1] || hint != row[2] {
			t.Errorf("%s: %s (%s)\nthe page says %s (%s)", row[0], first.Text, hint, row[1], row[2])
		}
	}
}

// TestPageScripts executes the scripts of the page one after the other.
func TestPageScripts(t *testing.T) {
	scope, names, values := Scope{"n": {Held: true}, "m": {Held: true}}, []string{"n", "m"}, []float64{math.NaN(), math.NaN()}
	for _, row := range tables(t)["script | statements | effect"][0] {
		list, errs := ParseScript(row[0])
		if errs != nil || written(list) != row[1] {
			t.Errorf("%s is %s, %v; the page says %s", row[0], written(list), errs, row[1])
		}
		for _, a := range list {
			values[slices.Index(names, a.Target)] = NewCompiler(scope, slotsOf(names...)).Compile(a.Value).Real(values, nil)
		}
		if got := fmt.Sprintf("n = %v, m = %v", values[0], values[1]); got != row[2] {
			t.Errorf("%s: %s; the page says %s", row[0], got, row[2])
		}
	}
}

// TestPageAdapted compares the conversions of the page with those that are made.
func TestPageAdapted(t *testing.T) {
	scope, _ := discrete()
	scope["x"] = Variable{Held: true}
	condition := Variable{Type: Boolean}
	for _, row := range tables(t)["in a script | means"][0] {
		e, err := ParseScriptCondition(row[0])
		if err != nil {
			t.Fatal(err)
		}
		if e = e.Adapted(condition, scope); e.String() != row[1] || e.CheckFor(condition, scope) != nil {
			t.Errorf("%s means %v, %v; the page says %s", row[0], e, e.CheckFor(condition, scope), row[1])
		}
	}
}
