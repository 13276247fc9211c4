package record

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

// small is a header with names that need quoting everywhere.
func small() Header {
	return Header{
		Mission: "a \"hard\" <name>", Text: "text", Plan: "plan.xml", Vehicle: "v",
		Horizon: 100, Method: "auto", RelTol: 1e-6, Interval: 60,
		Tasks: []Task{
			{Name: "sun, high", Kind: "Condition", Parent: 2, Detail: "soc >= 0.9", Initial: bt.Failure},
			{Name: "climb", Kind: "Action", Parent: 2, Initial: bt.Accept},
			{Name: "root \"r\"", Kind: "ReactiveSequence", Parent: -1, Initial: bt.Failure},
		},
		Signals:    []Signal{{Name: "h", Unit: "m", Text: "altitude"}, {Name: "soc", Text: "state of charge"}, {Name: "P,x", Unit: "W"}},
		Plots:      []Plot{{"Altitude", []string{"h"}}},
		Parameters: []Parameter{{"mass", "kg", 110, 100, "A", "all-up mass"}},
		Attachments: []Attachment{
			{"plan.xml", "application/xml", []byte("<root/>")},
			{"mission.yaml", "application/yaml", []byte("plan: plan.xml\n")},
		},
	}
}

// files are the destinations of one run in memory.
type files struct{ mcap, status, signals bytes.Buffer }

