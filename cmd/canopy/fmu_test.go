package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const ballSources = "../../vehicle/fmu/testdata/ball/"

// zipped writes an FMU of files, each with its name in the archive.
func zipped(t *testing.T, to string, files map[string]string) (digest string) {
	t.Helper()
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range files {
			if !yield(name) {
				return
			}
		}
	}) {
		text, err := os.ReadFile(files[name])
		must(t, err)
		f, err := w.Create(name)
		must(t, err)
		_, err = f.Write(text)
		must(t, err)
	}
	must(t, w.Close())
	must(t, os.WriteFile(to, data.Bytes(), 0o666))
	return fmt.Sprintf("%x", sha256.Sum256(data.Bytes()))
}

// compiler skips a test without a C compiler, and lets one compile into a cache of its own.
func compiler(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler, cc")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("CC", "")
}

// fmuFlight is a folder with an FMU and a mission.
type fmuFlight struct{ dir, digest string }

// ball is a folder with the ball of an FMI version, and compiled missions of it.
func ball(t *testing.T, version int) fmuFlight {
	t.Helper()
	f := fmuFlight{dir: t.TempDir()}
	f.digest = zipped(t, filepath.Join(f.dir, "ball.fmu"), map[string]string{
		"modelDescription.xml":         fmt.Sprintf("%sfmi%d.xml", ballSources, version),
		"sources/ball.c":               ballSources + "sources/ball.c",
		"sources/ball2.c":              ballSources + "sources/ball2.c",
		"sources/buildDescription.xml": ballSources + "sources/buildDescription.xml"})
	return f
}

// fly writes a mission with more lines, and a plan of a tree, and flies it.
func (f fmuFlight) fly(t *testing.T, options, more, tree string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	save(t, filepath.Join(f.dir, "p.xml"), `<root BTCPP_format="4"><BehaviorTree ID="Main">`+tree+`</BehaviorTree></root>`)
	save(t, filepath.Join(f.dir, "m.yaml"), fmt.Sprintf("plan: p.xml\nvehicle: {fmu: ball.fmu, sha256: %s%s}\n"+
		"record: {interval: 0.07}\n%s", f.digest, options, more))
	return canopy(append([]string{"run", filepath.Join(f.dir, "m.yaml"), "--out", filepath.Join(f.dir, "out"),
		"--report=false"}, args...)...)
}

// rows returns the recorded signals, by name, of all points.
func (f fmuFlight) rows(t *testing.T) map[string][]float64 {
	t.Helper()
	file, err := os.Open(filepath.Join(f.dir, "out", "signals.csv"))
	must(t, err)
	defer func() { must(t, file.Close()) }()
	lines, err := csv.NewReader(file).ReadAll()
	must(t, err)
	columns := map[string][]float64{}
	for _, line := range lines[1:] {
		for i, text := range line {
			name, _, _ := strings.Cut(lines[0][i], " ")
			x, err := strconv.ParseFloat(text, 64)
			switch text {
			case "true", "false":
				x, err = map[string]float64{"true": 1}[text], nil
			case "it_falls", "it_rises", "it_rests":
				x, err = float64(slices.Index([]string{"it_falls", "it_rises", "it_rests"}, text)), nil
			}
			must(t, err)
			columns[name] = append(columns[name], x)
		}
	}
	return columns
}

func (f fmuFlight) file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "out", name))
	must(t, err)
	return string(text)
}

// bouncing returns the height and the speed of a ball that falls from 1 m, and its bounces so far.
func bouncing(t float64) (h, v float64, bounces int) {
	const g, e = 9.81, 0.7
	from, v := 0.0, 0.0
	h = 1
	for {
		hit := from + (v+math.Sqrt(v*v+2*g*h))/g
		if t < hit {
			d := t - from
			return h + v*d - g*d*d/2, v - g*d, bounces
		}
		v = e * math.Sqrt(v*v+2*g*h)
		from, h, bounces = hit, 0, bounces+1
		if v < 0.01 {
			return 0, 0, bounces
		}
	}
}

const wait = `<Action name="wait"/>`

