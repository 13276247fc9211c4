package studio

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// The mission of the tests: x rises by 1 in a second and falls again, between 0 and 10.
const (
	planText = `<root BTCPP_format="4"><BehaviorTree ID="main"><ReactiveFallback name="main">
<ReactiveSequence name="down"><Condition name="high" on="x ge 10" off="x le 0"/><Action name="sink" write="u := -1"/></ReactiveSequence>
<Action name="climb" write="u := 1"/>
</ReactiveFallback></BehaviorTree></root>`
	vehicleText = `vehicle: lift
states:
  x: {initial: 5, derivative: "u / 1 [s]"}
commands:
  u: {default: 0, min: -1, max: 1, hold: true}
`
	missionText = "mission: A lift\nplan: plan.xml\nvehicle: vehicle.yaml\nhorizon: 100\nrecord: {interval: 1}\n"
)

// bench is a studio with the folders of its mission and of its runs.
type bench struct {
	*testing.T
	*Studio
	mission, runs string
	handler       http.Handler
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, mission: filepath.Join(t.TempDir(), "lift.yaml"), runs: t.TempDir()}
	b.write("lift.yaml", missionText)
	b.write("plan.xml", planText)
	b.write("vehicle.yaml", vehicleText)
	b.Studio = New(Options{Mission: b.mission, Folder: b.runs, Read: b.read})
	b.handler = b.Studio.handler()
	t.Cleanup(b.Close)
	return b
}

func (b *bench) write(name, text string) {
	b.Helper()
	if err := os.WriteFile(filepath.Join(filepath.Dir(b.mission), name), []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) read(set []string, instead map[string]string) (*mission.Mission, []string, diag.List, error) {
	var names []string
	m, found := mission.Read(b.mission, func(name string) ([]byte, error) {
		names = append(names, name)
		if text, ok := instead[name]; ok {
			return []byte(text), nil
		}
		return files.Read(name, 1<<20)
	}, equations.Offers(), set)
	return m, names, found, nil
}

// ask sends a request and returns the status and the answer.
func (b *bench) ask(method, path string, body any) (int, string) {
	b.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		b.Fatal(err)
	}
	w := httptest.NewRecorder()
	b.handler.ServeHTTP(w, httptest.NewRequest(method, path, bytes.NewReader(text)))
	return w.Code, w.Body.String()
}

// must sends a request that succeeds.
func (b *bench) must(path string, body any) string {
	b.Helper()
	status, answer := b.ask(http.MethodPost, path, body)
	if status >= 300 {
		b.Fatalf("%s %v: %d %s", path, body, status, answer)
	}
	return answer
}

// paused waits until the run is paused or over, and returns why and when.
func (b *bench) paused() (why string, t float64) {
	f := b.flight
	f.mutex.Lock()
	defer f.mutex.Unlock()
	for f.paused == "" && !f.over {
		f.changed.Wait()
	}
	return f.paused, f.run.T()
}

// flown returns the log of the mission as it is flown without a studio.
func (b *bench) flown() []byte {
	b.Helper()
	m, _, _, _ := b.read(nil, nil)
	r, err := simulated.New(m, run.Continuous{}, math.Inf(1))
	if err == nil {
		_, err = folder.Fly(b.Context(), r, filepath.Join(b.runs, "plain"), folder.Options{Bare: true})
	}
	if err != nil {
		b.Fatal(err)
	}
	return b.log("plain")
}

