// Package record writes and reads the log of one run.
//
// A run leaves three files:
//
//   - run.mcap, the whole log in the MCAP container (https://mcap.dev/spec): channels /run (the Header, once),
//     /signals (one object per sample), /status (one object per status change), /events and /summary, all JSON
//     messages with jsonschema schemas; the plan and the mission as attachments. The log time of a message is the
//     simulated time in ns. If a plan takes over while the run goes on, the channel /plan has it ([Takeover]). The log
//     of a flight over a link has more channels ([Channel]).
//   - status.csv, header `t,micro,task,from,to`: one line per status change, t in seconds with 9 decimals, or with as
//     many more as keep different times apart.
//   - signals.csv, first column `t`, then one column `name [unit]` per recorded signal: one line per sample.
//
// Rows have a task's name or, if that is longer than 128 bytes, its number: the path of a deep task would make a log
// grow with the square of the depth. The number is that in the list of /run, from 0; tasks that only later plans have
// are counted on in their order. A row has it as #NUMBER...END with the last 96 bytes of the name, also if the name
// begins with #.
//
// In the CSV files, names are written so that no spreadsheet treats them as a formula and no viewer interprets them:
// one that begins with =, +, - or @ has an apostrophe before it, and invisible characters are escaped ([diag.Visible]).
//
// The files are written out whenever 64 KiB of run.mcap have been recorded, so that a killed run loses only its last
// stretch.
//
// No wall clock, no map order and no compression enters a file: the same calls give the same bytes.
//
// Numbers are written in the shortest decimal form that reads back as the same float64, as encoding/json and ECMAScript
// write them (ECMA-262, Number::toString; the sign of -0 is kept), the same text in signals.csv and run.mcap. Only the
// times of status.csv have other digits. JSON has no NaN and no infinities: in run.mcap they are null and
// read back as NaN, in signals.csv they are NaN, +Inf and -Inf.
package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// Task describes one task of the plan's tree; its index in Header.Tasks is its bt.Task number (post-order).
type Task struct {
	Name    string    `json:"name"`            // unique within the plan
	Kind    string    `json:"kind"`            // node kind, as bt.Kind writes it
	Parent  int       `json:"parent"`          // index of the parent, -1 at the root
	Detail  string    `json:"detail"`          // a leaf's function, as written in the plan; may be empty
	Initial bt.Status `json:"-"`               // status before the first settling; written by name
	Rests   bool      `json:"rests,omitempty"` // a condition that is not judged where the plan does not hear it
}

// maxLabel is the length of the longest name that rows repeat, and labelEnd that of the end of a longer one [bytes].
const maxLabel, labelEnd = 128, 96

// label returns what rows call a task.
func label(number int, name string) string {
	if len(name) <= maxLabel && !strings.HasPrefix(name, "#") {
		return name
	}
	end := strings.ToValidUTF8(name[max(0, len(name)-labelEnd):], "")
	return "#" + strconv.Itoa(number) + "..." + end
}

type plainTask Task

// MarshalJSON writes the initial status by its name.
func (t Task) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		plainTask
		Initial string `json:"initial"`
	}{plainTask(t), t.Initial.String()})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Task) UnmarshalJSON(data []byte) error {
	named := struct {
		*plainTask
		Initial string `json:"initial"`
	}{plainTask: (*plainTask)(t)}
	if err := json.Unmarshal(data, &named); err != nil {
		return err
	}
	initial, ok := statuses[named.Initial]
	if !ok {
		return fmt.Errorf("task %q has the unknown initial status %q", t.Name, named.Initial)
	}
	t.Initial = initial
	return nil
}

// Signal describes one recorded signal, a column of the samples.
type Signal struct {
	Name string `json:"name"`
	Unit string `json:"unit"` // "" means "1"
	Text string `json:"text"` // one line of description

	Type   string   `json:"type,omitempty"`   // boolean, integer, enumeration or text; "" is real
	Values []string `json:"values,omitempty"` // of an enumeration or a text: what the samples number, from 0
	Entry  bool     `json:"entry,omitempty"`  // of a blackboard: a real changes at instants only, and has any unit
}

// Value returns a sample's value as a text, for a signal whose values have names.
func (s *Signal) Value(v float64) (text string, ok bool) {
	switch i := int(v); {
	case s.Type == "boolean" && (v == 0 || v == 1):
		return strconv.FormatBool(v == 1), true
	case v >= 0 && v < float64(len(s.Values)) && float64(i) == v:
		return s.Values[i], true
	}
	return "", false
}

// Plot names signals with the same unit that share a panel of a report.
type Plot struct {
	Title   string   `json:"title"`
	Signals []string `json:"signals"`
}

