package translate

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// interpreter runs a program directly: it evaluates the rules from the top each time.
type interpreter struct {
	program *TeleoReactive
	holds   func(atom string) bool
}

// act returns what is done, "" if no rule of the program itself holds.
func (i *interpreter) act() string { return i.call(i.program.run, map[string]string{}, 1) }

func (i *interpreter) call(t *term, values map[string]string, level int) string {
	q := i.program.named[t.name]
	if q == nil {
		return i.write(t, values)
	}
	if i.program.depth > 0 && level > i.program.depth {
		return "nil"
	}
	inner := map[string]string{}
	for k, p := range q.parameters {
		inner[p] = i.write(t.args[k], values)
	}
	for _, r := range q.rules {
		members := []string{""}
		if r.variable != "" {
			members = i.program.sets[r.set]
		}
		for _, m := range members {
			inner[r.variable] = m
			if i.truth(r.when, inner) {
				return i.call(r.act, inner, level+1)
			}
			delete(inner, r.variable)
		}
	}
	if level > 1 {
		return "nil"
	}
	return ""
}

func (i *interpreter) truth(c *condition, values map[string]string) bool {
	switch c.op {
	case opAtom:
		return i.holds(i.write(c.atom, values))
	case opNot:
		return !i.truth(c.parts[0], values)
	case opAnd:
		return !slices.ContainsFunc(c.parts, func(p *condition) bool { return !i.truth(p, values) })
	case opOr:
		return slices.ContainsFunc(c.parts, func(p *condition) bool { return i.truth(p, values) })
	}
	return true
}

func (i *interpreter) write(t *term, values map[string]string) string {
	if v, ok := values[t.name]; ok && t.args == nil {
		return v
	}
	text := t.name
	for k, a := range t.args {
		text += map[bool]string{true: "(", false: ","}[k == 0] + i.write(a, values)
	}
	if t.args != nil {
		text += ")"
	}
	return text
}

// machinery runs the plan of a program; the conditions with one ID are true together.
type machinery struct {
	plan   *plan.Plan
	engine *bt.Engine
	atoms  []string
}

func newMachinery(p *plan.Plan) *machinery {
	m := &machinery{plan: p, engine: bt.NewEngine(p.Tree, nil, 0)}
	for _, l := range p.Leaves {
		if p.Tree.Kind(l.Task) == bt.Condition && !slices.Contains(m.atoms, l.ID) {
			m.atoms = append(m.atoms, l.ID)
		}
	}
	return m
}

// act settles the plan and returns what runs, joined if it is more than one action.
func (m *machinery) act(t *testing.T, holds func(atom string) bool) string {
	t.Helper()
	var in []bt.Input
	for _, l := range m.plan.Leaves {
		if m.plan.Tree.Kind(l.Task) == bt.Condition {
			in = append(in, bt.Set(l.Task, holds(l.ID)))
		}
	}
	if _, err := m.engine.Settle(in); err != nil {
		t.Fatal(err)
	}
	var running []string
	for _, l := range m.plan.Leaves {
		if m.plan.Tree.Kind(l.Task) == bt.Action && m.engine.Status(l.Task) == bt.Running {
			running = append(running, l.ID)
		}
	}
	return strings.Join(running, " and ")
}

func program(t testing.TB, name, text string) *TeleoReactive {
	t.Helper()
	p, list := ReadTeleoReactive(&diag.Source{Name: name, Text: text})
	if list.HasErrors() {
		t.Fatal(list, "\n", text)
	}
	return p
}

// agree compares the plan of a program with the interpreter in a number of states, one after the other: all of them if
// they are few, else random ones. It returns which actions were seen.
func agree(t *testing.T, p *TeleoReactive, r *rand.Rand, states int) map[string]int {
	t.Helper()
	translated, list := p.Plan()
	if len(list) > 0 {
		t.Fatal(list)
	}
	m := newMachinery(translated)
	all := len(m.atoms) <= 12 && 1<<len(m.atoms) <= 4*states
	if all {
		states = 1 << len(m.atoms)
	}
	seen := map[string]int{}
	for k := range states {
		share := 1 + r.IntN(7)
		state := map[string]bool{}
		for i, a := range m.atoms {
			state[a] = k>>i&1 == 1
			if !all {
				state[a] = r.IntN(8) < share
			}
		}
		holds := func(atom string) bool { return state[atom] }
		want := (&interpreter{p, holds}).act()
		if got := m.act(t, holds); got != want {
			t.Fatalf("%s: in %v the plan does %q, the program %q\n%s", p.Source.Name, state, got, want, p.Source.Text)
		}
		seen[want]++
	}
	return seen
}

