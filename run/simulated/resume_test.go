package simulated

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
)

// flight is a run with the files that it writes.
type flight struct {
	*run.Run
	writer *record.Writer
	files  [3]bytes.Buffer // run.mcap, status.csv, signals.csv
}

func (f *flight) into() record.Files {
	return record.Files{MCAP: &f.files[0], Status: &f.files[1], Signals: &f.files[2]}
}

// earlier are the files as another run finds them.
func (f *flight) earlier() record.Earlier {
	return record.Earlier{MCAP: bytes.NewReader(f.files[0].Bytes()), Status: bytes.NewReader(f.files[1].Bytes()),
		Signals: bytes.NewReader(f.files[2].Bytes())}
}

func takeOff(t *testing.T, m *mission.Mission, c run.Configuration) *flight {
	t.Helper()
	r, err := New(m, c, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	f := &flight{Run: r}
	if f.writer, err = record.NewWriter(r.Header(), f.into()); err != nil {
		t.Fatal(err)
	}
	r.Attach(f.writer)
	return f
}

// land flies to the end and returns the number of steps.
func (f *flight) land(t *testing.T) int {
	t.Helper()
	for n := 1; ; n++ {
		more, err := f.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			if err := f.writer.Close(f.Summary()); err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
}

// A run that is interrupted or killed after any step and resumed leaves byte for byte the files of one that was not.
func TestResume(t *testing.T) {
	day := solarDay(t)
	_, tree := flyInto(t, day, run.Continuous{})
	missions := map[string]*mission.Mission{
		"events": equationsMission(t, `
states: {h: {unit: m, initial: 2, derivative: v}, v: {unit: m/s, derivative: "-9.81 [m/s^2]"}}
discrete: {n: {type: integer}, odd: {type: boolean}}
outputs: {clock: {value: "floor(t / 1 [s]) + ramp(t)"}, bounces: {value: "mod(n, 3)"}}
tables: {ramp: {arguments: {t: {unit: s, points: [0, 1, 3]}}, values: [0, 2, 1], outside: clamp}}
events: [{when: h le 0 and v lt 0, then: v := -0.9 * v; n := n + 1; odd := not odd}]
`, `<ReactiveFallback><Condition name="late" on="clock ge 4 and bounces gt 0.5"/><Action name="wait"/></ReactiveFallback>`,
			"horizon: 6\nrecord: {interval: 1}\n"),
		"switches": equationsMission(t, `
states: {x: {derivative: "abs(sin(t / 1 [s])) * 1 [1/s]"}, y: {derivative: "if(x lt 5, 1, -1) * 1 [1/s]"}}
`, idle, "horizon: 20\nrecord: {interval: 1}\n"),
		"procedures": cartMission(t, `<ReactiveFallback>
			<ReactiveSequence><Condition ID="early" on="t lt 20 [s]"/>
				<Action ID="a" entry="v := 0.5" entry_time="4" exit="v := -1" exit_until="x le 0 [m]"/></ReactiveSequence>
			<Action ID="b" write="v := 2; gear := t / 1 [s]"/></ReactiveFallback>`, ""),
		"stopping": cartMission(t, away, "", "horizon=12"),
		"chattering": cartMission(t, `<ReactiveFallback>
			<ReactiveSequence><Condition ID="left" on="x lt 5 [m]"/><Action ID="right" write="v := 1"/></ReactiveSequence>
			<Action ID="back" write="v := -1"/></ReactiveFallback>`, "chattering: continue\n", "horizon=6"),
	}
	for name, m := range missions {
		want := takeOff(t, m, run.Continuous{})
		for i := range want.land(t) {
			if testing.Short() && i%3 > 0 {
				continue
			}
			for _, kill := range []bool{false, true} {
				got := resume(t, m, run.Continuous{}, i, kill)
				got.land(t)
				sameFiles(t, fmt.Sprintf("%s, %d steps, killed %v", name, i, kill), got, want)
			}
		}
	}
	configurations := append(run.Configurations(day, []float64{600}), tree.Inputs)
	points := 6
	if testing.Short() {
		points = 2
	}
	for k, c := range configurations {
		want := takeOff(t, day, c)
		n := want.land(t)
		for i := range points {
			at := n*i/points + k
			got := resume(t, day, c, at, i%2 == 0)
			got.land(t)
			sameFiles(t, fmt.Sprintf("%v, %d of %d steps", c, at, n), got, want)
		}
	}
}

// A log that does not reach to the point, or is of another run, is refused.
func TestResumeRefuses(t *testing.T) {
	m := solarDay(t)
	f := takeOff(t, m, run.Continuous{})
	header := f.Header()
	for range 3000 {
		if _, err := f.Step(); err != nil {
			t.Fatal(err)
		}
	}
	p, err := f.writer.Point()
	if err != nil {
		t.Fatal(err)
	}
	edited := bytes.ReplaceAll(f.files[1].Bytes(), []byte(","), []byte(";"))
	for name, spoil := range map[string]func(h *record.Header, e *record.Earlier){
		"run.mcap has": func(_ *record.Header, e *record.Earlier) {
			e.MCAP = bytes.NewReader(f.files[0].Bytes()[:f.files[0].Len()/2])
		},
		"another run":                             func(h *record.Header, _ *record.Earlier) { h.Horizon++ },
		"does not begin":                          func(_ *record.Header, e *record.Earlier) { e.MCAP = bytes.NewReader(nil) },
		"status.csv is not what the run wrote":    func(_ *record.Header, e *record.Earlier) { e.Status = bytes.NewReader(edited) },
		"signals.csv has 100 bytes, at the check": func(_ *record.Header, e *record.Earlier) { e.Signals = io.LimitReader(e.Signals, 100) },
	} {
		h, e := header, f.earlier()
		spoil(&h, &e)
		_, err := record.Resume(h, (&flight{}).into(), p, e)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
	saved := snapshot.Save(nil, f.Run)
	other := takeOff(t, m, run.Ticked{Period: 60})
	if err := snapshot.Load(saved, other.Run); !errors.Is(err, snapshot.ErrMismatch) {
		t.Errorf("the state of another configuration: %v", err)
	}
}

// resume saves a run after some steps, ends it, and continues from the saved state.
func resume(t *testing.T, m *mission.Mission, c run.Configuration, steps int, kill bool) *flight {
	t.Helper()
	f := takeOff(t, m, c)
	for range steps {
		if _, err := f.Step(); err != nil {
			t.Fatal(err)
		}
	}
	point, err := f.writer.Point()
	if err != nil {
		t.Fatal(err)
	}
	saved := snapshot.Save(nil, f.Run, &point)
	if kill { // somewhat later
		for range 300 {
			if _, err := f.Step(); err != nil {
				t.Fatal(err)
			}
		}
	} else {
		if err := f.Stop("interrupted"); err != nil {
			t.Fatal(err)
		}
		if err := f.writer.Close(f.Summary()); err != nil {
			t.Fatal(err)
		}
	}
	r, err := New(m, c, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	header := r.Header()
	var p record.Point
	if err := snapshot.Load(saved, r, &p); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(snapshot.Save(nil, r, &p), saved) {
		t.Fatal("what was restored is saved otherwise")
	}
	g := &flight{Run: r}
	if g.writer, err = record.Resume(header, g.into(), p, f.earlier()); err != nil {
		t.Fatal(err)
	}
	r.Attach(g.writer)
	return g
}

func sameFiles(t *testing.T, what string, got, want *flight) {
	t.Helper()
	for k, name := range []string{"run.mcap", "status.csv", "signals.csv"} {
		if a, b := got.files[k].Bytes(), want.files[k].Bytes(); !bytes.Equal(a, b) {
			t.Fatalf("%s: %s of %d bytes differs from that of %d bytes", what, name, len(a), len(b))
		}
	}
}