// Parameter is a parameter value of the run and its source.
type Parameter struct {
	Name    string  `json:"name"`
	Unit    string  `json:"unit"`
	Value   float64 `json:"value"`
	Default float64 `json:"default"`
	Tag     string  `json:"tag"` // D published by the aircraft's maker, P published for another one, A assumed or tuned
	Text    string  `json:"text"`
}

// Attachment is a source document of the run, stored unchanged.
type Attachment struct {
	Name, MediaType string
	Data            []byte
}

// Header describes a run: everything known before it starts.
type Header struct {
	Mission    string      `json:"mission"`
	Text       string      `json:"text"` // one line of description
	Plan       string      `json:"plan"`
	Vehicle    string      `json:"vehicle"`
	Start      float64     `json:"start"`    // simulated time of the first sample [s]; 0 is midnight of the first day
	Horizon    float64     `json:"horizon"`  // planned end of the run [s]
	Method     string      `json:"method"`   // of the integration
	RelTol     float64     `json:"rel_tol"`  // relative tolerance of the integration
	Interval   float64     `json:"interval"` // interval of the sampling grid [s]
	Tasks      []Task      `json:"tasks"`
	Signals    []Signal    `json:"signals"`
	Plots      []Plot      `json:"plots"`
	Parameters []Parameter `json:"parameters"`
	Watched    []string    `json:"watched,omitempty"` // relations of which the log has an event for each change

	Fence []earth.Area        `json:"fence,omitempty"` // where the vehicle may be
	Rally []earth.Coordinates `json:"rally,omitempty"` // places to return to instead of home

	// Date is the Unix time of the start [ns], of a flight that is not simulated. The log times of run.mcap are then Unix
	// times, which Recorder.SetDate sets.
	Date int64 `json:"date,omitempty"`

	Attachments []Attachment `json:"-"` // kept as attachments of run.mcap
}

// Event is an event at an instant other than a status change.
type Event struct {
	T     float64 `json:"t"`     // simulated time [s]
	Micro int     `json:"micro"` // event iteration within the instant, from 1; 0 before the first
	Kind  string  `json:"kind"`  // "state", "time", "touch", "conflict", "chattering", "error", ...
	Text  string  `json:"text"`
	Grave bool    `json:"grave,omitempty"` // a finding about a vehicle that may keep it from being commanded

	// Relation is the condition whose truth a state event changes or a touch keeps, as an expression; "" for other
	// kinds, and in logs of earlier versions.
	Relation string `json:"relation,omitempty"`
	Holds    bool   `json:"holds,omitempty"` // the truth of the relation from then on

	// Crossed is the time at which the relation of a state event changed [s], if it was observed later, at T.
	Crossed *float64 `json:"crossed,omitempty"`
}

// Since dates a state event that was observed later than it occurred, at time t [s].
func (e *Event) Since(t float64) {
	if t < e.T {
		e.Crossed = &t
		e.Text += ", since t = " + strconv.FormatFloat(t, 'f', 3, 64) + " s"
	}
}

// The kinds of the events with a relation.
const (
	KindState = "state" // the relation changes
	KindTouch = "touch" // it does not, although its sides become equal, or nearly so
)

// The kinds of the events at which a source of signals, the text, is lost and found again.
const (
	KindUnknown = "unknown"
	KindKnown   = "known"
)

// KindSwap is the kind of the events of an exchange of the plan.
const KindSwap = "swap"

// KindVehicle is the kind of the event at which a vehicle ends the simulation.
const KindVehicle = "vehicle"

// KindRange is the kind of an event at which a state leaves the range in which the vehicle's model is valid.
const KindRange = "range"

// KindChattering is the kind of an event at which a motion begins to slide, or ends to.
const KindChattering = "chattering"

// KindTolerance is the kind of an event that warns that the solution may be wrong: a state leaves the range that the
// equations imply or, at the end, was always near its absolute tolerance.
const KindTolerance = "tolerance"

// KindSampled is the kind of an event from which on the changes of the watched relations are not in the log any more,
// except those that the plan needs: there have been too many.
const KindSampled = "sampled"

// StateEvent returns the event that a relation, written as an expression, becomes true or false.
func StateEvent(t float64, micro int, relation string, holds bool) Event {
	return Event{T: t, Micro: micro, Kind: KindState, Relation: relation, Holds: holds,
		Text: relation + " becomes " + strconv.FormatBool(holds)}
}

// TouchEvent returns the event that a relation keeps its truth although its sides become equal, or nearly so.
func TouchEvent(t float64, micro int, relation string, holds bool) Event {
	return Event{T: t, Micro: micro, Kind: KindTouch, Relation: relation, Holds: holds,
		Text: relation + " stays " + strconv.FormatBool(holds) +
			": within the accuracy of the solution, its limit is only touched"}
}

