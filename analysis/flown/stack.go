package flown

import (
	"crypto/sha256"
	"slices"

	"github.com/canopy-uav/canopy/analysis/zone"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/snapshot"
)

// stack is that of the depth-first search for the transitions of an instant: the checkpoints of the present one, of one
// plan or of a product. Other transitions that have the answers up to a checkpoint in common go on from it.
type stack struct {
	of          []*Stepper
	checkpoints []*checkpoint // reused
	size        int           // how many of them belong to the present transition
}

// checkpoint is a transition between two settlings.
type checkpoint struct {
	side    int // the plan that settles next
	round   int
	at      int // on the tape
	known   answers
	inexact bool
	parts   []part // by plan
}

// part is what a checkpoint keeps of one plan.
type part struct {
	x       executive.Executive
	engine  *bt.Engine
	w       world
	mark    int // as all below, of the moment
	over    bool
	err     error
	rounds  int
	changes int
}

// Steps visits every transition of one instant after a state; of one plan, settling by settling. The visitor may ask
// for conditions of the moment; each answer that is open makes further transitions.
func (r *stack) Steps(from Key, visit func(m *Moment)) {
	first := r.of[0]
	r.fresh()
	first.moment.Stop = false
	for again := true; again && !first.moment.Stop; again = first.w.tape.next() {
		r.transition(from, visit)
	}
	first.w.tape = tape{}
}

// Follow visits one transition, that of answers which Moment.Tape has returned.
func (r *stack) Follow(from Key, answers Tape, visit func(m *Moment)) {
	r.fresh()
	r.known().tape, r.of[0].w.log = tape{answers: slices.Clone(answers)}, Choices{}
	r.transition(from, visit)
	r.known().tape, r.of[0].w.log = tape{}, nil
}

// At visits a state between two instants. Nothing is known of physical signals.
func (r *stack) At(state Key, visit func(m *Moment)) {
	r.restore(state, true)
	visit(&r.of[0].moment)
	r.known().tape = tape{}
}

// fresh forgets the transitions of another instant.
func (r *stack) fresh() {
	for _, s := range r.of {
		s.seen = map[[sha256.Size]byte]place{}
	}
	r.size = 0
}

func (r *stack) transition(from Key, visit func(m *Moment)) {
	r.of[0].moment.Skip = false
	side, n, ok := r.resume()
	if !ok {
		r.restore(from, false)
		if from != "" && !r.of[0].Still {
			limits := r.of[0].w.pending()
			r.known().zone.Pass()
			for _, s := range r.of {
				if !s.w.due(limits) {
					return
				}
			}
		}
		r.push(0, 0)
	}
	if p := r.known().product; p != nil {
		p.both(side, n, visit)
	} else {
		r.of[side].rounds(side, n, visit)
	}
}

// restore goes to a state, between two instants or at the beginning of one.
func (r *stack) restore(state Key, over bool) {
	known := r.known()
	if known.product != nil {
		known.product.Inexact = false
	}
	for _, s := range r.of {
		if state != "" && s.x == nil { // some execution, to restore it in
			s.w.begin(true)
			guide := s.w.guide
			s.w.guide = func(question) (answer, known bool) { return false, true }
			s.start()
			s.w.guide = guide
		}
		s.moment.begin(s, over)
		s.w.begin(state == "")
	}
	if state == "" {
		known.zone = zone.Zone{}
		for _, s := range r.of {
			s.start()
		}
	} else if snapshot.Load([]byte(state), r.states(&keptBounds{w: r.of[0].w})...) != nil {
		panic("flown: a state cannot be restored")
	}
}

// states returns what a state consists of.
func (r *stack) states(kept *keptBounds) []snapshot.Stateful {
	list := make([]snapshot.Stateful, 0, 4)
	for _, s := range r.of {
		list = append(list, execution{s})
	}
	return append(list, kept, &r.known().zone)
}

