package flown

import (
	"canopy/bt"
	"canopy/executive"
)

// stage is a course between two settlings: the courses that have its answers in common go on from it.
type stage struct {
	round   int
	at      int // on the tape
	x       executive.Executive
	engine  *bt.Engine
	w       world
	tag     int
	rounds  int // of the moment
	changes int
}

// keep records the present course before a round.
func (s *Stepper) keep(round int) {
	if s.kept == len(s.stages) {
		s.stages = append(s.stages, &stage{engine: s.moment.engine.Clone(), w: world{answers: &answers{}}})
	}
	g, m := s.stages[s.kept], &s.moment
	s.kept++
	g.round, g.at, g.tag, g.rounds, g.changes = round, s.w.tape.at, m.Tag, len(m.Rounds), len(m.Changes)
	g.x.CopyFrom(s.x)
	g.engine.CopyFrom(m.engine)
	g.w.copyFrom(s.w)
}

// resume goes to the last stage before the answer that has been changed, and returns its round; 0 if there is none.
func (s *Stepper) resume() (round int) {
	for s.kept > 0 && s.stages[s.kept-1].at >= len(s.w.tape.answers) {
		s.kept--
	}
	if s.kept == 0 {
		return 0
	}
	g, m := s.stages[s.kept-1], &s.moment
	m.Tag, m.Err, m.Over = g.tag, nil, false
	m.Rounds, m.Changes = m.Rounds[:g.rounds], m.Changes[:g.changes]
	s.x.CopyFrom(&g.x)
	m.engine.CopyFrom(g.engine)
	s.w.copyFrom(&g.w)
	s.w.tape.at = g.at
	return g.round
}

// copyFrom makes the world equal to another one, except for its tape.
func (w *world) copyFrom(o *world) {
	w.u = append(w.u[:0], o.u...)
	w.bounds = append(w.bounds[:0], o.bounds...)
	w.asked = append(w.asked[:0], o.asked...)
	w.sides = append(w.sides[:0], o.sides...)
	w.decided = append(w.decided[:0], o.decided...)
	w.former = append(w.former[:0], o.former...)
	w.changed = append(w.changed[:0], o.changed...)
	w.over = append(w.over[:0], o.over...)
	w.ticked = append(w.ticked[:0], o.ticked...)
	w.elapsed = append(w.elapsed[:0], o.elapsed...)
	w.moved = append(w.moved[:0], o.moved...)
	w.jumped = append(w.jumped[:0], o.jumped...)
	w.last = append(w.last[:0], o.last...)
	w.behind, w.settled, w.idle, w.first = o.behind, o.settled, o.idle, o.first
	w.zone.CopyFrom(&o.zone)
	if w.s != nil {
		w.grow() // statements may have come
	}
}