// The ball follows its closed form, in both versions, with its events, types and units.
func TestFMUBall(t *testing.T) {
	compiler(t)
	for _, version := range []int{2, 3} {
		f := ball(t, version)
		stdout, stderr, status := f.fly(t, "", "horizon: 2\n", wait)
		if status != exitOK || stderr != "" {
			t.Fatalf("FMI %d: %d %s%s", version, status, stdout, stderr)
		}
		c := f.rows(t)
		for i, at := range c["t"] {
			if i > 0 && c["t"][i-1] == at && math.Abs(at*4-math.Round(at*4)) < 1e-9 && at > 0 && c["ticks"][i-1] != at*4-1 {
				t.Errorf("FMI %d: t = %g: %g ticks before the event", version, at, c["ticks"][i-1])
			}
			if i > 0 && c["t"][i-1] == at || i+1 < len(c["t"]) && c["t"][i+1] == at {
				continue // the two sides of an event
			}
			h, v, bounces := bouncing(at)
			if math.Abs(c["h"][i]-h) > 1e-6 || math.Abs(c["v"][i]-v) > 1e-5 || c["bounces"][i] != float64(bounces) {
				t.Errorf("FMI %d: t = %g: h = %g, want %g; v = %g, want %g; bounces = %g, want %d", version, at,
					c["h"][i], h, c["v"][i], v, c["bounces"][i], bounces)
			}
			mood := map[bool]float64{true: 0, false: 1}[v < 0]
			if c["mood"][i] != mood || c["ticks"][i] != math.Floor(at*4+1e-9) {
				t.Errorf("FMI %d: t = %g: mood %g, want %g; ticks %g", version, at, c["mood"][i], mood, c["ticks"][i])
			}
			if near := v*v/2 + 9.81*h; math.Abs(c["energy"][i]-near) > 1e-5 {
				t.Errorf("FMI %d: t = %g: energy %g, want %g", version, at, c["energy"][i], near)
			}
			if version == 3 && (math.Abs(c["altitude"][i]-c["h"][i]) > 1e-15 || c["r.k.1"][i] != c["h"][i] || c["r.k.2"][i] != c["v"][i]) {
				t.Errorf("t = %g: altitude %g m, r = %g, %g; h = %g m", at, c["altitude"][i], c["r.k.1"][i], c["r.k.2"][i],
					c["h"][i])
			}
		}
	}
}

// An event that changes nothing but what derivatives depend on restarts the integrator: a gust that turns every quarter
// of a second moves the ball along parabolas. A step event is one, too.
func TestFMURestarts(t *testing.T) {
	compiler(t)
	for _, version := range []int{2, 3} {
		f := ball(t, version)
		if _, stderr, status := f.fly(t, "", "horizon: 5\nparameters: {fault: 14, g: 1}\n", wait); status != exitOK {
			t.Fatal(status, stderr)
		}
		c := f.rows(t)
		for i, at := range c["t"] {
			h, v := 1.0, 0.0
			for from := 0.0; from < at; from += 0.25 {
				d, a := min(at-from, 0.25), -1.0
				if n := math.Round(from * 4); n > 0 {
					a = map[bool]float64{true: 3, false: -3}[math.Mod(n, 2) == 1]
				}
				h, v = h+v*d+a*d*d/2, v+a*d
			}
			if math.Abs(c["h"][i]-h) > 1e-7 || math.Abs(c["v"][i]-v) > 1e-7 {
				t.Errorf("FMI %d: t = %g: h = %.9g, want %.9g; v = %.9g, want %.9g", version, at, c["h"][i], h, c["v"][i], v)
			}
		}
		_, stderr, status := f.fly(t, "", "horizon: 0.2\nmax_step: 0.05\nparameters: {fault: 13, fault_at: 0.1}\n", wait)
		c = f.rows(t)
		if last := len(c["t"]) - 1; status != exitOK || c["ticks"][last] != 10 {
			t.Errorf("FMI %d: no step event: %d, %s", version, status, stderr)
		}
	}
}

