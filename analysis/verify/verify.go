// Package verify proves and refutes statements about plans before they fly: some action is always active, every task
// can become active, no two active tasks write one command.
//
// A plan with the declarations of its mission (declare.Subject) is abstracted once into Boolean inputs and, for each
// task, the sets of states in which it succeeds, fails and is active (Model). The answer to a Question about the model
// is a list of findings; each refuted one carries a counterexample that the tree engine has confirmed.
// docs/verification.md has the formulas and their sources.
//
// What sets of states do not decide is searched: search.go is the one search of a transition system with an observer.
// The observers are those of single states (flights.go, shared by most questions), of temporal properties (product.go
// with monitor.go), of what happens between cells of signals (graph.go, for reach, regression and chatter), and of a
// difference from another plan or a state graph (compare.go). witness.go makes a script of any path.
package verify

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/declare"
)

// Verdict is the result of a question. The zero value is no answer.
type Verdict uint8

// The verdicts.
const (
	Undecided Verdict = iota // not concluded; the finding gives the reason and advice
	Proved                   // in every state that the abstraction allows
	Refuted                  // there is a counterexample, and the engine confirms it
	NotAsked                 // declarations are missing, the time was over, or the abstraction has no model of it
)

func (v Verdict) String() string {
	return [...]string{"not proved", "proved", "refuted", "not asked"}[v]
}

// Assumption is a condition on which an answer rests, and which the model does not decide.
type Assumption struct {
	Text    string `json:"if"`      // to follow "if"
	Watched bool   `json:"watched"` // every run of the mission checks it and reports a violation
}

// Assumptions of several questions.
var (
	FactsHold   = Assumption{"the declared facts hold", true}
	EffectsHold = Assumption{"the declared effects hold", true}
	NoDelay     = Assumption{"procedures take no time", false}
	ChangeSoon  = Assumption{"signals can change within the times of the property", false}
	StayLong    = Assumption{"signals can stay as they are for longer than the times of the property", false}
	Settles     = Assumption{"signals and tasks do not change each other without end at one instant", true}
	Begins      = Assumption{"the run begins as the mission declares", true}
	NoSliding   = Assumption{declare.NoSliding, true}
)

// Finding is one answer.
type Finding struct {
	Question      string      // its name
	Tasks         []bt.Task   // that it concerns
	Units         [][]bt.Task // the tasks of each of several findings with one cause; nil: it is one finding
	About         string      // the command or signal that it concerns
	Verdict       Verdict
	Text          string       // the statement that is proved or not concluded, or the fault
	Where         []string     // regions of the signals with the fault
	More          bool         // there are other regions
	Advice        string       // how to correct it; "" if there is nothing to correct
	Script        string       // a counterexample for script.Print; "" if there is none
	declare.Place              // of the declaration, of the first task, or of the plan
	Assumes       []Assumption // on which the verdict rests; the verdict stays Proved or Refuted
	Period        float64      // of tasks that take turns: the shortest [s]; 0: there is none
	Accepted      string       // the author's reason to accept a finding that is not proved; "" if not accepted
	Covers        string       // what the note that accepts it covers
	Loose         bool         // that note would also accept a worse finding
	Late          bool         // the time was over before the question was answered
	Open          bool         // a longer search may prove it, or prove it without reservation
	Needs         string       // the declarations for want of which it was not asked, to follow "needs"; or ""
	Flight        bool         // a flight of the mission shows the fault
	At            *float64     // when [s]; nil: at no one time
	Start         string       // of that flight, as the mission writes it; "": the declared one

	fault *fault // that the flight of a mission may show; nil: none that it could
}

// ProvedIf is the word for what is proved under an assumption that no run checks.
const ProvedIf = "proved if"

// Word returns the verdict in words, whatever a note accepts.
func (f *Finding) Word() string {
	if f.Verdict == Proved && len(f.Unwatched()) > 0 {
		return ProvedIf
	}
	return f.Verdict.String()
}

// Key returns a word as a value for programs, with _ for blanks.
func Key(word string) string { return strings.ReplaceAll(word, " ", "_") }

// Unwatched returns the assumptions of the finding that no run checks. A statement is proved without reservation only
// if there are none.
func (f *Finding) Unwatched() []Assumption {
	return slices.DeleteFunc(slices.Clone(f.Assumes), func(a Assumption) bool { return a.Watched })
}

// Question is a question about a plan.
type Question struct {
	Name     string // one word, used in notes and rule identifiers
	Asks     string // the question in words
	Ask      func(m *Model) []Finding
	Needs    string // the declarations that it needs, to follow "needs"; "" if none
	Anywhere bool   // its answers hold without the declared facts
	Moves    bool   // its answers rest on the rates of signals
	Runs     bool   // what it proves needs that no run stops with an error
	Starts   bool   // of a mission, what is not proved from every state is asked from the declared start
	Endless  bool   // it is about runs that go on for as long as it takes
}

