package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/temporal"
)

// booleanPlan writes plans over at most this number of conditions without expressions, and properties of them.
type booleanPlan struct{ author }

func (r *booleanPlan) node(depth int) string {
	if depth > 0 && r.IntN(6) > 0 {
		kind := r.pick("ReactiveSequence", "ReactiveFallback", "Sequence", "Fallback", "ReactiveParallel", "Inverter")
		text, n := fmt.Sprintf(`<%s name="%s">`, kind, r.name("n")), 1
		if kind != "Inverter" {
			n += r.IntN(3)
		}
		for range n {
			text += r.node(depth - 1)
		}
		return text + "</" + kind + ">"
	}
	if r.inputs > 0 && r.IntN(2) == 0 {
		r.inputs--
		name := fmt.Sprintf("c%d", r.inputs)
		r.names = append(r.names, name)
		return fmt.Sprintf(`<Condition name="%s"/>`, name)
	}
	return fmt.Sprintf(`<Action name="%s"/>`, r.name("a"))
}

func (r *booleanPlan) formula(depth int) string {
	if depth == 0 {
		return r.pick("", "not ") + r.pick(r.names...)
	}
	x, y := "("+r.formula(depth-1)+")", "("+r.formula(depth-1)+")"
	return r.pick("not "+x, x+" and "+y, x+" or "+y, x+" -> "+y, "always "+x, "never "+x, x+" before "+y,
		"never both("+x+", "+y+")", "after "+r.formula(0)+" before "+r.formula(0)+", never "+r.formula(0),
		"after "+x+", "+y, "after "+r.formula(0)+", (after "+r.formula(0)+", never "+r.formula(0)+")", x, x+" until "+y, "eventually "+x)
}

// truthIn judges a condition in a state: the truth of names, and for a signal whether it is above its only limit.
func truthIn(l expr.Logic, state map[string]bool) bool {
	switch l.Op {
	case expr.LogicTruth:
		return l.Value
	case expr.LogicProposition:
		return state[l.Text]
	case expr.LogicThreshold:
		return state[l.Signal]
	case expr.LogicNot:
		return !truthIn(l.Args[0], state)
	case expr.LogicAnd:
		return truthIn(l.Args[0], state) && truthIn(l.Args[1], state)
	}
	return truthIn(l.Args[0], state) || truthIn(l.Args[1], state)
}

// holdsOn judges a formula without Not on a sequence of states by its definition. What would come after it is taken
// at its best, or as if the last state stayed.
func holdsOn(f *temporal.Formula, seq []map[string]bool, i int, best bool) bool {
	sub := func(k, at int) bool { return holdsOn(f.Args[k], seq, at, best) }
	switch f.Op {
	case temporal.Condition:
		return truthIn(f.Cond.Logic(func(string) bool { return true }), seq[i])
	case temporal.Not:
		return !sub(0, i)
	case temporal.And:
		return sub(0, i) && sub(1, i)
	case temporal.Or:
		return sub(0, i) || sub(1, i)
	}
	for ; i < len(seq); i++ {
		if sub(1, i) {
			return true
		}
		if !sub(0, i) {
			return false
		}
	}
	return best || f.Op == temporal.Weak
}

// shortest returns the length of the shortest sequence of worlds, of at most the given length, on which a formula does
// not hold, 0 if there is none. All are tried.
func shortest(p *plan.Plan, f *temporal.Formula, inputs int, best bool, most int) int {
	type run struct {
		*instants
		seq []map[string]bool
	}
	runs := []run{{newInstants(p, 1), nil}}
	for n := 1; n <= most; n++ {
		var next []run
		known := map[string]bool{}
		for _, r := range runs {
			for world := range 1 << inputs {
				x := r.clone()
				if !x.instant(world, func() {}) {
					continue
				}
				seq := append(slices.Clone(r.seq), seen(p.Tree, x.engine))
				if !holdsOn(f, seq, 0, best) {
					return n
				}
				if key := fmt.Sprint(seq, x.key()); !known[key] {
					known[key] = true
					next = append(next, run{x, seq})
				}
			}
		}
		runs = next
	}
	return 0
}

