package verify

import (
	"cmp"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/analysis/flown"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/script"
)

// A path of a search becomes a script: its transitions are followed once more, then with all conditions judged, and
// what they show is written down and replayed.

// instant is an instant of a script.
type instant struct {
	text   string // a comment
	rounds [][]bt.Input
	seen   []bt.Status   // by task
	ended  bool          // the plan has ended
	log    flown.Choices // the answers of the transition
	free   values        // what was not asked there; nil: false
}

// values returns what is known of inputs that are simply true or false.
type values func(input string) (is, known bool)

// move is a transition: the state before it and the answers in it.
type move[M comparable] struct {
	from state[M]
	tape flown.Tape
}

// moves returns the transitions of a path through states, with a last one behind it.
func (x *search[M]) moves(path []int, last flown.Tape) []move[M] {
	run := make([]move[M], len(path))
	for i, n := range path {
		run[i] = move[M]{x.states.Key(n), last}
		if i+1 < len(path) {
			run[i].tape = x.states.Move(path[i+1])
		}
	}
	return run
}

// hits returns the transitions to what was hit.
func (x *search[M]) hits() []move[M] { return x.moves(x.states.Path(x.from), x.last) }

// witness follows transitions with the observer, whose questions they answer, and visits the ends of their instants.
func (x *search[M]) witness(run []move[M], visit func(i int, at *flown.Moment)) {
	for i, c := range run {
		x.prepare(c.from.mark)
		x.Follow(c.from.key, c.tape, func(at *flown.Moment) {
			if x.follow(at, c.from.mark); at.Over {
				at.Possible() // the facts have asked, too
				visit(i, at)
			}
		})
	}
}

// instants returns those of transitions, with comments; nil: without.
func (x *search[M]) instants(m *Model, run []move[M], text func(i int, at *flown.Moment) string) (shown []instant) {
	x.witness(run, func(i int, at *flown.Moment) {
		comment := ""
		if text != nil {
			comment = text(i, at)
		}
		shown = append(shown, m.instant(at, comment))
	})
	return shown
}

// script returns the script of instants.
func (m *Model) script(s *flown.Stepper, instants []instant) string {
	return m.spell(m.recalled(s, instants))
}

// instant returns what a script shows of an instant, with a comment.
func (m *Model) instant(at *flown.Moment, text string) instant {
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
	m.plain(s)
	for i, t := range instants {
		found, tried := false, 0
		s.Recall(key, t.log, t.free, func(at *flown.Moment) {
			if tried++; tried > maxGuided {
				at.Stop = true
			}
			if at.Stop || !agree(t.seen, m.seen(at.Engine())) || !at.Possible() {
				return
			}
			whole[i] = m.instant(at, t.text)
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
				words[i] = x.Text(m.scriptName(x.Task()))
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

// scriptName returns how a script names a task.
func (m *Model) scriptName(t bt.Task) string { return script.Name(m.plan, t) }

// spells reports whether a script can spell the names of all leaves.
func (m *Model) spells() bool {
	spells := func(name string) bool { return !strings.ContainsAny(name, ";#") }
	return !slices.ContainsFunc(m.leaves, func(l leaf) bool { return !spells(l.name) }) &&
		!slices.ContainsFunc(m.tree.Timers(), func(t bt.Task) bool { return !spells(m.tree.Name(t)) })
}