// TestProgramsOfTheExamples: in every state the plans do what the programs do.
func TestProgramsOfTheExamples(t *testing.T) {
	files, err := filepath.Glob("../../examples/06-teleo-reactive/*.tr")
	if err != nil || len(files) < 4 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		seen := agree(t, program(t, name, readFile(t, name)), rand.New(rand.NewPCG(1, 1)), 2000)
		t.Log(filepath.Base(name), seen)
		if len(seen) < 3 {
			t.Errorf("%s: only %v were done", name, seen)
		}
	}
}

// TestRandomPrograms: the same for random programs with parameters, sets, calls and recursion.
func TestRandomPrograms(t *testing.T) {
	programs := 3000
	if testing.Short() {
		programs = 300
	}
	nothing, depths := 0, 0
	for seed := range programs {
		r := rand.New(rand.NewPCG(2, uint64(seed)))
		p := program(t, fmt.Sprint("seed ", seed), randomProgram(r))
		if p.depth > 0 {
			depths++
		}
		if q, list := p.Plan(); list.HasErrors() || q.Tree.Len() > 3000 {
			continue
		}
		nothing += agree(t, p, r, 40)[""]
	}
	if nothing == 0 || depths == 0 {
		t.Errorf("%d states without an action, %d programs with recursion: the cases are not met", nothing, depths)
	}
}

// randomProgram writes a program.
func randomProgram(r *rand.Rand) string {
	var b strings.Builder
	procedures := 1 + r.IntN(4)
	parameters := make([]int, procedures)
	for i := range parameters {
		parameters[i] = r.IntN(3)
	}
	fmt.Fprintln(&b, "set s = a, b\ndepth", 1+r.IntN(4))
	pick := func(names []string) string { return names[r.IntN(len(names))] }
	for i := range procedures {
		names := []string{"x", "y"}[:parameters[i]]
		head := fmt.Sprint("p", i)
		if len(names) > 0 {
			head += "(" + strings.Join(names, ", ") + ")"
		}
		fmt.Fprintln(&b, head+":")
		for range 1 + r.IntN(3) {
			loop := ""
			values := append([]string{"a", "c"}, names...)
			if r.IntN(4) == 0 {
				loop = " for z in s"
				values = append(values, "z", "z")
			}
			var condition func(level int) string
			condition = func(level int) string {
				switch k := r.IntN(6); {
				case k == 0 && level < 3:
					return "(" + condition(level+1) + " or " + condition(level+1) + ")"
				case k == 1 && level < 3:
					return condition(level+1) + " and " + condition(level+1)
				case k == 2 && level < 3:
					return "not (" + condition(level+1) + ")"
				case k == 3:
					return "k"
				}
				return fmt.Sprintf("q%d(%s)", r.IntN(2), pick(values))
			}
			when := condition(0)
			if r.IntN(6) == 0 {
				when = "else"
			}
			act := fmt.Sprintf("do(%s)", pick(values))
			if k := r.IntN(procedures); r.IntN(2) == 0 {
				act = fmt.Sprint("p", k)
				var args []string
				for range parameters[k] {
					if arg := pick(values); r.IntN(4) == 0 {
						args = append(args, "f("+arg+")")
					} else {
						args = append(args, arg)
					}
				}
				if args != nil {
					act += "(" + strings.Join(args, ", ") + ")"
				}
			}
			fmt.Fprintf(&b, "  %s -> %s%s\n", when, act, loop)
		}
	}
	fmt.Fprintf(&b, "run p0%s\n", []string{"", "(a)", "(a, c)"}[parameters[0]])
	return b.String()
}