// widen makes the zones of a search finitely many.
func (r *stack) widen() {
	first, most := r.of[0], map[int]zone.Time{}
	for _, s := range r.of {
		s.w.longest(most)
	}
	first.w.zone.Widen(func(c int) zone.Time {
		if t, ok := most[c]; ok {
			return t
		}
		return first.Limits[c-first.Clocks()]
	})
}

// push records the present transition before a round of a plan. A run must have begun, in all plans.
func (r *stack) push(side, round int) {
	if r.of[side].w.first && (round == 0 || side < len(r.of)-1) {
		return
	}
	known := r.known()
	if r.size > 0 && r.checkpoints[r.size-1].at == known.tape.at { // no transition goes on from there
		r.size--
	}
	if r.size == len(r.checkpoints) {
		g := &checkpoint{parts: make([]part, len(r.of))}
		for i, s := range r.of {
			g.parts[i].engine = s.moment.engine.Clone()
		}
		r.checkpoints = append(r.checkpoints, g)
	}
	g := r.checkpoints[r.size]
	r.size++
	g.side, g.round, g.at = side, round, known.tape.at
	g.known.copyFrom(known)
	if known.product != nil {
		g.inexact = known.product.Inexact
	}
	for i, s := range r.of {
		p, m := &g.parts[i], &s.moment
		p.mark, p.over, p.err, p.rounds, p.changes = m.Mark, m.Over, m.Err, len(m.Rounds), len(m.Changes)
		p.x.CopyFrom(s.x)
		p.engine.CopyFrom(m.engine)
		p.w.copyFrom(s.w)
	}
}

// resume goes to the last checkpoint before the answer that has been changed, and returns the plan and the round that
// come next; ok is false if there is no checkpoint.
func (r *stack) resume() (side, round int, ok bool) {
	known := r.known()
	for r.size > 0 && r.checkpoints[r.size-1].at >= len(known.tape.answers) {
		r.size--
	}
	if r.size == 0 {
		return 0, 0, false
	}
	g := r.checkpoints[r.size-1]
	known.copyFrom(&g.known)
	known.tape.at = g.at
	if known.product != nil {
		known.product.Inexact = g.inexact
	}
	for i, s := range r.of {
		p, m := &g.parts[i], &s.moment
		m.Mark, m.Over, m.Err = p.mark, p.over, p.err
		m.Rounds, m.Changes = m.Rounds[:p.rounds], m.Changes[:p.changes]
		s.x.CopyFrom(&p.x)
		m.engine.CopyFrom(p.engine)
		s.w.copyFrom(&p.w)
		s.w.grow() // statements may have come
	}
	return g.side, g.round, true
}

func (r *stack) known() *answers { return r.of[0].w.answers }

// copyFrom makes what is known equal to what others know, except for the tape.
func (a *answers) copyFrom(o *answers) {
	a.bounds = append(a.bounds[:0], o.bounds...)
	a.asked = append(a.asked[:0], o.asked...)
	a.zone.CopyFrom(&o.zone)
}

// copyFrom makes the world equal to another one, except for what both may know.
func (w *world) copyFrom(o *world) {
	w.u = append(w.u[:0], o.u...)
	w.values = append(w.values[:0], o.values...)
	w.sides = append(w.sides[:0], o.sides...)
	w.decided = append(w.decided[:0], o.decided...)
	w.former = append(w.former[:0], o.former...)
	w.last = append(w.last[:0], o.last...)
	w.changed = append(w.changed[:0], o.changed...)
	w.over = append(w.over[:0], o.over...)
	w.ticked = append(w.ticked[:0], o.ticked...)
	w.twin = append(w.twin[:0], o.twin...)
	w.begun = append(w.begun[:0], o.begun...)
	w.agreed = append(w.agreed[:0], o.agreed...)
	w.elapsed = append(w.elapsed[:0], o.elapsed...)
	w.moved = append(w.moved[:0], o.moved...)
	w.jumped = append(w.jumped[:0], o.jumped...)
	w.behind, w.settled, w.idle, w.first = o.behind, o.settled, o.idle, o.first
}