// Events of the plan and of the FMU meet: at the bounce that the plan counts it lights the lamp, a discrete input, in
// the same instant, and the FMU reacts there again. A thrust that the plan writes acts at once.
func TestFMUWithPlan(t *testing.T) {
	compiler(t)
	for _, version := range []int{2, 3} {
		f := ball(t, version)
		stdout, stderr, status := f.fly(t, "", "horizon: 1.5\nends_with_plan: true\n",
			`<Sequence><Action name="fall" done="bounces ge 0.5"/>
			<Action name="rise" write="lamp := true; thrust := 4.81 [m/s^2]" done="v le 0"/>
			<Condition name="lit" on="lit"/><Action name="end" done="not lit"/></Sequence>`)
		if status != exitOK || stderr != "" {
			t.Fatalf("FMI %d: %d %s%s", version, status, stdout, stderr)
		}
		hit := math.Sqrt(2 / 9.81)
		top := hit + 0.7*9.81*hit/5 // the thrust leaves 5 m/s2
		c := f.rows(t)
		last := len(c["t"]) - 1
		if math.Abs(c["t"][last]-top) > 1e-6 {
			t.Errorf("FMI %d: the top is at %.9g, want %.9g\n%s", version, c["t"][last], top, f.file(t, "status.csv"))
		}
		at := slices.IndexFunc(c["t"], func(x float64) bool { return math.Abs(x-hit) < 1e-6 })
		if at < 0 || c["lit"][at] != 0 || c["t"][at+1] != c["t"][at] || c["lit"][at+1] != 1 || c["v"][at+1] < 3 {
			t.Errorf("FMI %d: not lit at the bounce\n%s", version, f.file(t, "signals.csv"))
		}
		for i, at := range c["t"] {
			if lit := c["lit"][i] == 1; lit != (at > hit) && math.Abs(at-hit) > 1e-6 && at < top-1e-6 {
				t.Errorf("FMI %d: t = %g: lit %t", version, at, lit)
			}
			if math.Abs(c["power"][i]-c["thrust"][i]*c["v"][i]) > 1e-9 {
				t.Errorf("FMI %d: t = %g: power %g of %g * %g", version, at, c["power"][i], c["thrust"][i], c["v"][i])
			}
		}
	}
}

// A co-simulation is exact at its communication points, however the plan's alarms lie between them: a thrust that
// begins at an alarm acts from there on.
func TestFMUCoSimulation(t *testing.T) {
	compiler(t)
	for _, version := range []int{2, 3} {
		f := ball(t, version)
		stdout, stderr, status := f.fly(t, ", interface: co_simulation, step: 0.01", "horizon: 2\n", wait)
		if status != exitOK || stderr != "" {
			t.Fatalf("FMI %d: %d %s%s", version, status, stdout, stderr)
		}
		c := f.rows(t)
		for i, at := range c["t"] {
			if h, _, bounces := bouncing(at); math.Abs(c["h"][i]-h) > 0.05 ||
				i+1 < len(c["t"]) && c["t"][i+1] != at && math.Abs(c["bounces"][i]-float64(bounces)) > 1 {
				t.Errorf("FMI %d: t = %g: h = %g, want %g, bounces %g", version, at, c["h"][i], h, c["bounces"][i])
			}
		}
		stdout, stderr, status = f.fly(t, ", interface: co_simulation, step: 0.1", "horizon: 0.4\n", `<Sequence>
			<Sleep msec="137"/><Action name="hang" write="thrust := 9.81 [m/s^2]"/></Sequence>`)
		c = f.rows(t)
		last := len(c["t"]) - 1
		v, h := -9.81*0.137, 1-9.81*0.137*0.137/2-9.81*0.137*(0.4-0.137)
		if status != exitOK || math.Abs(c["v"][last]-v) > 1e-9 || math.Abs(c["h"][last]-h) > 1e-9 {
			t.Errorf("FMI %d: v = %.9g, want %.9g; h = %.9g, want %.9g\n%s%s", version, c["v"][last], v, c["h"][last], h,
				stdout, stderr)
		}
	}
}