// TestGotoIsFigure8: the plan of Goto is the tree that the paper draws.
func TestGotoIsFigure8(t *testing.T) {
	p, list := program(t, "goto.tr", readFile(t, "../../examples/06-teleo-reactive/goto.tr")).Plan()
	if len(list) > 0 {
		t.Fatal(list)
	}
	var b strings.Builder
	var write func(d *bt.Node)
	leaf := 0
	write = func(d *bt.Node) {
		if d.Kind.Family() == bt.Leaf {
			b.WriteString(p.Leaves[leaf].ID)
			leaf++
			return
		}
		b.WriteString(d.Kind.String() + "[")
		for i, c := range d.Children {
			if i > 0 {
				b.WriteString(" ")
			}
			write(c)
		}
		b.WriteString("]")
	}
	write(p.Description())
	want := "ReactiveFallback[ReactiveSequence[equal(pos,home) idle] ReactiveSequence[heading-towards(home) go-forwards] rotate]"
	if b.String() != want || p.Name != "goto(home)" {
		t.Errorf("%s: %s", p.Name, &b)
	}
}

// TestProgramMistakes: all mistakes of a file at once, each at its place.
func TestProgramMistakes(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{"1:1 empty-file"}},
		{"# only this\n", []string{"1:1 empty-file"}},
		{"\xff", []string{"1:1 not-utf8"}},
		{"set s = a", []string{"1:1 no-procedure"}},
		{"k -> a", []string{"1:1 no-procedure"}},
		{"p:\n  k -> \n  k and -> b\n k -> (a\n  k → a\n  k a -> b\n p -> q r\n", []string{"2:7 syntax", "3:9 syntax",
			"4:7 syntax", "5:5 syntax", "6:5 syntax", "7:9 syntax"}},
		{"p(x\n k -> a\nq(x):\n k -> for\n and -> b\n else and k -> b", []string{"1:4 syntax", "4:7 reserved-name",
			"5:2 reserved-name", "6:2 syntax"}},
		{"p:\n k -> a\np:\n k -> b\nset s = a, a\nset t = b\nset t = c\nrun p\nrun p\n", []string{"3:1 duplicate-name",
			"5:12 duplicate-name", "7:5 duplicate-name", "9:1 duplicate-name"}},
		{"p(x, x):\n k -> a", []string{"1:6 duplicate-name"}},
		{"p(x):\n k(x) -> a(x)\n k -> a(x, x)\n k -> b for x in s\n", []string{"3:2 wrong-arguments",
			"3:7 wrong-arguments", "4:13 duplicate-name"}},
		{"p(x):\n k -> a\n", []string{"1:1 missing-run"}},
		{"p(x):\n k -> p\nrun p(1, 2)\ndepth 2", []string{"2:7 wrong-arguments", "3:5 wrong-arguments"}},
		{"p:\n k -> a for y in blocks\nset block = a\n", []string{"2:18 unknown-set"}},
		{"p:\n k -> q\nq:\n k -> p\n", []string{"4:7 missing-depth"}},
		{"p:\n k -> a\nrun q\ndepth 0\ndepth x\ndepth 101", []string{"4:7 out-of-range", "5:7 out-of-range",
			"6:7 out-of-range"}},
		{"p:\n k -> a\nrun q\n", []string{"3:5 unknown-procedure"}},
		{"p:\nq:\n k -> a\n", []string{"1:1 no-rules"}},
		{"root:\n Sequence -> Action\nnil:\n k -> SubTree", []string{"1:1 reserved-name", "2:2 reserved-name",
			"2:14 reserved-name", "3:1 reserved-name", "4:7 reserved-name"}},
		{"p:\n " + strings.Repeat("(", 60) + "k" + strings.Repeat(")", 60) + " -> a\n k -> a" + strings.Repeat("(b", 60) +
			strings.Repeat(")", 60), []string{"2:53 too-deep", "3:109 too-deep"}},
	} {
		_, list := ReadTeleoReactive(&diag.Source{Name: "p.tr", Text: c.text})
		var got []string
		for _, d := range list {
			if d.Severity == diag.Error {
				line, column := d.Position()
				got = append(got, fmt.Sprintf("%d:%d %s", line, column, d.Code))
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q:\n got %q\nwant %q\n%v", c.text, got, c.want, list)
		}
	}
}

