package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/reaction"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/codegen"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// sampled is a world whose signals are constant within an instant, but for what the plan writes: what an exported
// program sees.
type sampled struct {
	executive.Numbers
	p       *executive.Program
	t       float64
	y       []float64 // the states and outputs of the vehicle
	u       []float64
	signals *executive.Signals
	above   []bool
}

func newSampled(p *executive.Program) *sampled {
	w := &sampled{p: p, u: p.Initial(), y: make([]float64, p.Layout.Slots-1), above: make([]bool, len(p.Indicators))}
	w.signals = executive.NewSignals(p, func(_ float64, y, _, out []float64) { copy(out, y[p.Layout.Outputs-1:]) })
	w.Numbers = executive.NewNumbers(w)
	return w
}

func (w *sampled) T() float64                    { return w.t }
func (w *sampled) Discrete() ([]float64, []bool) { return w.u, w.above }
func (w *sampled) Set(input int, number float64) { w.u[input] = number }
func (w *sampled) Signals() []float64 {
	copy(w.signals.Values[1:], w.y)
	w.signals.Fill(w.p.All, w.t, w.y[:w.p.Layout.Outputs-1], w.u, nil)
	return w.signals.Values
}

// sides brings the sides of the indicators up to date, and returns those that have changed.
func (w *sampled) sides() (changed []int) {
	s := w.Signals()
	for k := range w.p.Indicators {
		if above := w.p.Indicators[k].Value(s, nil) >= 0; above != w.above[k] {
			w.above[k] = above
			changed = append(changed, k)
		}
	}
	return changed
}

// exported is a random mission and its program.
type exported struct {
	m       *mission.Mission
	text    string
	inputs  []int // the places of the signals that the program reads
	outputs []int // of the slots and the computed signals that it has
	limit   int   // of iterations, which is proved
}

// sent returns the numbers as a line.
func sent(values []float64) string {
	var b strings.Builder
	for _, v := range values {
		b.WriteString(strconv.FormatFloat(v, 'g', -1, 64) + " ")
	}
	return b.String()
}

// play sends random inputs to the program, and writes what the executive does with them. The times of the steps are
// eighths of seconds or, if they are decimal, tenths and those at which procedures and timers end, which are compared
// bit by bit.
func (e *exported) play(t *testing.T, r *rand.Rand, number int, decimal bool, in, want *bytes.Buffer) {
	p := e.m.Program
	w := newSampled(p)
	fmt.Fprintln(in, "plan", number, len(e.inputs), e.limit)
	fmt.Fprintln(want, "plan", number)
	var x *executive.Executive
	for k := range 40 {
		for _, place := range e.inputs {
			switch s := w.y[place-1]; {
			case k == 0 || r.IntN(4) == 0:
				w.y[place-1] = float64(r.IntN(41)-20) / 8
			case r.IntN(2) == 0:
				w.y[place-1] = s + float64(r.IntN(9)-4)/16
			}
			if d, _ := e.m.Signal(e.m.Subject().Signals[place]); d.Type != expr.Real {
				w.y[place-1] = float64(r.IntN(2))
			}
		}
		values := []float64{w.t}
		for _, place := range e.inputs {
			values = append(values, w.y[place-1])
		}
		if k == 0 {
			w.sides()
			x = executive.New(p, w, executive.Tree(func(in []bt.Input) executive.Engine { return bt.NewEngine(p.Tree, in, 0) }))
		}
		fmt.Fprintln(in, "step", sent(values))
		again, err := e.steps(w, x, want)
		if err != nil {
			t.Logf("%v\n%s", err, e.text)
		}
		if again {
			return // a run ends here
		}
		if r.IntN(60) == 0 {
			fmt.Fprintln(in, "halt")
			_ = x.Halt() // the errors are of what it reads
			changesOf(x, want)
		}
		due := x.Rest()
		if decimal {
			fmt.Fprintln(in, "due")
			fmt.Fprintf(want, "due %016x\n", math.Float64bits(due))
		}
		switch {
		case !decimal:
			w.t += float64(1+r.IntN(8)) / 8
		case due > w.t && due < w.t+5 && r.IntN(3) > 0:
			w.t = due
		default:
			w.t += float64(1+r.IntN(12)) / 10
		}
	}
}

