package mission

import (
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// Shape returns what the file of a mission may contain. The names of parameters, states and signals, which depend on
// the vehicle and the plan, are free.
func Shape() *yamldoc.Shape {
	const vehicle = "plane" // one with a fence
	examples := map[string]string{"vehicle": vehicle, "plan": "plan.xml"}
	for _, offer := range equations.Offers() {
		if v := offer.Make(); offer.Name == vehicle {
			examples["parameters"], examples["initial"] = v.Parameters[len(v.Parameters)-1].Name, v.States[0].Name
			examples["environment"], examples["commands"] = parameterNames(v, site)[0], v.Commands[0].Name
		}
	}
	return yamldoc.Describe(examples, func(r *yamldoc.Reader, root *yamldoc.Node) {
		newBuilder(r).read(root, equations.Offers(), nil, func(string) ([]byte, error) {
			return []byte(`<root BTCPP_format="4"><BehaviorTree ID="Main"><AlwaysSuccess/></BehaviorTree></root>`), nil
		})
	})
}
