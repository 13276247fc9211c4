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

// region is a box of states: for each group of inputs a range. A group is a signal, or a single variable.
type region struct {
	first, last map[int]int  // intervals of a signal
	truth       map[int]bool // a variable that is no cut
}

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
		if len(box.truth)+len(box.first) <= maxGrown {
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
func (m *Model) around(w []value) *region {
	r := &region{first: map[int]int{}, last: map[int]int{}, truth: map[int]bool{}}
	for v, x := range w {
		if x == open {
			continue
		}
		switch in := &m.vocab.inputs[v]; in.kind {
		case inputBit:
			k := m.vocab.signals[in.signal].interval(concrete(w))
			r.first[in.signal], r.last[in.signal] = k, k
		case inputFree, inputLatch:
			r.truth[v] = x == yes
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
func (m *Model) box(r *region) set {
	s, all := m.space, m.space.all()
	for v := range m.vocab.inputs {
		if value, ok := r.truth[v]; ok {
			all = s.and(all, m.literal(v, value))
		}
		if in := &m.vocab.inputs[v]; in.kind == inputBit && in.first {
			if _, ok := r.first[in.signal]; ok {
				all = s.and(all, m.between(in.signal, r.first[in.signal], r.last[in.signal]))
			}
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

// grow drops the groups that a region does not need to stay within a set, as far as states are lawful, and widens its
// other intervals.
func (m *Model) grow(r *region, within set) {
	outside := m.space.not(m.space.and(within, m.lawful))
	fits := func() bool {
		_, more := m.nearest(m.space.and(m.box(r), outside))
		return !more
	}
	for v := range m.vocab.inputs {
		if value, ok := r.truth[v]; ok {
			if delete(r.truth, v); !fits() {
				r.truth[v] = value
			}
		}
	}
	for i := range m.vocab.signals {
		first, ok := r.first[i]
		if !ok {
			continue
		}
		last, most := r.last[i], len(m.vocab.signals[i].cuts)
		delete(r.first, i)
		if fits() {
			continue
		}
		for r.first[i] = first; r.first[i] > 0; { // to the end at once, else step by step
			at := r.first[i]
			if r.first[i] = 0; fits() {
				break
			}
			if r.first[i] = at - 1; !fits() {
				r.first[i] = at
				break
			}
		}
		for r.last[i] = last; r.last[i] < most; {
			at := r.last[i]
			if r.last[i] = most; fits() {
				break
			}
			if r.last[i] = at + 1; !fits() {
				r.last[i] = at
				break
			}
		}
	}
}

// text describes a region.
func (m *Model) text(r *region) string {
	var parts []string
	for v := range m.vocab.inputs {
		in := &m.vocab.inputs[v]
		if value, ok := r.truth[v]; ok && value {
			parts = append(parts, in.text)
		} else if ok {
			parts = append(parts, in.denied)
		}
		if in.kind == inputBit && in.first {
			if first, ok := r.first[in.signal]; ok {
				parts = append(parts, m.vocab.signals[in.signal].text(first, r.last[in.signal]))
			}
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