// Questions returns all questions in the order in which they are asked.
func Questions() []Question {
	return []Question{
		{Name: "complete", Asks: "Is some action active in every state?", Ask: askComplete,
			Runs: true, Starts: true},
		{Name: "dead", Asks: "Can every task become active?", Ask: askDead},
		{Name: "goal", Asks: "Does the plan succeed exactly when its goal holds?", Ask: askGoal,
			Needs: "a `goal`", Starts: true},
		{Name: "reach", Asks: "Is the goal reached from every state?", Ask: askReach, Moves: true,
			Needs: "a `goal`, and `effects` on its signals", Starts: true, Endless: true},
		{Name: "regression", Asks: "Does each rule lead to an earlier one?", Ask: askRegression, Moves: true,
			Needs:  "a root that is a list of rules, and `effects` on the signals of their conditions",
			Starts: true, Endless: true},
		{Name: "always", Asks: "Do the declared properties hold in every state?", Ask: askAlways, Needs: "`always`",
			Starts: true},
		{Name: "property", Asks: "Do the declared properties hold in every run?", Ask: askProperties,
			Moves: true, Needs: "`properties`", Starts: true},
		{Name: "conflict", Asks: "Do two active tasks ever write one command or hold one resource?", Ask: askConflict,
			Needs: "tasks that write, or `resources`", Starts: true},
		{Name: "effects", Asks: "Do the declared effects agree with the vehicle?", Ask: askEffects,
			Needs: "a mission with `effects`"},
		{Name: "chatter", Asks: "Do tasks take turns faster than `period`?", Ask: askChatter, Moves: true,
			Needs: "`effects`", Starts: true},
		{Name: "command", Asks: "Can every command be written by some task?", Ask: askCommand,
			Needs: "a vehicle with commands: a mission", Starts: true},
		{Name: "reaction", Asks: "How long does the tree take to settle after one input?", Ask: askReaction, Anywhere: true,
			Runs: true},
	}
}

// Check asks all questions once, within bounds that do not depend on time, and marks the findings that notes accept.
func Check(s declare.Subject) []Finding {
	var all []Finding
	pass(s, nil, &meter{}, once, Questions(), func(_ Question, found []Finding, _ bool) bool {
		all = append(all, found...)
		return true
	})
	return Accept(s, all)
}

// once is the effort of searches in a single pass; deeper is the factor by which it grows from one pass to the next.
const (
	once   = 10
	deeper = 10
)

// Answers asks the questions one after the other, as long as goOn, which is asked often, returns true; then those again
// that searches did not decide within their bounds, with larger ones, until they have done a budget of work [s]. It is
// counted, not measured: the same answers come from any machine. The last answer to a question counts; the one that is
// in progress when the work is done or goOn returns false is not yielded.
func Answers(s declare.Subject, budget float64, goOn func() bool) iter.Seq2[Question, []Finding] {
	return func(yield func(Question, []Finding) bool) {
		questions, more := Questions(), true
		work := &meter{goOn: goOn} // all questions are asked once
		var m *Model
		for effort := 1; more && len(questions) > 0; effort *= deeper {
			var open []Question
			m, more = pass(s, m, work, effort, questions, func(q Question, found []Finding, tired bool) bool {
				for i := range found {
					f := &found[i]
					f.Open = tired && (f.Verdict == Undecided || f.Verdict == Proved && len(f.Assumes) > 0)
				}
				if slices.ContainsFunc(found, func(f Finding) bool { return f.Open }) {
					open = append(open, q)
				}
				return yield(q, found)
			})
			questions = open
			work.spent, work.most = 0, 1+int(min(budget, 1e9)*workPerSecond)
		}
	}
}

// pass asks questions with a factor of the bounds of searches, of a model that an earlier pass has returned or, if that
// is nil, of a new one; tired tells whether a search ended because of its bounds. more is false if the work is done or
// yield is.
func pass(s declare.Subject, m *Model, work *meter, effort int, questions []Question,
	yield func(q Question, found []Finding, tired bool) bool,
) (_ *Model, more bool) {
	fresh := m == nil
	if fresh {
		m = newModel(s, newDiagramsWithin(work))
	}
	m.extend(effort)
	tooLarge := fresh && m.space.full()
	for _, q := range questions {
		if m.space.full() && !tooLarge { // the last question filled the space: start again with a new model
			m = newModel(s, newDiagramsWithin(work))
			m.extend(effort)
		}
		m.tired = false
		x := m.about(q)
		found := x.concrete(q, x.fromStart(q, x.ask(q)))
		m.tired = x.tired
		if !work.more() || !yield(q, found, m.tired) {
			return m, false
		}
	}
	return m, true
}

