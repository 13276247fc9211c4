package mission

import (
	"fmt"
	"strconv"

	"github.com/canopy-uav/canopy/diag"
)

// Settings returns what a flight depends on, except the plan and the precision of the computation, by name: the
// vehicle with its parameters and initial states, the horizon, slots and computed signals. Numbers are in the unit that
// follows them, others in SI units.
func (m *Mission) Settings() map[string]string {
	all := map[string]string{"vehicle": m.Vehicle.Name, "horizon": diag.Number(m.Horizon, -1) + " s",
		"ends with plan": strconv.FormatBool(m.EndsWithPlan)}
	if m.Equations != nil {
		all["equations"] = m.Equations.Text
	}
	if m.FMU != nil {
		all["FMU"] = fmt.Sprintf("%s, %v, step %s s", m.FMU.Digest, m.FMU.Interface, diag.Number(m.FMU.Step, -1))
	}
	for i, p := range m.Vehicle.Parameters {
		all[p.Name] = diag.Number(m.Parameters[i], -1) + " " + p.Unit
	}
	for _, v := range m.initial {
		all["initial "+m.Vehicle.States[v.state].Name] = diag.Number(v.value, -1)
	}
	for i, o := range m.outages {
		all[fmt.Sprint("outage ", i+1)] = fmt.Sprintf("%s, from %s s to %s s", o.source, diag.Number(o.from, -1),
			diag.Number(o.to, -1))
	}
	if !m.Fence.Empty() {
		all["fence"] = m.Fence.Breach()
	}
	for i, r := range m.Rally {
		all[fmt.Sprint("rally point ", i+1)] = fmt.Sprintf("%s m north, %s m east, %s m high", diag.Number(r.North, -1),
			diag.Number(r.East, -1), diag.Number(r.H, -1))
	}
	for _, s := range m.slots {
		all[s.Name] = fmt.Sprintf("default %s, hold %t", diag.Number(s.Initial, -1), s.Hold)
	}
	for name, v := range m.Tables {
		all["table "+name] = fmt.Sprintf("%v at %v, clamp %t", v.Table.Values, v.Table.Axes, v.Table.Clamp)
	}
	for _, s := range m.signals {
		if s.kind == computed {
			all[s.name] = s.value.String()
		}
	}
	return all
}