// steps is a step of the world, written as the programs write it.
func (e *exported) steps(w *sampled, x *executive.Executive, want *bytes.Buffer) (again bool, err error) {
	x.Begin()
	again = true
	for round := 0; again && err == nil && round < 200; round++ {
		x.Changed(w.sides())
		again, err = x.Settle()
		changesOf(x, want)
	}
	fmt.Fprintln(want, "step", map[bool]int{true: 1}[again || err != nil])
	s := w.Signals()
	for _, place := range e.outputs {
		fmt.Fprintf(want, "%.17g ", s[place])
	}
	fmt.Fprintln(want)
	return again, err
}

func changesOf(x *executive.Executive, want *bytes.Buffer) {
	for _, l := range x.Log {
		if l.Kind == "" {
			fmt.Fprintf(want, "%d: %d -> %d\n", l.Change.Task, l.Change.From, l.Change.To)
		}
	}
}

// waiting returns a random mission with loops, a blackboard and tables: a run of a loop that it can see to be as the last one
// does not follow, until something changes.
func waiting(r *rand.Rand) map[string]string {
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	n := 0
	relation := func() string {
		return one("x", "y", "e", "x", "y", "f(y)", "g(x, e)") + one(" ge ", " lt ", " gt ", " le ") + one("-1.5", "0", "0.5", "1", "2")
	}
	leaf := func() string {
		n++
		text := fmt.Sprintf(`name="l%d" `, n)
		switch r.IntN(5) {
		case 0:
			return fmt.Sprintf(`<Script %scode="e := %s"/>`, text, one("1", "0", "0.5", "u", "x"))
		case 1, 2:
			text += fmt.Sprintf(`on="%s" `, relation())
			if r.IntN(2) == 0 {
				text += fmt.Sprintf(`off="%s" `, relation())
			}
			return "<Condition " + text + "/>"
		}
		text += fmt.Sprintf(`done="%s" failed="%s" `, relation(), relation())
		for _, more := range []string{`write="u := e" `, `entry="e := x" `, fmt.Sprintf(`_successIf="%s" `, relation()),
			fmt.Sprintf(`entered="%s" `, relation()), fmt.Sprintf(`exited="%s" exit="e := 0.25" `, relation())} {
			if r.IntN(3) == 0 {
				text += more
			}
		}
		return "<Action " + text + "/>"
	}
	branch := func(tag string) string {
		text := leaf()
		for range r.IntN(3) {
			text += leaf()
		}
		return fmt.Sprintf("<%s>%s</%[1]s>", tag, text)
	}
	tree := ""
	for range 2 {
		tree += one(`<RetryUntilSuccessful num_attempts="-1">`+branch(one("Sequence", "Fallback"))+`</RetryUntilSuccessful>`,
			`<Repeat num_cycles="-1">`+branch(one("Sequence", "Fallback"))+`</Repeat>`, branch("ReactiveSequence"))
	}
	return map[string]string{
		"m.yaml": "mission: m\nplan: p.xml\nvehicle: v.yaml\nhorizon: 20\ntables:\n" +
			"  f: {arguments: {a: {points: [-1, 0.5, 2]}}, values: [1, -1, 2], outside: clamp}\n" +
			"  g: {arguments: {a: {points: [-1, 1]}, b: {points: [0, 0.5, 1]}}, values: [[0, 1, 2], [2, -1, 1]], outside: clamp}\n",
		"v.yaml": "vehicle: v\nstates: {x: {derivative: \"0 [1/s]\"}, y: {derivative: \"0 [1/s]\"}}\ncommands: {u: {default: 0}}\n",
		"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><Sequence><Script name="s" code="e := 1"/>` +
			`<Parallel success_count="2" failure_count="2">` + tree + `</Parallel></Sequence></BehaviorTree></root>`,
	}
}

