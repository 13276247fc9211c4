package report

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestVerdicts: only a run that came to its end looks as if it had, on the page and in the table.
func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		summary     *record.Summary
		damage      error
		page, table string
	}{
		"complete": {&record.Summary{Ended: 10, Outcome: record.Complete, Reason: "horizon reached"}, nil,
			"complete: Complete at 0:00:10 of 0:00:10, horizon reached",
			"0:00:10 of 0:00:10, complete: horizon reached"},
		"interrupted": {&record.Summary{Ended: 9.9, Outcome: record.Interrupted, Reason: "interrupted"}, nil,
			"interrupted: Interrupted at 0:00:09 of 0:00:10, ", "0:00:09 of 0:00:10, interrupted\n"},
		"failed": {&record.Summary{Ended: 3, Outcome: record.Failed, Reason: "w is not finite"}, nil,
			"failed: Failed at 0:00:03 of 0:00:10, w is not finite",
			"0:00:03 of 0:00:10, failed: w is not finite"},
		"violated": {&record.Summary{Ended: 10, Outcome: record.Complete, Reason: "horizon reached",
			Properties: []record.Property{{Property: "always <b>", Verdict: "violated"}}}, nil,
			"failed: Property violated at 0:00:10 of 0:00:10, horizon reached", "violated: always <b>"},
		"cut": {nil, nil, "interrupted: Cut off at 0:00:00 of 0:00:10, the log has no end", "cut off: the log has no end"},
		"damaged": {nil, record.ErrFormat, "interrupted: Damaged at 0:00:00 of 0:00:10, " + record.ErrFormat.Error(),
			"damaged: " + record.ErrFormat.Error()},
		"of no known outcome": {&record.Summary{Outcome: "?"}, nil, "interrupted: Interrupted at 0:00:00 of 0:00:10, ", "interrupted"},
	} {
		log := &record.Log{Header: &record.Header{Horizon: 10}, End: record.End{Summary: c.summary, Damage: c.damage}}
		var table bytes.Buffer
		must(t, digest(t, log).Table(&table))
		if said := drawn(t, render(t, log)).Verdict.said(); said != c.page {
			t.Errorf("%s: the page says %q, not %q", name, said, c.page)
		}
		if !strings.Contains(table.String(), c.table) {
			t.Errorf("%s: the table does not say %q:\n%s", name, c.table, table.String())
		}
	}
}

// TestLongTexts: the page has the beginning of a text that is too long, whatever its length.
func TestLongTexts(t *testing.T) {
	long := strings.Repeat("é", 1_000_000)
	log := &record.Log{Header: &record.Header{Horizon: 10}, Events: []record.Event{{T: 1, Kind: "error", Text: long},
		{T: 2, Kind: long, Text: long}}, End: record.End{Summary: &record.Summary{Ended: 10, Reason: long,
		Properties: []record.Property{{Property: long, Because: long}}}}}
	var table bytes.Buffer
	must(t, digest(t, log).Table(&table))
	if page := render(t, log); len(page) > 200_000 || table.Len() > 10_000 || !strings.Contains(table.String(), "éé…") {
		t.Errorf("the page has %d bytes, the table %d", len(page), table.Len())
	}
}

