package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
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
	"time"

	"github.com/canopy-uav/canopy/internal/trees"
)

// closed is a random mission whose vehicle does not follow commands: its states are a + b t + c sin(d t).
type closed struct {
	*whole
	states [][4]float64
}

func newClosed(seed uint64) *closed {
	k := &closed{whole: &whole{Rand: rand.New(rand.NewPCG(29, seed)), horizon: 20}}
	k.command("u")
	for i := range 3 {
		x := [4]float64{float64(k.IntN(9))/4 - 1, float64(k.IntN(9))/20 - 0.2, float64(k.IntN(5)) / 2, 0.3 + float64(k.IntN(20))/10}
		k.states = append(k.states, x)
		name := fmt.Sprintf("x%d", i)
		k.whole.states = append(k.whole.states, fmt.Sprintf("  %s: {initial: %g, derivative: \"(%g + %g * cos(%g * t / 1 [s])) / 1 [s]\"}",
			name, x[0], x[1], x[2]*x[3], x[3]))
		k.reals = append(k.reals, quantity{name, x[0] - x[2], x[0] + x[2] + 1})
	}
	k.own()
	k.goal, k.period = "x0 ge 0", 1
	for range 4 {
		k.plan += k.node(3)
	}
	k.plan = `<Parallel name="all" success_count="4" failure_count="4">` + k.plan + `</Parallel>`
	return k
}

// describedFMU returns the token of an FMU, the number of its event indicators, and the value references of its variables.
func describedFMU(text string) (token string, indicators int, references map[string]string) {
	references = map[string]string{}
	for _, found := range regexp.MustCompile(`name="([^"]*)" valueReference="(\d+)"`).FindAllStringSubmatch(text, -1) {
		references[found[1]] = found[2]
		if strings.HasPrefix(found[1], "event indicator") {
			indicators++
		}
	}
	if found := regexp.MustCompile(`numberOfEventIndicators="(\d+)"`).FindStringSubmatch(text); found != nil {
		indicators, _ = strconv.Atoi(found[1])
	}
	return regexp.MustCompile(`(?:guid|instantiationToken)="(\w+)"`).FindStringSubmatch(text)[1], indicators, references
}

// unpacked extracts an FMU.
func unpacked(t *testing.T, name string) (dir string) {
	t.Helper()
	z, err := zip.OpenReader(name)
	must(t, err)
	defer z.Close() //nolint:errcheck // only read
	dir = t.TempDir()
	must(t, os.CopyFS(dir, z))
	return dir
}

// reached is a status that a task has at the end of an instant.
type reached struct {
	t      float64
	status string
}

// reachedIn returns by task the statuses that it reaches in a run, after the start and before the end.
func reachedIn(t *testing.T, folder string, until float64) map[string][]reached {
	data, err := os.ReadFile(filepath.Join(folder, "status.csv"))
	must(t, err)
	all := map[string][]reached{}
	for line := range strings.Lines(string(data)) {
		f := strings.Split(strings.TrimSpace(line), ",")
		at, err := strconv.ParseFloat(f[0], 64)
		if err != nil {
			continue
		}
		list, first := all[f[2]], f[3]
		if n := len(list); n > 0 && list[n-1].t == at {
			list, first = list[:n-1], ""
			if n > 1 {
				first = list[n-2].status
			}
		} else if n > 0 {
			first = list[n-1].status
		}
		if first != f[4] {
			list = append(list, reached{at, f[4]})
		}
		all[f[2]] = list
	}
	for task, list := range all {
		all[task] = activityOf(list, until)
	}
	return all
}

// activityOf leaves out what a task is judged while nobody hears it: a run does not judge it then.
func activityOf(list []reached, until float64) (active []reached) {
	for _, r := range list {
		if slices.Contains([]string{"Success", "Failure", "Accept", "Skipped"}, r.status) {
			r.status = "judged"
		}
		n := len(active)
		if n == 0 && r.status != "judged" || n > 0 && active[n-1].status != r.status {
			active = append(active, r)
		}
	}
	return slices.DeleteFunc(active, func(r reached) bool { return r.t == 0 || r.t >= until })
}