// chained is a mission whose procedures follow one another, beside one that never ends.
var chained = map[string]string{
	"m.yaml": "mission: m\nplan: p.xml\nvehicle: v.yaml\nhorizon: 20\n",
	"v.yaml": "vehicle: v\nstates: {x: {derivative: \"0 [1/s]\"}, y: {derivative: \"0 [1/s]\"}}\ncommands: {u: {default: 0}}\n",
	"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><Parallel success_count="2" failure_count="2">` +
		`<Action name="c" entry_time="1 [s] / abs(x - x)"/><Repeat num_cycles="-1"><Sequence>` +
		`<Action name="a" write="u := 1" entry_time="0.1" done="t ge 0" exit_time="0.2"/>` +
		`<Action name="b" write="u := 0" entry_time="0.7" done="t ge 0"/></Sequence></Repeat></Parallel></BehaviorTree></root>`,
}

// lossy returns the files of a mission whose sources may be lost, and whose tasks write what follows from them.
func lossy(k *whole) map[string]string {
	k.outages = "outages:\n"
	for _, s := range k.starts {
		k.outages += "  - {source: " + s.name + "}\n"
	}
	files := k.filesUntil("", 0)
	follow := fmt.Sprintf("u := max(-1, min(1, ${1} - 0.1 * %s))", k.starts[len(k.starts)-1].name)
	files["p.xml"] = regexp.MustCompile(`u := (-?[0-9.]+)\b`).ReplaceAllString(files["p.xml"], follow)
	return files
}

// exports returns random missions whose programs can be exported.
func exports(t *testing.T) (all []*exported) {
	kept := 0
	for seed := uint64(0); len(all) < trees.Count(300, 20); seed++ {
		var files map[string]string
		switch k := newWhole(seed); {
		case seed == 0:
			files = chained
		case seed%4 == 0:
			files = waiting(rand.New(rand.NewPCG(57, seed)))
		case seed%2 == 1 && len(k.starts) > 0:
			files = lossy(k)
		default:
			k.outages = ""
			files = k.filesUntil("", 0)
		}
		m, _ := mission.Read("m.yaml", func(name string) ([]byte, error) {
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}, equations.Offers(), nil)
		if m == nil {
			continue
		}
		m = m.Flown()
		e := &exported{m: m, text: files["m.yaml"] + files["p.xml"], limit: boundOf(m) + 1}
		list, err := e.inC("m")
		must(t, err)
		h := list[len(list)-2].Text
		e.inputs, e.outputs = placesIn(h, "_IN_", m), slices.Concat(placesIn(h, "_OUT_", m), placesIn(h, "_VALUE_", m))
		all = append(all, e)
		if len(m.Program.Kept) > 0 {
			kept++
		}
	}
	t.Log(len(all), "programs,", kept, "of which keep values while a source is lost")
	if kept < len(all)/20 {
		t.Error("these are too few")
	}
	return all
}

func (e *exported) inC(name string) ([]codegen.File, error) {
	return codegen.C(name, name, e.m.Plan.Tree, e.m.Plan.Tree.Name, programOf(e.m))
}

// TestPrograms: the plan of a mission in C or Lua makes the same status changes with the same inputs as the executive, in
// the same order, and writes the same values.
func TestPrograms(t *testing.T) {
	all := exports(t)
	t.Run("C", func(t *testing.T) { programsInC(t, all) })
	t.Run("Lua", func(t *testing.T) {
		precision := 1e-12
		if os.Getenv("CANOPY_LUA") != "" {
			precision = 1e-5 // of numbers of 32 bits
		}
		known := slices.DeleteFunc(slices.Clone(all), func(e *exported) bool { return len(e.m.Program.Kept) > 0 })
		played(t, known, precision, false, programsInLua(t, known)...)
	})
}

