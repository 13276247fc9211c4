package translate

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
)

// Nilsson's teleo-reactive programs, translated by Lemma 2 of the 2016 paper, run in small simulated worlds.

// world evaluates conditions and is changed by actions, one step at a time. The arguments of both are texts.
type world interface {
	holds(name string, args []string) bool
	do(name string, args []string) error
	ended(call string) // a call has ended: its parameters will change
}

// example translates a program of the examples.
func example(t *testing.T, name string) *plan.Plan {
	t.Helper()
	name = "../../examples/06-teleo-reactive/" + name
	p, list := program(t, name, readFile(t, name)).Plan()
	if list.HasErrors() {
		t.Fatal(list)
	}
	return p
}

// execute runs a plan in a world until it does nothing more, and returns the number of steps.
func execute(t *testing.T, p *plan.Plan, in world, most int) int {
	t.Helper()
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
			t.Fatal(err)
		}
		for task := range p.Tree.Root() {
			if p.Tree.Kind(task).Over() == bt.Failure && !engine.Active(task) {
				in.ended(p.Tree.Name(task))
			}
		}
		for _, l := range p.Leaves {
			if !p.Tree.Kind(l.Task).Acts() || engine.Status(l.Task) != bt.Running {
				continue
			}
			if err := in.do(split(l.ID)); errors.Is(err, errDone) {
				return steps
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	t.Fatalf("%s: not done after %d steps", p.Name, most)
	return most
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

func TestSplit(t *testing.T) {
	name, args := split("clear-path(pos,new-point(pos,f(a,b)))")
	if name != "clear-path" || !slices.Equal(args, []string{"pos", "new-point(pos,f(a,b))"}) {
		t.Errorf("%s %q", name, args)
	}
	if name, args := split("idle"); name != "idle" || args != nil {
		t.Errorf("%s %q", name, args)
	}
}
