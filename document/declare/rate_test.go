package declare

import (
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr/interval"
)

// fixed is a Deriver of one rate.
type fixed struct {
	rate  Rate
	known bool
}

func (f fixed) Rate(_ bt.Task, _ string, _ map[string]interval.Interval) (Rate, bool) {
	return f.rate, f.known
}

func (fixed) Resets(string, map[string]interval.Interval) ([]interval.Interval, bool) {
	return nil, false
}

func (fixed) Missing(bt.Task, string) []string { return nil }

// TestRate: a derived rate narrows a declared one, unless they contradict each other.
func TestRate(t *testing.T) {
	declared := Rate{Low: 0, High: 2}
	for _, c := range []struct {
		derived fixed
		want    Rate
	}{
		{fixed{}, declared},
		{fixed{Rate{Low: 1, High: 1.5, From: Derived}, true}, Rate{Low: 1, High: 1.5, From: Derived}},
		{fixed{Rate{Low: 1, High: 5, From: Derived}, true}, Rate{Low: 1, High: 2}},
		{fixed{Rate{Low: 3, High: 5, From: Derived}, true}, declared},
	} {
		s := Subject{Declared: Declarations{Effects: Effects{0: {"x": declared}}}, Rates: c.derived}
		if got, ok := s.Rate(0, "x", nil); got != c.want || !ok {
			t.Errorf("%+v, want %+v", got, c.want)
		}
		if got, ok := s.Rate(1, "x", nil); got != c.derived.rate || ok != c.derived.known {
			t.Errorf("%+v %v without a declaration", got, ok)
		}
	}
	if _, ok := (&Subject{}).Rate(0, "x", nil); ok {
		t.Error("a rate of nothing")
	}
}
