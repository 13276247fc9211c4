package equations

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/earth"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// row is what a contract and a vehicle both say of a signal or a slot.
type row struct {
	name, unit, text, typ string
	values                string
}

func typed(v *model.Vehicle, x model.Variable) row {
	r := row{x.Name, x.Unit, x.Text, contract.Real, ""}
	if values, ok := v.Typed[x.Name]; ok {
		if r.typ = contract.Boolean; values != nil {
			r.typ, r.values = contract.Enumeration, strings.Join(values, " ")
		}
	}
	return r
}

// TestContracts: a simulated vehicle offers exactly the signals and the slots of its contract, beside its own.
func TestContracts(t *testing.T) {
	for _, c := range contract.Contracts() {
		v := simulated(c, round, payload)
		var signals, slots, wantedSignals, wantedSlots []row
		offer := func(x model.Variable) {
			if !strings.HasPrefix(x.Name, "sim.") {
				signals = append(signals, typed(v, x))
			}
		}
		for _, s := range v.States {
			offer(s.Variable)
		}
		for _, o := range v.Outputs {
			offer(o.Variable)
		}
		for _, s := range c.Signals {
			wantedSignals = append(wantedSignals, row{s.Name, s.Unit, s.Text, s.Type, strings.Join(s.Values, " ")})
		}
		for _, x := range v.Commands {
			slots = append(slots, typed(v, x.Variable))
			if x.Default != 0 || !x.Hold {
				t.Errorf("%s.%s has default %g and does not hold its value", c.Name, x.Name, x.Default)
			}
			s := c.Slots[max(0, c.Slot(x.Name))]
			if low, high := x.Range.Bounds(); low > s.Min || low < s.Min && low != 0 || high != s.Max {
				t.Errorf("%s.%s has range %v, in the contract %g to %g", c.Name, x.Name, x.Range, s.Min, s.Max)
			}
		}
		for _, s := range c.Slots {
			wantedSlots = append(wantedSlots, row{s.Name, s.Unit, s.Text, s.Type, strings.Join(s.Values, " ")})
		}
		compare := func(what string, got, want []row) {
			less := func(a, b row) int { return strings.Compare(a.name, b.name) }
			slices.SortFunc(got, less)
			slices.SortFunc(want, less)
			if !slices.Equal(got, want) {
				for _, r := range got {
					if !slices.Contains(want, r) {
						t.Errorf("%s: the vehicle has the %s %+v", c.Name, what, r)
					}
				}
				for _, r := range want {
					if !slices.Contains(got, r) {
						t.Errorf("%s: the contract has the %s %+v", c.Name, what, r)
					}
				}
			}
		}
		compare("signal", signals, wantedSignals)
		compare("slot", slots, wantedSlots)
	}
}

// TestPosition: latitude and longitude are those of the plane that touches the ellipsoid at home.
func TestPosition(t *testing.T) {
	for _, c := range contract.Contracts() {
		v := simulated(c, round, payload)
		x, err := v.New(v.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		place := func(name string) int {
			return slices.IndexFunc(v.Outputs, func(o model.Output) bool { return o.Name == name })
		}
		y, out := make([]float64, len(v.States)), make([]float64, len(v.Outputs))
		x.Initial(y)
		for i, s := range v.States {
			switch s.Name {
			case "north":
				y[i] = 1234
			case "east":
				y[i] = -567
			}
		}
		x.Outputs(0, y, make([]float64, len(v.Commands)), out)
		p := earth.NewPlane(earth.Position{Lat: 48.08, Lon: 11.28})
		north, east := p.Local(earth.Position{Lat: out[place("lat")] * 180 / math.Pi, Lon: out[place("lon")] * 180 / math.Pi})
		if math.Abs(north-1234) > 1e-6 || math.Abs(east+567) > 1e-6 {
			t.Errorf("%s is at %v, %v", c.Name, north, east)
		}
	}
}