// Where an FMU allows one step only, a command that changes between two points begins to act at the second one.
func TestFMUFixedStep(t *testing.T) {
	compiler(t)
	f := ball(t, 2)
	description := filepath.Join(f.dir, "fixed.xml")
	text, err := os.ReadFile(ballSources + "fmi2.xml")
	must(t, err)
	save(t, description, strings.Replace(string(text), ` canHandleVariableCommunicationStepSize="true"`, "", 1))
	f.digest = zipped(t, filepath.Join(f.dir, "ball.fmu"), map[string]string{"modelDescription.xml": description,
		"sources/ball.c": ballSources + "sources/ball.c", "sources/ball2.c": ballSources + "sources/ball2.c"})
	_, stderr, status := f.fly(t, ", interface: co_simulation, step: 0.1", "horizon: 0.45\n",
		`<Sequence><Sleep msec="137"/><Action name="hang" write="thrust := 9.81 [m/s^2]"/></Sequence>`)
	c := f.rows(t)
	last := len(c["t"]) - 1
	if v := -9.81 * 0.2; status != exitOK || math.Abs(c["v"][last]-v) > 1e-9 || c["events"][last] != 4 {
		t.Errorf("v = %.9g, want %.9g, after %g steps %s", c["v"][last], v, c["events"][last], stderr)
	}
}

// What goes wrong with an FMU has a name and a place in time, and all files are complete up to there.
func TestFMUFails(t *testing.T) {
	compiler(t)
	for _, c := range []struct {
		fault int
		cs    bool
		want  string // of the message; "": it goes well
	}{
		{1, false, "the FMU ball was to evaluate at t = 0.5"}, {1, false, "the ball is broken"},
		{2, false, "the ball is gone"},
		{3, false, "GetDerivatives: Segmentation fault"},
		{5, false, "its process ended: exit status 3"},
		{7, false, "no values here"},
		{8, false, ""}, {9, false, ""},
		{10, false, "1000 updates of discrete states, and another one is needed"},
		{1, true, "DoStep: "}, {3, true, "DoStep: Segmentation fault"},
	} {
		for _, version := range []int{2, 3} {
			f, options := ball(t, version), ""
			if c.cs {
				options = ", interface: co_simulation"
			}
			_, stderr, status := f.fly(t, options, fmt.Sprintf("horizon: 1\nmax_step: 0.05\n"+
				"parameters: {fault: %d, fault_at: 0.5}\n", c.fault), wait)
			times := f.rows(t)["t"]
			switch last := times[len(times)-1]; {
			case c.want == "":
				if status != exitOK || last != 1 || c.fault == 8 && stderr != "" {
					t.Errorf("FMI %d, fault %d: status %d at %g, %s", version, c.fault, status, last, stderr)
				}
			case status != exitFailed || !strings.Contains(stderr, c.want) && !strings.Contains(f.file(t, "summary.json"), c.want):
				t.Errorf("FMI %d, fault %d: status %d, not %q: %s", version, c.fault, status, c.want, stderr)
			case last < 0.4 || last > 0.51:
				t.Errorf("FMI %d, fault %d: the record ends at %g", version, c.fault, last)
			}
		}
	}
}

// An FMU that ends the simulation ends the run: at an event, at the end of a step, or in a step of a co-simulation.
func TestFMUEnds(t *testing.T) {
	compiler(t)
	for _, c := range []struct {
		fault int
		cs    string
		at    [2]float64
	}{{6, "", [2]float64{0.4515, 0.4516}}, {11, "", [2]float64{0.3, 0.5}}, {6, ", interface: co_simulation", [2]float64{0.3, 0.31}}} {
		for _, version := range []int{2, 3} {
			f := ball(t, version)
			stdout, stderr, status := f.fly(t, c.cs, fmt.Sprintf("horizon: 1\nmax_step: 0.1\n"+
				"parameters: {fault: %d, fault_at: 0.3}\n", c.fault), `<Action name="work" write="lamp := true" `+
				`exit_time="9 [s]"/>`)
			says(t, "the table", stdout, "complete: the FMU ball ended the simulation")
			times := f.rows(t)["t"]
			if last := times[len(times)-1]; status != exitOK || last < c.at[0]-1e-9 || last > c.at[1]+1e-9 {
				t.Errorf("FMI %d, fault %d: status %d at %g: %s%s", version, c.fault, status, last, stdout, stderr)
			}
			says(t, "the table", stdout, "not ended: the exit procedure of work")
		}
	}
}