// TestPanelsByUnit: a log without plots is plotted by unit, in few panels of few curves, and what is left out is named.
func TestPanelsByUnit(t *testing.T) {
	log := &record.Log{Header: &record.Header{}, T: []float64{0, 1}}
	add := func(unit string, n int) {
		for i := range n {
			log.Signals = append(log.Signals, record.Signal{Name: fmt.Sprintf("%s%d", unit, i), Unit: unit})
			log.Values = append(log.Values, []float64{float64(i), -1})
		}
	}
	add("m", 9)
	add("", 1)
	add("K", 5)
	shapes := func() (list []string) {
		plots, _ := panels(log.Header)
		for _, p := range plots {
			list = append(list, fmt.Sprint(p.Signals))
		}
		return list
	}
	want := []string{"[m0 m1 m2 m3]", "[m4 m5 m6 m7]", "[m8]", "[0]", "[K0 K1 K2 K3]", "[K4]"}
	if diff := cmp.Diff(want, shapes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if e := digest(t, log).extremes; len(e) != len(log.Signals) {
		t.Errorf("%d extremes for %d signals", len(e), len(log.Signals))
	}
	if d := drawn(t, render(t, log)); d.Notes.History != nil || d.Extremes == nil {
		t.Error("everything is shown, the page says otherwise")
	}
	for _, unit := range []string{"a", "b", "c", "d"} {
		add(unit, 2)
	}
	want = []string{"[m0 m1 m2 m3]", "[m4 m5 m6 m7]", "[0]", "[K0 K1 K2 K3]", "[a0 a1]", "[b0 b1]", "[c0 c1]", "[d0 d1]"}
	if diff := cmp.Diff(want, shapes()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const left = "The mission names no plots. Not shown, but in signals.csv: m8, K4."
	var table bytes.Buffer
	must(t, digest(t, log).Table(&table))
	if !strings.Contains(render(t, log), left) || !strings.Contains(table.String(), left) {
		t.Errorf("what is left out is not said:\n%s", table.String())
	}
	if got, want := unplotted([]string{"a", "b", "c"}, 2), "signals.csv: a, b and 1 more."; !strings.HasSuffix(got, want) {
		t.Errorf("%q does not end in %q", got, want)
	}
}

// TestMixedUnits: in a panel of several units each curve has its own.
func TestMixedUnits(t *testing.T) {
	log := &record.Log{Header: &record.Header{}, T: []float64{0}, Values: [][]float64{{1}, {2}}}
	log.Signals = []record.Signal{{Name: "h", Unit: "m"}, {Name: "soc"}}
	log.Plots = []record.Plot{{Title: "Both", Signals: []string{"h", "soc"}}}
	d := drawn(t, render(t, log))
	if p := d.Plots[0].Signals; d.Signals[p[0]].Unit != "m" || d.Signals[p[1]].Unit != "1" {
		t.Errorf("the curves are %+v", d.Signals)
	}
}

// TestThinCurve: for any samples, no column loses its range or its ends, and one of few samples loses nothing.
func TestThinCurve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 300).Draw(t, "samples")
		at, values := make([]float64, n), make([]float64, n)
		for i := range n {
			if i > 0 {
				at[i] = at[i-1] + rapid.SampledFrom([]float64{0, 0, 0.01, 1, 5}).Draw(t, "dt")
			}
			values[i] = rapid.SampledFrom([]float64{0, 1, -1, 2, math.NaN(), math.Inf(1), math.Inf(-1)}).Draw(t, "value")
		}
		columns := rapid.IntRange(1, 40).Draw(t, "columns")
		doubled, thinned := narrow(at[0], at[n-1], 4*columns), rapid.IntRange(0, n).Draw(t, "thinned")
		thinner := &curveThinner{columns: doubled}
		for i := range n {
			if i == thinned {
				doubled.width *= 2
				thinner.thin(doubled)
			}
			thinner.add(point{i, at[i], values[i]})
		}
		doubled.width = 4 * narrow(at[0], at[n-1], 4*columns).width
		thinner.thin(doubled)
		thinner.endColumn()
		var kept []int
		for _, p := range thinner.kept {
			kept = append(kept, p.n)
		}
		if !slices.IsSorted(kept) || len(slices.Compact(slices.Clone(kept))) != len(kept) || len(kept) > 5*(columns+1) {
			t.Fatalf("kept %v", kept)
		}
		inColumn := func(indices []int, c int) (list []int, least, greatest float64, gap bool) {
			least, greatest = math.Inf(1), math.Inf(-1)
			for _, k := range indices {
				if doubled.of(at[k]) != float64(c) {
					continue
				}
				list = append(list, k)
				if v := values[k]; math.IsNaN(v) {
					gap = true
				} else {
					least, greatest = min(least, v), max(greatest, v)
				}
			}
			return list, least, greatest, gap
		}
		var all []int
		for i := range n {
			all = append(all, i)
		}
		for c := range columns + 1 {
			whole, a, b, g := inColumn(all, c)
			thin, a2, b2, g2 := inColumn(kept, c)
			if a != a2 || b != b2 || g != g2 || len(whole) <= 4 && !slices.Equal(whole, thin) ||
				len(whole) > 0 && (whole[0] != thin[0] || whole[len(whole)-1] != thin[len(thin)-1]) {
				t.Fatalf("column %d: %v of %v", c, thin, whole)
			}
		}
	})
}

