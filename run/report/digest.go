package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"canopy/bt"
	"canopy/run/record"
)

// Digest is the part of a log that a page and a table show: its header and end, with texts as they may be shown, and
// what has been gathered of the rest. Its size is bounded by the header's, however long the run.
type Digest struct {
	record.Header
	record.End
	Recorded *record.Header // as it is in the log
	Statuses []bt.Status    // of the tasks at the end of the log

	changes      int // of status
	activities   []activity
	extremes     []extreme
	noticed      []record.Event
	moreToNotice int
	notes        notes
	data         data
}

// Read reads a log twice: first its extent, then the parts that are shown. Errors are those of [record.Play].
func Read(log io.ReadSeeker) (*Digest, error) {
	return gather(func(begin func(*record.Header) record.Recorder) (record.End, error) { return record.Play(log, begin) })
}

// gather makes the digest of a log that play plays, as record.Play does.
func gather(play func(begin func(*record.Header) record.Recorder) (record.End, error)) (*Digest, error) {
	var s *survey
	end, err := play(func(h *record.Header) record.Recorder {
		s = newSurvey(h)
		return s
	})
	if err != nil {
		return nil, err
	}
	d := s.digest(end)
	k := newKeeper(s, d)
	if _, err := play(func(*record.Header) record.Recorder { return k }); err != nil {
		return nil, err
	}
	d.data, d.notes = k.drawn(d)
	return d, nil
}

// ended is the simulated time [s] of the end of the log.
func ended(end *record.End) float64 {
	if end.Summary != nil {
		return end.Summary.Ended
	}
	return end.Told
}

// branch is a task with its depth in the tree.
type branch struct {
	task  bt.Task
	depth int
}

// treeOrder returns the tasks in the order in which a tree is read: parents first, children from left to right.
func treeOrder(tasks []record.Task) []branch {
	children := make(map[int][]int, len(tasks))
	for i, t := range tasks {
		children[t.Parent] = append(children[t.Parent], i)
	}
	list := make([]branch, 0, len(tasks))
	var visit func(task, depth int)
	visit = func(task, depth int) {
		list = append(list, branch{bt.Task(task), depth})
		for _, c := range children[task] {
			visit(c, depth+1)
		}
	}
	for _, root := range children[-1] {
		visit(root, 0)
	}
	return list
}

// survey is the recorder that determines the extent of a log.
type survey struct {
	recorded                 *record.Header
	samples, changes, events int
	tasks                    []history
	extremes                 []extreme
	noticed                  []record.Event // the first of those that a person should know of
	moreToNotice             int
}

// history is the past of a task up to a time.
type history struct {
	first   bt.Status // from the log's start
	status  bt.Status // since a time [s]
	since   float64
	changes int
	entries int
	active  float64 // [s]
}

// on lets a status last up to t.
func (h *history) on(t float64) {
	if h.status == bt.Activating {
		h.entries++
	}
	if !h.status.Transient() {
		h.active += t - h.since
	}
	h.since = t
}

func newSurvey(h *record.Header) *survey {
	s := &survey{recorded: h, tasks: make([]history, len(h.Tasks))}
	for i, t := range h.Tasks {
		s.tasks[i] = history{first: t.Initial, status: t.Initial, since: h.Start}
	}
	shown := visible(h)
	seen := map[string]bool{}
	places := signalsByName(&shown)
	plots, _ := panels(&shown)
	for _, p := range plots {
		for _, name := range p.Signals {
			if at := places[name]; len(at) > 0 && !seen[name] {
				seen[name] = true
				nan := math.NaN()
				s.extremes = append(s.extremes, extreme{Signal: shown.Signals[at[0]], place: at[0],
					Least: nan, Greatest: nan, LeastAt: nan, GreatestAt: nan})
			}
		}
	}
	return s
}

// signalsByName returns the places of the signals of each name: names that differ may be shown in the same way.
func signalsByName(h *record.Header) map[string][]int {
	places := make(map[string][]int, len(h.Signals))
	for i, s := range h.Signals {
		places[s.Name] = append(places[s.Name], i)
	}
	return places
}

func (s *survey) Sample(t float64, values []float64) error {
	s.samples++
	for i := range s.extremes {
		s.extremes[i].add(t, values[s.extremes[i].place])
	}
	return nil
}

func (s *survey) Status(t float64, _ int, c bt.Change) error {
	s.changes++
	h := &s.tasks[c.Task]
	if h.changes == 0 {
		h.first, h.status = c.From, c.From
	}
	h.on(t)
	h.changes++
	h.status = c.To
	return nil
}

// usual are the events that the switching itself makes.
var usual = map[string]bool{"state": true, "time": true, "step": true, "error": true}

const mostNoticed = 5

func (s *survey) Event(e record.Event) error {
	s.events++
	switch e = visibleEvent(e); {
	case usual[e.Kind]:
	case len(s.noticed) < mostNoticed:
		s.noticed = append(s.noticed, e)
	default:
		s.moreToNotice++
	}
	return nil
}

// digest returns the digest of a log with this end.
func (s *survey) digest(end record.End) *Digest {
	d := &Digest{Header: visible(s.recorded), End: end, Recorded: s.recorded, changes: s.changes, extremes: s.extremes,
		noticed: s.noticed, moreToNotice: s.moreToNotice}
	if end.Summary != nil {
		summary := *end.Summary
		summary.Reason = brief(summary.Reason)
		summary.Properties, summary.Assumptions = briefly(summary.Properties), briefly(summary.Assumptions)
		d.Summary = &summary
	}
	until := ended(&end)
	for i := range s.tasks {
		s.tasks[i].on(until)
		d.Statuses = append(d.Statuses, s.tasks[i].status)
	}
	for _, b := range treeOrder(d.Tasks) {
		if h := &s.tasks[b.task]; acts(d.Tasks[b.task].Kind) {
			a := activity{Name: d.Tasks[b.task].Name, Entries: h.entries, Time: h.active}
			if until > d.Start {
				a.Share = a.Time / (until - d.Start)
			}
			d.activities = append(d.activities, a)
		}
	}
	return d
}