// imported simulates FMUs with the plain importer.
type imported struct {
	t       *testing.T
	program string
}

func newImported(t *testing.T) *imported {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	m := &imported{t, filepath.Join(t.TempDir(), "importer")}
	if out, err := exec.Command(gcc, "-std=c99", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-o", m.program,
		"../../codegen/testdata/importer.c", "-ldl", "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.3000s", err, out)
	}
	return m
}

// compare exports a plan or a mission for both versions, simulates it by the interfaces, and compares the activity of its
// tasks with that in a run. inputs are a, b, c, d of a + b t + c sin(d t), by the kind and the name of an input.
func (m *imported) compare(file, kinds string, inputs map[string][4]float64, want map[string][]reached, about string) {
	t := m.t
	names := strings.Fields("Success Failure Accept Activating Running Finished Aborted Deactivating Skipped Dropped")
	for _, version := range []string{"2", "3"} {
		unit := filepath.Join(t.TempDir(), "m.fmu")
		if _, stderr, status := canopy("export", "fmu", file, "--fmi", version, "--out", unit); status != exitOK {
			t.Fatal(stderr)
		}
		folder := unpacked(t, unit)
		description, err := os.ReadFile(filepath.Join(folder, "modelDescription.xml"))
		must(t, err)
		token, indicators, references := describedFMU(string(description))
		binaries, _ := filepath.Glob(filepath.Join(folder, "binaries/*/*.so"))
		for kind := range strings.FieldsSeq(kinds) {
			args := []string{binaries[0], version, kind, token, "20", strconv.Itoa(indicators)}
			for name, x := range inputs {
				if r, reads := references[name[1:]]; reads {
					args = append(args, name[:1]+r)
					for _, v := range x {
						args = append(args, fmt.Sprint(v))
					}
				}
			}
			args = append(args, "-")
			var tasks []string
			for name, r := range references {
				if task, is := strings.CutPrefix(name, "status of "); is {
					tasks, args = append(tasks, task), append(args, r)
				}
			}
			c := exec.Command(m.program, args...)
			out, err := c.CombinedOutput()
			if err != nil {
				t.Fatalf("%s, %v: %v\n%.2000s", about, c.Args, err, out)
			}
			got := map[string][]reached{}
			for line := range strings.Lines(string(out)) {
				var at float64
				var task, status int
				if _, err := fmt.Sscan(line, &at, &task, &status); err != nil {
					t.Fatal(line)
				}
				got[tasks[task]] = append(got[tasks[task]], reached{at, names[status]})
			}
			near := map[string]float64{"me": 1e-6, "cs": 0.1}[kind]
			for _, task := range tasks {
				a, b := activityOf(got[task], 20), want[task]
				if !slices.EqualFunc(a, b, func(x, y reached) bool { return x.status == y.status && math.Abs(x.t-y.t) < near }) {
					t.Errorf("FMI %s %s, %s: %v, in the run %v\n%s", version, kind, task, a, b, about)
				}
			}
		}
	}
}

// flownActivity flies a mission, and returns the activity of its tasks; nil: it cannot be flown.
func flownActivity(t *testing.T, mission string) (map[string][]reached, int) {
	folder := filepath.Join(filepath.Dir(mission), "run")
	canopy("run", mission, "--out", folder, "--set", "tolerance=1e-10", "--report=false")
	if _, err := os.Stat(filepath.Join(folder, "status.csv")); err != nil {
		return nil, 0
	}
	all, n := reachedIn(t, folder, 20), 0
	for _, list := range all {
		n += len(list)
	}
	return all, n
}

// TestPlansAsFMUs: a plan as an FMU, for FMI 2 and 3, changes its activity as in a run of Canopy: in model exchange at the
// same times, within a microsecond; in co-simulation in the same order, within the steps.
func TestPlansAsFMUs(t *testing.T) {
	m, missions, changes := newImported(t), 0, 0
	for seed := uint64(0); seed < 200 && missions < trees.Count(16, 1); seed++ {
		k := newClosed(seed)
		file := filepath.Join(write(t, k.filesUntil("", 0)), "m.yaml")
		want, n := flownActivity(t, file)
		if n < 8 {
			continue
		}
		missions, changes = missions+1, changes+n
		inputs := map[string][4]float64{}
		for i, x := range k.states {
			inputs[fmt.Sprintf("rx%d", i)] = x
		}
		m.compare(file, "me cs", inputs, want, fmt.Sprintf("seed %d\n%s", seed, k.plan))
	}
	t.Log(missions, "missions,", changes, "changes")
	if missions < 1 {
		t.Error("too few missions")
	}
}

