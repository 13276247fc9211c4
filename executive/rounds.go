package executive

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/snapshot"
)

// MaxSettlings is the maximum number of settlings of an instant.
const MaxSettlings = 100_000

// unobserved is the number of settlings of an instant after which its states are compared.
const unobserved = 100

// ErrUnsettled reports an instant without end: the plan and the signals keep changing each other.
var ErrUnsettled = errors.New("the plan and the signals do not settle")

// rounds finds an instant without end. By R. P. Brent's method one state is kept and compared with the later ones; it
// is replaced whenever their number has doubled.
type rounds struct {
	n         int // settlings of the instant
	kept, now []byte
	all       situation // for the codec
	codec     snapshot.Codec
	changed   map[bt.Task]bool // since the state that is kept
}

// Endless counts a settling after which the instant goes on, once the sides of the indicators are committed. The memory
// is what else decides how the world goes on at an instant. The error wraps ErrUnsettled and names the tasks that keep
// changing: the execution and its world are in the same state as before in this instant, or there were more than
// MaxSettlings.
func (x *Executive) Endless(memory []float64) error {
	r := &x.rounds
	r.all.memory = memory
	if r.n++; r.n <= unobserved {
		return nil
	}
	first, within := r.n == unobserved+1, ""
	if first {
		r.changed = map[bt.Task]bool{}
	}
	for i := range x.Log {
		if e := &x.Log[i]; e.Kind == "" && !first {
			r.changed[e.Change.Task] = true
		}
	}
	r.now = x.reached(r.now, memory)
	switch {
	case r.n > MaxSettlings:
		within = fmt.Sprintf(" within %d settlings", MaxSettlings)
	case first || !bytes.Equal(r.now, r.kept):
		if first || r.n&(r.n-1) == 0 {
			r.kept, r.now = r.now, r.kept
			clear(r.changed)
		}
		return nil
	}
	names := x.p.Tree.Names(slices.Sorted(maps.Keys(r.changed)))
	return fmt.Errorf("%w%s at t = %.9g s: these keep changing: %s", ErrUnsettled, within, x.world.T(),
		strings.Join(names, ", "))
}

// reached saves all that decides how the instant goes on to data, which it overwrites.
func (x *Executive) reached(data []byte, memory []float64) []byte {
	x.rounds.all = situation{x, memory}
	return x.rounds.codec.Save(data[:0], &x.rounds.all)
}

// situation is all that decides how an instant goes on.
type situation struct {
	*Executive
	memory []float64
}

func (s *situation) State(c *snapshot.Codec) {
	x := s.Executive
	last := x.pass.last
	x.pass.last = nil // what was reached before
	x.State(c)
	x.pass.last = last
	u, above := x.world.Discrete()
	snapshot.Floats(c, u, s.memory)
	for _, side := range above {
		snapshot.Bool(c, &side)
	}
	if w, ok := x.world.(Situated); ok {
		w.Situation(c)
	}
}