func (f *files) destinations() Files {
	return Files{MCAP: &f.mcap, Status: &f.status, Signals: &f.signals}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var third = 1.0 / 3

// fly records a short run: a step of P,x at 27.5 s, seen from both sides.
func fly(t *testing.T, h Header, f Files) {
	t.Helper()
	w, err := NewWriter(h, f)
	must(t, err)
	must(t, w.Status(0, 1, bt.Change{Task: 0, From: bt.Failure, To: bt.Success, Iteration: 1}))
	must(t, w.Sample(0, []float64{6000, 0.3, 0}))
	must(t, w.Sample(27.5, []float64{6000.125, third, math.Copysign(0, -1)}))
	must(t, w.Event(Event{T: 27.5, Kind: KindState, Text: "soc >= 0.9 and <more>", Relation: "soc >= 0.9", Holds: true}))
	must(t, w.Status(27.5, 1, bt.Change{Task: 2, From: bt.Failure, To: bt.Accept, Iteration: 1}))
	must(t, w.Status(27.5, 2, bt.Change{Task: 1, From: bt.Accept, To: bt.Activating, Iteration: 2}))
	must(t, w.Sample(27.5, []float64{6000.125, third, 1e21}))
	must(t, w.Status(60+third, 12, bt.Change{Task: 1, From: bt.Activating, To: bt.Running, Iteration: 3}))
	must(t, w.Sample(60, []float64{math.NaN(), math.Inf(1), -2.5e-7}))
	must(t, w.Close(Summary{CPU: 1.5, Steps: 7, Ended: 61, Outcome: Complete, Reason: "horizon reached"}))
}

// TestGoldenCSV holds the text of both CSV files: quoting, decimals, number form, both sides of an event.
func TestGoldenCSV(t *testing.T) {
	var f files
	fly(t, small(), f.destinations())
	for name, got := range map[string][]byte{"status.csv": f.status.Bytes(), "signals.csv": f.signals.Bytes()} {
		path := filepath.Join("testdata", name)
		if *rewrite {
			must(t, os.WriteFile(path, got, 0o644))
		}
		want, err := os.ReadFile(path)
		must(t, err)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if _, err := csv.NewReader(bytes.NewReader(got)).ReadAll(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRead(t *testing.T) {
	var f files
	fly(t, small(), f.destinations())
	if bytes.Contains(f.mcap.Bytes(), []byte("cpu_s")) {
		t.Error("run.mcap contains the CPU time, which no two runs share")
	}
	log, err := read(bytes.NewReader(f.mcap.Bytes()))
	must(t, err)
	if diff := cmp.Diff(small(), *log.Header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
	if want := []float64{0, 27.5, 27.5, 60}; !cmp.Equal(want, log.T) {
		t.Errorf("T = %v, want %v", log.T, want)
	}
	if want := []float64{0.3, third, third, math.NaN()}; !cmp.Equal(want, log.Signal("soc"), cmpopts.EquateNaNs()) {
		t.Errorf("soc = %v, want %v", log.Signal("soc"), want)
	}
	if log.Signal("nothing") != nil {
		t.Error("a signal that was not recorded has values")
	}
	if got := log.Changes[3]; got.T != 60+third || got.Micro != 12 || got.To != bt.Running {
		t.Errorf("last change = %v", got)
	}
	if want := (&Summary{Steps: 7, Ended: 61, Outcome: Complete, Reason: "horizon reached"}); !cmp.Equal(want, log.Summary) {
		t.Errorf("summary = %+v, want %+v", log.Summary, want)
	}
}

// TestRoundTrip reads back what random runs recorded.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := randomHeader(t)
		var f files
		w, err := NewWriter(h, f.destinations())
		if err != nil {
			t.Fatal(err)
		}
		want := &Log{Header: &h, Values: make([][]float64, len(h.Signals))}
		now := 0.0
		number := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, math.NaN(), 1e-7, 123456789, 5e-324}))
		status := rapid.Custom(func(t *rapid.T) bt.Status { return bt.Status(rapid.IntRange(0, 7).Draw(t, "status")) })
		for range rapid.IntRange(0, 40).Draw(t, "records") {
			now += rapid.Float64Range(0, 1e3).Draw(t, "dt")
			switch rapid.IntRange(0, 2).Draw(t, "record") {
			case 0:
				row := make([]float64, len(h.Signals))
				for i := range row {
					row[i] = number.Draw(t, "value")
					want.Values[i] = append(want.Values[i], row[i])
				}
				want.T = append(want.T, now)
				err = w.Sample(now, row)
			case 1:
				if len(h.Tasks) == 0 {
					continue
				}
				micro := rapid.IntRange(1, 1000).Draw(t, "micro")
				task := bt.Task(rapid.IntRange(0, len(h.Tasks)-1).Draw(t, "task"))
				from, to := status.Draw(t, "from"), status.Draw(t, "to")
				c := bt.Change{Task: task, From: from, To: to, Iteration: int32(micro)}
				want.Changes = append(want.Changes, Change{now, micro, c})
				err = w.Status(now, micro, c)
			default:
				e := Event{T: now, Micro: rapid.IntRange(0, 9).Draw(t, "micro"), Kind: rapid.SampledFrom([]string{
					KindState, KindTouch, KindRange}).Draw(t, "kind"), Text: rapid.String().Draw(t, "text")}
				if e.Kind != KindRange {
					e.Relation, e.Holds = "a >= "+rapid.String().Draw(t, "relation"), rapid.Bool().Draw(t, "holds")
				}
				if rapid.Bool().Draw(t, "observed later") {
					e.Since(now - 0.125)
				}
				want.Events = append(want.Events, e)
				err = w.Event(e)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		want.Summary = &Summary{Steps: 3, Ended: now, Outcome: Interrupted, Reason: "why"}
		if err := w.Close(*want.Summary); err != nil {
			t.Fatal(err)
		}
		got, err := read(bytes.NewReader(f.mcap.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		want.Told = now
		if diff := cmp.Diff(want, got, cmpopts.EquateNaNs(), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-written +read):\n%s", diff)
		}
	})
}

func randomHeader(t *rapid.T) Header {
	names := rapid.SliceOfNDistinct(rapid.StringN(0, 12, -1), 0, 5, rapid.ID)
	h := Header{Mission: rapid.String().Draw(t, "mission"), Horizon: 86400, RelTol: 1e-6, Interval: 60}
	for _, name := range names.Filter(func(s []string) bool { return !strings.Contains(fmt.Sprintf("%q", s), `"t"`) }).
		Draw(t, "signals") {
		h.Signals = append(h.Signals, Signal{Name: name, Unit: "m", Text: "text"})
	}
	tasks := names.Draw(t, "tasks")
	for i, name := range tasks {
		parent := -1
		if i+1 < len(tasks) {
			parent = rapid.IntRange(i+1, len(tasks)-1).Draw(t, "parent")
		}
		h.Tasks = append(h.Tasks, Task{Name: name, Kind: "Action", Parent: parent, Initial: bt.Status(i)})
	}
	return h
}

// long records samples and status changes for several chunks, and returns the content of run.mcap when it grew.
func long(t *testing.T, h Header, f *files) (written []progress) {
	t.Helper()
	w, err := NewWriter(h, f.destinations())
	must(t, err)
	written = append(written, progress{size: f.mcap.Len()})
	for i := range 3000 {
		must(t, w.Sample(float64(i), []float64{float64(i), third, 0}))
		must(t, w.Status(float64(i), 1, bt.Change{Task: 1, From: bt.Accept, To: bt.Activating}))
		if f.mcap.Len() > written[len(written)-1].size {
			lines := func(file *bytes.Buffer) int { return bytes.Count(file.Bytes(), []byte{'\n'}) - 1 }
			written = append(written, progress{f.mcap.Len(), i + 1, min(lines(&f.status), lines(&f.signals))})
		}
	}
	must(t, w.Close(Summary{}))
	return written
}

type progress struct{ size, samples, changes int }

// TestCutOff cuts a log at many sizes: Read returns every whole chunk before the cut, never more than was recorded,
// and an error only before the header is out. The CSV files are out as far as run.mcap.
func TestCutOff(t *testing.T) {
	h := small()
	h.Attachments = nil
	var f files
	written := long(t, h, &f)
	if n := len(written); n < 6 {
		t.Fatalf("run.mcap grew only %d times", n)
	}
	all := f.mcap.Bytes()
	step := 499
	if testing.Short() {
		step = 9973
	}
	var sizes []int
	for size := 0; size < len(all); size += step {
		sizes = append(sizes, size)
	}
	for _, p := range written {
		sizes = append(sizes, p.size-1, p.size)
	}
	for _, size := range sizes {
		log, err := read(bytes.NewReader(all[:size]))
		if size < written[0].size && err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatalf("cut at %d: %v", size, err)
			}
			continue
		}
		if err != nil || log.Damage != nil && log.Summary == nil {
			t.Fatalf("cut at %d of %d: %v, %v", size, len(all), err, log.Damage)
		}
		if log.Missing() == "" {
			t.Fatalf("cut at %d of %d: the log passes for whole", size, len(all))
		}
		var least progress
		for _, p := range written {
			if p.size <= size {
				least = p
			}
		}
		if len(log.T) < least.samples || len(log.Changes) < least.changes || len(log.T) > 3000 {
			t.Fatalf("cut at %d: %d samples, %d changes, written: %+v", size, len(log.T), len(log.Changes), least)
		}
		for i, v := range log.Signal("h") {
			if v != float64(i) {
				t.Fatalf("cut at %d: sample %d is %g", size, i, v)
			}
		}
	}
	for _, p := range written[1:] {
		if p.changes < p.samples-1 {
			t.Errorf("with %d samples in run.mcap, the other files have %d lines", p.samples, p.changes)
		}
	}
}