// extend lets searches go further, the shared one from where it has ended.
func (m *Model) extend(effort int) {
	m.effort, m.entered, m.explored, m.runsGoOn, m.reachable = effort, nil, false, nil, nil
	if m.flew != nil {
		m.flew.tired = false
		m.flew.states.Resume()
	}
	for _, x := range []*Model{m.started, m.endless} {
		if x != nil {
			x.extend(effort)
		}
	}
}

// about returns the model of the runs that a question is about.
func (m *Model) about(q Question) *Model {
	if !q.Endless || m.subject.Endless == nil {
		return m
	}
	if m.endless == nil || m.endless.space.full() {
		m.endless = newModel(m.subject.Endless(), m.spaceOf)
		m.endless.extend(m.effort)
	}
	m.endless.tired = false
	return m.endless
}

// fromStart asks a question again of the runs that begin as the mission declares, if something was not proved of all
// runs. A finding that was stays; if no fewer are left, or a search that has ended names no tasks, all do.
func (m *Model) fromStart(q Question, found []Finding) []Finding {
	open := func(f Finding) bool { return f.Verdict != Proved && f.Verdict != NotAsked || len(f.Unwatched()) > 0 }
	if m.subject.Start == nil || !q.Starts || !slices.ContainsFunc(found, open) {
		return found
	}
	if m.started == nil || m.started.space.full() {
		m.started = newModel(m.subject.Start(), m.spaceOf)
		m.started.extend(m.effort)
	}
	x := m.started
	x.tired = false
	if q.Name == "chatter" { // tasks may take turns wherever a run begins: a long search is not worth it
		x.effort = 1
	}
	again := x.ask(q)
	x.effort = m.effort
	m.tired = m.tired || x.tired && q.Name != "chatter"
	left := func(list []Finding) (n int) {
		for _, f := range list {
			n += btoi(f.Verdict != Proved || open(f))
		}
		return n
	}
	ended := func(f Finding) bool { return q.Name == "chatter" && f.Verdict == Undecided && f.Tasks == nil }
	if n := left(again); n > 0 && (n >= left(found) || slices.ContainsFunc(again, ended)) {
		return found
	}
	for i := range again {
		f := &again[i]
		if i < len(found) && !open(found[i]) && found[i].About == f.About && slices.Equal(found[i].Tasks, f.Tasks) {
			*f = found[i]
		} else if f.Verdict == Proved {
			f.Assumes = append(f.Assumes, Begins)
		}
	}
	return again
}

// ask asks one question; if its sets grow beyond the bound, it is undecided.
func (m *Model) ask(q Question) []Finding {
	var found []Finding
	if !m.space.full() {
		found = m.blameless(q, m.supported(q, q.Ask(m)))
	}
	if m.space.full() {
		found = []Finding{{Verdict: Undecided,
			Text: fmt.Sprintf("not concluded: the sets of states need more than %d nodes of decision diagrams", maxNodes),
			Advice: "conditions that many tasks share make sets large: check subtrees as separate plans, or declare" +
				" facts that exclude states",
		}}
	}
	if len(found) == 0 {
		found = []Finding{{Verdict: NotAsked, Text: "it needs " + q.Needs, Needs: q.Needs}}
	}
	rests := m.rateRests()
	if q.Name == "chatter" { // which is about sliding
		rests = slices.DeleteFunc(rests, func(a Assumption) bool { return a == NoSliding })
	}
	for i := range found {
		f := &found[i]
		f.Question = q.Name
		if q.Moves && (f.Verdict == Proved || f.Verdict == Refuted) {
			f.Assumes = append(f.Assumes, rests...)
		}
		if !q.Anywhere && f.Verdict == Proved && len(m.facts) > 0 && m.space.empty(m.lawful) {
			f.Verdict, f.Text, f.Advice = Undecided, "not concluded: the declared facts exclude every state", "correct the facts"
		}
		if !q.Anywhere && f.Verdict == Proved && m.assumesFacts() {
			f.Assumes = append(f.Assumes, FactsHold)
		}
		if f.Source == nil {
			f.Source = m.plan.Source
			if len(f.Tasks) > 0 {
				f.Offset, f.Length = m.place(f.Tasks[0])
			}
		}
	}
	return found
}

// place returns the position of a task in the plan; for a composite, that of its first leaf. Without one it is that of
// the first leaf behind it, or else of the last one; 0, 0 if the plan has none.
func (m *Model) place(t bt.Task) (offset, length int) {
	for len(m.tree.Children(t)) > 0 {
		t = m.tree.Children(t)[0]
	}
	if len(m.plan.Leaves) == 0 {
		return 0, 0
	}
	i, _ := slices.BinarySearch(m.tree.Leaves(), t)
	l := &m.plan.Leaves[min(i, len(m.plan.Leaves)-1)]
	return l.Offset, l.Length
}
