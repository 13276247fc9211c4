package oracle

import (
	"errors"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/script"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/run/record"
)

// A script gives the inputs of the tree. A run has signals instead: a path of x and y whose conditions, outcomes and
// clocks give these inputs is searched with the witness, and flown with Canopy.

// played returns the statuses of all tasks after each line of a script, after those of its start. Without a line for
// this, a run need not have the first ones.
func played(tree *bt.Tree, text string) (pictures []string, begun bool, err error) {
	start, lines, list := script.Parse(tree, &diag.Source{Name: "script", Text: text})
	if list.HasErrors() {
		return nil, false, list.Err()
	}
	e := bt.NewEngine(tree, start, 0)
	_, err = e.Settle(nil)
	pictures = []string{statuses(tree.Len(), e.Status)}
	for _, l := range lines {
		if err == nil {
			_, err = e.Settle(l.Inputs)
		}
		pictures = append(pictures, statuses(tree.Len(), e.Status))
	}
	return pictures, start != nil, err
}

// stop is a flight after an instant, at which a number of pictures of a script have been seen.
type stop struct {
	*Flight
	seen   int
	before *stop
	at     Point
}

// path returns the values of the signals on the way, and the times of all instants.
func (s *stop) path() []Point {
	var path []Point
	for ; s != nil; s = s.before {
		path = append(path, s.at)
	}
	slices.Reverse(path)
	return path
}

// search returns the first flight with the statuses of a script, settling by settling, with a fault in the last instant,
// and the statuses then; nil if there is none.
func (m *Mission) search(pictures []string, begun bool, fault func(f *Flight, rest bool) bool) (found *stop, end string) {
	var settlings []string
	var faults []bool
	p := m.compile()
	p.round = func(f *Flight) {
		settlings, faults = append(settlings, f.all()), append(faults, fault(f, false))
	}
	type key struct {
		state string
		seen  int
	}
	known := map[key]bool{}
	var todo []*stop
	try := func(before *stop, f *Flight, at Point, err error) {
		from, anywhere := -1, before == nil && !begun
		if before != nil {
			from = before.seen
		}
		if err == nil {
			faults[len(faults)-1] = faults[len(faults)-1] || fault(f, true)
		}
		for i, first := 0, slices.Index(faults, true); first >= 0 && i < len(settlings); i++ {
			if i >= first && found == nil && slices.Contains(shown(pictures, from, settlings[:i+1], anywhere), len(pictures)-1) {
				found, end = &stop{f, 0, before, at}, settlings[first]
			}
		}
		if err == nil {
			class := f.clone()
			simplify(class)
			state := class.key()
			for _, n := range shown(pictures, from, settlings, anywhere) {
				if k := (key{state, n}); !known[k] {
					known[k] = true
					todo = append(todo, &stop{f, n, before, at})
				}
			}
		}
		settlings, faults = settlings[:0], faults[:0]
	}
	worlds := m.worlds()
	for _, w := range worlds {
		f, err := p.begin(w[0], w[1])
		try(nil, f, Point{0, w[0], w[1]}, err)
	}
	for ; len(todo) > 0 && found == nil; todo = todo[1:] {
		s := todo[0]
		now := s.clone()
		now.restart()
		for _, t := range times(now) {
			for _, w := range worlds {
				f := s.clone()
				try(s, f, Point{s.T + t, w[0], w[1]}, f.move(s.T+t, w[0], w[1]))
			}
		}
	}
	return found, end
}

// shown returns how many pictures of a script, less one, have been seen after the settlings of an instant, in each way
// in which these are pictures: a picture may be seen several times, and last for several lines. The first instant may
// begin anywhere if the script begins otherwise than runs do.
func shown(pictures []string, from int, settlings []string, anywhere bool) []int {
	last := settlings[len(settlings)-1]
	var list []int
	for n := max(from, 0); n < len(pictures); n++ {
		if pictures[n] != last {
			continue
		}
		want := slices.Clone(pictures[max(from, 0) : n+1])
		got := slices.Clone(settlings)
		if from >= 0 {
			got = append([]string{pictures[from]}, got...)
		}
		if anywhere || slices.Equal(slices.Compact(want), slices.Compact(got)) {
			list = append(list, n)
		}
	}
	return list
}

// replayed replays a script with the tree engine, and then in a run along a path of signals that gives the tree what
// the script tells: it must come to the fault. It returns what is wrong, "" if nothing is.
func (m *Mission) replayed(read *mission.Mission, text string, fault func(f *Flight, rest bool) bool, violated string) string {
	pictures, begun, err := played(read.Plan.Tree, text)
	if err != nil {
		return fmt.Sprintf("the script ends with %v", err)
	}
	s, end := m.search(pictures, begun, fault)
	if s == nil {
		return "no flight shows the script and the fault"
	}
	path := s.path()
	got, err := fly(read, path)
	switch {
	case err != nil && got.at[s.T] != "" && errors.Is(err, executive.ErrUnset): // as it is halted at the end
	case err != nil:
		return fmt.Sprintf("the run along %v ends with %v", path, err)
	case got.at[s.T] != s.picture():
		return fmt.Sprintf("the run along %v shows %s at the end, not %s", path, got.at[s.T], s.picture())
	case !got.last[end]:
		return fmt.Sprintf("the run along %v does not show %s", path, end)
	case end != s.all(): // not judged, because it is undone at the same time
		return ""
	}
	for _, p := range got.judged {
		touches := p.Margin != nil && *p.Margin == 0
		if p.Property == violated && p.Verdict != record.PropertyViolated && !touches {
			return fmt.Sprintf("in the run along %v the property is %s: %s", path, p.Verdict, violated)
		}
	}
	return ""
}
