package verify

import (
	"fmt"
	"strings"
)

// Bounds of the lists in a finding.
const (
	maxRegions = 4
	maxGrown   = 64 // inputs of a region beyond which it is not simplified
	maxParts   = 12 // inputs of a region that are named
)

// region is a box of states: the cells of inputs, by variable, of a signal the first one. Those of a signal are its
// intervals; another variable is false in cell 0 and true in cell 1. What is not named is any.
type region map[int]span

// regions describes the lawful states of a set as a few boxes, at most maxRegions; more reports whether there are
// others. A box may include states that are not lawful if that makes it simpler.
func (m *Model) regions(a set) (texts []string, more bool) {
	rest := a
	for {
		w, ok := m.nearest(rest)
		switch {
		case !ok:
			return texts, false
		case len(texts) == maxRegions:
			return texts, true
		}
		box := m.around(w)
		if len(box) <= maxGrown {
			m.grow(box, a)
		}
		texts = append(texts, m.text(box))
		rest = m.space.and(rest, m.space.not(m.box(box)))
	}
}

// nearest returns a short witness of the lawful states of a set.
func (m *Model) nearest(a set) (w []value, ok bool) {
	for {
		in := m.space.and(a, m.lawful)
		if m.space.empty(in) {
			return nil, false
		}
		w = m.space.shortest(in)
		if _, ok = m.reach(w); ok {
			return w, true
		}
	}
}

// around returns a witness as a box.
func (m *Model) around(w []value) region {
	r := region{}
	for v, x := range w {
		switch in := &m.vocab.inputs[v]; {
		case x == open:
		case in.kind == inputBit:
			sig := &m.vocab.signals[in.signal]
			k := sig.interval(concrete(w))
			r[sig.at] = span{k, k}
		default:
			k := btoi(x == yes)
			r[v] = span{k, k}
		}
	}
	return r
}

// concrete chooses values for the open variables of a witness.
func concrete(w []value) []bool {
	values := make([]bool, len(w))
	for i, x := range w {
		values[i] = x != no
	}
	return values
}

// box returns the states of a region.
func (m *Model) box(r region) set {
	all := always
	for v := range m.vocab.inputs {
		s, named := r[v]
		switch in := &m.vocab.inputs[v]; {
		case !named:
		case in.kind == inputBit:
			all = m.space.and(all, m.between(in.signal, s.low, s.high))
		default:
			all = m.space.and(all, m.literal(v, s.low == 1))
		}
	}
	return all
}

// between returns the states in which a signal is in one of the intervals from the first to the last.
func (m *Model) between(i, first, last int) set {
	s, sig := m.space, &m.vocab.signals[i]
	all := s.all()
	if first > 0 {
		all = m.over(sig, first-1)
	}
	if last < len(sig.cuts) {
		all = s.and(all, s.not(m.over(sig, last)))
	}
	return all
}

// grow drops the inputs that a region does not need to stay within a set, as far as states are lawful, and widens its
// other intervals.
func (m *Model) grow(r region, within set) {
	outside := m.space.not(m.space.and(within, m.lawful))
	fits := func(v int, s span) bool {
		before := r[v]
		r[v] = s
		_, more := m.nearest(m.space.and(m.box(r), outside))
		if more {
			r[v] = before
		}
		return !more
	}
	var order []int
	for v := range m.vocab.inputs {
		if _, named := r[v]; named && m.vocab.inputs[v].kind != inputBit {
			order = append(order, v)
		}
	}
	for i := range m.vocab.signals {
		if _, named := r[m.vocab.signals[i].at]; named {
			order = append(order, m.vocab.signals[i].at)
		}
	}
	for _, v := range order {
		in, s := &m.vocab.inputs[v], r[v]
		delete(r, v)
		if _, more := m.nearest(m.space.and(m.box(r), outside)); !more {
			continue
		}
		if r[v] = s; in.kind != inputBit {
			continue
		}
		last := len(m.vocab.signals[in.signal].cuts)
		// To the end at once, else step by step.
		for r[v].low > 0 && !fits(v, span{0, r[v].high}) && fits(v, span{r[v].low - 1, r[v].high}) {
		}
		for r[v].high < last && !fits(v, span{r[v].low, last}) && fits(v, span{r[v].low, r[v].high + 1}) {
		}
	}
}

// text describes a region.
func (m *Model) text(r region) string {
	var parts []string
	for v := range m.vocab.inputs {
		s, named := r[v]
		switch in := &m.vocab.inputs[v]; {
		case !named:
		case in.kind == inputBit:
			parts = append(parts, m.vocab.signals[in.signal].text(s.low, s.high))
		case s.low == 1:
			parts = append(parts, in.text)
		default:
			parts = append(parts, in.denied)
		}
	}
	if len(parts) == 0 {
		return "always"
	}
	if more := len(parts) - maxParts; more > 1 {
		parts = append(parts[:maxParts], fmt.Sprintf("%d more", more))
	}
	return strings.Join(parts, " and ")
}
