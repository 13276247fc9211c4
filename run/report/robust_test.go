package report

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/run/monitor"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/temporal"
)

// TestRobustness: the page of a long run shows how robustly it has each property, with the verdict, the margin and the
// instants of canopy run, and no more points than are seen; of a run that was cut off, too.
func TestRobustness(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 1))
	h := record.Header{Mission: "m", Horizon: 1e5, Interval: 1, Signals: []record.Signal{{Name: "x"}, {Name: "on", Type: "boolean"}}}
	for n := range 6 {
		var w temporal.Watch
		for _, text := range []string{"always (x >= 0.0005)", "never (x >= 2)", "eventually (x >= 0.9995)", "on before (x < 0)"} {
			p, mistakes := temporal.Read(text, nil, monitor.Scope(&h))
			if len(mistakes) > 0 {
				t.Fatal(mistakes)
			}
			w.Assertions = append(w.Assertions, temporal.Assertion{Text: p.Text, Formula: p.Formula})
		}
		g, m := NewGatherer(&h), monitor.New(&h, w)
		samples := []int{3, 500, 20_000}[n%3]
		for i := range samples {
			row := []float64{r.Float64(), 0}
			must(t, record.Tee{g, m}.Sample(float64(i), row))
		}
		end := record.End{Told: float64(samples - 1)}
		rows, err := m.Judge(&end)
		must(t, err)
		if n < 3 {
			end.Summary = &record.Summary{Outcome: record.Complete, Ended: end.Told}
			if rows, err = m.Judge(&end); err != nil {
				t.Fatal(err)
			}
			end.Summary.Take(rows)
		}
		d := g.Digest(end)
		d.Judge(m)
		page := d.page()
		if len(page.Properties) != len(rows) || len(page.Verdicts.Rows) != len(rows) {
			t.Fatalf("%d properties, %d verdicts", len(page.Properties), len(page.Verdicts.Rows))
		}
		for i, p := range page.Properties {
			row, text := rows[i], fmt.Sprintf("%d samples: %+v", samples, page.Verdicts.Rows[i])
			values := numbers(p.Values)
			if p.Text != row.Property || p.Verdict != row.Verdict || p.Always != (i < 2) || len(values) > 2*mostRobust ||
				len(p.Time) != 8*len(values) {
				t.Fatalf("%s: %d points of %+v", text, len(values), p)
			}
			if (p.At == nil) != (row.At == nil) || p.At != nil && *p.At != *row.At || (p.Decided == nil) != (row.Verdict == record.PropertyOpen) {
				t.Errorf("%s: at %v, decided at %v", text, p.At, p.Decided)
			}
			if p.Decided != nil && page.Verdicts.Rows[i][4] != Clock(*p.Decided) {
				t.Errorf("%s: decided at %g", text, *p.Decided)
			}
			if row.Margin == nil || n >= 3 {
				continue
			}
			margin := values[0]
			if p.Always {
				margin = slices.Min(values)
			} else if strings.HasPrefix(p.Text, "eventually") {
				margin = slices.Max(values)
			}
			if margin != float32(*row.Margin) {
				t.Errorf("%s: the signal has the margin %g", text, margin)
			}
		}
	}
}

// TestLink: however long a flight is, no frame is left out of the quality of its link, and the page has few points.
func TestLink(t *testing.T) {
	for _, readings := range []int{1, 3, 50, mostHeard + 3, 5 * mostHeard} {
		g := NewGatherer(&record.Header{Date: 1})
		var received, missing int
		for i := range readings {
			text := fmt.Sprintf(`{"t":%d,"wall":%d,"unix":1,"received":%d,"missing":%d}`, i+1, int64(i+1)*2e9, i%50, i%3)
			must(t, g.Message(record.Clocks, []byte(text)))
			must(t, g.Message(record.Incoming, []byte(text)))
			if i > 0 { // the first one is the beginning of the second one
				received, missing = received+i%50, missing+i%3
			}
		}
		must(t, g.Message(record.Clocks, []byte(`{"t":1e9,"wall":1e18,"unix":1}`))) // of an earlier version
		d := g.Digest(record.End{Told: float64(readings)}).page()
		if readings == 1 {
			if len(d.Signals) > 0 {
				t.Error("there is a link without a second reading")
			}
			continue
		}
		if !d.Flight || len(d.Signals) != 2 || len(d.Plots) != 1 || len(d.Signals[0].Values) > 4*(mostHeard+2) {
			t.Fatalf("%d readings: %d signals, %d plots", readings, len(d.Signals), len(d.Plots))
		}
		got := [2]float64{}
		for i := range got {
			for k, v := range numbers(d.Signals[i].Values) {
				got[i] += float64(v) * g.link[k].seconds
			}
		}
		if math.Abs(got[0]/float64(received)-1) > 1e-4 || math.Abs(got[1]-float64(missing)) > 0.1 {
			t.Errorf("%d readings: %v frames of %d and %d", readings, got, received, missing)
		}
	}
}

// numbers unpacks float32s.
func numbers(packed []byte) (list []float32) {
	for i := 0; i < len(packed); i += 4 {
		list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(packed[i:])))
	}
	return list
}