// briefly returns verdicts with texts that a page can show.
func briefly(list []record.Property) []record.Property {
	list = slices.Clone(list)
	for i := range list {
		p := &list[i]
		for _, text := range []*string{&p.Property, &p.Kind, &p.Verdict, &p.Because} {
			*text = brief(*text)
		}
		p.Proofs = slices.Clone(p.Proofs)
		for k := range p.Proofs {
			p.Proofs[k] = brief(p.Proofs[k])
		}
	}
	return list
}

// keeper is the recorder that keeps the parts that are shown of a log whose extent is known.
type keeper struct {
	samples  int             // in the log
	times    []float64       // of all samples, if they are few
	curves   []*curveThinner // of the signals; nil if one is not plotted
	lanes    []*laneThinner  // of the tasks
	order    []branch
	changes  changes
	events   []record.Event
	changing ends
	happened ends
}

func newKeeper(s *survey, d *Digest) *keeper {
	k := &keeper{samples: s.samples, curves: make([]*curveThinner, len(d.Signals)),
		lanes: make([]*laneThinner, len(s.tasks)), order: treeOrder(d.Tasks),
		changing: ends{n: s.changes, most: mostLines}, happened: ends{n: s.events, most: mostLines}}
	until := ended(&d.End)
	columns := 0
	if s.samples > mostSamples {
		columns = mostColumns
	}
	plots, _ := panels(&d.Header)
	places := signalsByName(&d.Header)
	for _, p := range plots {
		for _, name := range p.Signals {
			for _, i := range places[name] {
				k.curves[i] = &curveThinner{until: until, columns: columns}
			}
		}
	}
	counts := make([]int, len(s.tasks))
	for i := range s.tasks {
		counts[i] = s.tasks[i].changes + 1
	}
	share := fairShare(counts, mostChanges)
	for i := range s.tasks {
		l := &laneThinner{from: d.Start, until: until}
		if counts[i] > share {
			l.columns = max(1, share/perColumn)
		}
		l.add(d.Start, s.tasks[i].first)
		k.lanes[i] = l
	}
	return k
}

func (k *keeper) Sample(t float64, values []float64) error {
	if k.samples <= mostSamples {
		k.times = append(k.times, t)
	}
	for i, c := range k.curves {
		if c != nil {
			c.add(t, values[i])
		}
	}
	return nil
}

func (k *keeper) Status(t float64, micro int, c bt.Change) error {
	k.lanes[c.Task].add(t, c.To)
	if k.changing.keep(t) {
		to := &k.changes
		to.T, to.Micro, to.Task = append(to.T, t), append(to.Micro, micro), append(to.Task, c.Task)
		to.From, to.To = append(to.From, int(c.From)), append(to.To, int(c.To))
	}
	return nil
}

func (k *keeper) Event(e record.Event) error {
	if k.happened.keep(e.T) {
		k.events = append(k.events, visibleEvent(e))
	}
	return nil
}

// drawn returns the data that the page's script draws, and the text of the page about it.
func (k *keeper) drawn(of *Digest) (data, notes) {
	d := data{Start: of.Start, End: ended(&of.End), Changes: k.changes, Events: k.events}
	for s := bt.Success; s <= bt.Deactivating; s++ {
		d.Statuses = append(d.Statuses, s.String())
	}
	for _, t := range of.Tasks {
		kind, known := bt.ParseKind(t.Kind)
		d.Tasks = append(d.Tasks, task{t.Name, t.Kind, t.Detail, known && kind.Family() == bt.Leaf})
	}
	var n notes
	plots, left := panels(&of.Header)
	if text := unplotted(left, 20); text != "" {
		n.History = append(n.History, text)
	}
	thinned := k.samples > mostSamples
	if thinned {
		n.History = append(n.History, fmt.Sprintf("The curves show the range of %d samples in each 1/%d of the run; "+
			"signals.csv has them one by one.", k.samples, mostColumns))
	} else {
		d.Time = float64s(k.times)
	}
	places := signalsByName(&of.Header)
	for _, p := range plots {
		q := panel{Title: p.Title}
		for _, name := range p.Signals {
			for _, i := range places[name] {
				s := of.Signals[i]
				c := curve{Name: s.Name, Unit: s.UnitOrOne(), Text: s.Text}
				times, values := k.curves[i].points()
				c.Values = float32s(values)
				if thinned {
					c.Time = float64s(times)
				}
				q.Signals = append(q.Signals, c)
			}
		}
		if len(q.Signals) > 0 {
			d.Plots = append(d.Plots, q)
		}
	}
	tooClose := 0
	d.Lanes = make([]lane, 0, len(k.order))
	for _, b := range k.order {
		l := k.lanes[b.task]
		l.end()
		tooClose += l.left
		d.Lanes = append(d.Lanes, lane{Task: b.task, Depth: b.depth, T: l.t, S: l.s})
	}
	if tooClose > 0 {
		n.History = append(n.History, fmt.Sprintf("%d status changes are too close to others of their task to be "+
			"drawn: where they are, a lane shows which statuses there were; status.csv has all.", tooClose))
	}
	if k.happened.left > 0 {
		d.Gap = []float64{k.happened.from, k.happened.to}
	}
	n.Table = leftOut(k.changing, k.happened)
	return d, n
}
