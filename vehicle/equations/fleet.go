package equations

import (
	"embed"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/vehicle/contract"
	"github.com/canopy-uav/canopy/vehicle/model"
)

//go:embed *.vehicle.yaml
var files embed.FS

const suffix = ".vehicle.yaml"

//go:embed payload.yaml
var payload string

// Offers returns the vehicles that missions may name without a file: those that are Go code, those of the files of this
// folder, and a simulated one for each contract, which offers the contract's signals and slots. A file is read when its
// vehicle is made.
func Offers() []model.Offer {
	offers := model.Offers(model.Vehicles()...)
	for _, name := range []string{"circuit", "quad"} {
		offers = append(offers, model.Offer{Name: name, Make: func() *model.Vehicle { return shipped(name, text(name)) }})
	}
	for _, c := range contract.Contracts() {
		lean := offer(c, "")
		full := offer(c, payload)
		full.Lean = &lean
		offers = append(offers, full)
	}
	return offers
}

func offer(c *contract.Contract, more string) model.Offer {
	return model.Offer{Name: c.Name,
		Make:   func() *model.Vehicle { return simulated(c, round, more) },
		Fenced: func(breach string) *model.Vehicle { return simulated(c, breach, more) }}
}

// Vehicles returns the vehicles of [Offers].
func Vehicles() []*model.Vehicle {
	var list []*model.Vehicle
	for _, o := range Offers() {
		list = append(list, o.Make())
	}
	return list
}

// round is the condition, in the files, that a vehicle is outside its fence: a circle round home.
const round = "north^2 + east^2 gt fence.radius^2"

// simulated returns the simulated vehicle of a contract, with the condition that it is outside its fence, and with what
// another document adds to the end of its sections, which are in the same order there. Its signals beyond those of the
// contract begin with "sim.".
func simulated(c *contract.Contract, breach, more string) *model.Vehicle {
	text := text(c.Name)
	for i, sections := 0, strings.Split(more, "\n\n"); i < len(sections) && more != ""; i++ {
		_, entries, _ := strings.Cut(sections[i], ":\n")
		if entries += "\n"; i+1 == len(sections) {
			text += entries
			break
		}
		next, _, _ := strings.Cut(sections[i+1], ":\n")
		text = strings.Replace(text, "\n"+next+":\n", entries+"\n"+next+":\n", 1)
	}
	v := shipped(c.Name, strings.Replace(text, round, breach, 1))
	v.Sources = map[string]string{}
	for _, s := range c.Signals {
		if s.Source != contract.Clock {
			v.Sources[s.Name] = s.Source.String()
		}
	}
	return v
}

// text returns the file of a vehicle.
func text(name string) string {
	file, err := files.ReadFile(name + suffix)
	if err != nil {
		panic("equations: there is no vehicle " + name)
	}
	return string(file)
}

// shipped reads the text of a vehicle of this folder, which has no mistakes.
func shipped(name, text string) *model.Vehicle {
	v, list := Read(&diag.Source{Name: name + suffix, Text: text})
	if v == nil {
		panic("equations: " + list.Err().Error())
	}
	return v
}