// TestDamage: a chunk that is damaged, or missing from the middle, costs itself and what follows, not what came before.
func TestDamage(t *testing.T) {
	var f files
	written := long(t, small(), &f)
	all := f.mcap.Bytes()
	damaged := bytes.Clone(all)
	damaged[(written[3].size+written[4].size)/2] ^= 1
	for _, data := range [][]byte{damaged, slices.Delete(bytes.Clone(all), written[3].size, written[4].size)} {
		log, err := read(bytes.NewReader(data))
		must(t, err)
		if len(log.T) < written[3].samples || len(log.T) > written[4].samples || log.Told > float64(written[4].samples) {
			t.Errorf("%d samples, told up to %g s, want those of the first chunks: %+v", len(log.T), log.Told, written)
		}
		if !errors.Is(log.Damage, ErrFormat) || log.Summary != nil {
			t.Errorf("damage %v, summary %+v", log.Damage, log.Summary)
		}
	}
}

// TestDamageAnywhere: wherever a bit of a log is turned, or the log is cut off, it does not pass for whole, and all that
// is read of it is what was written.
func TestDamageAnywhere(t *testing.T) {
	var f files
	fly(t, small(), f.destinations())
	all := f.mcap.Bytes()
	want, err := read(bytes.NewReader(all))
	must(t, err)
	if want.Missing() != "" {
		t.Fatalf("the whole log: %s", want.Missing())
	}
	step := 1
	if testing.Short() {
		step = 7
	}
	damaged := func(data []byte, what string, at int) {
		got, err := read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if got.Missing() == "" {
			t.Fatalf("%s %d of %d bytes: the log passes for whole", what, at, len(all))
		}
		if n := len(got.T); n > len(want.T) || !slices.Equal(got.T, want.T[:n]) {
			t.Fatalf("%s %d: samples at %v", what, at, got.T)
		}
	}
	for i := 0; i < 8*len(all); i += step {
		data := bytes.Clone(all)
		data[i/8] ^= 1 << (i % 8)
		damaged(data, "bit", i)
	}
	for i := 0; i < len(all); i += step {
		damaged(all[:i], "cut off after", i)
	}
}

