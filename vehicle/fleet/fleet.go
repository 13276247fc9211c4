// Package fleet has the simulated vehicles: the built-in ones, and one for each contract, which offers the contract's
// signals and slots.
package fleet

import (
	"embed"
	"strings"

	"canopy/diag"
	"canopy/vehicle/contract"
	"canopy/vehicle/equations"
	"canopy/vehicle/model"
)

//go:embed *.vehicle.yaml
var files embed.FS

// Offers returns the vehicles that missions may name without a file. That of a contract is read when it is made.
func Offers() []model.Offer {
	offers := model.Offers(model.Vehicles()...)
	for _, c := range contract.Contracts() {
		offers = append(offers, model.Offer{Name: c.Name,
			Make:   func() *model.Vehicle { return simulated(c, round) },
			Fenced: func(breach string) *model.Vehicle { return simulated(c, breach) }})
	}
	return offers
}

// Vehicles returns these vehicles.
func Vehicles() []*model.Vehicle {
	var list []*model.Vehicle
	for _, o := range Offers() {
		list = append(list, o.Make())
	}
	return list
}

// round is the condition, in the files, that a vehicle is outside its fence: a circle round home.
const round = "north^2 + east^2 gt fence.radius^2"

// simulated returns the simulated vehicle of a contract, with the condition that it is outside its fence. Its signals
// beyond those of the contract begin with Own.
func simulated(c *contract.Contract, breach string) *model.Vehicle {
	name := c.Name + ".vehicle.yaml"
	text, err := files.ReadFile(name)
	if err != nil {
		panic("fleet: a contract without a vehicle")
	}
	v, list := equations.Read(&diag.Source{Name: name, Text: strings.Replace(string(text), round, breach, 1)})
	if v == nil {
		panic("fleet: " + list.Err().Error())
	}
	v.Sources = map[string]string{}
	for _, s := range c.Signals {
		if s.Source != contract.Clock {
			v.Sources[s.Name] = s.Source.String()
		}
	}
	return v
}

// Own begins the names of the signals that a simulated vehicle has beyond its contract.
const Own = "sim."
