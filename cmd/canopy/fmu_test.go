package main

import (
	"archive/zip"
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
	defer z.Close()
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

// TestPlansAsFMUs: a plan as an FMU, for FMI 2 and 3, changes its statuses as in a run of Canopy: in model exchange at the
// same times, within a microsecond; in co-simulation it has the same statuses wherever nothing changes near.
func TestPlansAsFMUs(t *testing.T) {
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("gcc is not installed")
	}
	importer := filepath.Join(t.TempDir(), "importer")
	if out, err := exec.Command(gcc, "-std=c99", "-D_GNU_SOURCE", "-O1", "-Wall", "-Wextra", "-Werror", "-o", importer,
		"../../codegen/testdata/importer.c", "-ldl", "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%.3000s", err, out)
	}
	names := strings.Fields("Success Failure Accept Activating Running Finished Aborted Deactivating Skipped Dropped")
	missions, events := 0, 0
	for seed := uint64(0); seed < 200 && missions < trees.Count(16, 2); seed++ {
		k := newClosed(seed)
		dir := write(t, k.filesUntil("", 0))
		mission := filepath.Join(dir, "m.yaml")
		_, stderr, _ := canopy("run", mission, "--out", filepath.Join(dir, "run"), "--set", "tolerance=1e-10", "--report=false")
		if _, err := os.Stat(filepath.Join(dir, "run", "status.csv")); err != nil {
			t.Log(stderr)
			continue
		}
		want := reachedIn(t, filepath.Join(dir, "run"), 20)
		missions++
		for _, version := range []string{"2", "3"} {
			unit := filepath.Join(dir, "m"+version+".fmu")
			if _, stderr, status := canopy("export", "fmu", mission, "--fmi", version, "--out", unit); status != exitOK {
				t.Fatal(stderr)
			}
			folder := unpacked(t, unit)
			description, err := os.ReadFile(filepath.Join(folder, "modelDescription.xml"))
			must(t, err)
			token, indicators, references := describedFMU(string(description))
			binaries, _ := filepath.Glob(filepath.Join(folder, "binaries/*/m.so"))
			for _, kind := range []string{"me", "cs"} {
				args := []string{binaries[0], version, kind, token, "20", strconv.Itoa(indicators)}
				for i, x := range k.states {
					if r, reads := references[fmt.Sprintf("x%d", i)]; reads {
						args = append(args, r)
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
				c := exec.Command(importer, args...)
				out, err := c.CombinedOutput()
				if err != nil {
					t.Fatalf("seed %d, %v: %v\n%.2000s", seed, c.Args, err, out)
				}
				got, n := map[string][]reached{}, 0
				for line := range strings.Lines(string(out)) {
					var at float64
					var task, status int
					if _, err := fmt.Sscan(line, &at, &task, &status); err != nil {
						t.Fatal(line)
					}
					got[tasks[task]] = append(got[tasks[task]], reached{at, names[status]})
				}
				for _, task := range tasks {
					a, b := activityOf(got[task], 20), want[task]
					n += len(b)
					same := func(x, y reached) bool { return x.status == y.status && math.Abs(x.t-y.t) < 1e-6 }
					if kind == "cs" {
						same = func(x, y reached) bool { return true }
					}
					if !slices.EqualFunc(a, b, same) {
						t.Errorf("seed %d, FMI %s %s, %s: %v, in the run %v\n%s", seed, version, kind, task, a, b, k.plan)
					}
				}
				events += n
			}
		}
	}
	t.Log(missions, "missions,", events, "changes")
	if events < 40*missions {
		t.Error("too few changes")
	}
}