func TestReadRefuses(t *testing.T) {
	var f files
	fly(t, small(), f.destinations())
	damaged := bytes.Replace(f.mcap.Bytes(), []byte(`"vehicle":"v"`), []byte(`"vehicle":"w"`), 1)
	for name, data := range map[string][]byte{"empty": nil, "text": []byte("t,micro,task\n"), "damaged": damaged} {
		if _, err := read(bytes.NewReader(data)); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v, want ErrFormat", name, err)
		}
	}
}

// read reads a whole log into memory.
func read(r io.ReadSeeker) (*Log, error) {
	l := &Log{}
	var err error
	if l.End, err = Play(r, l.Begin); err != nil {
		return nil, err
	}
	return l, nil
}

// full is a disk with room for a given number of bytes.
type full struct {
	left    int
	refused bool
}

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.left)
	f.left -= n
	if n < len(p) {
		f.refused = true
		return n, errFull
	}
	return n, nil
}

// TestFullDisk lets each file fail after any number of bytes: the error names the file, reaches the caller not
// later than with Close, and sticks.
func TestFullDisk(t *testing.T) {
	var f files
	long(t, small(), &f)
	sizes := map[string]int{"run.mcap": f.mcap.Len(), "status.csv": f.status.Len(), "signals.csv": f.signals.Len()}
	for name, size := range sizes {
		for left := 0; left < size; left += 1 + size/50 {
			disk := &full{left: left}
			to := Files{MCAP: io.Discard, Status: io.Discard, Signals: io.Discard}
			switch name {
			case "run.mcap":
				to.MCAP = disk
			case "status.csv":
				to.Status = disk
			case "signals.csv":
				to.Signals = disk
			}
			w, err := NewWriter(small(), to)
			if err == nil {
				row := []float64{1, 2, 3}
				for i := range 1500 {
					_ = w.Sample(float64(i), row)
					_ = w.Status(float64(i), 1, bt.Change{})
				}
				first := w.Event(Event{})
				later := []error{w.Sample(2, row), w.Status(2, 1, bt.Change{}), w.Event(Event{})}
				for _, again := range later {
					if first != nil && again != first { //nolint:errorlint // the very same error is asked for
						t.Fatalf("%s: %v after %v", name, again, first)
					}
				}
				err = w.Close(Summary{})
				if first != nil && err != first { //nolint:errorlint // the very same error is asked for
					t.Fatalf("%s: Close returned %v, the first error was %v", name, err, first)
				}
			}
			if !disk.refused {
				must(t, err) // this shorter run fits
				continue
			}
			if !errors.Is(err, errFull) || !strings.Contains(err.Error(), name) {
				t.Fatalf("%s after %d bytes: %v", name, left, err)
			}
		}
	}
}

func TestFilesMayBeLeftOut(t *testing.T) {
	var f files
	fly(t, small(), Files{Status: &f.status})
	if !strings.HasPrefix(f.status.String(), "t,micro,task,from,to\n0.000000000,1,") {
		t.Errorf("status.csv begins with %.60q", f.status.String())
	}
	fly(t, small(), Files{})
}

func TestHeaderRefused(t *testing.T) {
	twoSignals, signalT, twoTasks, order, infinite, early := small(), small(), small(), small(), small(), small()
	late := small()
	late.Horizon = 1e10
	order.Tasks[1].Parent = 0
	twoSignals.Signals[1].Name = "h"
	signalT.Signals[0].Name = "t"
	twoTasks.Tasks[0].Name = "climb"
	infinite.Horizon = math.Inf(1)
	early.Start = -1
	for _, h := range []Header{twoSignals, signalT, twoTasks, order, infinite, early, late} {
		if _, err := NewWriter(h, Files{MCAP: io.Discard}); !errors.Is(err, ErrHeader) {
			t.Errorf("%v, want ErrHeader", err)
		}
	}
	const want = "the horizon: a simulated time of 1e+10 s is not between 0 and 9.2e9 s"
	if _, err := NewWriter(late, Files{MCAP: io.Discard}); !strings.Contains(err.Error(), want) {
		t.Errorf("%v does not say %q", err, want)
	}
}

func TestMisusePanics(t *testing.T) {
	w, err := NewWriter(small(), Files{})
	must(t, err)
	for name, call := range map[string]func(){
		"values": func() { _ = w.Sample(0, []float64{1}) },
		"task":   func() { _ = w.Status(0, 1, bt.Change{Task: 3}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if text, _ := recover().(string); !strings.HasPrefix(text, "record: ") {
					t.Errorf("recovered %q", text)
				}
			}()
			call()
		})
	}
}