// A run that is interrupted goes on from its checkpoint as if nothing had happened: by the state that the FMU
// serialises, or, where a fresh process does not go on from that, by its events again.
func TestFMUResumes(t *testing.T) {
	compiler(t)
	for _, c := range []struct{ options, fault string }{{"", "0"}, {"", "12"}, {", interface: co_simulation", "0"},
		{", interface: co_simulation", "12"}} {
		for _, version := range []int{2, 3} {
			f, more := ball(t, version), "horizon: 2\nparameters: {fault: "+c.fault+", fault_at: 0.1}\n"
			tree := `<ReactiveFallback><Condition name="high" on="h ge 0.3 [m]"/>
				<Action name="low" write="lamp := true; thrust := 1 [m/s^2]"/></ReactiveFallback>`
			if _, stderr, status := f.fly(t, c.options, more, tree, "--checkpoint", "1.3"); status != exitOK {
				t.Fatal(status, stderr)
			}
			whole, statuses := f.file(t, "signals.csv"), f.file(t, "status.csv")
			if _, stderr, status := f.fly(t, c.options, more, tree, "--resume"); status != exitOK {
				t.Fatal(c, version, status, stderr)
			}
			if f.file(t, "signals.csv") != whole || f.file(t, "status.csv") != statuses {
				t.Errorf("%v, FMI %d: the resumed run differs\n%s\n%s", c, version, whole, f.file(t, "signals.csv"))
			}
		}
	}
}

// An FMU that gives other values in another process cannot be resumed: the message says so, and the folder stays.
func TestFMUDoesNotResume(t *testing.T) {
	compiler(t)
	f := ball(t, 3)
	const more = "horizon: 2\nparameters: {fault: 15}\n"
	if _, stderr, status := f.fly(t, "", more, wait, "--checkpoint", "1.3"); status != exitOK {
		t.Fatal(status, stderr)
	}
	whole := f.file(t, "signals.csv")
	_, stderr, status := f.fly(t, "", more, wait, "--resume")
	if status == exitOK || f.file(t, "signals.csv") != whole {
		t.Errorf("status %d", status)
	}
	says(t, "the message", stderr, "it does not come to the same values again")
}

// Without the digest of the FMU, or with another one, nothing runs, and the message has the line to write.
func TestFMUTrust(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	f := ball(t, 3)
	line := "{fmu: ball.fmu, sha256: " + f.digest + "}"
	for _, vehicle := range []string{"ball.fmu", "{fmu: ball.fmu}", "{fmu: ball.fmu, sha256: " + strings.Repeat("a", 64) + "}"} {
		save(t, filepath.Join(f.dir, "p.xml"), `<root BTCPP_format="4"><BehaviorTree ID="Main">`+wait+`</BehaviorTree></root>`)
		save(t, filepath.Join(f.dir, "m.yaml"), "plan: p.xml\nvehicle: "+vehicle+"\nhorizon: 1\n")
		_, stderr, status := canopy("run", filepath.Join(f.dir, "m.yaml"))
		if status != exitInput {
			t.Errorf("%s: status %d", vehicle, status)
		}
		says(t, "the message", stderr, "m.yaml:2:", "untrusted-fmu", line)
	}
	save(t, filepath.Join(f.dir, "m.yaml"), "plan: p.xml\nvehicle: "+line+"\nhorizon: 1\n")
	for _, args := range [][]string{{"check", filepath.Join(f.dir, "m.yaml")}, {"vehicle", filepath.Join(f.dir, "ball.fmu")},
		{"check", filepath.Join(f.dir, "m.yaml"), "--effects"}} {
		if _, stderr, status := canopy(args...); status == exitInput {
			t.Errorf("%v: %s", args, stderr)
		}
	}
	if made, err := os.ReadDir(os.Getenv("XDG_CACHE_HOME")); err != nil || len(made) > 0 {
		t.Errorf("a command that only describes has compiled %v, %v", made, err)
	}
	t.Setenv("CC", "no-such-compiler")
	_, stderr, status := canopy("run", filepath.Join(f.dir, "m.yaml"))
	if status != exitFailed {
		t.Errorf("without a compiler: status %d", status)
	}
	says(t, "the message", stderr, "there is no C compiler; install one (apt install gcc) or name one in CC")
}

