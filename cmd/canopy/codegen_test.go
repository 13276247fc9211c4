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

// sampled is a world whose signals are constant within an instant, but for what the plan writes: what a program in C
// sees.
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

// exported is a random mission and its program in C.
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

// play sends random inputs to the program in C, and writes what the executive does with them. The times of the steps are
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

// steps is a step of the world, written as the program in C writes it.
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

// waiting is a mission whose loop waits for a change: a run that it can see to be as the last one does not follow.
var waiting = map[string]string{
	"m.yaml": "mission: m\nplan: p.xml\nvehicle: v.yaml\nhorizon: 20\n",
	"v.yaml": "vehicle: v\nstates: {x: {derivative: \"0 [1/s]\"}, y: {derivative: \"0 [1/s]\"}}\ncommands: {u: {default: 0}}\n",
	"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><Parallel success_count="2" failure_count="2">` +
		`<RetryUntilSuccessful num_attempts="-1"><Sequence><Script name="s" code="e := 1"/><Condition name="c" on="x ge 2.5"/></Sequence>` +
		`</RetryUntilSuccessful><ReactiveSequence><Condition name="d" on="y ge 0.5 or x lt 9"/><Action name="a" write="u := e"/>` +
		`</ReactiveSequence></Parallel></BehaviorTree></root>`,
}

// chained is a mission whose procedures follow one another, beside one that never ends.
var chained = map[string]string{
	"m.yaml": waiting["m.yaml"], "v.yaml": waiting["v.yaml"],
	"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><Parallel success_count="2" failure_count="2">` +
		`<Action name="c" entry_time="1 [s] / abs(x - x)"/><Repeat num_cycles="-1"><Sequence>` +
		`<Action name="a" write="u := 1" entry_time="0.1" done="t ge 0" exit_time="0.2"/>` +
		`<Action name="b" write="u := 0" entry_time="0.7" done="t ge 0"/></Sequence></Repeat></Parallel></BehaviorTree></root>`,
}

// TestProgramsInC: the plan of a mission in C makes the same status changes with the same inputs, in the same order, and
// writes the same values.
func TestProgramsInC(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	dir, sources, header, programs, most := t.TempDir(), []string{}, "", []string{}, 1
	var all []*exported
	left, kept := map[string]int{}, 0
	for seed := uint64(0); len(all) < trees.Count(300, 30); seed++ {
		files := []map[string]string{waiting, chained}[seed%2]
		if seed > 1 {
			k := newWhole(seed)
			lossy := seed%2 == 1 && len(k.starts) > 0
			if lossy {
				k.outages = "outages:\n"
			}
			for _, s := range k.starts {
				k.outages += map[bool]string{true: "  - {source: " + s.name + "}\n"}[lossy]
			}
			files = k.filesUntil("", 0)
			if lossy {
				follow := fmt.Sprintf("u := max(-1, min(1, ${1} - 0.1 * %s))", k.starts[len(k.starts)-1].name)
				files["p.xml"] = regexp.MustCompile(`u := (-?[0-9.]+)\b`).ReplaceAllString(files["p.xml"], follow)
			}
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
		name := fmt.Sprintf("m%d", len(all))
		list, err := codegen.C(name, name, m.Plan.Tree, m.Plan.Tree.Name, programOf(m))
		if err != nil {
			left[err.Error()]++
			continue
		}
		e := &exported{m: m, text: files["m.yaml"] + files["p.xml"], limit: boundOf(m) + 1}
		all = append(all, e)
		if len(m.Program.Kept) > 0 {
			kept++
		}
		for _, f := range list {
			must(t, os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600))
		}
		h := list[len(list)-2].Text
		e.inputs, e.outputs = placesIn(h, "_IN_", m), slices.Concat(placesIn(h, "_OUT_", m), placesIn(h, "_VALUE_", m))
		sources = append(sources, name+".c")
		header += "#include \"" + name + ".h\"\n"
		programs = append(programs, "&"+name+"_program")
		most = max(most, m.Plan.Tree.Len(), len(m.Program.Leaves), m.Program.Layout.Signals, m.Program.Captures,
			len(m.Program.Indicators))
	}
	t.Log(len(all), "programs; not supported:", left)
	t.Log(kept, "programs whose writers keep values while a source is lost")
	if kept < len(all)/20 {
		t.Error("these are too few")
	}
	must(t, os.WriteFile(filepath.Join(dir, "limit.h"), []byte("extern unsigned short proved_limit;\n"), 0o600))
	few := min(40, len(all))
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
		t.Run(fmt.Sprint(of.time, of.decimal), func(t *testing.T) { replay(t, program, all[:of.n], of.decimal) })
	}
}

// boundOf returns the proved maximum of iterations.
func boundOf(m *mission.Mission) int {
	none := explore.Budget{States: 1, Over: func(int) string { return "the structure suffices" }}
	return max(2, reaction.ExploreRuns(m.Plan.Tree, reaction.InputsOf(m.Plan, nil), none).Bound.Iterations)
}

// replay compares the programs with the executive.
func replay(t *testing.T, program string, all []*exported, decimal bool) {
	var in, want bytes.Buffer
	for i, e := range all {
		e.play(t, rand.New(rand.NewPCG(51, uint64(i))), i, decimal, &in, &want)
	}
	c := exec.Command(program)
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
		if i >= len(got) || !alike(got[i], wants[i]) {
			t.Fatalf("%s\nline %d:\n%s\nthe executive:\n%s", all[plan].text, i, strings.Join(got[max(0, i-12):min(len(got), i+3)], "\n"),
				strings.Join(wants[max(0, i-12):min(len(wants), i+3)], "\n"))
		}
	}
}

// alike compares lines of texts and numbers, which may differ by the last digit of a function such as a sine.
func alike(a, b string) bool {
	if a == b {
		return true
	}
	x, y := strings.Fields(a), strings.Fields(b)
	return slices.EqualFunc(x, y, func(a, b string) bool {
		v, err1 := strconv.ParseFloat(strings.ReplaceAll(a, "-nan", "nan"), 64)
		w, err2 := strconv.ParseFloat(b, 64)
		return a == b || err1 == nil && err2 == nil && (math.Abs(v-w) <= 1e-12*math.Abs(w) || math.IsNaN(v) && math.IsNaN(w))
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
