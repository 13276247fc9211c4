package web_test

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden pictures")

// node runs built tests of the front end, with some settings in their environment.
func node(t testing.TB, file string, arguments []string, settings ...string) {
	t.Helper()
	program, err := exec.LookPath("node")
	built := filepath.Join("node_modules", ".test", file)
	if _, missing := os.Stat(built); err != nil || missing != nil {
		t.Skip("the front end is not tested: `make web` installs what its tests need; it needs Node.js")
	}
	c := exec.Command(program, append(append([]string{"--test", "--test-reporter=tap"}, arguments...), built)...)
	if *rewrite {
		settings = append(settings, "REWRITE=1")
	}
	c.Env = append(os.Environ(), settings...)
	out, err := c.CombinedOutput()
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, `# \#`) {
			t.Log(line)
		}
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestModel(t *testing.T) { node(t, "model.test.mjs", nil) }

// TestBrowser opens reports in Chromium: of the solar day, twice, of a copter, of a tree of 5,000 tasks, and of
// one whose names are markup.
func TestBrowser(t *testing.T) {
	browser := chromium(t)
	var arguments []string
	if testing.Short() {
		arguments = []string{"--test-name-pattern=^(a click|keys|names)"}
	}
	if _, err := os.Stat(filepath.Join("node_modules", ".test")); err != nil {
		node(t, "browser.test.mjs", nil) // which skips
	}
	dir, canopy, report := reports(t)
	day := filepath.Join("..", "missions", "solar-day.yaml")
	first, _ := report("REPORT", day), report("OTHER", day, "--set", "battery.E_Wh=6100")
	run(t, canopy, "report", filepath.Join(dir, "OTHER"), filepath.Join(dir, "REPORT"))
	node(t, "browser.test.mjs", arguments, "CHROMIUM="+browser, first,
		"VIOLATED="+violated(t, canopy, day), "FLIGHT="+flown(t),
		"OVERLAY="+filepath.Join(dir, "OTHER", "overlay.html"),
		report("TRACK", filepath.Join("..", "missions", "patrol-copter.yaml")),
		report("LARGE", written(t, "large", large())),
		report("HOSTILE", written(t, evil, fmt.Sprintf(`<ReactiveSequence name="%s"><Condition name="%sc" on="x ge -2"/>`+
			`<Action name="%sa" write="u := 1"/></ReactiveSequence>`, escaped, escaped, escaped))))
}

// TestStudio uses a studio in Chromium. The root of its plan has markup as its name.
func TestStudio(t *testing.T) {
	browser := chromium(t)
	if _, err := os.Stat(filepath.Join("node_modules", ".test")); err != nil {
		node(t, "studio.test.mjs", nil) // which skips
	}
	var arguments []string
	if testing.Short() {
		arguments = []string{"--test-name-pattern=^a (run goes|page says)"}
	}
	dir, canopy, _ := reports(t)
	mission := written(t, "oscillator", fmt.Sprintf(`<ReactiveFallback name="%s"><ReactiveSequence name="up">`+
		`<Condition name="high" on="x ge 0.5"/><Action name="push" write="u := 1"/></ReactiveSequence>`+
		`<Action name="rest" write="u := 0"/></ReactiveFallback>`, escaped))
	address, process := studio(t, canopy, mission, filepath.Join(dir, "runs"))
	node(t, "studio.test.mjs", arguments, "CHROMIUM="+browser, "MISSION="+mission, address, process)
}

// studio starts a studio, which the end of the test ends, and returns settings with its address and its process.
func studio(t testing.TB, canopy, mission, runs string) (address, process string) {
	t.Helper()
	c := exec.Command(canopy, "studio", mission, "--out", runs)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill() // unless it has ended
		_ = c.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "STUDIO=" + strings.TrimSpace(strings.TrimPrefix(line, "studio: ")), fmt.Sprintf("PID=%d", c.Process.Pid)
}

// BenchmarkStudio prints how long frames of the studio take with a tree of 5,000 tasks.
func BenchmarkStudio(b *testing.B) {
	browser := chromium(b)
	dir, canopy, _ := reports(b)
	mission := written(b, "large", large())
	for n := 0; b.Loop(); n++ {
		address, _ := studio(b, canopy, mission, filepath.Join(dir, fmt.Sprint("runs", n)))
		node(b, "frames.test.mjs", nil, "CHROMIUM="+browser, address)
	}
}

