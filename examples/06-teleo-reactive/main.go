// Command 06-teleo-reactive runs Nilsson's teleo-reactive programs, translated to plans by Lemma 2 of the 2016 paper,
// in small simulated worlds.
package main

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/formalism/translate"
	"github.com/canopy-uav/canopy/internal/flight"
)

func main() { flight.Main("06-teleo-reactive", run) }

// world evaluates conditions and is changed by actions, one step at a time. The arguments of both are texts.
type world interface {
	holds(name string, args []string) bool
	do(name string, args []string) error
	ended(call string) // a call has ended: its parameters will change
}

func run(w io.Writer, dir string) error {
	if err := robots(w, dir); err != nil {
		return err
	}
	if err := bars(w); err != nil {
		return err
	}
	return towers(w)
}

// read translates a program of this folder.
func read(name string) (*plan.Plan, error) {
	name = "examples/06-teleo-reactive/" + name
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	program, list := translate.ReadTeleoReactive(&diag.Source{Name: name, Text: string(text)})
	if list.HasErrors() {
		return nil, list
	}
	p, list := program.Plan()
	return p, list.Err()
}

// execute runs a plan in a world until it does nothing more, and returns the number of steps.
func execute(p *plan.Plan, in world, most int) (int, error) {
	engine := bt.NewEngine(p.Tree, nil, 0)
	known := slices.Repeat([]executive.Known{executive.Unknown}, len(p.Leaves))
	for steps := range most {
		var inputs []bt.Input
		for i, l := range p.Leaves {
			holds := func(f executive.Criterion) bool {
				return f == executive.Off || f == executive.On && in.holds(split(l.ID))
			}
			inputs = known[i].AppendInputs(inputs, l.Task, !p.Tree.Kind(l.Task).Acts(), engine.Status(l.Task), holds)
		}
		if _, err := engine.Settle(inputs); err != nil {
			return steps, err
		}
		for t := range p.Tree.Root() {
			if p.Tree.Kind(t).Over() == bt.Failure && !engine.Active(t) {
				in.ended(p.Tree.Name(t))
			}
		}
		for _, l := range p.Leaves {
			if !p.Tree.Kind(l.Task).Acts() || engine.Status(l.Task) != bt.Running {
				continue
			}
			if err := in.do(split(l.ID)); errors.Is(err, errDone) {
				return steps, nil
			} else if err != nil {
				return steps, err
			}
		}
	}
	return most, fmt.Errorf("%s: not done after %d steps", p.Name, most)
}

// errDone is the error of the action that does nothing when the goal is reached.
var errDone = errors.New("done")

// split divides a term into its name and its arguments.
func split(text string) (name string, args []string) {
	name, rest, found := strings.Cut(strings.TrimSuffix(text, ")"), "(")
	if !found {
		return name, nil
	}
	level, begin := 0, 0
	for i, c := range rest {
		switch c {
		case '(':
			level++
		case ')':
			level--
		case ',':
			if level == 0 {
				args = append(args, rest[begin:i])
				begin = i + 1
			}
		}
	}
	return name, append(args, rest[begin:])
}

// random returns the generator of a case.
func random(number int) *rand.Rand { return rand.New(rand.NewPCG(1994, uint64(number))) }