// replayed returns what holds after each world of a script. A comment begins a world; a script without is one.
func replayed(t *testing.T, tree *bt.Tree, script string) []map[string]bool {
	t.Helper()
	var seq []map[string]bool
	worlds := strings.Split("\n"+script, "\n#")
	if len(worlds) == 1 {
		worlds = []string{script, ""}
	}
	for i := range worlds[1:] {
		seq = append(seq, seen(tree, played(t, tree, strings.Join(worlds[:i+2], "\n#"))))
	}
	return seq
}

// TestPropertiesAgreeWithBruteForce: on random plans with up to six Boolean inputs, what is refuted is what some sequence
// of worlds violates, the shortest one is found, and script.Print shows the violation; what is proved no sequence violates.
func TestPropertiesAgreeWithBruteForce(t *testing.T) {
	cases := 1000
	if testing.Short() {
		cases = 150
	}
	r := &booleanPlan{author{Rand: rand.New(rand.NewPCG(8, 3))}}
	count := map[Verdict]int{}
	longest, unshown := 0, 0
	for n := range cases {
		inputs, most := 1+r.IntN(3), 3
		if n%10 == 0 {
			inputs, most = 6, 2
		}
		r.names, r.count, r.inputs = nil, 0, inputs
		p := readPlan(t, r.node(1+r.IntN(3)))
		text := r.formula(1 + r.IntN(3))
		f, got := askOne(t, p, text)
		count[got.Verdict]++
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("%s\n%s\n%s %s\n%s\n%s", p.Source.Text, text, got.Verdict, got.Text, got.Script, fmt.Sprintf(format, args...))
		}
		want := shortest(p, f, inputs, true, most)
		switch {
		case want > 0 && got.Verdict != Refuted:
			fail("%d worlds violate it", want)
		case got.Verdict == Proved:
			if n := shortest(p, f, inputs, false, most); n > 0 {
				fail("%d worlds violate it", n)
			}
		case got.Verdict == Refuted && got.Script == "":
			unshown++
		case strings.Contains(got.Text, ", for "), slices.Contains(got.Assumes, StayLong): // the last world may stay
			if seq := replayed(t, p.Tree, got.Script); holdsOn(f, seq, 0, false) {
				fail("the script does not show it: %v", seq)
			}
		case got.Verdict == Refuted:
			seq := replayed(t, p.Tree, got.Script)
			if oneState := !strings.Contains(got.Script, "#") || strings.HasPrefix(got.Script, "# the plan begins"); oneState {
				if last := seq[len(seq)-1:]; holdsOn(f, last, 0, true) {
					fail("the script does not show it: %v", last)
				}
				continue
			}
			if longest = max(longest, len(seq)); holdsOn(f, seq, 0, true) {
				fail("the script does not show it: %v", seq)
			}
			if want > 0 && len(seq) != want {
				fail("the shortest has %d worlds", want)
			}
			if want == 0 && len(seq) <= most {
				fail("no sequence of %d worlds violates it", most)
			}
		}
	}
	t.Log(count, "longest", longest, "not shown by a script", unshown)
	if count[Proved] < cases/10 || count[Refuted] < cases/10 || count[Undecided] > cases/2 || longest < 2 || unshown > cases/20 {
		t.Errorf("%v, longest %d, unshown %d", count, longest, unshown)
	}
}