func TestProgramWarnings(t *testing.T) {
	_, list := ReadTeleoReactive(&diag.Source{Name: "p.tr", Text: "depth 3\nwalk(x):\n else -> wlak(x)\n k -> b\nother:\n k -> a\nrun walk(1)"})
	var got []string
	for _, d := range list {
		line, column := d.Position()
		got = append(got, fmt.Sprintf("%d:%d %s %s", line, column, d.Severity, d.Code))
	}
	want := []string{"1:1 warning unused-depth", "3:10 warning unknown-procedure", "4:7 warning unreachable-rule",
		"5:1 warning unused-procedure"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Programs whose plan would be too large are refused before it is made.
func TestLargePrograms(t *testing.T) {
	for _, text := range []string{
		"depth 100\np(x):\n k -> p(f(x,x))\nrun p(a)",
		"set s = a, b, c, d\ndepth 30\np(x):\n k(x) -> p(y) for y in s\nrun p(a)",
	} {
		_, list := program(t, "p.tr", text).Plan()
		if len(list) != 1 || list[0].Code != "too-large" {
			t.Errorf("%q: %v", text, list)
		}
	}
}

// FuzzReadTeleoReactive holds that any text gives either a program or an error, with all places inside the file, and that the
// plan of a program does what the program does.
func FuzzReadTeleoReactive(f *testing.F) {
	files, err := filepath.Glob("../../examples/06-teleo-reactive/*.tr")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range files {
		f.Add(readFile(f, name))
	}
	f.Add("p:\n k -> \n k and -> b\n (a | b) & !c -> d for x in s\nset s = 1, 2.5\ndepth 3\nrun p")
	f.Add("depth 9\np(x):\n k -> p(f(x,x))\n else -> q for y in s\nset s = a\nrun p(é)")
	f.Fuzz(func(t *testing.T, text string) {
		src := &diag.Source{Name: "fuzz.tr", Text: text}
		p, list := ReadTeleoReactive(src)
		if (p == nil) != list.HasErrors() {
			t.Fatalf("program %v, list %v", p, list)
		}
		checkPlaces(t, list)
		if p == nil {
			return
		}
		q, list := p.Plan()
		if (q == nil) != list.HasErrors() {
			t.Fatalf("plan %v, list %v", q, list)
		}
		if q != nil && q.Tree.Len() < 1000 {
			agree(t, p, rand.New(rand.NewPCG(1, 2)), 5)
		}
	})
}

// checkPlaces checks that diagnostics lie inside their source and have a text.
func checkPlaces(t *testing.T, list diag.List) {
	t.Helper()
	for _, d := range list {
		if d.Offset < 0 || d.Length < 0 || d.Offset+d.Length > len(d.Source.Text) || d.Code == "" || d.Text == "" {
			t.Errorf("%+v", d)
		}
	}
}

// The expansion of a program is bounded, with a message at the call in the author's file that exceeds it.
func TestProgramsAreBounded(t *testing.T) {
	chain := func(calls int, rule string) string {
		var b strings.Builder
		for i := range calls {
			fmt.Fprintf(&b, rule, i, i, i+1)
		}
		fmt.Fprintf(&b, "p%d:\n  c -> a\nrun p0\n", calls)
		return b.String()
	}
	deep := "p%d:\n  c%d -> a\n  else -> p%d\n"
	for name, c := range map[string]struct {
		text, says string
		line       int
	}{
		"a chain":         {chain(100, deep), "", 0},
		"a long chain":    {chain(600, deep), "more than 200 calls", 600},
		"a chain of 9000": {chain(9000, deep), "more than 200 calls", 600},
		"two calls each":  {chain(40, "p%d:\n  c%d -> p%[3]d\n  else -> p%[3]d\n"), "more than 100000 tasks", 0},
		"many actions":    {"p:\n" + strings.Repeat("  c -> a\n", maxTasks), "more than 100000 tasks", 0},
		"a long line":     {"p:\n  c -> " + strings.Repeat("a", 2*maxLine), "more than 10000 bytes", 2},
	} {
		p, list := ReadTeleoReactive(&diag.Source{Name: "t.tr", Text: c.text})
		var made *plan.Plan
		if p != nil {
			made, list = p.Plan()
		}
		if c.says == "" {
			if made == nil {
				t.Errorf("%s: %v", name, list)
			}
			continue
		}
		if made != nil || len(list) != 1 || list[0].Code != "too-large" || !strings.Contains(list[0].Text, c.says) {
			t.Errorf("%s: %.500v", name, list)
			continue
		}
		if line, _ := list[0].Position(); c.line > 0 && line != c.line {
			t.Errorf("%s: on line %d, not %d", name, line, c.line)
		}
	}
}
