package verify

import (
	"fmt"
	"strings"
	"testing"
)

// Plans whose tasks take turns by a condition, or with other tasks in between.
const alternate = `<ReactiveFallback><ReactiveSequence><Condition name="c" on="%s"/><Action name="a"/></ReactiveSequence><Action name="b"/></ReactiveFallback>`
const exclusive = `<ReactiveFallback><ReactiveSequence><Condition name="p"/><Condition name="hot" on="x ge 2"/><Action name="cool"/></ReactiveSequence>
	<ReactiveSequence><Condition name="q"/><Condition name="cold" on="x lt 2"/><Action name="heat"/></ReactiveSequence><Action name="idle"/></ReactiveFallback>`

// turnsOfAllKinds are plans with the answer to be found, part of its text and, if any, of its assumptions.
var turnsOfAllKinds = []struct {
	name, plan, declared string
	want                 Verdict
	text                 string
	assumes              string
}{
	{"memory", `<ReactiveFallback><ReactiveSequence><Condition name="hot" on="x ge 2"/><Action name="cool"/></ReactiveSequence>
			<Sequence><Condition name="cold" on="x lt 2"/><Action name="heat"/></Sequence></ReactiveFallback>`,
		"effects: {cool: {x: [-1, -1]}, heat: {x: [1, 1]}}", Refuted, "heat and cool take turns on x at 2 without end", ""},
	{"a relation", fmt.Sprintf(alternate, "x ge y"),
		"effects: {a: {x: [-2, -2], y: [1, 1]}, b: {x: [1, 1], y: [1, 1]}}", Proved, "no two tasks", ""},
	{"a relation from both sides", fmt.Sprintf(alternate, "x ge y"),
		"effects: {a: {x: [-2, -2], y: [1, 1]}, b: {x: [2, 2], y: [1, 1]}}", Refuted, "b and a take turns on x - y at 0 without end", ""},
	{"a relation with a margin", strings.Replace(fmt.Sprintf(alternate, "2 * x ge 2 * y + 200"), `+ 200"`, `+ 200" off="x lt y"`, 1),
		"effects: {a: {x: [-2, -2], y: [0, 0]}, b: {x: [2, 2], y: [1, 1]}}", Proved, "b and a take turns on x - y no faster than every 150 s", ""},
	{"a signal that rests", fmt.Sprintf(alternate, "x ge y"),
		"effects: {a: {x: [-1, -1]}, b: {y: [1, 1]}}", Proved, "no two tasks", "x, y do not change"},
	{"a product", fmt.Sprintf(alternate, "x * y ge 1"), "effects: {a: {x: [-1, -1]}, b: {x: [1, 1]}}", Undecided,
		"it is not known how tasks change", ""},
	{"a product on which nothing depends", strings.Replace(fmt.Sprintf(alternate, "z ge 1"), "<Action name=\"b\"/>",
		`<ReactiveSequence><Action name="b"/><Condition name="p" on="x * y ge 1"/></ReactiveSequence>`, 1),
		"effects: {a: {x: [-1, -1]}, b: {x: [1, 1]}}", Proved, "no two tasks", "no task changes z"},
	{"a slot", strings.NewReplacer(`name="a"`, `name="a" write="u := x * y"`, `name="b"`, `name="b" write="u := x * y"`).Replace(
		fmt.Sprintf(alternate, "u ge 1")), "effects: {a: {x: [-1, -1]}}", Undecided, "how tasks change u", ""},
	{"inputs that exclude each other", exclusive, "effects: {cool: {x: [-1, -1]}, heat: {x: [1, 1]}}\nfacts: [not (p and q)]", Proved, "no two tasks", "x does not change"},
	{"inputs that do not", exclusive, "effects: {cool: {x: [-1, -1]}, heat: {x: [1, 1]}}", Refuted, "take turns on x at 2 without end", ""},
	{"a slot that is never 1", strings.Replace(fmt.Sprintf(alternate, "u ge 1"), `name="a"`, `name="a" write="u := 0"`, 1),
		"effects: {a: {x: [-1, -1]}}", Proved, "no two tasks", ""},
	{"a slot that each task writes", strings.NewReplacer(`name="a"`, `name="a" write="u := 0"`, `name="b"`, `name="b" write="u := 1"`).Replace(
		fmt.Sprintf(alternate, "u ge 1")), "effects: {a: {x: [-1, -1]}}", Undecided, "become active again and again", ""},
	{"a slot within an instant", `<Sequence><Action name="a" write="u := 1" done="u ge 1"/><ReactiveFallback><ReactiveSequence>
			<Condition name="c" on="x ge 2"/><Action name="cool" write="u := 2"/></ReactiveSequence><Action name="heat" write="u := 3" done="u ge 3"/>
			</ReactiveFallback></Sequence>`,
		"effects: {a: {x: [1, 1]}, cool: {x: [-1, -1]}, heat: {x: [1, 1]}}", Proved, "no two tasks", ""}, // heat ends at once
	{"a power", fmt.Sprintf(alternate, "power ge 1"), "effects: {a: {x: [-1, -1]}}", Proved, "no two tasks", "no task changes power"},
	{"a power of a command", strings.Replace(fmt.Sprintf(alternate, "power ge 1"), `name="a"`, `name="a" write="u := 0"`, 1),
		"effects: {a: {x: [-1, -1]}}", Proved, "no two tasks", "no task changes power"},
	{"a circle", `<ReactiveFallback>
			<ReactiveSequence><Condition name="c1" on="x lt 0 and y ge 0"/><Action name="right"/></ReactiveSequence>
			<ReactiveSequence><Condition name="c2" on="x ge 0 and y ge 0"/><Action name="down"/></ReactiveSequence>
			<ReactiveSequence><Condition name="c3" on="x ge 0 and y lt 0"/><Action name="left"/></ReactiveSequence>
			<Action name="up"/></ReactiveFallback>`,
		"effects: {right: {x: [1, 1], y: [0, 0]}, down: {x: [0, 0], y: [-1, -1]}, left: {x: [-1, -1], y: [0, 0]}, up: {x: [0, 0], y: [1, 1]}}",
		Refuted, "take turns on x and y", ""},
	{"a spiral", `<ReactiveFallback>
			<ReactiveSequence><Condition name="c1" on="x lt 0 and y ge 0"/><Action name="right"/></ReactiveSequence>
			<ReactiveSequence><Condition name="c2" on="x ge 0 and y ge 0"/><Action name="down"/></ReactiveSequence>
			<ReactiveSequence><Condition name="c3" on="x ge 0 and y lt 0"/><Action name="left"/></ReactiveSequence>
			<Action name="up"/></ReactiveFallback>`,
		"effects: {right: {x: [1, 1], y: [1, 1]}, down: {x: [1, 1], y: [-1, -1]}, left: {x: [-1, -1], y: [-1, -1]}, up: {x: [-1, -1], y: [1, 1]}}",
		Refuted, "take turns on x and y", ""},
	{"a circle with a hole", `<ReactiveFallback>
			<ReactiveSequence><Condition name="c1" on="x lt -50 and y ge 0"/><Action name="right"/></ReactiveSequence>
			<ReactiveSequence><Condition name="c2" on="x ge 50 and y ge 0"/><Action name="down"/></ReactiveSequence>
			<ReactiveSequence><Condition name="c3" on="x ge 50 and y lt 0"/><Action name="left"/></ReactiveSequence>
			<ReactiveSequence><Condition name="c4" on="y lt 0 and x lt -50"/><Action name="up"/></ReactiveSequence>
			<ReactiveSequence><Condition name="c5" on="y ge 0"/><Action name="right2"/></ReactiveSequence><Action name="left2"/></ReactiveFallback>`,
		"effects: {right: {x: [1, 1], y: [0, 0]}, down: {x: [0, 0], y: [-1, -1]}, left: {x: [-1, -1], y: [0, 0]}, up: {x: [0, 0], y: [1, 1]}," +
			" right2: {x: [1, 1], y: [0, 0]}, left2: {x: [-1, -1], y: [0, 0]}}",
		Proved, "no faster than every 200 s", ""},
	{"timers", `<RetryUntilSuccessful num_attempts="-1"><Fallback><Timeout msec="5000"><Action name="a"/></Timeout>
			<Timeout msec="7000"><Action name="b"/></Timeout></Fallback></RetryUntilSuccessful>`,
		"effects: {a: {x: [1, 1]}}", Undecided, "procedures or timers end on the way, after 5 s or more", ""},
	{"procedures", strings.Replace(fmt.Sprintf(alternate, "x ge 1"), `name="a"`, `name="a" entry_time="70 [s]"`, 1),
		"effects: {a: {x: [-1, -1]}, b: {x: [1, 1]}}", Refuted, "b and a take turns on x at 1 without end", ""}, // the entry is cut short
}

