package contract_test

import (
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// TestTables checks what readers of the tables rely on.
func TestTables(t *testing.T) {
	for _, c := range contract.Contracts() {
		seen := map[string]bool{}
		check := func(name, unit, text, typ string, values []string) {
			if !expr.IsName(name) || seen[name] {
				t.Errorf("%s: %q is no name, or occurs twice", c.Name, name)
			}
			seen[name] = true
			if _, err := expr.ParseUnit(unit); err != nil || text == "" {
				t.Errorf("%s.%s has unit %q and text %q", c.Name, name, unit, text)
			}
			if _, ok := expr.TypeNamed(typ); !ok || typ != contract.Real && unit != "1" {
				t.Errorf("%s.%s has type %q and unit %q", c.Name, name, typ, unit)
			}
			if (typ == contract.Enumeration) != (len(values) > 0) {
				t.Errorf("%s.%s has type %q and values %q", c.Name, name, typ, values)
			}
		}
		for i, s := range c.Signals {
			check(s.Name, s.Unit, s.Text, s.Type, s.Values)
			if !expr.IsName("known."+s.Source.String()) || c.Signal(s.Name) != i {
				t.Errorf("%s.%s has source %v and is found at %d", c.Name, s.Name, s.Source, c.Signal(s.Name))
			}
		}
		for i, s := range c.Slots {
			check(s.Name, s.Unit, s.Text, s.Type, s.Values)
			if s.Min >= s.Max || s.Default != 0 || c.Slot(s.Name) != i {
				t.Errorf("%s.%s has default %g within %g and %g", c.Name, s.Name, s.Default, s.Min, s.Max)
			}
		}
		mode, wanted := c.Signals[c.Signal("mode")], c.Slots[c.Slot("wanted_mode")]
		if !slices.Equal(mode.Values, wanted.Values) || c.Signal("wanted_mode") != -1 || c.Slot("mode") != -1 {
			t.Errorf("%s: the modes are %q, those wanted %q", c.Name, mode.Values, wanted.Values)
		}
		for _, v := range mode.Values {
			if seen[v] || !expr.IsName(v) {
				t.Errorf("%s: the mode %q is no name, or also that of a signal", c.Name, v)
			}
		}
	}
}
