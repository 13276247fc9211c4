package mission

import (
	"fmt"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/equations"
	"github.com/canopy-uav/canopy/vehicle/fmu"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// vehicle finds the vehicle that the mission names: a built-in one, one in a file of equations, or an FMU.
func (b *builder) vehicle(n *yamldoc.Node, vehicles []model.Offer, open func(string) ([]byte, error)) bool {
	if n.Kind == yamldoc.Mapping || fmu.IsFile(n.Value) {
		return b.fmu(n, open)
	}
	name := b.Text(n, "vehicle")
	if equations.IsFile(name) {
		src := b.beside(n, "vehicle", open)
		if src == nil {
			return false
		}
		v, diags := equations.Read(src)
		b.Diags = append(b.Diags, diags...)
		if v == nil {
			return false
		}
		b.m.Equations = src
		vehicles, name = model.Offers(v), v.Name
	}
	names := make([]string, len(vehicles))
	for i, offer := range vehicles {
		if names[i] = offer.Name; offer.Name == name {
			v := offer.Make()
			b.m.Vehicle, b.m.Parameters, b.offer = v, v.Defaults(), offer
			return true
		}
	}
	if name == "" {
		return false
	}
	hint := diag.DidYouMean(name, names)
	if hint == "" {
		hint = knownVehicles(vehicles)
	}
	b.Add(n, "unknown-vehicle", hint, "there is no vehicle %q", name)
	return false
}

// fmu reads the FMU that is the vehicle. It is code for the processor: the mission has the digest of the one that may
// run.
func (b *builder) fmu(n *yamldoc.Node, open func(string) ([]byte, error)) bool {
	file, by, step := n, fmu.Any, 0.0
	var digest *yamldoc.Node
	trusted := ""
	if n.Kind == yamldoc.Mapping {
		file = nil
		b.Fields(n, "the vehicle", yamldoc.Keys{
			"fmu":       func(n *yamldoc.Node) { file = n },
			"sha256":    func(n *yamldoc.Node) { digest, trusted = n, b.Text(n, "sha256") },
			"interface": func(n *yamldoc.Node) { by = choice(b, n, "interface", fmu.ModelExchange, fmu.CoSimulation) },
			"step": func(n *yamldoc.Node) {
				step = b.Bounded(n, expr.Second, "step", func(v float64) bool { return v >= 1e-6 }, "be at least 1e-6 s", "")
			},
		})
		if file == nil {
			b.Add(n, "missing-key", "fmu: aircraft.fmu", "the vehicle has no `fmu`")
			return false
		}
	}
	src := b.beside(file, "fmu", open)
	if src == nil {
		return false
	}
	u, err := fmu.Read([]byte(src.Text), by, step)
	if err != nil {
		b.Add(file, "wrong-fmu", "", "%s cannot be a vehicle: %v", file.Value, err)
		return false
	}
	line := fmt.Sprintf("an FMU is native code; if you trust this one, write vehicle: {fmu: %s, sha256: %s}", file.Value,
		u.Digest)
	switch {
	case digest == nil:
		b.Add(n, "untrusted-fmu", line, "the mission does not say which FMU may run")
	case !strings.EqualFold(trusted, u.Digest):
		b.Add(digest, "untrusted-fmu", line, "%s is not the file with this digest", file.Value)
	}
	v := u.Vehicle(nil)
	b.m.FMU, b.m.Vehicle, b.m.Parameters, b.offer = u, v, v.Defaults(), model.Offers(v)[0]
	return true
}

// knownVehicles is the hint of where a mission's vehicle is found.
func knownVehicles(vehicles []model.Offer) string {
	var names []string
	for _, v := range vehicles {
		names = append(names, v.Name)
	}
	return "known vehicles: " + strings.Join(names, ", ") + "; equations are in a .yaml file, " +
		"an FMU is a .fmu file"
}