// TestTurnsOfAllKinds: turns through memory, on relations, in several signals, by slots and timers are never "proved" not
// to exist.
func TestTurnsOfAllKinds(t *testing.T) {
	for _, test := range turnsOfAllKinds {
		_, found := check(t, test.plan, test.declared)
		found = byQuestion(found, "chatter")
		if len(found) == 0 || found[0].Verdict != test.want || !strings.Contains(found[0].Text, test.text) {
			t.Errorf("%s: %+v", test.name, found)
			continue
		}
		if strings.Contains(found[0].Script, "set p false") {
			t.Errorf("%s: an input on which nothing depends does not stay as it is:\n%s", test.name, found[0].Script)
		}
		if got := fmt.Sprint(found[0].Unwatched()); !strings.Contains(got, test.assumes) || test.assumes == "" && len(found[0].Unwatched()) > 0 {
			t.Errorf("%s: assumes %s", test.name, got)
		}
	}
}

// TestTurnsAmongConditions: with many other conditions, which stay as they are, the turns on one signal are decided.
func TestTurnsAmongConditions(t *testing.T) {
	for _, test := range []struct {
		off  string
		want Verdict
		text string
	}{{"", Refuted, "heat and cool take turns on x at 2 without end"}, {` off="x lt -100"`, Proved, "no faster than every 102 s"}} {
		plan := ""
		for i := range 14 {
			plan += fmt.Sprintf(`<ReactiveSequence><Condition name="c%d"/><Action name="a%d"/></ReactiveSequence>`, i, i)
		}
		_, found := check(t, `<ReactiveFallback>`+plan+`<ReactiveSequence><Condition name="hot" on="x ge 2"`+test.off+
			`/><Action name="cool"/></ReactiveSequence><Action name="heat"/></ReactiveFallback>`,
			"effects: {cool: {x: [-2, -2]}, heat: {x: [2, 2]}}")
		found = byQuestion(found, "chatter")
		if len(found) != 1 || found[0].Verdict != test.want || !strings.Contains(found[0].Text, test.text) {
			t.Errorf("%v: %.600s", test.want, fmt.Sprintf("%+v", found))
		}
	}
}