// programsInC compares programs in C, which execute plans by their numbers, with several types of the time.
func programsInC(t *testing.T, all []*exported) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	dir, sources, header, programs, most := t.TempDir(), []string{}, "", []string{}, 1
	for i, e := range all {
		m, name := e.m, fmt.Sprintf("m%d", i)
		list, err := e.inC(name)
		must(t, err)
		for _, f := range list {
			must(t, os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600))
		}
		sources = append(sources, name+".c")
		header += "#include \"" + name + ".h\"\n"
		programs = append(programs, "&"+name+"_program")
		most = max(most, m.Plan.Tree.Len(), len(m.Program.Leaves), m.Program.Layout.Signals, m.Program.Captures,
			len(m.Program.Indicators))
	}
	must(t, os.WriteFile(filepath.Join(dir, "limit.h"), []byte("extern unsigned short proved_limit;\n"), 0o600))
	few := min(40, len(all)/2)
	driver, err := filepath.Abs("../../codegen/testdata/programs.c")
	must(t, err)
	for _, of := range []struct {
		time    []string
		decimal bool
		n       int
	}{{nil, false, len(all)}, {nil, true, len(all)}, {[]string{"-DCANOPY_TIME=float", "-DCANOPY_SECOND=1"}, false, few},
		{[]string{"-DCANOPY_TIME=int64_t", "-DCANOPY_SECOND=1000000000"}, false, few}} {
		program := filepath.Join(dir, "program")
		if !of.decimal { // else it is there
			list := fmt.Sprintf("#define PROGRAMS %s\n#define MOST %d\n", strings.Join(programs[:of.n], ", "), most)
			must(t, os.WriteFile(filepath.Join(dir, "missions.h"), []byte(header+list), 0o600))
			args := slices.Concat([]string{"-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-pedantic",
				"-I.", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all", "-include", "limit.h", "-DCANOPY_LIMIT=proved_limit"},
				of.time, sources[:of.n], []string{"canopy.c", "canopy_program.c", driver, "-lm", "-o", program})
			c := exec.Command(gcc, args...)
			c.Dir = dir
			if out, err := c.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%.4000s", err, out)
			}
		}
		t.Run(fmt.Sprint(of.time, of.decimal), func(t *testing.T) { played(t, all[:of.n], 1e-12, of.decimal, program) })
	}
}

// lua returns the interpreter: lua5.3, or the one that CANOPY_LUA names, as one with numbers of 32 bits.
func lua(t *testing.T) string {
	if path := os.Getenv("CANOPY_LUA"); path != "" {
		return path
	}
	path, err := exec.LookPath("lua5.3")
	if err != nil {
		t.Skip("lua5.3 is not installed")
	}
	return path
}

// programsInLua is the same in Lua.
func programsInLua(t *testing.T, all []*exported) []string {
	dir, text := t.TempDir(), ""
	for _, part := range []string{"count", "programs"} {
		data, err := os.ReadFile("../../codegen/testdata/" + part + ".lua")
		must(t, err)
		text += string(data)
	}
	must(t, os.WriteFile(filepath.Join(dir, "programs.lua"), []byte(text), 0o600))
	for i, e := range all {
		name := fmt.Sprintf("m%d", i)
		module, _, err := codegen.Lua(name, name, e.m.Plan.Tree, e.m.Plan.Tree.Name, programOf(e.m), "")
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dir, filepath.Base(module.Name)), []byte(module.Text), 0o600))
	}
	return []string{lua(t), filepath.Join(dir, "programs.lua"), dir}
}

// boundOf returns the proved maximum of iterations.
func boundOf(m *mission.Mission) int {
	none := explore.Budget{States: 1, Over: func(int) string { return "the structure suffices" }}
	return max(2, reaction.ExploreRuns(m.Plan.Tree, reaction.InputsOf(m.Plan, nil), none).Bound.Iterations)
}

// played compares what a program does with the executive.
func played(t *testing.T, all []*exported, precision float64, decimal bool, program ...string) {
	var in, want bytes.Buffer
	for i, e := range all {
		e.play(t, rand.New(rand.NewPCG(51, uint64(i))), i, decimal, &in, &want)
	}
	c := exec.Command(program[0], program[1:]...)
	c.Stdin = &in
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.2000s", err, out)
	}
	got, wants := strings.Split(string(out), "\n"), strings.Split(want.String(), "\n")
	if n := strings.Count(want.String(), " -> "); n < 15*len(all) {
		t.Errorf("only %d status changes", n)
	}
	plan := 0
	for i := range wants {
		if strings.HasPrefix(wants[i], "plan ") {
			plan, _ = strconv.Atoi(wants[i][5:])
		}
		if i >= len(got) || !alike(got[i], wants[i], precision) {
			t.Fatalf("%s\nline %d:\n%s\nthe executive:\n%s", all[plan].text, i, strings.Join(got[max(0, i-12):min(len(got), i+3)], "\n"),
				strings.Join(wants[max(0, i-12):min(len(wants), i+3)], "\n"))
		}
	}
}

