package report

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run/record"

	"github.com/google/go-cmp/cmp"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// digest gathers a log that is held in memory.
func digest(t *testing.T, log *record.Log) *Digest {
	t.Helper()
	to, end := NewGatherer(log.Header), log.End
	end.Told = log.Start
	row := make([]float64, len(log.Signals))
	for k, at := range log.T {
		for i := range row {
			row[i] = log.Values[i][k]
		}
		must(t, to.Sample(at, row))
		end.Told = max(end.Told, at)
	}
	for _, c := range log.Changes {
		must(t, to.Status(c.T, c.Micro, c.Change))
		end.Told = max(end.Told, c.T)
	}
	for _, e := range log.Events {
		must(t, to.Event(e))
		end.Told = max(end.Told, e.T)
	}
	return to.Digest(end)
}

// The page of a flight has no tolerance of an integration.
func TestNoTolerance(t *testing.T) {
	for _, tolerance := range []float64{0, 1e-5} {
		log := &record.Log{Header: &record.Header{Mission: "m", Horizon: 10, Interval: 1, RelTol: tolerance}}
		if said := strings.Contains(render(t, log), "Relative tolerance"); said != (tolerance > 0) {
			t.Errorf("%g: %v", tolerance, said)
		}
	}
}

// render returns the page of a log, and keeps it under the test's name if files are to be looked at.
func render(t *testing.T, log *record.Log) string {
	t.Helper()
	var b bytes.Buffer
	must(t, digest(t, log).HTML(&b, nil))
	if *keep != "" {
		must(t, os.WriteFile(filepath.Join(*keep, t.Name()+".html"), b.Bytes(), 0o644))
	}
	return b.String()
}

var dataElement = regexp.MustCompile(`(?s)<script type="application/json" id="run">(.*?)</script>`)

// drawn returns what the page's script draws.
func drawn(t *testing.T, page string) data {
	t.Helper()
	m := dataElement.FindStringSubmatch(page)
	if m == nil {
		t.Fatal("the page has no data")
	}
	var d data
	must(t, json.Unmarshal([]byte(m[1]), &d))
	return d
}

// said writes a verdict in a line.
func (v outcome) said() string {
	return fmt.Sprintf("%s: %s at %s of %s, %s", v.Outcome, v.Word, v.At, v.Horizon, v.Reason)
}