// TestTurnsAmongManySignals: tasks in an order take no turns, however many ways their signals have to go.
func TestTurnsAmongManySignals(t *testing.T) {
	plan, effects := "", ""
	for i := range 9 {
		plan += fmt.Sprintf(`<Action name="a%d" done="x%d * y ge %d or x%d ge 1"/>`, i, i, i, i)
		effects += fmt.Sprintf("x%d: [-1, 1], ", i)
	}
	_, found := check(t, `<Sequence>`+plan+`<Action name="last"/></Sequence>`, "effects: {a0: {"+effects+"y: [-1, 1]}}")
	found = byQuestion(found, "chatter")
	if len(found) != 1 || found[0].Verdict != Proved || found[0].Text != "no two tasks take turns on a signal" ||
		len(found[0].Unwatched()) > 0 {
		t.Errorf("%+v", found)
	}
}

// TestSlowTasks: tasks whose times bound their turns take no turns that are faster, whatever they take turns on.
func TestSlowTasks(t *testing.T) {
	for _, test := range []struct {
		plan, declared string
		want           Verdict
		text           string
	}{
		{`<Timeout msec="5000"><Action name="a"/></Timeout><Timeout msec="7000"><Action name="b"/></Timeout>`, "period: 12",
			Proved, "is switched on no faster than every 12 s"},
		{`<Timeout msec="5000"><Action name="a"/></Timeout><Timeout msec="7000"><Action name="b"/></Timeout>`, "period: 12.1",
			Undecided, "after 5 s or more"},
		{`<Action name="a" failed="elapsed ge 40 [s]"/><Action name="b" failed="elapsed gt 20 [s]"/>`, "period: 60",
			Proved, "is switched on no faster than every 60 s"},
		{`<Action name="a" failed="elapsed ge 40 [s]"/><Action name="b" failed="elapsed gt 19 [s]"/>`, "period: 60",
			Undecided, "not known how tasks change"},
		{`<Action name="a" failed="elapsed ge 40 [s]"/><Action name="b" failed="x * y ge 1"/>`, "period: 40",
			Proved, "is switched on no faster than every 40 s"},
		{`<Action name="a" failed="elapsed ge 40 [s] or x ge 2"/><Action name="b" failed="x lt 2"/>`, "period: 40",
			Refuted, "take turns on x at 2 without end"},
	} {
		_, found := check(t, `<RetryUntilSuccessful num_attempts="-1"><Fallback>`+test.plan+`</Fallback></RetryUntilSuccessful>`,
			test.declared+"\neffects: {a: {x: [1, 1]}, b: {x: [-1, -1]}}")
		found = byQuestion(found, "chatter")
		if len(found) == 0 || found[0].Verdict != test.want || !strings.Contains(found[0].Text, test.text) {
			t.Errorf("%s, %s: %+v", test.plan, test.declared, found)
		}
	}
}