func TestFairShare(t *testing.T) {
	for _, c := range []struct {
		counts      []int
		total, want int
	}{{[]int{3, 4}, 7, math.MaxInt}, {[]int{3, 4}, 6, 3}, {[]int{1, 1, 1000, 1000}, 100, 49}, {nil, 5, math.MaxInt}} {
		if got := fairShare(c.counts, c.total); got != c.want {
			t.Errorf("fairShare(%v, %d) = %d, want %d", c.counts, c.total, got, c.want)
		}
	}
}

// longLog is a run in which a task of two switches all the time, with an excursion of h in a single sample.
func longLog(events int) *record.Log {
	log := &record.Log{Values: make([][]float64, 2), Header: &record.Header{Mission: "long", Horizon: float64(events),
		Tasks: []record.Task{{Name: "busy", Kind: "Action", Parent: 1, Initial: bt.Accept},
			{Name: "root", Kind: "Sequence", Parent: -1, Initial: bt.Running}},
		Signals: []record.Signal{{Name: "h", Unit: "m"}, {Name: "v", Unit: "m/s"}}}}
	cycle := []bt.Status{bt.Accept, bt.Activating, bt.Running, bt.Deactivating}
	for i := range events {
		at := float64(i)
		for side := range 2 {
			log.T = append(log.T, at)
			log.Values[0] = append(log.Values[0], math.Sin(at/1000))
			log.Values[1] = append(log.Values[1], float64(side))
		}
		log.Changes = append(log.Changes, record.Change{T: at, Micro: 1,
			Change: bt.Change{Task: 0, From: cycle[i%4], To: cycle[(i+1)%4]}})
		log.Events = append(log.Events, record.Event{T: at, Kind: "state", Text: "h > 0 becomes true"})
	}
	log.Values[0][events] = 7 // in the middle
	log.Changes[events/2].To = bt.Aborted
	log.Summary = &record.Summary{Ended: float64(events), Outcome: record.Complete}
	return log
}