// BenchmarkReport prints and bounds how long pages of a tree of 5,000 tasks and of a run of 28 days take in Chromium.
func BenchmarkReport(b *testing.B) {
	browser := chromium(b)
	_, _, report := reports(b)
	large := report("LARGE", written(b, "large", large()))
	month := report("MONTH", filepath.Join("..", "missions", "solar-day.yaml"), "--set", "horizon=2419200",
		"--set", "battery.E_Wh=12000")
	for b.Loop() {
		node(b, "times.test.mjs", nil, "CHROMIUM="+browser, large, month)
	}
}

// chromium returns the name of the browser; without one, it skips.
func chromium(t testing.TB) string {
	t.Helper()
	browser := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && browser == "" {
			browser = path
		}
	}
	if browser == "" {
		t.Skip("reports are not tested: Chromium is not installed; CHROMIUM may name it")
	}
	return browser
}

// reports returns a folder, the command in it, and a function that flies a mission and returns a setting with its
// report.
func reports(t testing.TB) (dir, canopy string, report func(variable, mission string, arguments ...string) string) {
	t.Helper()
	dir = t.TempDir()
	canopy = filepath.Join(dir, "canopy")
	run(t, "go", "build", "-o", canopy, "../cmd/canopy")
	return dir, canopy, func(variable, mission string, arguments ...string) string {
		out := filepath.Join(dir, variable)
		run(t, canopy, append([]string{"run", mission, "--out", out, "-q"}, arguments...)...)
		return variable + "=" + filepath.Join(out, "report.html")
	}
}

// violated flies the day with more properties, one of which it violates, and returns the report.
func violated(t *testing.T, canopy, day string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(filepath.Dir(day))); err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(dir, filepath.Base(day))
	text, err := os.ReadFile(changed)
	if err == nil {
		const last = "    - critical before sink\n"
		more := last + "    - always (soc >= 0.3)\n    - eventually (h >= 12900 [m])\n"
		err = os.WriteFile(changed, []byte(strings.Replace(string(text), last, more, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	err = exec.Command(canopy, "run", changed, "--out", out, "-q").Run()
	if status := (*exec.ExitError)(nil); !errors.As(err, &status) || status.ExitCode() != 3 {
		t.Fatalf("the property is not violated: %v", err)
	}
	return filepath.Join(out, "report.html")
}

const (
	evil    = `<script>alert(1)</script><img src=x onerror=alert(2)>`
	escaped = `&lt;script>alert(1)&lt;/script>&lt;img src=x onerror=alert(2)>`
)

func run(t testing.TB, program string, arguments ...string) {
	t.Helper()
	if out, err := exec.Command(program, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, arguments, err, out)
	}
}

// written writes a mission of an oscillator with a plan, and returns the name of its file.
func written(t testing.TB, name, tree string) string {
	t.Helper()
	dir := t.TempDir()
	for file, text := range map[string]string{
		"plan.xml": `<root BTCPP_format="4"><BehaviorTree ID="main">` + tree + `</BehaviorTree></root>`,
		"vehicle.yaml": fmt.Sprintf("vehicle: %q\nstates:\n  x: {initial: 0, derivative: \"y / 1 [s]\", text: %q}\n"+
			"  y: {initial: 1, derivative: \"-x / 1 [s]\"}\ncommands:\n  u: {default: 0, min: -1, max: 1, hold: true}\n", name, name),
		"mission.yaml": fmt.Sprintf("mission: %q\nplan: plan.xml\nvehicle: vehicle.yaml\nhorizon: 100\nchattering: continue\n"+
			"ends_with_plan: false\nrecord: {interval: 0.5}\n", name),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "mission.yaml")
}

// large is a tree of 5,468 tasks: fallbacks and sequences of conditions and actions.
func large() string {
	fan := [...]int{0, 5, 5, 5, 5, 7}
	var b strings.Builder
	n := 0
	var add func(depth int)
	add = func(depth int) {
		n++
		switch name := fmt.Sprintf("n%d", n); {
		case depth == 0 && n%2 == 0:
			fmt.Fprintf(&b, `<Condition name="%s" on="x ge %.3f"/>`, name, float64(n*7919%2000)/1000-1)
		case depth == 0:
			fmt.Fprintf(&b, `<Action name="%s" write="u := %.3f"/>`, name, float64(n*7919%2000)/1000-1)
		default:
			kind := []string{"ReactiveSequence", "ReactiveFallback"}[n%2]
			fmt.Fprintf(&b, `<%s name="%s">`, kind, name)
			for range fan[depth] {
				add(depth - 1)
			}
			fmt.Fprintf(&b, "</%s>", kind)
		}
	}
	add(5)
	return b.String()
}