// TestProperties: the conclusions, the limits, and the reasons.
func TestProperties(t *testing.T) {
	plan := `<ReactiveFallback name="p">
		<ReactiveSequence name="low"><Condition name="critical" on="soc lt 0.2" off="soc gt 0.3"/><Action name="sink"/></ReactiveSequence>
		<ReactiveSequence name="full"><Condition name="surplus" on="soc ge 0.9"/><Action name="climb"/></ReactiveSequence>
		<Action name="cruise"/></ReactiveFallback>`
	for _, test := range []struct {
		property string
		verdict  Verdict
		text     string
		worlds   int // of the script
	}{
		{"never both(climb, sink)", Proved, "holds in every state", 0},
		{"always (critical -> within 600 [s] sink)", Proved, "holds in every run", 0},
		{"always (critical -> within 600 [s] climb)", Refuted, "a world may last for any time", 1},
		{"always (critical -> eventually climb)", Refuted, "while sink is active, no signal has to leave", 1},
		{"always (sink -> for 10 [s] not climb)", Refuted, "does not hold: ", 4},
		{"always (cruise -> for 10 [s] surplus)", Refuted, "does not hold: ", 1},
		{"critical before sink", Proved, "holds in every run", 0},
		{"sink before climb", Refuted, "does not hold: ", 1},
		{"after sink before surplus, never cruise", Refuted, "does not hold: ", 3},
		{"after critical before (soc > 0.3), always sink", Proved, "holds in every run", 0},
		{"after sink before cruise, never climb", Refuted, "jumps over an interval", 2},
		{"cruise -> (not climb until soc >= 0.9)", Refuted, "for any time", 1},
		{"soc < 0.1 -> (climb or sink until soc >= 0.3)", Refuted, "for any time", 1},
		{"soc < 0.1 -> (climb or soc > 0.25 until critical and soc > 0.15)", Refuted, "does not hold: ", 1},
	} {
		_, f := askOne(t, readPlan(t, plan), test.property)
		if f.Verdict != test.verdict || !strings.Contains(f.Text, test.text) || strings.Count(f.Script, "#") != test.worlds {
			t.Errorf("%s: %s %s\n%s", test.property, f.Verdict, f.Text, f.Script)
		}
	}
}

