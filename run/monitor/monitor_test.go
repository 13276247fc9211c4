package monitor

import (
	"errors"
	"slices"
	"testing"

	"canopy/bt"
	"canopy/run/record"
	"canopy/temporal"
)

// A trace has both sides of each change, whether the log has a sample there, two or none; what is undone at one time is
// not seen, nor how a run that failed is stopped.
func TestTrace(t *testing.T) {
	change := func(at float64, to bt.Status) record.Change {
		return record.Change{T: at, Change: bt.Change{Task: 0, To: to}}
	}
	header := record.Header{Tasks: []record.Task{{Name: "a", Kind: "Action", Initial: bt.Accept}, {Name: "b"}},
		Signals: []record.Signal{{Name: "y"}, {Name: "x"}}}
	property, mistakes := temporal.Read("always (a -> x > 1)", []string{"a"}, nil)
	if mistakes != nil {
		t.Fatal(mistakes)
	}
	m := New(&header, []*temporal.Property{property})
	changes := []record.Change{change(0, bt.Activating), change(1, bt.Accept), change(2, bt.Running), change(4, bt.Accept),
		change(5, bt.Running), change(5, bt.Accept), change(8, bt.Running), change(9, bt.Accept)}
	x := []float64{0, 2, 4, 10, 12, 14}
	for i, at := range []float64{0, 2, 4, 4, 6, 8} {
		for len(changes) > 0 && (changes[0].T < at || changes[0].T == at && (i == 0 || x[i] == 10)) {
			_ = m.Status(changes[0].T, 1, changes[0].Change)
			changes = changes[1:]
		}
		if err := m.Sample(at, []float64{-1, x[i]}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range changes {
		_ = m.Status(c.T, 1, c.Change)
	}
	end := record.End{Told: 9, Summary: &record.Summary{Outcome: record.Failed, Ended: 9}}
	if _, err := m.Judge(&end); err != nil {
		t.Fatal(err)
	}
	tr := m.trace
	wantT := []float64{0, 1, 1, 2, 2, 4, 4, 5, 5, 6, 8, 8}
	wantX := []float64{0, 1, 1, 2, 2, 4, 10, 11, 11, 12, 14, 14}
	wantA := []bool{true, true, false, false, true, true, false, false, false, false, false, true}
	if !slices.Equal(tr.T, wantT) || !slices.Equal(tr.Signals["x"], wantX) || !slices.Equal(tr.Tasks["a"], wantA) {
		t.Errorf("%v\n%v\n%v", tr.T, tr.Signals["x"], tr.Tasks["a"])
	}
}

// A run of which more would have to be kept than fits is refused, at the time it was too long.
func TestLong(t *testing.T) {
	property, _ := temporal.Read("always (x > -1)", nil, nil)
	m := New(&record.Header{Signals: []record.Signal{{Name: "x"}}}, []*temporal.Property{property})
	m.most = 100
	var err error
	n := 0
	for ; err == nil; n++ {
		err = m.Sample(float64(n), []float64{0})
	}
	if !errors.Is(err, ErrLong) || n < 50 || n > 60 {
		t.Errorf("%d samples: %v", n, err)
	}
}