func (b *bench) log(id string) []byte {
	b.Helper()
	text, err := os.ReadFile(filepath.Join(b.runs, id, folder.LogFile))
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// stuck is a viewer that never reads.
type stuck struct{ httptest.ResponseRecorder }

func (s *stuck) Write([]byte) (int, error) { select {} }

// A run that is paused, stepped and watched, also by one who never reads, is the run without a studio, to the byte.
func TestNobodyChangesARun(t *testing.T) {
	b := newBench(t)
	want := b.flown()
	b.must("/api/fly", Start{Wish: Wish{Do: "step"}})
	for n := 0; ; n++ {
		why, at := b.paused()
		if why == "" {
			break
		}
		go b.handler.ServeHTTP(&stuck{}, httptest.NewRequest(http.MethodGet, "/api/run?id=lift/studio-1", nil))
		status, answer := b.ask(http.MethodGet, "/api/run?id=lift/studio-1", nil)
		var data struct{ End float64 }
		if err := json.Unmarshal([]byte(answer), &data); status != http.StatusOK || err != nil || data.End != at {
			t.Fatalf("at %v: %d, %v, the data end at %v", at, status, err, data.End)
		}
		b.must("/api/wish", Wish{Do: []string{"step", "go"}[n%2], Breakpoints: []Breakpoint{{Task: "sink"}}})
	}
	if !bytes.Equal(b.log("lift/studio-1"), want) {
		t.Error("the log differs from that of a run without a studio")
	}
	if s := b.state(); !s.Flight.Over || s.Flight.T != 100 || s.Runs[0].Outcome != "complete" {
		t.Errorf("%+v", s)
	}
}

// A page that looks at a run of 1,000 status changes a second, now and then, misses none.
func TestNoChangeIsMissed(t *testing.T) {
	b := newBench(t)
	b.write("plan.xml", `<root BTCPP_format="4"><BehaviorTree ID="main"><ReactiveFallback name="main">
<ReactiveSequence name="odd"><Condition name="half" on="sin(3141.59265 * t / 1 [s]) ge 0"/><Action name="sink" write="u := -1"/></ReactiveSequence>
<Action name="climb" write="u := 1"/></ReactiveFallback></BehaviorTree></root>`)
	b.write("lift.yaml", strings.Replace(missionText, "horizon: 100", "horizon: 2", 1))
	b.must("/api/fly", Start{Wish: Wish{Do: "until", Until: 0.5}})
	for until := 0.5; until <= 2; until += 0.5 {
		_, at := b.paused()
		_, answer := b.ask(http.MethodGet, "/api/run?id=lift/studio-1", nil)
		var data struct{ Changes struct{ T []float64 } }
		if err := json.Unmarshal([]byte(answer), &data); err != nil {
			t.Fatal(err)
		}
		n := len(data.Changes.T)
		if want := b.flight.run.StatusChanges(); n != want || float64(n) < 1000*at {
			t.Errorf("at %v the page has %d of %d changes", at, n, want)
		}
		if until < 2 {
			b.must("/api/wish", Wish{Do: "until", Until: until + 0.5})
		}
	}
}

// A run pauses after the first instant at which what is wanted is so, at no earlier one.
func TestPauses(t *testing.T) {
	for _, c := range []struct {
		wish Wish
		why  string
		at   float64
	}{
		{Wish{Do: "step"}, "after an event", 0},
		{Wish{Do: "go", Breakpoints: []Breakpoint{{Task: "high"}}}, "high became Success", 5},
		{Wish{Do: "go", Breakpoints: []Breakpoint{{Task: "sink", Status: "Running"}}}, "sink became Running", 5},
		{Wish{Do: "go", Breakpoints: []Breakpoint{{Task: "main", Status: "Success"}, {Task: "climb", Status: "Finished"}}}, "", 100},
		{Wish{Do: "until", Until: 200}, "", 100},
		{Wish{Do: "step", Task: "sink"}, "sink became Running", 5},
		{Wish{Do: "step", Task: "main"}, "main became Running", 0},
	} {
		b := newBench(t)
		b.must("/api/fly", Start{Wish: c.wish})
		if why, at := b.paused(); why != c.why || math.Abs(at-c.at) > 1e-6 {
			t.Errorf("%+v: pauses at %v: %q, want %q at %v", c.wish, at, why, c.why, c.at)
		}
	}
	b := newBench(t)
	b.must("/api/fly", Start{Wish: Wish{Do: "until", Until: 33}})
	if why, at := b.paused(); why != "as wanted" || at != 33 {
		t.Errorf("pauses at %v: %q", at, why)
	}
}

// A run pauses at most one interval of the record after a condition over signals has changed, and says after which time.
func TestConditionsPause(t *testing.T) {
	b := newBench(t)
	b.must("/api/fly", Start{Wish: Wish{Do: "go"}})
	<-b.flight.done
	plain := b.flight.run.StatusChanges()
	x := func(at float64) float64 { // from 5 up to 10, down to 0, up again
		return math.Abs(math.Mod(at+5+10, 20) - 10)
	}
	for _, c := range []Breakpoint{
		{Condition: "x ge 7.5", Status: "true"},
		{Condition: "x ge 7.5 and u ge 0", Status: "false"},
		{Condition: "not (x ge 2)"},
	} {
		holds := map[string]func(at float64) bool{
			"x ge 7.5":            func(at float64) bool { return x(at) >= 7.5 },
			"x ge 7.5 and u ge 0": func(at float64) bool { return x(at) >= 7.5 && x(at+1e-6) > x(at) },
			"not (x ge 2)":        func(at float64) bool { return x(at) < 2 },
		}[c.Condition]
		b.must("/api/fly", Start{Wish: Wish{Do: "go", Breakpoints: []Breakpoint{c}}})
		pauses := 0
		for {
			why, at := b.paused()
			if why == "" {
				break
			}
			pauses++
			var after float64
			word := strconv.FormatBool(holds(at))
			_, err := fmt.Sscanf(strings.TrimPrefix(why, c.Condition+" became "+word), " after t = %g s", &after)
			if err != nil || after < at-1 || after >= at || holds(after-1e-4) == holds(at) || c.Status != "" && c.Status != word {
				t.Fatalf("%+v: pauses at %v, %v: %s", c, at, err, why)
			}
			b.must("/api/wish", Wish{Do: "go"})
		}
		if wanted := map[string]int{"": 10, "true": 5, "false": 5}[c.Status]; pauses != wanted {
			t.Errorf("%+v: %d pauses", c, pauses)
		}
		if changes := b.flight.run.StatusChanges(); changes != plain {
			t.Errorf("%+v: %d status changes, not %d", c, changes, plain)
		}
	}
}

// A run that is stopped while it is paused, or far ahead of its speed, ends, and can be resumed; another one can begin.
func TestStops(t *testing.T) {
	b := newBench(t)
	slow := 1e-6
	for n, wish := range []Wish{{Do: "step"}, {Do: "go", Speed: &slow}} {
		id := fmt.Sprintf("lift/studio-%d", n+1)
		if answer := b.must("/api/fly", Start{Wish: wish}); answer != fmt.Sprintf("%q\n", id) {
			t.Errorf("the run is %s, not %s", answer, id)
		}
		if status, answer := b.ask(http.MethodPost, "/api/fly", Start{Wish: wish}); status != http.StatusConflict {
			t.Errorf("two runs at once: %d %s", status, answer)
		}
		b.must("/api/wish", Wish{Do: "stop"})
		<-b.flight.done
		s := b.state()
		if s.Flight.Error == "" || !slices.ContainsFunc(s.Runs, func(e entry) bool { return e.ID == id && e.Outcome == "interrupted" }) {
			t.Errorf("%+v", s)
		}
		if _, err := os.Stat(filepath.Join(b.runs, id, folder.CheckpointFile)); err != nil {
			t.Error(err)
		}
	}
	if status, _ := b.ask(http.MethodPost, "/api/wish", Wish{Do: "go"}); status != http.StatusConflict {
		t.Errorf("a run that is over goes on: %d", status)
	}
}

// A run that is hardly ahead of its speed goes on: it is waked also if it is to wait for less than it takes to wait.
func TestSpeeds(t *testing.T) {
	for _, speed := range []float64{1e4, 1e6, 1e9} {
		b := newBench(t)
		b.must("/api/fly", Start{Wish: Wish{Do: "go", Speed: &speed}})
		<-b.flight.done
		if _, at := b.paused(); at != 100 {
			t.Errorf("at %v: ends at %v", speed, at)
		}
	}
}

// A studio that is closed stops its run, whose files are complete then.
func TestClose(t *testing.T) {
	b := newBench(t)
	b.must("/api/fly", Start{Wish: Wish{Do: "until", Until: 33}})
	b.paused()
	b.Close()
	if s := b.state(); len(s.Runs) != 1 || s.Runs[0].Outcome != "interrupted" || s.Runs[0].Ended != 33 {
		t.Errorf("%+v", s.Runs)
	}
}

// Settings are those of --set.
func TestSettings(t *testing.T) {
	b := newBench(t)
	b.must("/api/fly", Start{Wish: Wish{Do: "go"}, Set: []string{"horizon=30"}})
	if _, at := b.paused(); at != 30 {
		t.Errorf("ends at %v", at)
	}
}

// What is wrong with a request is said, and nothing happens.
func TestWrongRequests(t *testing.T) {
	b := newBench(t)
	nan, fast := -1.0, 1e10
	for _, c := range []struct {
		path string
		body any
		says string
	}{
		{"/api/wish", Wish{Do: "go"}, "no run is in progress"},
		{"/api/fly", Start{Wish: Wish{Do: "jump"}}, `cannot do \"jump\"`},
		{"/api/fly", Start{Wish: Wish{Do: "go", Speed: &nan}}, "the speed"},
		{"/api/fly", Start{Wish: Wish{Do: "go", Speed: &fast}}, "the speed"},
		{"/api/fly", Start{Wish: Wish{Do: "until", Until: 0}}, "is at 0:00:00 already"},
		{"/api/fly", Start{Wish: Wish{Do: "go", Breakpoints: []Breakpoint{{Task: "hihg"}}}}, "no task hihg"},
		{"/api/fly", Start{Wish: Wish{Do: "go", Breakpoints: []Breakpoint{{Task: "high", Status: "Done"}}}}, "no status Done"},
		{"/api/fly", Start{Wish: Wish{Do: "step", Task: "hihg"}}, "no task hihg"},
		{"/api/fly", Start{Wish: Wish{Do: "go", Breakpoints: []Breakpoint{{Condition: "xx ge 1"}}}}, "xx"},
		{"/api/fly", Start{Wish: Wish{Do: "go", Breakpoints: []Breakpoint{{Condition: "x ge"}}}}, "x ge"},
		{"/api/fly", Start{Wish: Wish{Do: "go", Breakpoints: []Breakpoint{{Condition: "x ge 1", Status: "Success"}}}}, "no status Success"},
		{"/api/fly", Start{Wish: Wish{Do: "go", Breakpoints: []Breakpoint{{Condition: "x ge 1", Task: "sink"}}}}, "not both"},
		{"/api/fly", Start{Wish: Wish{Do: "go"}, Set: []string{"horizn=30"}}, "horizn"},
		{"/api/fly", map[string]any{"do": "go", "fast": true}, "unknown field"},
		{"/api/fly", "go", "not as it should be"},
		{"/api/fly", Start{Wish: Wish{Do: "go"}, Set: []string{strings.Repeat("x", mostBody)}}, "too large"},
	} {
		status, answer := b.ask(http.MethodPost, c.path, c.body)
		if status < 400 || !strings.Contains(answer, c.says) {
			t.Errorf("%s %.80v: %d %s, want %q", c.path, c.body, status, answer, c.says)
		}
	}
	if s := b.state(); s.Flight != nil || len(s.Runs) > 0 {
		t.Errorf("a run began: %+v", s)
	}
}

// Mistakes in the files of the mission are told as soon as they are there, each at its place, and no longer.
func TestProblems(t *testing.T) {
	b := newBench(t)
	told := func() string { return fmt.Sprint(b.state().Problems) }
	if p := told(); p != "[]" {
		t.Errorf("problems at first: %s", p)
	}
	b.write("plan.xml", strings.Replace(planText, "x ge 10", "xx ge 10", 1))
	if p := told(); !strings.Contains(p, "plan.xml 2 ") || !strings.Contains(p, "error") || !strings.Contains(p, "xx") {
		t.Errorf("a mistake in the plan: %s", p)
	}
	if version := b.state().Version; version != b.state().Version {
		t.Error("nothing has changed, but the version")
	}
	if status, answer := b.ask(http.MethodPost, "/api/fly", Start{Wish: Wish{Do: "go"}}); status < 400 || !strings.Contains(answer, "xx") {
		t.Errorf("it is flown: %d %s", status, answer)
	}
	if err := os.Remove(filepath.Join(filepath.Dir(b.mission), "plan.xml")); err != nil {
		t.Fatal(err)
	}
	if p := told(); !strings.Contains(p, "plan.xml") || !strings.Contains(p, "error") {
		t.Errorf("a file is missing: %s", p)
	}
	b.write("plan.xml", planText)
	if p := told(); p != "[]" {
		t.Errorf("mended: %s", p)
	}
}

// Runs are listed from the folder and the folders in it; nothing else can be read.
func TestRuns(t *testing.T) {
	b := newBench(t)
	b.flown()
	outside := t.TempDir()
	for _, err := range []error{
		os.CopyFS(filepath.Join(outside, "run"), os.DirFS(filepath.Join(b.runs, "plain"))),
		os.CopyFS(filepath.Join(b.runs, "a", "b"), os.DirFS(filepath.Join(b.runs, "plain"))),
		os.CopyFS(filepath.Join(b.runs, "a", "b", "c"), os.DirFS(filepath.Join(b.runs, "plain"))),
		os.Mkdir(filepath.Join(b.runs, "none"), 0o700),
		os.Symlink(filepath.Join(outside, "run"), filepath.Join(b.runs, "link")),
		os.Mkdir(filepath.Join(b.runs, "sly"), 0o700),
		os.Symlink(filepath.Join(outside, "run", folder.LogFile), filepath.Join(b.runs, "sly", folder.LogFile)),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for _, r := range b.state().Runs {
		ids = append(ids, r.ID)
	}
	if slices.Sort(ids); !slices.Equal(ids, []string{"a/b", "plain"}) {
		t.Errorf("the runs are %v", ids)
	}
	for _, id := range ids {
		if status, answer := b.ask(http.MethodGet, "/api/run?id="+id, nil); status != http.StatusOK || !strings.HasPrefix(answer, `{"mission":"A lift"`) {
			t.Errorf("%s: %d %.80s", id, status, answer)
		}
	}
	for _, id := range []string{"", ".", "..", "none", "link", "sly", "a/b/c", "plain/", "./plain", "a/../plain", "/plain",
		"../" + filepath.Base(b.runs) + "/plain", outside + "/run", "plain%00", `..%5Cplain`, "nul"} {
		if status, answer := b.ask(http.MethodGet, "/api/run?id="+id, nil); status != http.StatusNotFound {
			t.Errorf("%q: %d %.80s", id, status, answer)
		}
	}
}

// TestGuard has the attacks of which similar tools had to learn: other names for the address, pages of other origins,
// requests without a session, and what a browser sends without asking.
func TestGuard(t *testing.T) {
	reached := false
	at := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	g := newGuard(at, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	session := g.cookie + "=" + g.token
	ask := func(method, path, host, cookie, body string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = host
		if cookie != "" {
			r.Header.Set("Cookie", cookie)
		}
		for i := 0; i < len(header); i += 2 {
			r.Header.Add(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		reached = false
		g.ServeHTTP(w, r)
		return w
	}
	const here, kind, json = "127.0.0.1:4711", "Content-Type", "application/json"
	for _, host := range []string{here, "localhost:4711", "[::1]:4711"} {
		w := ask(http.MethodPost, "/api/fly", host, session, "{}", kind, json, "Origin", "http://"+host, "Sec-Fetch-Site", "same-origin")
		if w.Code != http.StatusOK || !reached {
			t.Errorf("%s is refused: %d %s", host, w.Code, w.Body)
		}
	}
	for _, c := range []struct {
		name, method, path, host, cookie string
		header                           []string
		status                           int
	}{
		{"a rebound name", "GET", "/api/state", "evil.example:4711", session, nil, 403},
		{"a rebound name of a page", "GET", "/", "evil.example", "", nil, 403},
		{"another port", "GET", "/", "127.0.0.1:4712", "", nil, 403},
		{"no port", "GET", "/", "127.0.0.1", "", nil, 403},
		{"localhost6", "GET", "/", "localhost6:4711", "", nil, 403},
		{"an octal address", "GET", "/", "0177.0.0.1:4711", "", nil, 403},
		{"a short address", "GET", "/", "127.1:4711", "", nil, 403},
		{"any address", "GET", "/", "0.0.0.0:4711", "", nil, 403},
		{"a name with a dot", "GET", "/", "localhost.:4711", "", nil, 403},
		{"capitals", "GET", "/", "LOCALHOST:4711", "", nil, 403},
		{"no name", "GET", "/", "", "", nil, 403},
		{"a page of another site", "POST", "/api/fly", here, session, []string{kind, json, "Origin", "https://evil.example"}, 403},
		{"a page of another port", "POST", "/api/fly", here, session, []string{kind, json, "Origin", "http://127.0.0.1:4712"}, 403},
		{"the other name of this computer", "POST", "/api/fly", here, session, []string{kind, json, "Origin", "http://localhost:4711"}, 403},
		{"a page without an origin", "POST", "/api/fly", here, session, []string{kind, json, "Origin", "null"}, 403},
		{"two origins", "POST", "/api/fly", here, session, []string{kind, json, "Origin", "http://" + here, "Origin", "http://evil.example"}, 403},
		{"reading from another origin", "GET", "/api/state", here, session, []string{"Origin", "http://evil.example"}, 403},
		{"across sites", "POST", "/api/fly", here, session, []string{kind, json, "Sec-Fetch-Site", "cross-site"}, 403},
		{"from the same site", "POST", "/api/fly", here, session, []string{kind, json, "Sec-Fetch-Site", "same-site"}, 403},
		{"a form", "POST", "/api/fly", here, session, []string{kind, "text/plain"}, 415},
		{"a form with fields", "POST", "/api/fly", here, session, []string{kind, "application/x-www-form-urlencoded"}, 415},
		{"no type", "POST", "/api/fly", here, session, nil, 415},
		{"no session", "GET", "/api/state", here, "", nil, 401},
		{"no session for a run", "GET", "/api/run?id=a", here, "", nil, 401},
		{"the session of another start", "GET", "/api/state", here, g.cookie + "=" + strings.Repeat("A", len(g.token)), nil, 401},
		{"the session of another port", "GET", "/api/state", here, "canopy-4712=" + g.token, nil, 401},
		{"an empty session", "GET", "/api/state", here, g.cookie + "=", nil, 401},
		{"the token in the address", "GET", "/api/state?token=" + g.token, here, "", nil, 401},
		{"the token in a header", "GET", "/api/state", here, "", []string{"Authorization", "Bearer " + g.token}, 401},
		{"a path that is nearly public", "GET", "//studio.js", here, "", nil, 401},
		{"a preflight", "OPTIONS", "/api/fly", here, "", []string{"Origin", "http://evil.example"}, 403},
		{"a session by GET", "GET", "/api/session", here, "", nil, 405},
	} {
		w := ask(c.method, c.path, c.host, c.cookie, "{}", c.header...)
		if w.Code != c.status || reached {
			t.Errorf("%s: %d, want %d; reached: %v", c.name, w.Code, c.status, reached)
		}
		for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "Cross-Origin-Resource-Policy": "same-origin",
			"Access-Control-Allow-Origin": "", "Content-Security-Policy": w.Header().Get("Content-Security-Policy")} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q", c.name, name, got)
			}
		}
		for _, rule := range []string{"default-src 'none'", "script-src 'self';", "frame-ancestors 'none'"} {
			if !strings.Contains(w.Header().Get("Content-Security-Policy"), rule) {
				t.Errorf("%s: the policy has no %s", c.name, rule)
			}
		}
	}
	for _, token := range []string{"", "x", g.token[1:], g.token + "x"} {
		w := ask(http.MethodPost, "/api/session", here, "", fmt.Sprintf(`{"token":%q}`, token), kind, json)
		if w.Code != http.StatusUnauthorized || w.Header().Get("Set-Cookie") != "" {
			t.Errorf("the token %q: %d", token, w.Code)
		}
	}
	w := ask(http.MethodPost, "/api/session", here, "", fmt.Sprintf(`{"token":%q}`, g.token), kind, json)
	if got := w.Header().Get("Set-Cookie"); got != session+"; Path=/; HttpOnly; SameSite=Strict" {
		t.Errorf("the cookie is %q", got)
	}
	if len(g.token) < 26 { // letters and digits of 5 bits each
		t.Errorf("the token %q has less than 128 bits", g.token)
	}
}

// The address that is printed is the one where the studio listens, and has the token where browsers keep it.
func TestAddress(t *testing.T) {
	for ip, want := range map[string]string{"127.0.0.1": "http://127.0.0.1:4711/#token=", "::1": "http://[::1]:4711/#token="} {
		g := newGuard(&net.TCPAddr{IP: net.ParseIP(ip), Port: 4711}, nil)
		if a := g.address(); a != want+g.token || !slices.Contains(g.hosts, g.at) {
			t.Errorf("%s: %s", ip, a)
		}
	}
}

// A state that is set while the run is paused changes what follows, and nothing before.
func TestStateIsSet(t *testing.T) {
	b := newBench(t)
	b.must("/api/fly", Start{Wish: Wish{Do: "until", Until: 2}})
	_, at := b.paused()
	states := b.state().Flight.Settable
	if len(states) != 2 || states[0].Name != "x" || math.Abs(*states[0].Value-5-at) > 1e-9 || states[1].Writer != "climb" {
		t.Errorf("at %v the states are %+v", at, states)
	}
	b.must("/api/wish", Wish{Do: "set", Signal: "x", Value: 1})
	b.must("/api/wish", Wish{Do: "go", Breakpoints: []Breakpoint{{Task: "sink"}}})
	if _, now := b.paused(); math.Abs(now-at-9) > 1e-6 {
		t.Errorf("x is set to 1 at %v, and 10 at %v", at, now)
	}
	for says, wish := range map[string]Wish{"no state or slot y": {Do: "set", Signal: "y"}} {
		if status, answer := b.ask(http.MethodPost, "/api/wish", wish); status < 400 || !strings.Contains(answer, says) {
			t.Errorf("%+v: %d %s", wish, status, answer)
		}
	}
}

// A proof is begun once at a time, can be ended, and is stale as soon as a file has changed.
func TestProofs(t *testing.T) {
	b := newBench(t)
	post := func(stop bool) int {
		status, _ := b.ask(http.MethodPost, "/api/check", map[string]bool{"stop": stop})
		return status
	}
	if status := post(false); status != http.StatusConflict {
		t.Errorf("a studio that cannot prove: %d", status)
	}
	answer := make(chan string)
	b.Check = func() (func(context.Context) Proof, error) {
		return func(ctx context.Context) Proof {
			select {
			case text := <-answer:
				return Proof{Findings: []string{text}}
			case <-ctx.Done():
				return Proof{Findings: []string{"ended"}}
			}
		}, nil
	}
	if status, _ := b.ask(http.MethodGet, "/api/findings", nil); status != http.StatusNotFound {
		t.Errorf("findings before the first proof: %d", status)
	}
	for n, end := range []func(){func() { answer <- "proved" }, func() { post(true) }} {
		if status := post(false); status != http.StatusNoContent {
			t.Fatalf("a proof does not begin: %d", status)
		}
		if status := post(false); status != http.StatusConflict || !b.state().Check.Running {
			t.Errorf("two proofs at once: %d", status)
		}
		end()
		b.proof.serving.Wait()
		_, found := b.ask(http.MethodGet, "/api/findings", nil)
		if want := []string{`["proved"]`, `["ended"]`}[n]; found != want+"\n" || *b.state().Check != (Checked{false, n + 1, false}) {
			t.Errorf("%s, want %s; %+v", found, want, b.state().Check)
		}
	}
	b.write("plan.xml", strings.Replace(planText, "x ge 10", "x ge 9.5", 1))
	if c := b.state().Check; !c.Stale {
		t.Errorf("a file has changed: %+v", c)
	}
	b.Check = func() (func(context.Context) Proof, error) { return nil, errors.New("a mistake") }
	if status := post(false); status != http.StatusUnprocessableEntity || post(true) != http.StatusNoContent {
		t.Errorf("a mission with a mistake: %d", status)
	}
}

// An edit is tried before it is saved, where nobody else has changed the file, and no other file can be written.
func TestEdits(t *testing.T) {
	b := newBench(t)
	var list []document
	_, answer := b.ask(http.MethodGet, "/api/documents", nil)
	if err := json.Unmarshal([]byte(answer), &list); err != nil || len(list) != 3 || list[0].Text != planText {
		t.Fatalf("the documents are %s, %v", answer, err)
	}
	plan := list[0]
	for _, c := range []struct{ text, problem string }{
		{planText, ""},
		{strings.Replace(planText, "sink", "descend", 1), ""},
		{strings.Replace(planText, "x ge 10", "xx ge 10", 1), "xx"},
		{"", "empty"},
	} {
		plan.Text = c.text
		var found trial
		_, answer := b.ask(http.MethodPost, "/api/try", request{document: plan})
		err := json.Unmarshal([]byte(answer), &found)
		var labels []string
		for _, x := range found.Boxes {
			labels = append(labels, x.Label)
		}
		switch ok := c.problem == ""; {
		case err != nil, ok != (len(found.Problems) == 0), !strings.Contains(fmt.Sprint(found.Problems), c.problem):
			t.Errorf("%.200q: %v, %s", c.text, err, answer)
		case ok && strings.Contains(c.text, "descend") != slices.Contains(labels, "descend"), c.text != "" && labels[0] != "root",
			c.text == "" && len(labels) > 0:
			t.Errorf("the boxes are %s", labels)
		}
	}
	if text, err := os.ReadFile(plan.Name); err != nil || string(text) != planText {
		t.Errorf("a trial has changed the file: %s, %v", text, err)
	}
	plan.Text = strings.Replace(planText, "sink", "descend", 1)
	b.must("/api/save", plan)
	if text, err := os.ReadFile(plan.Name); err != nil || string(text) != plan.Text {
		t.Errorf("the file is %s, %v", text, err)
	}
	if status, answer := b.ask(http.MethodPost, "/api/save", plan); status != http.StatusConflict {
		t.Errorf("a file that has changed is overwritten: %d %s", status, answer)
	}
	for _, name := range []string{"", "plan.xml", "../plan.xml", filepath.Join(b.runs, "x"), filepath.Dir(b.mission) + "/./plan.xml"} {
		plan.Name = name
		for _, path := range []string{"/api/save", "/api/try", "/api/change", "/api/palette", "/api/complete",
			"/api/rename", "/api/head"} {
			if status, answer := b.ask(http.MethodPost, path, plan); status != http.StatusNotFound {
				t.Errorf("%s of %q: %d %s", path, name, status, answer)
			}
		}
	}
}

// Files outside the folder of the mission, and links, are not edited.
func TestOtherFilesAreNotEdited(t *testing.T) {
	b := newBench(t)
	outside := filepath.Join(t.TempDir(), "vehicle.yaml")
	if err := os.WriteFile(outside, []byte(vehicleText), 0o600); err != nil {
		t.Fatal(err)
	}
	below, err := filepath.Rel(filepath.Dir(b.mission), outside)
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(filepath.Dir(b.mission), "link.yaml")
	if err := os.Symlink(outside, link); err != nil {
		t.Skip("no symbolic links:", err)
	}
	for _, name := range []string{filepath.ToSlash(below), "link.yaml"} {
		b.write("lift.yaml", strings.Replace(missionText, "vehicle: vehicle.yaml", "vehicle: "+name, 1))
		s := b.state()
		_, list := b.ask(http.MethodGet, "/api/documents", nil)
		if len(s.Problems) > 0 || strings.Contains(list, "states:") || !strings.Contains(list, "A lift") {
			t.Errorf("%s: %v, the documents are %s", name, s.Problems, list)
		}
		for _, file := range b.reading.files {
			if strings.Contains(file, "plan.xml") || strings.Contains(file, "lift.yaml") {
				continue
			}
			if status, _ := b.ask(http.MethodPost, "/api/save", document{file, "x", stampOf(file)}); status != http.StatusNotFound {
				t.Errorf("%s is saved: %d", file, status)
			}
		}
	}
	if text, err := os.ReadFile(outside); err != nil || string(text) != vehicleText {
		t.Errorf("the file outside is %s, %v", text, err)
	}
}
