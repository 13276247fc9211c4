package simulated

import (
	"math"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// evaluation is a call of the vehicle's derivatives.
type evaluation struct {
	t           float64
	y, commands []float64
}

// witness passes calls on to a vehicle and keeps their arguments.
type witness struct {
	model.Instance
	calls *[]evaluation
}

func (w witness) Derivatives(t float64, y, commands, dydt []float64) {
	*w.calls = append(*w.calls, evaluation{t, slices.Clone(y), slices.Clone(commands)})
	w.Instance.Derivatives(t, y, commands, dydt)
}

// BenchmarkSolarDayEvaluations repeats the evaluations of the derivatives that the solar day takes, and nothing else:
// the limit of BenchmarkSolarDay with this integrator.
func BenchmarkSolarDayEvaluations(b *testing.B) {
	m := solarDay(b)
	var calls []evaluation
	plain, vehicle := m.Vehicle, *m.Vehicle
	vehicle.New = func(parameters []float64) (model.Instance, error) {
		v, err := plain.New(parameters)
		return witness{v, &calls}, err
	}
	m.Vehicle = &vehicle
	r, err := New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		b.Fatal(err)
	}
	r.Attach(&log{})
	if err := r.Fly(b.Context(), nil); err != nil {
		b.Fatal(err)
	}
	v, err := plain.New(m.Parameters)
	if err != nil {
		b.Fatal(err)
	}
	dydt := make([]float64, len(plain.States))
	for b.Loop() {
		for i := range calls {
			c := &calls[i]
			v.Derivatives(c.t, c.y, c.commands, dydt)
		}
	}
	b.ReportMetric(float64(len(calls)), "rhs/op")
}