// TestLongRun: the page of a run with very many events stays small, shows the outliers, and states the omissions.
func TestLongRun(t *testing.T) {
	log := longLog(150_000)
	page := render(t, log)
	if mb := float64(len(page)) / 1e6; mb > 8 {
		t.Errorf("the page has %.1f MB", mb)
	}
	d := drawn(t, page)
	if strings.Contains(page, `"time":null`) {
		t.Error("the page's script cannot unpack null")
	}
	h := unpack(d.Signals[0].Values, 4)
	if at := unpack(d.Signals[0].Time, 8); len(at) != len(h) || len(h) > 5*(2*mostColumns+1) {
		t.Errorf("%d values at %d times", len(h), len(at))
	}
	if slices.Max(h) != 7 {
		t.Error("the page has lost the excursion of h")
	}
	busy := d.Lanes[1]
	if !slices.Contains(busy.S, int(bt.Aborted)) || busy.T[0] != 0 || len(busy.T) > mostChanges {
		t.Errorf("the lane of the busy task has %d statuses from %g s", len(busy.T), busy.T[0])
	}
	if n := len(d.Changes.T); n != mostLines || d.Changes.T[0] != 0 || d.Changes.T[n-1] != 149_999 {
		t.Errorf("%d status changes in the table", n)
	}
	if n := len(d.Events); n != mostLines || d.Gap[0] != mostLines/2 || d.Gap[1] != 149_999-mostLines/2 {
		t.Errorf("%d events, left out %v", n, d.Gap)
	}
	for _, want := range []string{"in each 32 s; signals.csv",
		"130000 status changes from 2:46:40 to 38:53:19 are left out here; status.csv has all.",
		"130000 events from 2:46:40 to 38:53:19 are left out here; run.mcap has all",
		"status changes are too close to others of their task"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestConditionsKeepTheirSignals: of a long run, curves without a plot are left out, except what conditions read.
func TestConditionsKeepTheirSignals(t *testing.T) {
	h := record.Header{Mission: "m", Horizon: 1, Signals: []record.Signal{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Plots: []record.Plot{{Title: "a", Signals: []string{"a"}}}, Tasks: []record.Task{{Name: "p", Kind: "Condition", Parent: -1}},
		Attachments: []record.Attachment{{Name: record.PlanFile, Data: []byte(`<root BTCPP_format="4"><BehaviorTree ID="m">` +
			`<Condition name="p" on="c ge 2 or c lt -1"/></BehaviorTree></root>`)}}}
	for samples, want := range map[int]string{100: "[a b c]", mostSamples + 100: "[a c]"} {
		g := NewGatherer(&h)
		for i := range samples {
			must(t, g.Sample(float64(i), []float64{1, 2, 3}))
		}
		d := g.Digest(record.End{Told: float64(samples)}).page()
		var names []string
		for _, s := range d.Signals {
			names = append(names, s.Name)
		}
		if got := fmt.Sprint(names); got != want {
			t.Errorf("%d samples: signals %s, want %s", samples, got, want)
		}
		on := logic{Op: "or", Args: []logic{{Op: "threshold", Signal: "c", Limit: 2},
			{Op: "not", Args: []logic{{Op: "threshold", Signal: "c", Limit: -1}}}}}
		if diff := cmp.Diff(&on, d.Tasks[0].On); diff != "" {
			t.Errorf("the condition (-want +got):\n%s", diff)
		}
	}
}

// TestBounded: of a log of a million samples and 100,000 status changes and events, what is kept is bounded by the
// page, not by the log.
func TestBounded(t *testing.T) {
	h := *longLog(1).Header
	g := NewGatherer(&h)
	for i := range 1_000_000 {
		at := float64(i)
		must(t, g.Sample(at, []float64{math.Sin(at), at}))
		for j := range 2 * (1 - min(1, i%10)) {
			must(t, g.Status(at, 1, bt.Change{Task: 0, From: bt.Status(i / 10 % 8), To: bt.Status((i/10 + 1 + j) % 8)}))
			must(t, g.Event(record.Event{T: at, Kind: "conflict", Text: "of two"}))
		}
	}
	kept := len(g.times) + len(g.lines.first) + len(g.lines.last) + len(g.rows.first) + len(g.rows.last) + len(g.noticed)
	for _, v := range g.values {
		kept += cap(v)
	}
	for _, c := range g.curves {
		kept += cap(c.kept)
	}
	for _, l := range g.lanes {
		kept += cap(l.t)
	}
	if most := 2*5*2*(2*mostColumns+1) + 2*mostChanges + 2*mostLines + mostNoticed; kept > most {
		t.Errorf("%d values are kept, at most %d may be", kept, most)
	}
	d := g.Digest(record.End{Told: 1e6})
	if d.changes != 200_000 || d.moreToNotice != 200_000-mostNoticed || g.tasks[0].status != bt.Status((99_999+2)%8) {
		t.Errorf("%d changes, %d more events, the task ends %s", d.changes, d.moreToNotice, g.tasks[0].status)
	}
	if n := len(d.data.Lanes[1].T); n < mostChanges/100 {
		t.Errorf("%d changes are left in the lane", n)
	}
}

// TestManyLanes: lanes that are as short as they can be are not thinned again at each change.
func TestManyLanes(t *testing.T) {
	var h record.Header
	for i := range 20_000 {
		h.Tasks = append(h.Tasks, record.Task{Name: fmt.Sprint(i), Kind: "Condition", Parent: -1})
	}
	g := NewGatherer(&h)
	thinned, before := 0, g.enough
	for at := range 40 {
		for i := range h.Tasks {
			must(t, g.Status(float64(at), 1, bt.Change{Task: bt.Task(i), From: bt.Status(at % 2), To: bt.Status((at + 1) % 2)}))
			if g.enough != before {
				thinned, before = thinned+1, g.enough
			}
		}
	}
	if thinned > 10 {
		t.Errorf("thinned %d times", thinned)
	}
}