// alike compares lines of texts and numbers, which may differ by the last digit of a function such as a sine: by this
// part of them.
func alike(a, b string, precision float64) bool {
	if a == b {
		return true
	}
	x, y := strings.Fields(a), strings.Fields(b)
	return slices.EqualFunc(x, y, func(a, b string) bool {
		v, err1 := strconv.ParseFloat(strings.ReplaceAll(a, "-nan", "nan"), 64)
		w, err2 := strconv.ParseFloat(b, 64)
		return a == b || err1 == nil && err2 == nil && (math.Abs(v-w) <= precision*max(precision, math.Abs(w)) || math.IsNaN(v) && math.IsNaN(w))
	})
}

// placesIn returns the places in the mission of the signals that a header declares with a prefix, in their order.
func placesIn(header, prefix string, m *mission.Mission) (places []int) {
	for line := range strings.Lines(header) {
		if name, about, ok := strings.Cut(line, "/* "); ok && strings.Contains(name, prefix) {
			name = strings.FieldsFunc(about, func(r rune) bool { return r == ' ' || r == ':' })[0]
			_, place := m.Signal(name)
			places = append(places, place)
		}
	}
	return places
}

// TestSolarDayInC runs examples/29-solar-c: its page has what it prints.
func TestSolarDayInC(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	dir := t.TempDir()
	for _, args := range [][]string{{"run", "../../missions/solar-day.yaml", "--out", filepath.Join(dir, "day")},
		{"export", "c", "../../missions/solar-day.yaml", "--out", dir}} {
		if _, stderr, status := canopy(args...); status != exitOK {
			t.Fatal(stderr)
		}
	}
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	must(t, err)
	limit := regexp.MustCompile(`-DCANOPY_LIMIT=\d+U`).FindString(string(readme)) // the replay needs no more
	example := filepath.Join("..", "..", "examples", "29-solar-c")
	program := filepath.Join(dir, "replay")
	args := []string{"-std=c99", "-O2", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic", "-I" + dir, limit,
		filepath.Join(example, "replay.c"), "-lm", "-o", program}
	for _, name := range []string{"solar-day.c", "canopy.c", "canopy_program.c"} {
		args = append(args, filepath.Join(dir, name))
	}
	if out, err := exec.Command(gcc, append(args, "-lm")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	printed, err := exec.Command(program, filepath.Join(dir, "day")).CombinedOutput()
	page, _ := os.ReadFile(filepath.Join(example, "README.md"))
	if err != nil || !strings.Contains(string(page), "```console\n"+string(printed)+"```") {
		t.Errorf("%v\n%s", err, printed)
	}
}

// TestInstructions: the table of docs/deploy-lua.md has how many instructions plans take in Lua, on random inputs.
func TestInstructions(t *testing.T) {
	if os.Getenv("CANOPY_LUA") != "" {
		t.Skip("the page is about lua5.3")
	}
	page, err := os.ReadFile("../../docs/deploy-lua.md")
	must(t, err)
	for _, name := range []string{"solar-day", "patrol-copter", "circuit-plane"} {
		m, err := readMission("../../missions/"+name+".yaml", nil, os.Stderr)
		must(t, err)
		m = m.Flown()
		e := &exported{m: m}
		list, err := e.inC("m")
		must(t, err)
		e.inputs = placesIn(list[len(list)-2].Text, "_IN_", m)
		program := append(programsInLua(t, []*exported{e}), "count")
		largest := make([]int, 4)
		for seed := range uint64(10) {
			var in, want bytes.Buffer
			e.play(t, rand.New(rand.NewPCG(53, seed)), 0, false, &in, &want)
			c := exec.Command(program[0], program[1:]...)
			c.Stdin = &in
			var counts bytes.Buffer
			c.Stderr = &counts
			if err := c.Run(); err != nil {
				t.Fatal(&counts)
			}
			for i, n := range strings.Fields(counts.String()) {
				v, err := strconv.Atoi(n)
				must(t, err)
				largest[i] = max(largest[i], v)
			}
		}
		row := fmt.Sprintf("| `%s` | %d |", name, m.Plan.Tree.Len())
		for i, unit := range []int{100, 100, 100, 10} {
			row += fmt.Sprintf(" %d |", (largest[i]+unit-1)/unit*unit)
		}
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/deploy-lua.md lacks the row %s", row)
		}
	}
}