// The Reference FMUs of the Modelica Association run, in all versions and interfaces that they offer: their checkout is
// in CANOPY_FMUS.
func TestReferenceFMUs(t *testing.T) {
	from := os.Getenv("CANOPY_FMUS")
	if from == "" {
		t.Skip("CANOPY_FMUS does not name a checkout of modelica/Reference-FMUs")
	}
	compiler(t)
	ended := map[string]string{"Stair": "complete: the FMU Stair ended the simulation"}
	ends := map[string]map[string]float64{ // values at the end of an exact solution, at 2 s
		"Dahlquist": {"x": math.Exp(-2)}, "Stair": {"counter": 3}, "Resource": {"y": 'a'},
	}
	for _, model := range []string{"BouncingBall", "Clocks", "Dahlquist", "Feedthrough", "Resource", "Roberts", "Stair", "StateSpace",
		"VanDerPol"} {
		for _, version := range []int{2, 3} {
			description := fmt.Sprintf("%s/%s/FMI%d.xml", from, model, version)
			if _, err := os.Stat(description); err != nil {
				continue
			}
			f := fmuFlight{dir: t.TempDir()}
			files := map[string]string{"modelDescription.xml": description,
				"sources/cosimulation.c":                         from + "/src/cosimulation.c",
				fmt.Sprintf("sources/fmi%dFunctions.c", version): fmt.Sprintf("%s/src/fmi%dFunctions.c", from, version)}
			for _, name := range []string{"config.h", "model.c", "buildDescription.xml"} {
				files["sources/"+name] = filepath.Join(from, model, name)
			}
			headers, err := filepath.Glob(from + "/include/*.h")
			must(t, err)
			for _, h := range headers {
				files["sources/"+filepath.Base(h)] = h
			}
			if model == "Resource" {
				files["resources/y.txt"] = from + "/Resource/y.txt"
			}
			if version == 2 {
				all := filepath.Join(f.dir, "all.c")
				save(t, all, "#define FMI_VERSION 2\n#include \"fmi2Functions.c\"\n#include \"model.c\"\n#include \"cosimulation.c\"\n")
				files["sources/all.c"] = all
			}
			f.digest = zipped(t, filepath.Join(f.dir, "ball.fmu"), files)
			for _, by := range []string{"model_exchange", "co_simulation"} {
				horizon := "2"
				if ended[model] != "" {
					horizon = "12"
				}
				stdout, stderr, status := f.fly(t, ", interface: "+by, "horizon: "+horizon+"\n", wait)
				if model == "Clocks" {
					if says(t, "Clocks", stderr, "cannot be a vehicle"); status != exitInput {
						t.Errorf("Clocks: status %d", status)
					}
					continue
				}
				if status != exitOK || stderr != "" {
					t.Errorf("%s, FMI %d, %s: %d %s", model, version, by, status, stderr)
					continue
				}
				says(t, model, stdout, ended[model])
				c := f.rows(t)
				last := len(c["t"]) - 1
				for name, want := range ends[model] {
					if ended[model] != "" {
						want = 10
					}
					tolerance := map[string]float64{"model_exchange": 1e-5, "co_simulation": 0.1}[by]
					if math.Abs(c[name][last]-want) > tolerance {
						t.Errorf("%s, FMI %d, %s: %s = %g, want %g", model, version, by, name, c[name][last], want)
					}
				}
				for i, at := range c["t"] {
					h, _, _ := bouncing(at)
					if model == "BouncingBall" && by == "model_exchange" && at < 1.9 && math.Abs(c["h"][i]-h) > 1e-5 {
						t.Errorf("FMI %d: t = %g: h = %g, want %g", version, at, c["h"][i], h)
					}
				}
			}
		}
	}
}

// The FMU of the example is that of the tests.
func TestFMUOfExample(t *testing.T) {
	data, err := os.ReadFile("../../examples/31-fmu/ball.fmu")
	must(t, err)
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	for _, f := range r.File {
		from := f.Name
		if from == "modelDescription.xml" {
			from = "fmi3.xml"
		}
		want, err := os.ReadFile(ballSources + from)
		must(t, err)
		in, err := f.Open()
		must(t, err)
		if text, err := io.ReadAll(in); err != nil || !bytes.Equal(text, want) {
			t.Errorf("%s of examples/31-fmu/ball.fmu differs from that of %s: pack it again", f.Name, ballSources)
		}
	}
}