// TestTimeOutOfRange: a time that MCAP cannot store is an error, not a wrong time.
func TestTimeOutOfRange(t *testing.T) {
	for _, at := range []float64{-1e-3, math.NaN(), math.Inf(1), 1e10} {
		w, err := NewWriter(small(), Files{MCAP: io.Discard})
		must(t, err)
		if err := w.Sample(at, []float64{0, 0, 0}); err == nil {
			t.Errorf("a sample at %g s was recorded", at)
		}
	}
}

// TestClock: different times are different numbers in their order, each exact to less than 1e-9 s; those that nine
// decimals keep apart have nine.
func TestClock(t *testing.T) {
	for _, c := range []struct {
		times []float64
		want  string
	}{
		{[]float64{0, 0, 1, 1.5, 86400.1234567891}, "0.000000000 0.000000000 1.000000000 1.500000000 86400.123456789"},
		{[]float64{1, 1 + 0x1p-40, 1 + 0x1p-39, 2}, "1.000000000 1.000000000001 1.000000000002 2.000000000"},
		{[]float64{1.0000000006, 1.0000000008, 1.000000001, 1.0000000011, 1.0000000012},
			"1.000000001 1.0000000011 1.00000000111 1.000000001111 1.0000000012"},
	} {
		var clock clock
		var got []string
		for _, v := range c.times {
			got = append(got, string(clock.write(v)))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("%v: %s, want %s", c.times, text, c.want)
		}
	}
}

// TestClockIsBounded: as many instants as numbers, or few more apart, from a time that is rounded up on: their texts stay
// short, and each is a later number, exact to 1e-9 s.
func TestClockIsBounded(t *testing.T) {
	steps := []float64{0, 1e-13, 3e-10, 7e-10, 2e-9, 1}
	for k, first := range []float64{0, 1e-30, 6e-10, 1 - 0x1p-33, 1.0000000006, 20.387359844, 8589934591.6, 0, 12345.678, 9e9} {
		var clock clock
		r, before := rand.New(rand.NewPCG(3, uint64(k))), -1.0
		for n, v := 0, first; n < 20_000; n++ {
			text := string(clock.write(v))
			got, err := strconv.ParseFloat(text, 64)
			if err != nil || got <= before || math.Abs(got-v) > 1e-9 || len(text) > 52 {
				t.Fatalf("%v, %d numbers after %v, is written as %s after %v", v, n, first, text, before)
			}
			before = got
			if v = math.Nextafter(v, math.Inf(1)); k > 6 {
				v += steps[r.IntN(len(steps))]
			}
		}
	}
}

// Texts and numbers are written as encoding/json writes them, also if a number is written again.
func TestJSONWithoutReflection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]*`)).Draw(t, "text")
		if want, got := string(quote(text)), string(appendText(nil, text)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		var m memo
		number := rapid.Float64().Draw(t, "number")
		small := math.Ldexp(number, -rapid.IntRange(0, 60).Draw(t, "exponent"))
		for _, v := range []float64{0, math.Copysign(0, -1), 0, number, small, math.NaN(), math.Inf(-1), 1} {
			want, err := json.Marshal(v)
			if err != nil {
				want = []byte("null")
			}
			for range 2 {
				if got := appendJSON(nil, m.text(v)); string(got) != string(want) {
					t.Errorf("%s, want %s", got, want)
				}
			}
		}
	})
}

// FuzzRead: for any bytes, Read returns a log or an error.
func FuzzRead(f *testing.F) {
	var whole files
	w, err := NewWriter(small(), whole.destinations())
	if err != nil {
		f.Fatal(err)
	}
	err = errors.Join(w.Sample(1, []float64{1, 2, 3}), w.Status(1, 1, bt.Change{}), w.Close(Summary{}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole.mcap.Bytes())
	f.Add(whole.mcap.Bytes()[:whole.mcap.Len()/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := read(bytes.NewReader(data))
		if (log == nil) == (err == nil) {
			t.Fatalf("log %v, error %v", log, err)
		}
		if err == nil && len(log.Values) != len(log.Signals) {
			t.Fatal("not one column per signal")
		}
	})
}

func BenchmarkSample(b *testing.B) {
	h := small()
	h.Signals = nil
	row := make([]float64, 100)
	for i := range row {
		h.Signals = append(h.Signals, Signal{Name: fmt.Sprintf("signal%02d", i), Unit: "m"})
		row[i] = math.Sqrt(float64(i))
	}
	w, err := NewWriter(h, Files{MCAP: io.Discard, Status: io.Discard, Signals: io.Discard})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if err := w.Sample(float64(i), row); err != nil {
			b.Fatal(err)
		}
	}
}