// TestScriptsOfArduPilot: exported scripts connect the signals of a contract to ArduPilot, as far as it has bindings, stop where a
// signal is not connected, and are kept by the next export.
func TestScriptsOfArduPilot(t *testing.T) {
	interpreter := lua(t)
	dir := t.TempDir()
	flown := func(script string, steps int, last ...string) string {
		args := append([]string{"testdata/ardupilot.lua", dir, script, strconv.Itoa(steps)}, last...)
		out, err := exec.Command(interpreter, args...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return string(out)
	}
	for _, name := range []string{"missions/patrol-copter.yaml", "missions/circuit-plane.yaml", "missions/solar-day.yaml",
		"missions/solar-day.xml", "examples/28-cpp/patrol.xml"} {
		if name == "missions/solar-day.xml" {
			must(t, os.Remove(filepath.Join(dir, "solar_day.lua")))
		}
		if _, stderr, status := canopy("export", "lua", "../../"+name, "--out", dir); status != exitOK || stderr != "" {
			t.Fatal(stderr)
		}
		if name == "missions/solar-day.yaml" {
			if is := flown("solar_day.lua", 3); is != "not connected: h\n" {
				t.Error(is)
			}
		}
	}
	copter := flown("patrol_copter.lua", 400)
	for _, want := range []string{"mode\t4\narm\ntake off\t20.0\n", "target\t80.0\t0.0\t25.0\ntarget\t80.0\t80.0\t25.0\n",
		"mode\t6\n", "goes on\n"} {
		if !strings.Contains(copter, want) {
			t.Errorf("no %q in\n%s", want, copter)
		}
	}
	if is := flown("patrol_copter.lua", 9, "-2147483648"); !strings.Contains(is, "the script has run for more than 24 days") {
		t.Error(is)
	}
	if is := flown("circuit_plane.lua", 400); !strings.HasSuffix(is, "not connected: speed\n") || !strings.Contains(is, "set\tTKOFF_ALT") {
		t.Error(is)
	}
	if is := flown("solar_day.lua", 3); !strings.HasPrefix(is, "not connected: ") {
		t.Error(is)
	}
	file := filepath.Join(dir, "patrol.lua")
	leaves := strings.ReplaceAll(fileText(t, file), "{poll = function() not_connected(\"", "{poll = function() return \"Success\" end, start = function() gcs:send_text(6, \"")
	leaves = strings.ReplaceAll(leaves, "judge = function() not_connected(\"batteryok\") end", "judge = function() return true end")
	must(t, os.WriteFile(file, []byte(leaves), 0o600))
	_, stderr, status := canopy("export", "lua", "../../examples/28-cpp/patrol.xml", "--out", dir)
	if status != exitOK || !strings.Contains(stderr, "patrol.lua is kept as it is") || fileText(t, file) != leaves {
		t.Error(stderr)
	}
	if is := flown("patrol.lua", 3); is != "text\t6\tflyto\ntext\t6\ttakephoto\ndelay\t100\ngoes on\n" {
		t.Error(is)
	}
	slow := strings.Replace(leaves, "PERIOD = 100", "PERIOD = 60000", 1)
	slow = strings.Replace(slow, "takephoto = {poll = function() return \"Success\"", "takephoto = {poll = function() return \"Running\"", 1)
	must(t, os.WriteFile(file, []byte(slow), 0o600))
	if is := flown("patrol.lua", 4); !strings.HasPrefix(is, "text\t6\tflyto\ntext\t6\ttakephoto\ndelay\t2000\ntext\t6\ttakephoto\n") {
		t.Error(is) // a Timeout of 2 s
	}
	must(t, os.WriteFile(file, []byte(strings.Replace(leaves, "PERIOD = 100", "PERIOD = 70000", 1)), 0o600))
	if is := flown("patrol.lua", 3); !strings.Contains(is, "the period is not a whole number from 1 to 65535") {
		t.Error(is)
	}
}

// TestPX4 runs examples/30-px4 against its stubs: its page has what it prints.
func TestPX4(t *testing.T) {
	for _, compiler := range []string{"gcc", "g++"} {
		if _, err := exec.LookPath(compiler); err != nil {
			t.Skip(compiler + " is not installed")
		}
	}
	dir := t.TempDir()
	if _, stderr, status := canopy("export", "c", "../../missions/solar-day.yaml", "--out", dir); status != exitOK {
		t.Fatal(stderr)
	}
	example, err := filepath.Abs("../../examples/30-px4")
	must(t, err)
	flags := []string{"-DCANOPY_TIME=int64_t", "-DCANOPY_SECOND=1000000", "-Wall", "-Wextra", "-Werror"}
	objects := []string{"canopy.o", "canopy_program.o", "solar-day.o"}
	for _, args := range [][]string{
		slices.Concat([]string{"gcc", "-std=c99", "-c", "canopy.c", "canopy_program.c", "solar-day.c"}, flags),
		slices.Concat([]string{"g++", "-std=c++17", "-I.", "-I" + filepath.Join(example, "stub"), filepath.Join(example, "CanopyPlan.cpp"),
			filepath.Join(example, "stub", "main.cpp"), "-o", "plan"}, flags, objects, []string{"-lm"}),
	} {
		c := exec.Command(args[0], args[1:]...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	printed, err := exec.Command(filepath.Join(dir, "plan")).CombinedOutput()
	page, _ := os.ReadFile(filepath.Join(example, "README.md"))
	if err != nil || !strings.Contains(string(page), "```console\n"+string(printed)+"```") {
		t.Errorf("%v\n%s", err, printed)
	}
}

// TestReadmeOfC: the page in the folder of a program says what is proved, how much memory an execution takes, and where
// its tasks come from, in the same bytes each time.
func TestReadmeOfC(t *testing.T) {
	export := func(args ...string) (dir, page string) {
		dir = t.TempDir()
		if _, stderr, status := canopy(append([]string{"export", "c", "--out", dir}, args...)...); status != exitOK {
			t.Fatal(stderr)
		}
		text, err := os.ReadFile(filepath.Join(dir, "README.md"))
		must(t, err)
		return dir, string(text)
	}
	contains := func(page string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if !strings.Contains(page, text) {
				t.Errorf("it does not contain %q:\n%s", text, page)
			}
		}
	}
	dir, page := export("../../missions/solar-day.yaml")
	contains(page, "**Proved: a settling takes at most 4 iterations**", "-DCANOPY_LIMIT=4U", "at most 4: all 16 states",
		"| sink | Action | solar-day.xml:29 | SOLAR_DAY_SINK |", "| `canopy_execution` | 1 | 104 |")
	if _, again := export("../../missions/solar-day.yaml"); again != page {
		t.Errorf("another time it is\n%s", again)
	}
	_, short := export("../../missions/circuit.xml", "--budget", "0.000001")
	contains(short, "takes at most 7 iterations**", "was not found: the search did not end within 1e-6 s", "| `canopy_plan` | 1 |",
		"| fly | Action | circuit.xml:")
	_, shared := export("../../examples/23-one-camera/survey.yaml")
	contains(shared, "**not proved**: who waits for a resource", "`CANOPY_LIMIT` iterations, which is 1000")
	if strings.Contains(shared, "-DCANOPY_LIMIT") {
		t.Errorf("%s", shared)
	}
	gcc, err := exec.LookPath("arm-none-eabi-gcc")
	if err != nil {
		t.Skip("arm-none-eabi-gcc is not installed")
	}
	size := regexp.MustCompile(`takes \*\*(\d+) bytes`).FindStringSubmatch(page)[1]
	text := "#include \"solar-day.h\"\ntypedef char as_stated[sizeof(solar_day) == " + size + " ? 1 : -1];\n"
	must(t, os.WriteFile(filepath.Join(dir, "size.c"), []byte(text), 0o600))
	c := exec.Command(gcc, "-mcpu=cortex-m3", "-mthumb", "-std=c99", "-c", "size.c")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
