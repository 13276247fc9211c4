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

// numbers unpacks float32s.
func numbers(packed []byte) (list []float32) {
	for i := 0; i < len(packed); i += 4 {
		list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(packed[i:])))
	}
	return list
}
