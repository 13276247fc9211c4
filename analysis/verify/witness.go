package verify

import (
	"cmp"
	"slices"
	"strings"

	"canopy/analysis/flown"
	"canopy/bt"
	"canopy/document/script"
)

// A path of a search becomes a script: its courses are followed once more, then with all conditions judged, and what
// they show is written down and replayed.

// instant is what a script tells of an instant.
type instant struct {
	text   string
	rounds [][]bt.Input
	seen   []bt.Status   // by task
	ended  bool          // the plan has ended
	log    flown.Choices // the answers of the course
}

// course is a course of one instant: the state before it and the answers in it.
type course struct {
	from flown.Key
	tape flown.Tape
}

// run returns the courses of a path through states, with a last one behind it.
func (x *reach[M]) run(path []int, last flown.Tape) []course {
	courses := make([]course, len(path))
	for i, n := range path {
		courses[i] = course{x.states.Key(n).key, last}
		if i+1 < len(path) {
			courses[i].tape = x.states.Move(path[i+1])
		}
	}
	return courses
}

// witness follows the courses of a run and returns their instants. depart is called before each; ask repeats at each
// moment the questions of the search, which the courses answer, and returns a text about it.
func (m *Model) witness(
	s *flown.Stepper, run []course, depart func(i int), ask func(at *flown.Moment) string,
) (instants []instant) {
	for i, c := range run {
		depart(i)
		s.Follow(c.from, c.tape, func(at *flown.Moment) {
			if text := ask(at); at.Over {
				instants = append(instants, m.tell(at, text))
			}
		})
	}
	return instants
}

// tell returns what a script tells of an instant.
func (m *Model) tell(at *flown.Moment, text string) instant {
	t := instant{text: text, seen: m.seen(at.Engine()), log: at.Choices()}
	for _, in := range at.Rounds {
		t.rounds = append(t.rounds, slices.Clone(in))
	}
	_, t.ended = at.Engine().Held(m.tree.Root())
	return t
}

// recalled returns the instants of a run in which all conditions are judged, also those that the tree does not hear.
func (m *Model) recalled(s *flown.Stepper, instants []instant) []instant {
	whole, key := make([]instant, len(instants)), flown.Key("")
	s.Judge(true)
	defer s.Judge(false)
	s.Limits, s.Most, s.Still = nil, nil, false
	for i, t := range instants {
		found, courses := false, 0
		s.Recall(key, t.log, func(at *flown.Moment) {
			if courses++; courses > maxGuided {
				at.Stop = true
			}
			if at.Stop || !agree(t.seen, m.seen(at.Engine())) || !at.Possible() {
				return
			}
			whole[i] = m.tell(at, t.text)
			found, key, at.Stop = true, at.After(), true
		})
		if !found {
			return instants
		}
	}
	return whole
}

// agree reports whether all statuses that were judged are those that a script shows.
func agree(judged, shown []bt.Status) bool {
	return slices.EqualFunc(judged, shown, func(s, t bt.Status) bool { return s == t || s == unheard })
}

// unheard stands for the status of a task that was not judged.
const unheard bt.Status = 255

// seen returns the statuses of all tasks.
func (m *Model) seen(e *bt.Engine) []bt.Status {
	seen := make([]bt.Status, m.tree.Len())
	for t := range seen {
		if seen[t] = unheard; e.Hears(bt.Task(t)) {
			seen[t] = e.Status(bt.Task(t))
		}
	}
	return seen
}

// spell returns the first instants of a run as a script, "" if it cannot spell a name. It begins as scripts do, with
// all conditions false, unless the plan remembers that.
func (m *Model) spell(instants []instant) string {
	if !m.spells() {
		return ""
	}
	text, same := m.write(instants, "")
	if !same {
		text, _ = m.write(instants, script.Start+" ")
	}
	return text
}

// write writes the first instants of a run, and reports whether the script shows them. The engine begins with the first
// inputs, which follow a word, or in the usual way if it is "".
func (m *Model) write(instants []instant, begin string) (text string, same bool) {
	var b strings.Builder
	var initial []bt.Input
	if begin != "" && len(instants) > 0 {
		initial = instants[0].rounds[0]
	}
	e, same := bt.NewEngine(m.tree, initial, 0), true
	_, err := e.Settle(nil)
	for i, t := range instants {
		if t.text != "" {
			b.WriteString("# " + t.text + "\n")
		}
		for k, in := range t.rounds {
			if len(in) == 0 {
				continue
			}
			words := make([]string, len(in))
			for i, x := range in {
				words[i] = x.Text(m.tree.Name(x.Task()))
			}
			if i > 0 || k > 0 || begin == "" {
				begin = ""
				_, settled := e.Settle(in)
				err = cmp.Or(err, settled)
			}
			b.WriteString(begin + strings.Join(words, "; ") + "\n")
		}
		same = same && err == nil && agree(t.seen, m.seen(e))
	}
	if b.Len() == 0 {
		return "# the plan begins in it\n", same
	}
	return b.String(), same
}

// spells reports whether a script can spell the names of all leaves.
func (m *Model) spells() bool {
	spells := func(name string) bool { return !strings.ContainsAny(name, ";#") }
	return !slices.ContainsFunc(m.leaves, func(l leaf) bool { return !spells(l.name) }) &&
		!slices.ContainsFunc(m.tree.Timers(), func(t bt.Task) bool { return !spells(m.tree.Name(t)) })
}