// TestPropertiesWhileTasksEnd: while the exit procedure of b takes time, nothing is active.
func TestPropertiesWhileTasksEnd(t *testing.T) {
	const leaving = `<ReactiveFallback name="p"><ReactiveSequence name="q"><Condition name="c" on="x ge 1"/><Action name="a"/>
		</ReactiveSequence><Action name="b"%s/></ReactiveFallback>`
	for _, test := range []struct{ exit, want string }{
		{"", "proved proved proved"},
		{` exit_time="0 [s]"`, "proved refuted proved"}, // one after the other, at one time
		{` exit_time="x * 1 [s]"`, "proved refuted refuted"},
		{` exit_time="1 [s]"`, "proved refuted refuted"},
		{` exit_until="x ge 6"`, "proved refuted refuted"},
		{` exit_until="x lt 5"`, "proved refuted proved"},
	} {
		_, found := check(t, fmt.Sprintf(leaving, test.exit), "facts: [x < 9]\nproperties:\n  - never both(a, b)\n"+
			"  - always (a or b)\n  - always (x >= 3 and x < 4 -> a or b)\n")
		var got []string
		for _, f := range byQuestion(found, "property") {
			got = append(got, f.Verdict.String())
			if (f.Verdict == Refuted) != (f.Script != "") {
				t.Errorf("%s: %+v", test.exit, f)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %s", test.exit, got)
		}
	}
}

// TestPropertiesOfEndedPlans: a plan that has ended reacts to nothing any more; one that begins again does.
func TestPropertiesOfEndedPlans(t *testing.T) {
	const ending = `<ReactiveFallback name="p"><ReactiveSequence name="e"><Condition name="critical" on="soc lt 0.2"/>
		<Action name="land"/></ReactiveSequence><Action name="survey" done="x ge 9" %s/></ReactiveFallback>`
	for again, want := range map[string]string{"": "the plan has ended and reacts to nothing any more",
		`_successIf="x ge 9"`: "holds in every run"} {
		_, found := check(t, fmt.Sprintf(ending, again), "properties: [always (critical -> eventually land)]")
		if f := byQuestion(found, "property")[0]; !strings.Contains(f.Text, want) || (f.Verdict == Refuted) != (again == "") {
			t.Errorf("%s %s\n%s", f.Verdict, f.Text, f.Script)
		}
	}
}

// What reads an entry of the blackboard without a value is proved only whatever the value is, and refuted only if it
// fails whatever it is.
func TestPropertiesOfEntriesWithoutAValue(t *testing.T) {
	plan := `<Sequence><Action ID="wait" done="x ge 5"/><Script code="n := 2"/><Action ID="more" done="x ge 9"/>
		<UnsetBlackboard key="n"/><Action ID="last"/></Sequence>`
	for _, test := range []struct {
		property string
		want     Verdict
	}{
		{"always (n ge 1)", Undecided},
		{"always (n le 2)", Undecided},
		{"never (n ge 3)", Undecided},
		{"always (n ge 3)", Refuted},
		{"never (n ge 2)", Refuted},
		{"always (x ge 5 -> n le 3)", Undecided},
		{"always (more -> n == 2)", Proved},
		{"always (more -> n == 1)", Refuted},
		{"always ((n ge 1 or x ge 0) and (n lt 1 or x ge 0))", Refuted},
		{"always (n ge 1 or not last)", Undecided},
		{"n ge 1 before more", Proved},
		{"n ge 3 before more", Refuted},
		{"more before (n ge 2)", Undecided},
		{"after more before last, always (n ge 1)", Proved},
		{"always (n ge 1 or n lt 1)", Proved},
	} {
		_, found := check(t, plan, fmt.Sprintf("properties: [%q]", test.property))
		for _, f := range byQuestion(found, "property") {
			if f.Verdict != test.want || (f.Verdict == Undecided) != strings.Contains(f.Text, "n has no value yet") {
				t.Errorf("%s: %v, %s", test.property, f.Verdict, f.Text)
			}
		}
	}
	for _, test := range []struct {
		always string
		want   Verdict
	}{{"n ge 1", Undecided}, {"n ge 3", Refuted}, {"more -> n == 2", Proved}, {"last -> n == 2", Undecided}} {
		_, found := check(t, plan, fmt.Sprintf("always: [%q]", test.always))
		for _, f := range byQuestion(found, "always") {
			if f.Verdict != test.want {
				t.Errorf("%s: %v, %s", test.always, f.Verdict, f.Text)
			}
		}
	}
}

// A value that a slot keeps has the name of the slot in what is shown.
func TestKeptValuesHaveNames(t *testing.T) {
	_, found := check(t, `<Sequence><Action name="wait" done="elapsed ge 5"/><Script code="n := 5"/><Action name="last"/></Sequence>`,
		"properties: [never (n gt 3)]")
	if f := byQuestion(found, "property")[0]; !slices.Contains(f.Where, "t - wait.start >= 5") {
		t.Errorf("%s %q", f.Verdict, f.Where)
	}
}

// TestPropertiesOfManyWorlds: there are 8192.
func TestPropertiesOfManyWorlds(t *testing.T) {
	many := `<ReactiveFallback name="p">`
	for i := range 13 {
		many += fmt.Sprintf(`<Condition name="c%d"/>`, i)
	}
	_, found := check(t, many+`<Action name="a"/></ReactiveFallback>`, "properties: [c1 before c2, always (a -> not c1)]")
	properties := byQuestion(found, "property")
	if f := properties[0]; f.Verdict != Refuted || f.About != "c1 before c2" {
		t.Errorf("%s %s", f.Verdict, f.Text)
	}
	if f := properties[1]; f.Verdict != Proved {
		t.Errorf("%s %s", f.Verdict, f.Text)
	}
}

// TestWhenThePlanEnds: what a plan does in the instant in which it ends is not after its end.
func TestWhenThePlanEnds(t *testing.T) {
	for _, test := range []struct{ plan, property, text string }{
		{`<Sequence name="s"><Action name="a" done="x ge 1" failed="x lt 1"/></Sequence>`, "never a", "does not hold: never a"},
		{`<Sequence name="s"><Action name="a" done="x ge 1"/></Sequence>`, "always (x lt 9)", "does not hold: always (x lt 9)"},
	} {
		_, found := check(t, test.plan, "properties: ["+test.property+"]")
		if f := byQuestion(found, "property")[0]; f.Text != test.text {
			t.Errorf("%q, want %q", f.Text, test.text)
		}
	}
}

// TestMethodOfAProof: a proof says how many states were visited only if there were some.
func TestMethodOfAProof(t *testing.T) {
	for property, text := range map[string]string{
		"a":                               "holds in every run: a, which the first instant of a run decides",
		"always (x lt 3 -> eventually a)": ", whatever states follow each other",
	} {
		_, found := check(t, `<KeepRunningUntilFailure name="k"><Action name="a"/></KeepRunningUntilFailure>`,
			"properties: ["+property+"]")
		if f := byQuestion(found, "property")[0]; f.Verdict != Proved || !strings.HasSuffix(f.Text, text) {
			t.Errorf("%q, want %q", f.Text, text)
		}
	}
}

// Properties of large plans without memory are decided, whatever the number of tasks; what refutes one is replayed.
func TestPropertiesOfManyTasksWithoutMemory(t *testing.T) {
	var body strings.Builder
	for i := range 100 {
		fmt.Fprintf(&body, `<ReactiveSequence><Condition name="c%d" on="x%d ge 1"/><Condition name="d%d" on="y ge %d"/>`+
			`<Action name="a%d"/></ReactiveSequence>`, i, i, i, i, i)
	}
	s := declare.Subject{Plan: readPlan(t, "<ReactiveFallback>"+body.String()+`<Action name="last"/></ReactiveFallback>`)}
	tasks := expr.TaskNames{"last"}
	for i := range 100 {
		tasks = append(tasks, fmt.Sprint("a", i), fmt.Sprint("c", i), fmt.Sprint("d", i))
	}
	for text, want := range map[string]Verdict{"c7 before a7": Proved, "a7 before a8": Refuted, "never both(a7, a99)": Proved,
		"always (a3 -> (always (a2 -> c2)))": Proved, "d9 before last": Refuted, "after a3 before a4, never a5": Refuted,
		"after a3 before a4, always (not a4 or d4)": Proved, "(d7 and c7) before a7": Proved} {
		p, mistakes := temporal.Read(text, tasks, nil)
		if mistakes != nil {
			t.Fatal(mistakes)
		}
		s.Declared.Properties = []declare.Property{{Property: p}}
		f := askProperties(NewModel(s))[0]
		if f.Verdict != want {
			t.Errorf("%s: %v %s", text, f.Verdict, f.Text)
		}
		if f.Verdict == Refuted {
			played(t, s.Plan.Tree, f.Script)
		}
	}
}

// A script shows that a loop waits, and when it goes on.
func TestScriptsShowLoopsThatWait(t *testing.T) {
	s, found := check(t, `<Sequence><Script name="first" code="n := 2"/><KeepRunningUntilFailure name="loop"><SetBlackboard
		name="copy" value="{n}" output_key="m"/></KeepRunningUntilFailure></Sequence>`, "always: [not loop]")
	for _, question := range []string{"complete", "always"} {
		f := byQuestion(found, question)[0]
		states := replayed(t, s.Plan.Tree, f.Script)
		if last := states[len(states)-1]; f.Verdict != Refuted || last["copy"] || !last["loop"] ||
			!strings.Contains(f.Script, "wait loop\nagain loop\n") {
			t.Errorf("%s: %v, then %v\n%s", f.Text, f.Verdict, last, f.Script)
		}
	}
}

// A loop that waits runs its action again once that would not end at once any more, in proofs as in flights.
func TestWaitingLoopsAreFollowed(t *testing.T) {
	for _, loop := range []string{`<Action name="work" done="x ge k"/>`,
		`<Sequence><Action name="work" done="x ge k"/><Script code="k := 1"/></Sequence>`} {
		_, found := check(t, `<Sequence><Script code="k := 1"/><Action name="gate" done="x ge 1"/><KeepRunningUntilFailure>`+loop+
			`</KeepRunningUntilFailure></Sequence>`, "properties: [never (work and x lt 1), never (gate and work)]")
		if f := byQuestion(found, "property"); f[0].Verdict != Refuted || f[1].Verdict != Proved {
			t.Errorf("%s: %v %s; %v %s", loop, f[0].Verdict, f[0].Text, f[1].Verdict, f[1].Text)
		}
	}
}