func unpack(b []byte, size int) []float64 {
	var values []float64
	for ; len(b) > 0; b = b[size:] {
		if size == 4 {
			values = append(values, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		} else {
			values = append(values, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	}
	return values
}

// TestPlotsShowTheSamples: every sample is in the page, both sides of events included, times exact.
func TestPlotsShowTheSamples(t *testing.T) {
	log := sampleLog(t)
	d := drawn(t, render(t, log))
	if !cmp.Equal(unpack(d.Time, 8), log.T) {
		t.Error("the times in the page are not those of the samples")
	}
	if len(d.Plots) != len(log.Plots) {
		t.Fatalf("%d plots, want %d", len(d.Plots), len(log.Plots))
	}
	for i, p := range d.Plots {
		if p.Title != log.Plots[i].Title || len(p.Signals) != len(log.Plots[i].Signals) {
			t.Errorf("plot %d is %q with %d curves", i, p.Title, len(p.Signals))
		}
		for _, place := range p.Signals {
			c := d.Signals[place]
			got, want := unpack(c.Values, 4), log.Signal(c.Name)
			for k := range want {
				if float32(want[k]) != float32(got[k]) {
					t.Fatalf("%s at %g s is %g, want %g", c.Name, log.T[k], got[k], want[k])
				}
			}
		}
	}
}

// TestLanesAreTheStatusChanges rebuilds each lane from the log and compares.
func TestLanesAreTheStatusChanges(t *testing.T) {
	log := sampleLog(t)
	d := drawn(t, render(t, log))
	if len(d.Lanes) != len(log.Tasks) {
		t.Fatalf("%d lanes for %d tasks", len(d.Lanes), len(log.Tasks))
	}
	for _, l := range d.Lanes {
		want := lane{Task: l.Task, Depth: l.Depth, T: []float64{0}, S: []int{int(log.Tasks[l.Task].Initial)}}
		for _, c := range log.Changes {
			if c.Task == l.Task {
				want.T, want.S = append(want.T, c.T), append(want.S, int(c.To))
			}
		}
		if diff := cmp.Diff(want, l); diff != "" {
			t.Errorf("lane of %s (-log +page):\n%s", log.Tasks[l.Task].Name, diff)
		}
	}
	for i, c := range log.Changes {
		p := d.Changes
		got := record.Change{T: p.T[i], Micro: p.Micro[i], Change: bt.Change{Task: p.Task[i],
			From: bt.Status(p.From[i]), To: bt.Status(p.To[i]), Iteration: c.Iteration}}
		if got != c {
			t.Fatalf("change %d in the page is %+v, want %+v", i, got, c)
		}
	}
	if len(d.Changes.T) != len(log.Changes) || len(d.Events) != len(log.Events) {
		t.Errorf("%d changes and %d events, the log has %d and %d", len(d.Changes.T), len(d.Events),
			len(log.Changes), len(log.Events))
	}
}

// TestLanesAreInTreeOrder: parents before children, from left to right, each indented below its parent.
func TestLanesAreInTreeOrder(t *testing.T) {
	log := sampleLog(t)
	var got []string
	for _, b := range treeOrder(log.Tasks) {
		got = append(got, strings.Repeat(" ", b.depth)+log.Tasks[b.task].Name)
	}
	want := []string{"longitudinal", " harvest", "  surplus", "  below_top", "   at_top", "  climb", " save",
		"  critical", "  descend", "   at_bottom", "   sink", "  hold", " mission"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNothingIsLoaded: the page loads nothing. The tests of the web room watch what a browser asks for.
func TestNothingIsLoaded(t *testing.T) {
	page := regexp.MustCompile(`http://www\.w3\.org/[\w/]*|\.href=`).ReplaceAllString(render(t, sampleLog(t)), "")
	for _, pattern := range []string{`https?:`, `\bsrc=`, `\bhref=`, `url\([^#]`, `@import`, `fetch\(`,
		`XMLHttpRequest`, `import\(`, `WebSocket`, `<link`, `<iframe`} {
		if m := regexp.MustCompile(pattern).FindString(page); m != "" {
			t.Errorf("the page contains %q", m)
		}
	}
	if !strings.Contains(page, `content="default-src 'none';`) {
		t.Error("the page does not forbid loads")
	}
}

// TestHostileNames: the contents of names and texts remain text.
func TestHostileNames(t *testing.T) {
	const evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{.}}&lt;\u2028]]>--><!--"
	h := record.Header{Mission: evil, Text: evil, Plan: evil, Vehicle: evil, Horizon: 10,
		Tasks:       []record.Task{{Name: evil, Kind: evil, Parent: -1, Detail: evil}},
		Signals:     []record.Signal{{Name: evil, Unit: evil, Text: evil}},
		Plots:       []record.Plot{{Title: evil, Signals: []string{evil}}},
		Parameters:  []record.Parameter{{Name: evil, Unit: evil, Tag: evil, Text: evil, Value: 1}},
		Attachments: []record.Attachment{{Name: evil, MediaType: evil, Data: []byte(evil)}},
	}
	log := &record.Log{Header: &h, T: []float64{0, 1}, Values: [][]float64{{1, 2}},
		Changes: []record.Change{{T: 1, Micro: 1, Change: bt.Change{To: bt.Running}}},
		Events:  []record.Event{{T: 1, Kind: evil, Text: evil}},
		End:     record.End{Summary: &record.Summary{Ended: 1, Reason: evil}}}
	page := render(t, log)
	for _, raw := range []string{"<script>alert", "<img", "<!--"} {
		if strings.Contains(page, raw) {
			t.Errorf("the page contains %q", raw)
		}
	}
	if n := strings.Count(page, "</script>"); n != 2 {
		t.Errorf("%d script elements end in the page, want 2", n)
	}
	balanced(t, page)
	want := strings.ReplaceAll(evil, "\u2028", `\u2028`)
	if d := drawn(t, page); d.Tasks[0].Name != want || d.Events[0].Text != want || d.Signals[0].Unit != want {
		t.Error("the script does not get the names as they are shown")
	}
}

var tags = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)\b[^>]*?(/?)>`)

// balanced checks that every element ends, in order.
func balanced(t *testing.T, page string) {
	t.Helper()
	page = regexp.MustCompile(`(?s)<(script|style)\b[^>]*>.*?</(script|style)>`).ReplaceAllString(page, "")
	void := map[string]bool{"meta": true, "input": true, "br": true}
	var open []string
	for _, m := range tags.FindAllStringSubmatch(page, -1) {
		switch {
		case void[m[2]] || m[3] != "":
		case m[1] == "":
			open = append(open, m[2])
		case len(open) == 0 || open[len(open)-1] != m[2]:
			t.Fatalf("</%s> closes %v", m[2], open)
		default:
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 {
		t.Fatalf("never closed: %v", open)
	}
}

func TestPageStructure(t *testing.T) {
	log := sampleLog(t)
	page := render(t, log)
	balanced(t, page)
	d := drawn(t, page)
	if said := d.Verdict.said(); said != "complete: Complete at 24:00:00 of 24:00:00, horizon reached" {
		t.Error(said)
	}
	if !slices.Contains(d.Facts, fact{"Relative tolerance", "1e-6", ""}) {
		t.Errorf("facts %v", d.Facts)
	}
	for _, table := range []*texts{d.Activities, d.Extremes, d.Parameters.Changed, d.Parameters.All} {
		for i, row := range table.Rows {
			if len(row) != len(table.Columns) || table.Classes != nil && len(table.Classes) != len(table.Rows) {
				t.Errorf("row %d of %s: %q", i, table.Title, row)
			}
		}
	}
	if !strings.HasPrefix(d.Parameters.Text, "4 parameters: 1 tagged") {
		t.Error(d.Parameters.Text)
	}
	if len(d.Documents) == 0 || d.Documents[0].Name != "solar-day.xml" || d.Documents[0].Text != string(log.Attachments[0].Data) {
		t.Errorf("%d documents", len(d.Documents))
	}
	var table bytes.Buffer
	must(t, digest(t, log).Table(&table))
	if !strings.Contains(page, "<pre>"+html.EscapeString(table.String())+"</pre></noscript>") {
		t.Error("without scripts, the page has no table")
	}
	if len(page) > 1<<20 {
		t.Errorf("the page of a day has %d bytes", len(page))
	}
}

// TestRunThatDidNotStart: no samples, no tasks, no summary.
func TestRunThatDidNotStart(t *testing.T) {
	h := record.Header{Mission: "none", Horizon: 10, Signals: []record.Signal{{Name: "x"}},
		Plots: []record.Plot{{Title: "a", Signals: []string{"x"}}}}
	log := &record.Log{Header: &h, Values: [][]float64{nil}}
	page := render(t, log)
	balanced(t, page)
	d := drawn(t, page)
	if d.End != 0 || len(d.Time) > 0 || len(d.Plots) != 1 || d.Activities != nil || d.Parameters != nil {
		t.Errorf("data %+v", d)
	}
	if said := d.Verdict.said(); said != "interrupted: Cut off at 0:00:00 of 0:00:10, the log has no end" {
		t.Error(said)
	}
	var b bytes.Buffer
	must(t, digest(t, log).Table(&b))
	if !strings.Contains(b.String(), "0:00:00 of 0:00:10, cut off: the log has no end") {
		t.Errorf("table:\n%s", b.String())
	}
}

// TestHundredTasks: a wide and deep tree, a signal that is never finite, a failed run.
func TestHundredTasks(t *testing.T) {
	h := record.Header{Mission: "hundred", Horizon: 100,
		Signals: []record.Signal{{Name: "x", Unit: "m"}, {Name: "y", Unit: "s"}},
		Plots: []record.Plot{{Title: "Nothing", Signals: []string{"x"}},
			{Title: "Mixed", Signals: []string{"x", "y"}}}}
	for i := range 100 {
		task := record.Task{Name: fmt.Sprintf("task number %d", i), Kind: "Action", Parent: min(99, 10*(i/10)+10)}
		if i%10 == 0 && i > 0 {
			task.Kind = "ReactiveSequence"
		}
		if i == 99 {
			task.Parent = -1
		}
		h.Tasks = append(h.Tasks, task)
	}
	log := &record.Log{Header: &h, T: []float64{0, 50, 50, 100},
		Values: [][]float64{{math.NaN(), math.Inf(1), math.NaN(), math.NaN()}, {1, math.NaN(), 2, 3}},
		End: record.End{Summary: &record.Summary{Ended: 50, Reason: "the derivative of x is not finite",
			Outcome: record.Failed}}}
	for i := range 100 {
		for k := range 20 {
			at := float64(k) * (1 + float64(i%7))
			log.Changes = append(log.Changes, record.Change{T: at, Micro: 1,
				Change: bt.Change{Task: bt.Task(i), From: bt.Status(k % 8), To: bt.Status((k + 1) % 8)}})
		}
	}
	page := render(t, log)
	if d := drawn(t, page); len(d.Lanes) != 100 || d.Lanes[1].Depth != 1 || d.Lanes[0].Task != 99 {
		t.Errorf("%d lanes, the first are %+v and %+v", len(d.Lanes), d.Lanes[0], d.Lanes[1])
	}
	if said := drawn(t, page).Verdict.said(); !strings.HasPrefix(said, "failed: Failed at 0:00:50") {
		t.Error(said)
	}
	if e := digest(t, log).extremes; !math.IsNaN(e[0].Least) || e[1].Least != 1 || e[1].Greatest != 3 || e[1].GreatestAt != 100 {
		t.Errorf("extremes %+v", e)
	}
}

// TestActivities: an action counts from its entry to the end of its exit, also when it is active to the end.
func TestActivities(t *testing.T) {
	log := &record.Log{Header: &record.Header{Start: 10, Tasks: []record.Task{{Name: "a", Kind: "Action", Parent: 2},
		{Name: "c", Kind: "Condition", Parent: 2}, {Name: "r", Kind: "Sequence", Parent: -1}}},
		End: record.End{Summary: &record.Summary{Ended: 110}}}
	for _, c := range []struct {
		t        float64
		from, to bt.Status
	}{
		{20, bt.Accept, bt.Activating}, {25, bt.Activating, bt.Running}, {35, bt.Running, bt.Deactivating},
		{40, bt.Deactivating, bt.Accept}, {50, bt.Accept, bt.Activating}, {50, bt.Activating, bt.Running},
		{50, bt.Running, bt.Deactivating}, {50, bt.Deactivating, bt.Accept}, {100, bt.Accept, bt.Activating},
	} {
		log.Changes = append(log.Changes, record.Change{T: c.t, Change: bt.Change{From: c.from, To: c.to}})
	}
	want := []activity{{Name: "a", Entries: 3, Time: 30, Share: 0.3}}
	if diff := cmp.Diff(want, digest(t, log).activities); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTable(t *testing.T) {
	log := sampleLog(t)
	log.Mission = "solar\x1b[31m-day"
	var b bytes.Buffer
	must(t, digest(t, log).Table(&b))
	path := filepath.Join("testdata", "table.txt")
	if *rewrite {
		must(t, os.WriteFile(path, b.Bytes(), 0o644))
	}
	want, err := os.ReadFile(path)
	must(t, err)
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestClock(t *testing.T) {
	for at, want := range map[float64]string{0: "0:00:00", 59.5: "0:00:59", 59.99: "0:00:59", 59.9995: "0:01:00",
		86400: "24:00:00", 360061: "100:01:01", -1: "-0:00:01", -0.5: "0:00:00", math.Inf(1): "-", math.NaN(): "-"} {
		if got := Clock(at); got != want {
			t.Errorf("Clock(%g) = %s, want %s", at, got, want)
		}
	}
}

// TestPrintedTimesAreRead: a time is read in each form in which reports, tables and logs print it, with the value that
// is printed.
func TestPrintedTimesAreRead(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		at := math.Exp(30*r.Float64() - 8)
		milli := int64(at * 1e3)
		exactly := fmt.Sprintf("%d:%02d:%02d.%03d", milli/3600_000, milli/60_000%60, milli/1000%60, milli%1000) // of the page
		for form, close := range map[string]float64{
			Clock(at): 1.001, Clock(-at): math.Inf(1), exactly: math.Inf(1), fmt.Sprintf("%.3f s", at): 1e-3, fmt.Sprintf("%.9g s", at): at * 1e-8,
			fmt.Sprintf("%.9f", at): 1e-6, fmt.Sprint(at): 0,
		} {
			got, err := expr.Duration(form)
			if err != nil || math.Abs(got-at) > close || form == exactly && math.Abs(got-float64(milli)/1e3) > 1e-6 ||
				form == Clock(at) && Clock(got) != form || form == Clock(-at) && Clock(got) != form {
				t.Fatalf("%v is printed as %q and read as %v, %v", at, form, got, err)
			}
		}
	}
}

type full struct{}

var errFull = errors.New("no space left on device")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFullDisk(t *testing.T) {
	log := sampleLog(t)
	if err := digest(t, log).HTML(full{}, nil); !errors.Is(err, errFull) {
		t.Errorf("HTML: %v", err)
	}
	if err := digest(t, log).Table(full{}); !errors.Is(err, errFull) {
		t.Errorf("Table: %v", err)
	}
}

// TestHaltedIsEntered: the assignments of _onHalted count as often as their parent is deactivated without having ended.
func TestHaltedIsEntered(t *testing.T) {
	var table bytes.Buffer
	log := &record.Log{Header: &record.Header{Mission: "m", Horizon: 9, Interval: 1, Tasks: []record.Task{
		{Name: "a._onHalted.do", Kind: "Action", Parent: 2, Initial: bt.Accept},
		{Name: "a", Kind: "Action", Parent: 2, Initial: bt.Accept},
		{Name: "a._onHalted", Kind: bt.OnHalted.String(), Parent: -1, Initial: bt.Accept}}}}
	for i, to := range []bt.Status{bt.Running, bt.Deactivating, bt.Accept, bt.Running, bt.Finished, bt.Deactivating, bt.Accept} {
		from := bt.Accept
		if i > 0 {
			from = log.Changes[i-1].To
		}
		log.Changes = append(log.Changes, record.Change{T: float64(i), Micro: 1, Change: bt.Change{Task: 2, From: from, To: to}})
	}
	must(t, digest(t, log).Table(&table))
	if !strings.Contains(table.String(), "\na._onHalted.do        1  0:00:00") {
		t.Error(table.String())
	}
}

// A parameter costs its row and nothing else: numbers and escaped texts, no reflection.
func TestRowsCostLittle(t *testing.T) {
	cost := func(n int) float64 {
		log := &record.Log{Header: &record.Header{Mission: "m", Horizon: 1, Interval: 1}}
		for i := range n {
			log.Parameters = append(log.Parameters, record.Parameter{Name: fmt.Sprint(i), Unit: "m", Value: 1.5, Default: 1.5})
		}
		d := digest(t, log)
		return testing.AllocsPerRun(5, func() { must(t, d.HTML(io.Discard, nil)) })
	}
	if each := (cost(1100) - cost(100)) / 1000; each > 8 {
		t.Errorf("%g allocations for each parameter", each)
	}
}