// TestFMUAtZero: a difference that is 0 at another event, and then falls, is an event of its own.
func TestFMUAtZero(t *testing.T) {
	file := filepath.Join(write(t, map[string]string{"m.yaml": "mission: m\nplan: p.xml\nvehicle: v.yaml\nhorizon: 20\n",
		"v.yaml": "vehicle: v\nstates: {x0: {initial: 3, derivative: \"-1 [1/s]\"}}\ncommands: {u: {default: 0}}\n",
		"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><Parallel name="all" success_count="2" failure_count="2">` +
			`<ReactiveSequence name="r"><Condition name="c" on="x0 ge 1"/><Action name="a" write="u := 1"/></ReactiveSequence>` +
			`<Sleep name="s" msec="2000"/></Parallel></BehaviorTree></root>`}), "m.yaml")
	want, n := flownActivity(t, file)
	if n < 3 {
		t.Fatal(want)
	}
	newImported(t).compare(file, "me cs", map[string][4]float64{"rx0": {3, -1}}, want, "")
}

// TestTreesAsFMUs: the tree of a plan alone, with what its leaves say as inputs, changes its activity as in a mission whose
// signals say the same.
func TestTreesAsFMUs(t *testing.T) {
	m, changes := newImported(t), 0
	r := rand.New(rand.NewPCG(30, 1))
	for plans := 0; plans < trees.Count(20, 1); {
		inputs, states := map[string][4]float64{}, ""
		leaf := func() string {
			i := len(inputs)
			x := [4]float64{float64(r.IntN(9))/4 - 1, float64(r.IntN(9))/20 - 0.2, 0.5 + float64(r.IntN(4))/2, 0.3 + float64(r.IntN(20))/10}
			states += fmt.Sprintf("  x%d: {initial: %g, derivative: \"(%g + %g * cos(%g * t / 1 [s])) / 1 [s]\"}\n", i, x[0], x[1],
				x[2]*x[3], x[3])
			if r.IntN(2) == 0 {
				inputs[fmt.Sprintf("bl%d", i)] = x
				return fmt.Sprintf(`<Condition name="l%d" on="x%d ge 0"/>`, i, i)
			}
			inputs[fmt.Sprintf("el%d", i)] = x
			return fmt.Sprintf(`<Action name="l%d" done="x%d ge 0.5" failed="x%d le -0.5"/>`, i, i, i)
		}
		tasks := 0
		var node func(depth int) string
		node = func(depth int) string {
			if depth == 0 || r.IntN(5) == 0 {
				return leaf()
			}
			tasks++
			kinds := []string{"Sequence", "Fallback", "ReactiveSequence", "ReactiveFallback", "Parallel", "Inverter", "Timeout"}
			kind, more, n := kinds[r.IntN(len(kinds))], "", 2+r.IntN(2)
			switch kind {
			case "Parallel":
				more = ` success_count="1" failure_count="2"`
			case "Timeout":
				more, n = ` msec="1500"`, 1
			case "Inverter":
				n = 1
			}
			text := fmt.Sprintf("<%s name=\"n%d\"%s>", kind, tasks, more)
			for range n {
				text += node(depth - 1)
			}
			return text + "</" + kind + ">"
		}
		plan := node(3) + node(2)
		file := filepath.Join(write(t, map[string]string{"m.yaml": "mission: m\nplan: p.xml\nvehicle: v.yaml\nhorizon: 20\n",
			"v.yaml": "vehicle: v\nstates:\n" + states, "p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main">` +
				`<Parallel name="all" success_count="2" failure_count="2">` + plan + `</Parallel></BehaviorTree></root>`}), "m.yaml")
		want, n := flownActivity(t, file)
		if want == nil {
			t.Fatal(plan)
		}
		if n < 5 {
			continue
		}
		plans, changes = plans+1, changes+n
		m.compare(filepath.Join(filepath.Dir(file), "p.xml"), "cs", inputs, want, plan)
	}
	t.Log(changes, "changes")
}

// lastSample returns the last recorded values of a run.
func lastSample(t *testing.T, folder string) map[string]float64 {
	f, err := os.Open(filepath.Join(folder, "signals.csv"))
	must(t, err)
	defer f.Close() //nolint:errcheck // only read
	rows, err := csv.NewReader(f).ReadAll()
	must(t, err)
	last := map[string]float64{}
	for i, name := range rows[0] {
		last[name], _ = strconv.ParseFloat(rows[len(rows)-1][i], 64)
	}
	return last
}

// vehicleLine is the line of a mission with its vehicle; ofFMU are the numbers that an FMU has: there in SI units.
var (
	vehicleLine = regexp.MustCompile(`(?m)^vehicle: .*$`)
	ofFMU       = regexp.MustCompile(`(?m)^(environment|parameters):.*\n(  .*\n|\n)*`)
)

// TestVehiclesAsFMUs: missions fly with their vehicles as FMUs, for both versions and by both interfaces, as with the
// vehicles themselves: the plan does the same in the same order, in model exchange at the same times, and the last values
// are the same.
func TestVehiclesAsFMUs(t *testing.T) {
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("cc is not installed")
	}
	missions := []struct {
		name string
		step float64 // of co-simulation [s]
		near float64 // of the last values, in model exchange; 50 times as much in co-simulation
	}{{"missions/solar-day", 1, 1e-3}, {"examples/14-hybrid/ball", 0.01, 1e-3}, {"examples/14-hybrid/clutch", 0.01, 1e-3},
		{"examples/14-hybrid/thermostat", 0.1, 1e-4}, {"examples/14-hybrid/gearbox", 0.01, 1e-3},
		{"examples/14-hybrid/rod", 0.01, 1e-4}}
	if testing.Short() {
		missions = missions[2:3]
	}
	for _, m := range missions {
		t.Run(m.name, func(t *testing.T) {
			dir, base := t.TempDir(), filepath.Base(m.name)
			must(t, os.CopyFS(dir, os.DirFS(filepath.Dir("../../"+m.name))))
			file := filepath.Join(dir, base+".yaml")
			if _, stderr, status := canopy("run", file, "--out", filepath.Join(dir, "own"), "--report=false"); status == exitInput {
				t.Fatal(stderr)
			}
			text, err := os.ReadFile(file)
			must(t, err)
			want, wantLast := reachedIn(t, filepath.Join(dir, "own"), math.Inf(1)), lastSample(t, filepath.Join(dir, "own"))
			for _, version := range []string{"2", "3"} {
				unit := filepath.Join(dir, "v"+version+".fmu")
				if _, stderr, status := canopy("export", "fmu", file, "--vehicle", "--fmi", version, "--out", unit); status != exitOK {
					t.Fatal(stderr)
				}
				if _, stderr, status := canopy("fmu", "check", unit); status != exitOK {
					t.Fatal(stderr)
				}
				data, err := os.ReadFile(unit)
				must(t, err)
				for _, by := range []string{"model_exchange", "co_simulation"} {
					entry := fmt.Sprintf("vehicle: {fmu: v%s.fmu, sha256: %x, interface: %s}", version, sha256.Sum256(data), by)
					near, late := m.near, 0.05
					if by == "co_simulation" {
						entry, near, late = strings.TrimSuffix(entry, "}")+fmt.Sprintf(", step: %g}", m.step), 50*m.near, math.Inf(1)
					}
					save(t, file, ofFMU.ReplaceAllString(vehicleLine.ReplaceAllString(string(text), entry), ""))
					out := filepath.Join(dir, version+by)
					if _, stderr, status := canopy("run", file, "--out", out, "--report=false"); status == exitInput || stderr != "" {
						t.Fatal(stderr)
					}
					got := reachedIn(t, out, math.Inf(1))
					for task, list := range want {
						if !slices.EqualFunc(got[task], list, func(x, y reached) bool {
							return x.status == y.status && math.Abs(x.t-y.t) < late
						}) {
							t.Errorf("FMI %s, %s, %s: %v, in the run %v", version, by, task, got[task], list)
						}
					}
					for name, v := range lastSample(t, out) {
						if w, ok := wantLast[name]; !strings.HasPrefix(name, "events") && (!ok || !(math.Abs(v-w) <= near*max(1, math.Abs(w)))) {
							t.Errorf("FMI %s, %s: the last %s is %g, in the run %g", version, by, name, v, w)
						}
					}
				}
				save(t, file, string(text))
			}
		})
	}
}

// BenchmarkVehicleAsFMU flies the solar day with the aircraft itself and, in turn, with its FMU by model exchange: the time
// of the first, and how many times as long the second takes.
func BenchmarkVehicleAsFMU(b *testing.B) {
	dir := b.TempDir()
	must(b, os.CopyFS(dir, os.DirFS("../../missions")))
	file, unit := filepath.Join(dir, "solar-day.yaml"), filepath.Join(dir, "v.fmu")
	if _, stderr, status := canopy("export", "fmu", file, "--vehicle", "--out", unit); status != exitOK {
		b.Fatal(stderr)
	}
	text, err := os.ReadFile(file)
	must(b, err)
	data, err := os.ReadFile(unit)
	must(b, err)
	entry := fmt.Sprintf("vehicle: {fmu: v.fmu, sha256: %x}", sha256.Sum256(data))
	other := filepath.Join(dir, "fmu.yaml")
	must(b, os.WriteFile(other, []byte(ofFMU.ReplaceAllString(vehicleLine.ReplaceAllString(string(text), entry), "")), 0o600))
	var own, as []float64
	for b.Loop() {
		for name, times := range map[string]*[]float64{file: &own, other: &as} {
			begin := time.Now()
			if _, stderr, status := canopy("run", name, "--out", filepath.Join(dir, "run"), "--report=false"); status == exitInput {
				b.Fatal(stderr)
			}
			*times = append(*times, time.Since(begin).Seconds())
		}
	}
	slices.Sort(own)
	slices.Sort(as)
	b.ReportMetric(1000*own[len(own)/2], "own-ms")
	b.ReportMetric(as[len(as)/2]/own[len(own)/2], "times")
}

// TestFMPy: FMPy finds no mistakes in the FMUs of the solar day; in it, the plan makes the changes of the day, and the
// aircraft flies as on that day.
func TestFMPy(t *testing.T) {
	python := cmp.Or(os.Getenv("CANOPY_PYTHON"), "python3")
	if err := exec.Command(python, "-c", "import fmpy, numpy").Run(); err != nil {
		t.Skip("python3, or what CANOPY_PYTHON names, has no FMPy")
	}
	dir := t.TempDir()
	if _, stderr, status := canopy("run", "../../missions/solar-day.yaml", "--out", dir, "--report=false"); status != exitOK {
		t.Fatal(stderr)
	}
	for _, version := range []string{"2", "3"} {
		args := []string{"testdata/simulate_fmus.py", filepath.Join(dir, "signals.csv")}
		for name, flags := range map[string][]string{"plan": nil, "aircraft": {"--vehicle"}} {
			unit := filepath.Join(dir, name+version+".fmu")
			if _, stderr, status := canopy(append([]string{"export", "fmu", "../../missions/solar-day.yaml", "--fmi", version,
				"--out", unit}, flags...)...); status != exitOK {
				t.Fatal(stderr)
			}
		}
		args = append(args, filepath.Join(dir, "plan"+version+".fmu"), filepath.Join(dir, "aircraft"+version+".fmu"))
		said, err := exec.Command(python, args...).Output()
		out := regexp.MustCompile(`(?m)^(Warning|Failed).*\n`).ReplaceAllString(string(said), "") // FMPy's own
		if err != nil || out != "mistakes: []\nmistakes: []\nModelExchange changes: 67\nCoSimulation changes: 67\nh near\nsoc near\n" {
			t.Errorf("FMI %s: %v\n%s", version, err, out)
		}
	}
}

// TestProgramsOfAnyName: a mission may have any name, also one that is taken in C or in the engine.
func TestProgramsOfAnyName(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	names := []string{"int", "expf", "canopy", "visit", "watch", "new", "9 lives", "über", "exported_plan", "variables"}
	if testing.Short() {
		names = names[:2]
	}
	for _, name := range names {
		dir := t.TempDir()
		must(t, os.CopyFS(dir, os.DirFS("../../missions")))
		file := filepath.Join(dir, name+".yaml")
		must(t, os.Rename(filepath.Join(dir, "solar-day.yaml"), file))
		for _, args := range [][]string{{"export", "c", file, "--out", filepath.Join(dir, "c")},
			{"export", "fmu", file, "--out", filepath.Join(dir, "m.fmu")}, {"fmu", "check", filepath.Join(dir, "m.fmu")}} {
			if _, stderr, status := canopy(args...); status != exitOK {
				t.Error(stderr)
			}
		}
		sources, err := filepath.Glob(filepath.Join(dir, "c", "*.c"))
		must(t, err)
		c := exec.Command(gcc, append([]string{"-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-pedantic"}, sources...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%.2000s", name, err, out)
		}
	}
}

// TestExportFMU: the kinds, bytes that are the same each time, and what is refused.
func TestExportFMU(t *testing.T) {
	dir := t.TempDir()
	mission, unit := "../../examples/14-hybrid/ball.yaml", filepath.Join(dir, "m.fmu")
	for kind, want := range map[string]string{"me": "ModelExchange", "cs": "CoSimulation", "both": "ModelExchange CoSimulation"} {
		var before []byte
		for range 2 {
			if _, stderr, status := canopy("export", "fmu", mission, "--kind", kind, "--out", unit); status != exitOK {
				t.Fatal(stderr)
			}
			data, err := os.ReadFile(unit)
			must(t, err)
			if before != nil && !bytes.Equal(before, data) {
				t.Errorf("%s: other bytes", kind)
			}
			before = data
		}
		text := fileText(t, filepath.Join(unpacked(t, unit), "modelDescription.xml"))
		is := strings.Join(regexp.MustCompile(`ModelExchange|CoSimulation`).FindAllString(
			regexp.MustCompile(`</\w+>`).ReplaceAllString(text, ""), -1), " ")
		if is != want {
			t.Errorf("%s: %s", kind, is)
		}
	}
	for want, args := range map[string][]string{
		`there is no kind "cosim"; there are me, cs, both`: {mission, "--kind", "cosim"},
		"there is no version 1 of FMI here":                {mission, "--fmi", "1"},
		"a plan has no vehicle":                            {"../../missions/circuit.xml", "--vehicle"},
		"no such file":                                     {"none.yaml"},
		`"two" is not a whole number`:                      {mission, "--fmi", "two"},
	} {
		stdout, stderr, status := canopy(append([]string{"export", "fmu"}, args...)...)
		if status != exitInput || stdout != "" || !strings.Contains(stderr, want) {
			t.Errorf("%v: %d %s", args, status, stderr)
		}
	}
}

// TestFMUsCompile: the sources of FMUs compile without a warning.
func TestFMUsCompile(t *testing.T) {
	for version := range 2 {
		for _, args := range [][]string{{"../../missions/solar-day.yaml"}, {"../../missions/solar-day.xml"},
			{"../../missions/solar-day.yaml", "--vehicle"}, {"../../examples/14-hybrid/ball.yaml", "--vehicle"}} {
			unit := filepath.Join(t.TempDir(), "m.fmu")
			if _, stderr, status := canopy(append([]string{"export", "fmu", "--fmi", strconv.Itoa(2 + version), "--out", unit},
				args...)...); status != exitOK {
				t.Fatal(stderr)
			}
			folder := filepath.Join(unpacked(t, unit), "sources")
			for _, compiler := range []string{"gcc", "clang"} {
				path, err := exec.LookPath(compiler)
				if err != nil || testing.Short() && compiler == "clang" {
					continue
				}
				c := exec.Command(path, "-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror",
					"-pedantic", "fmu.c")
				c.Dir = folder
				if out, err := c.CombinedOutput(); err != nil {
					t.Errorf("%s, FMI %d, %v: %v\n%.2000s", compiler, 2+version, args, err, out)
				}
			}
		}
	}
}