// Change is a status change with its time.
type Change struct {
	T     float64 // simulated time [s]
	Micro int     // event iteration within the instant, from 1
	bt.Change
}

// Recorder receives the log of a run in order of time; Writer is one. Its methods do not keep their slices.
type Recorder interface {
	// Sample receives the values of all signals, in the header's order, at simulated time t [s]. Both sides of a
	// discontinuity are two samples of the same t.
	Sample(t float64, values []float64) error
	// Status receives a status change at simulated time t [s] in the event iteration micro of the instant, from 1.
	Status(t float64, micro int, c bt.Change) error
	Event(e Event) error
	// Plan receives a plan that takes over. The log numbers its tasks as [Header.Take] does; a status change of a task
	// that has a number from there on can follow.
	Plan(p Takeover) error

	// SetDate sets the Unix time of what is recorded from now on [ns], in a flight over a link.
	SetDate(unix int64)
	// Message receives a message of a channel of such a flight, a JSON object of its schema. It is only in run.mcap.
	Message(c Channel, data []byte) error
}

// Nothing is a recorder that keeps nothing. A recorder that needs only a part of the log embeds it.
type Nothing struct{}

// Sample does nothing.
func (Nothing) Sample(float64, []float64) error { return nil }

// Status does nothing.
func (Nothing) Status(float64, int, bt.Change) error { return nil }

// Event does nothing.
func (Nothing) Event(Event) error { return nil }

// Plan does nothing.
func (Nothing) Plan(Takeover) error { return nil }

// SetDate does nothing.
func (Nothing) SetDate(int64) {}

// Message does nothing.
func (Nothing) Message(Channel, []byte) error { return nil }

// Tee is a recorder that passes a log to several.
type Tee []Recorder

// Sample implements [Recorder].
func (to Tee) Sample(t float64, values []float64) error {
	return to.each(func(r Recorder) error { return r.Sample(t, values) })
}

// Status implements [Recorder].
func (to Tee) Status(t float64, micro int, c bt.Change) error {
	return to.each(func(r Recorder) error { return r.Status(t, micro, c) })
}

// Event implements [Recorder].
func (to Tee) Event(e Event) error {
	return to.each(func(r Recorder) error { return r.Event(e) })
}

// Plan implements [Recorder].
func (to Tee) Plan(p Takeover) error {
	return to.each(func(r Recorder) error { return r.Plan(p) })
}

// SetDate implements [Recorder].
func (to Tee) SetDate(unix int64) {
	for _, r := range to {
		r.SetDate(unix)
	}
}

// Message implements [Recorder].
func (to Tee) Message(c Channel, data []byte) error {
	return to.each(func(r Recorder) error { return r.Message(c, data) })
}

func (to Tee) each(do func(Recorder) error) error {
	var err error
	for _, r := range to { // a flight goes on without its log, and those who watch it see it
		err = Join(err, do(r))
	}
	return err
}

// Join joins two errors, unless the first already includes the second: a failed recorder returns its error at every
// call.
func Join(err, more error) error {
	switch {
	case more == nil || errors.Is(err, more):
		return err
	case err == nil:
		return more
	}
	return errors.Join(err, more)
}

// Outcome is how a run ended.
type Outcome string

// The outcomes.
const (
	Complete    Outcome = "complete"    // by its horizon, its time limit or its plan
	Interrupted Outcome = "interrupted" // by its user; everything up to there is recorded
	Failed      Outcome = "failed"      // by an error; everything up to there is recorded
)

// Verdict is the result of the plan: that of its root when the run ended, before actions were stopped.
type Verdict string

// The verdicts.
const (
	PlanSucceeded Verdict = "succeeded" // Success or Finished, or it was deactivated after that
	PlanFailed    Verdict = "failed"    // Failure or Aborted, or it was deactivated after that
	PlanSkipped   Verdict = "skipped"   // Skipped or Dropped, or it was deactivated after that
	PlanOpen      Verdict = "open"      // it was still running or waiting
	PlanAbsent    Verdict = "absent"    // the run was not decided by the tree
)

// Words says the verdict to people.
func (v Verdict) Words() string {
	switch v {
	case PlanOpen:
		return "still running at the end"
	case PlanAbsent:
		return "did not decide"
	}
	return string(v)
}

// ErrInterrupted reports a run that its user ended.
var ErrInterrupted = errors.New(string(Interrupted))

// Summary is the cost of a run and why it ended; summary.json has the same fields.
type Summary struct {
	// CPU is the CPU time of the process, from its start to its report, and Flight the part of it for the simulation
	// with recording [s]. They are not in run.mcap.
	CPU    float64 `json:"cpu_s"`
	Flight float64 `json:"cpu_flight_s"`

	Steps              int     `json:"steps"`
	RejectedSteps      int     `json:"rejected_steps"`
	RHSEvaluations     int     `json:"rhs_evaluations"`
	Jacobians          int     `json:"jacobians"`
	Factorisations     int     `json:"factorisations"`
	StateEvents        int     `json:"state_events"`
	TimeEvents         int     `json:"time_events"`
	StatusChanges      int     `json:"status_changes"`
	MaxEventIterations int     `json:"max_event_iterations"` // most event iterations within one instant
	Unproved           int     `json:"unproved,omitempty"`   // parts of steps whose events were sampled, not proved absent
	Ended              float64 `json:"ended"`                // simulated time at which the run ended [s]
	Outcome            Outcome `json:"outcome"`              // of the run
	Plan               Verdict `json:"plan"`                 // of the plan; empty in logs of earlier versions
	Reason             string  `json:"reason"`               // as text

	Sortie *Sortie `json:"flight,omitempty"` // what became of the vehicle; nil: it is simulated

	// Breached is the first time at which the vehicle was seen outside its fence [s].
	Breached *float64 `json:"fence_breached_s,omitempty"`

	// Stopped is the simulated time at which the plan was stopped [s], if exit procedures then took time.
	Stopped float64 `json:"stopped,omitempty"`
	// Planned is the number of the status changes before the plan was stopped, if some followed.
	Planned int `json:"planned_changes,omitempty"`

	Properties  []Property `json:"properties,omitempty"`  // those that the mission declares
	Assumptions []Property `json:"assumptions,omitempty"` // facts and effects that it declares: proofs rest on them
}

// Property is the verdict of an assertion on a run: a temporal property or an assumption of proofs.
type Property struct {
	Property string   `json:"property"`
	Kind     string   `json:"kind,omitempty"`         // fact, effect or range; "" is a property
	Verdict  string   `json:"verdict"`                // satisfied, violated, open, or unwatched
	Margin   *float64 `json:"margin"`                 // null: only tasks decide
	At       *float64 `json:"at_s,omitempty"`         // if violated: the first time at which it fails
	After    *float64 `json:"open_after_s,omitempty"` // if open: the time after which the run is not known
	Because  string   `json:"because,omitempty"`      // if open or unwatched: the reason

	Exchanged string   `json:"exchanged,omitempty"` // when the plan had the tasks that it names, if not always
	Proofs    []string `json:"proofs,omitempty"`    // of an assumption: the questions whose proofs rest on it
}

// Statement returns the assertion with its kind, if it is an assumption.
func (p *Property) Statement() string {
	switch p.Kind {
	case "":
		return "`" + p.Property + "`"
	case KindRange, KindSliding: // which are sentences
		return "the assumption that " + p.Property
	}
	return "the " + p.Kind + " `" + p.Property + "`"
}

// Consequence returns what follows from the violation of an assumption; "" for a property.
func (p *Property) Consequence() string {
	switch n := len(p.Proofs); {
	case n == 0:
		return ""
	case p.Kind == KindFact:
		return "the proofs of `canopy check` rest on it, and do not hold for this run"
	case n == 1:
		return "the proofs of `canopy check` about " + p.Proofs[0] + " rest on it, and do not hold for this run"
	default:
		return "the proofs of `canopy check` about " + strings.Join(p.Proofs[:n-1], ", ") + " and " + p.Proofs[n-1] +
			" rest on it, and do not hold for this run"
	}
}

// Kinds of assumptions: of every proof, and that the motion does not slide. [KindRange] is one, too.
const (
	KindFact    = "fact"
	KindSliding = "sliding"
)

// Verdicts of assertions that other packages compare.
const (
	PropertySatisfied = "satisfied"
	PropertyViolated  = "violated"
	PropertyOpen      = "open"
	PropertyUnwatched = "unwatched" // the run does not contain what the assertion is about
)

// Take enters the verdicts of the assertions.
func (s *Summary) Take(verdicts []Property) {
	s.Properties, s.Assumptions = nil, nil
	for _, p := range verdicts {
		if p.Kind == "" {
			s.Properties = append(s.Properties, p)
		} else {
			s.Assumptions = append(s.Assumptions, p)
		}
	}
}

// Violations returns the properties and assumptions that the run violated.
func (s *Summary) Violations() []Property {
	return slices.DeleteFunc(slices.Concat(s.Properties, s.Assumptions), func(p Property) bool {
		return p.Verdict != PropertyViolated
	})
}
