package report

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/run/cause"
	"github.com/canopy-uav/canopy/run/monitor"
	"github.com/canopy-uav/canopy/run/record"
)

// Digest is the part of a log that a page and a table show: its header and end, with texts as they may be shown, and
// what has been gathered of the rest. Its size is bounded by the header's, however long the run.
type Digest struct {
	record.Header
	record.End

	plan         *plan.Plan // the last one; nil: the log does not have it
	numbers      []bt.Task  // of its tasks
	judged       []record.Property
	robust       []monitor.Robust
	changes      int // of status
	activities   []activity
	extremes     []extreme
	noticed      []record.Event
	moreToNotice int
	notes        notes
	data         data
}

// Read digests a log, and judges what its mission declares. Errors are those of [record.Play].
func Read(log io.ReadSeeker) (*Digest, error) {
	var g *Gatherer
	var judge *monitor.Monitor
	end, err := record.Play(log, func(h *record.Header) record.Recorder {
		watch, _ := monitor.Declared(h, "") // of a document with mistakes, what is without
		g, judge = NewGatherer(h), monitor.New(h, watch)
		return record.Tee{g, judge}
	})
	if err != nil {
		return nil, err
	}
	d := g.Digest(end)
	d.Judge(judge)
	return d, nil
}

// Judge takes the judgements of the run's monitor, nil if there is none: the page shows how robustly the run has its
// properties. The verdicts are those of the summary, if the log has one.
func (d *Digest) Judge(m *monitor.Monitor) {
	if m == nil {
		return
	}
	if d.Summary == nil {
		list, _ := m.Judge(&d.End) // what cannot be judged has no verdict
		d.judged = copied(list, brief)
	}
	d.robust = m.Robustness(&d.End)
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

// Gatherer is the recorder that gathers a digest, from a run in flight as well as from its log. Its memory is bounded,
// however long the run.
type Gatherer struct {
	record.Nothing
	header           *record.Header
	numbers          []bt.Task     // of the tasks of the last plan
	shown            record.Header // as it may be shown
	samples, changes int
	tasks            []history
	halts            map[bt.Task]int // by task: the one that acts when it is deactivated without having ended
	extremes         []extreme
	noticed          []record.Event // the first of those that a person should know of
	moreToNotice     int

	places  []int // of the signals of the curves in the header
	plotted int   // curves; the others follow them
	plots   []plotted
	times   []float64   // of all samples, as long as they are few,
	values  [][]float64 // and the values of the curves there
	columns             // of all curves, as soon as there are many
	curves  []curveThinner
	kept    int           // changes in all lanes
	enough  int           // changes in all lanes from which they are thinned
	lanes   []laneThinner // of the tasks
	rows    ends[row]
	reader  *cause.Reader
	causes  []*cause.Instant // of the first rows
	held    int              // the values that these hold
	lines   ends[record.Event]
	link    []heard // of a flight over a link
	wall    float64 // of the last of them [s]
}

// plotted is a plot with its curves, by their numbers.
type plotted struct {
	title  string
	curves []int
}

// row is a status change in the table.
type row struct {
	t     float64
	micro int
	bt.Change
}

// history is the past of a task up to a time.
type history struct {
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

// NewGatherer returns a gatherer of the run with this header.
func NewGatherer(h *record.Header) *Gatherer {
	g := &Gatherer{shown: visible(h), enough: mostChanges}
	all := *h
	g.header = &all
	g.reader = cause.NewReader(h, g.explain)
	for i := range h.Tasks {
		g.numbers = append(g.numbers, bt.Task(i))
	}
	g.enter(h.Start)
	curves := map[int]int{}                          // by place
	places := make(map[string][]int, len(h.Signals)) // by name: names that differ may be shown in the same way
	for i, s := range g.shown.Signals {
		places[s.Name] = append(places[s.Name], i)
	}
	plots, _ := panels(&g.shown)
	seen := map[string]bool{}
	expected := 0 // samples
	if n := (h.Horizon - h.Start) / h.Interval; n > 0 && n <= mostSamples {
		expected = int(n) + int(n)/4 // with those at events
	}
	curve := func(i int) int {
		if _, known := curves[i]; !known {
			curves[i] = len(g.places)
			g.places = append(g.places, i)
			g.values = append(g.values, make([]float64, 0, expected))
		}
		return curves[i]
	}
	for _, p := range plots {
		q := plotted{title: p.Title}
		for _, name := range p.Signals {
			at := places[name]
			if len(at) > 0 && !seen[name] {
				seen[name] = true
				nan := math.NaN()
				g.extremes = append(g.extremes, extreme{Signal: g.shown.Signals[at[0]], place: at[0],
					Least: nan, Greatest: nan, LeastAt: nan, GreatestAt: nan})
			}
			for _, i := range at {
				q.curves = append(q.curves, curve(i))
			}
		}
		g.plots = append(g.plots, q)
	}
	g.plotted = len(g.places)
	for i := range min(len(h.Signals), mostOthers) {
		curve(i)
	}
	return g
}

// enter begins the lanes of tasks that are new to the log at a time.
func (g *Gatherer) enter(at float64) {
	tasks := g.header.Tasks
	g.halts = map[bt.Task]int{}
	for i, t := range slices.Backward(tasks) { // the first child is the last to be entered
		if t.Parent >= 0 && t.Parent < len(tasks) {
			if kind, known := bt.ParseKind(tasks[t.Parent].Kind); known && kind.Halts() {
				g.halts[bt.Task(t.Parent)] = i
			}
		}
	}
	for _, t := range tasks[len(g.tasks):] {
		lane := laneThinner{}
		lane.add(at, int(t.Initial))
		g.tasks, g.lanes = append(g.tasks, history{status: t.Initial, since: at}), append(g.lanes, lane)
		g.kept++
	}
}

// explain keeps an instant for the causes of its changes.
func (g *Gatherer) explain(in *cause.Instant) {
	if g.held += in.Size(); g.held <= mostHeld {
		g.causes = append(g.causes, in)
	}
}

// Plan implements [record.Recorder].
func (g *Gatherer) Plan(p record.Takeover) error {
	_ = g.reader.Plan(p) // which has no errors
	g.numbers = g.header.Take(p)
	shown := visible(&record.Header{Tasks: g.header.Tasks})
	g.shown.Tasks = shown.Tasks
	g.enter(p.T)
	return nil
}

// Sample implements [record.Recorder].
func (g *Gatherer) Sample(t float64, values []float64) error {
	_ = g.reader.Sample(t, values)
	for i := range g.extremes {
		g.extremes[i].add(t, values[g.extremes[i].place])
	}
	if g.width == 0 && g.samples >= mostSamples {
		g.divide(t)
	}
	if g.width > 0 && g.of(t) > 2*mostColumns {
		wide := g.columns
		for wide.of(t) > 2*mostColumns {
			wide.width *= 2
		}
		g.columns = wide
		for i := range g.curves {
			g.curves[i].thin(wide)
		}
	}
	for i, place := range g.places {
		v := values[place]
		if v-v != 0 {
			v = math.NaN() // as the log has it
		}
		if g.width == 0 {
			g.values[i] = append(g.values[i], v)
		} else {
			g.curves[i].add(point{g.samples, t, v})
		}
	}
	if g.width == 0 {
		g.times = append(g.times, t)
	}
	g.samples++
	return nil
}

// divide draws the curves in columns from now on, at t. Of those that are not plotted, it keeps the ones that
// conditions read.
func (g *Gatherer) divide(t float64) {
	needed := map[string]bool{}
	if p := g.reader.Deciding(); p != nil {
		needed = inConditions(p)
	}
	kept := g.plotted
	for i := g.plotted; i < len(g.places); i++ {
		if needed[g.header.Signals[g.places[i]].Name] {
			g.places[kept], g.values[kept] = g.places[i], g.values[i]
			kept++
		}
	}
	g.places, g.values = g.places[:kept], g.values[:kept]
	g.columns = narrow(g.times[0], t, mostColumns)
	g.curves = make([]curveThinner, len(g.values))
	for i := range g.curves {
		c := &g.curves[i]
		c.columns = g.columns
		for n, v := range g.values[i] {
			c.add(point{n, g.times[n], v})
		}
	}
	g.times, g.values = nil, nil
}

// Status implements [record.Recorder].
func (g *Gatherer) Status(t float64, micro int, c bt.Change) error {
	_ = g.reader.Status(t, micro, c)
	g.changes++
	h, l := &g.tasks[c.Task], &g.lanes[c.Task]
	if h.changes == 0 {
		h.status, l.s[0] = c.From, int(c.From)
	}
	h.on(t)
	h.changes++
	h.status = c.To
	if i, ok := g.halts[c.Task]; ok && c.To == bt.Deactivating && !c.From.Ended() {
		g.tasks[i].entries++
	}
	before := len(l.t)
	l.add(t, int(c.To))
	if g.kept += len(l.t) - before; g.kept > g.enough {
		g.thinLanes()
	}
	g.rows.add(t, row{t, micro, c})
	return nil
}

// thinLanes thins the fullest lanes until half of the changes that all may keep are left. If there are so many tasks
// that more are left, it waits until they have doubled.
func (g *Gatherer) thinLanes() {
	counts := make([]int, len(g.lanes))
	for i := range g.lanes {
		counts[i] = len(g.lanes[i].t)
	}
	share := fairShare(counts, mostChanges/2)
	g.kept = 0
	for i := range g.lanes {
		g.lanes[i].thin(share)
		g.kept += len(g.lanes[i].t)
	}
	g.enough = max(mostChanges, 2*g.kept)
}

// usual are the events that the switching itself makes, and those of a vehicle that is attached and obeys.
var usual = map[string]bool{"state": true, "time": true, "step": true, "error": true, "attaching": true,
	"attached": true, "stored": true, "commanded": true, "proved": true, "waiting": true, "text": true}

const mostNoticed = 12

// Event implements [record.Recorder].
func (g *Gatherer) Event(e record.Event) error {
	_ = g.reader.Event(e)
	if len(e.Kind)+len(e.Text) > mostText { // the others are made visible if they are still there at the end
		e = visibleEvent(e)
	}
	switch {
	case usual[e.Kind]:
	case len(g.noticed) < mostNoticed:
		g.noticed = append(g.noticed, visibleEvent(e))
	default:
		g.moreToNotice++
	}
	g.lines.add(e.T, e)
	return nil
}

// heard is what was heard of a vehicle up to a time [s], during some seconds.
type heard struct {
	t, seconds        float64
	received, missing float64 // frames
}

// Message implements [record.Recorder]: the quality of the link is in the readings of the clocks.
func (g *Gatherer) Message(c record.Channel, data []byte) error {
	if c != record.Clocks {
		return nil
	}
	var m struct {
		T, Wall, Missing float64
		Received         *float64
	}
	if json.Unmarshal(data, &m) != nil || m.Received == nil || m.T <= g.header.Start {
		return nil // the log of an earlier version, or before the plan
	}
	if n := len(g.link); n == mostHeard { // two become one
		for i := range n / 2 {
			a, b := g.link[2*i], g.link[2*i+1]
			g.link[i] = heard{b.t, a.seconds + b.seconds, a.received + b.received, a.missing + b.missing}
		}
		g.link = g.link[:n/2]
	}
	if s := m.Wall/1e9 - g.wall; g.wall > 0 && s > 0 {
		g.link = append(g.link, heard{m.T, s, *m.Received, m.Missing})
	}
	g.wall = m.Wall / 1e9
	return nil
}

// drawCauses adds what the first status changes follow from.
func (g *Gatherer) drawCauses(to *changes, end *record.End) {
	for _, in := range g.causes {
		var causes []int // nil: not known
		if in.Plan != nil {
			causes = in.Causes()
		}
		for i := range in.Changes {
			if len(to.Why) == len(g.rows.first) {
				return
			}
			back, why := 0, ""
			switch {
			case causes == nil:
			case causes[i] < 0:
				why = brief(in.Reason(i, end))
			default:
				back = i - causes[i]
			}
			to.Back, to.Why = append(to.Back, back), append(to.Why, why)
		}
	}
}

// drawLink adds the quality of the link, if there is one, as a plot.
func (g *Gatherer) drawLink(d *data) {
	if len(g.link) == 0 {
		return
	}
	var times, received, missing []float64
	for _, h := range g.link {
		times, received = append(times, h.t), append(received, h.received/h.seconds)
		missing = append(missing, h.missing/h.seconds)
	}
	n := len(d.Signals)
	for i, values := range [][]float64{received, missing} {
		d.Signals = append(d.Signals, curve{Name: []string{"frames received", "frames missing"}[i], Unit: "1/s",
			Text: "of the vehicle's autopilot", Time: float64s(times), Values: float32s(values)})
	}
	d.Plots = append(d.Plots, panel{"Link", []int{n, n + 1}})
}

// Digest returns the digest of a log with this end. A run in progress can have one between two of its steps, which must
// not be used any more once the gatherer takes in more.
func (g *Gatherer) Digest(end record.End) *Digest {
	d := &Digest{Header: g.shown, End: end, numbers: g.numbers, changes: g.changes,
		extremes: g.extremes, noticed: g.noticed, moreToNotice: g.moreToNotice}
	if end.Summary != nil {
		d.Summary = copied(end.Summary, brief)
		d.judged = slices.Concat(d.Summary.Properties, d.Summary.Assumptions)
	}
	until := ended(&end)
	tasks := slices.Clone(g.tasks)
	for i := range tasks {
		tasks[i].on(until)
	}
	g.reader.Flush()
	d.plan = g.reader.Deciding()
	order := treeOrder(d.Tasks)
	for _, b := range order {
		h := &tasks[b.task]
		if kind, known := bt.ParseKind(d.Tasks[b.task].Kind); known && kind.Acts() {
			a := activity{Name: d.Tasks[b.task].Name, Entries: h.entries, Time: h.active}
			if until > d.Start {
				a.Share = a.Time / (until - d.Start)
			}
			d.activities = append(d.activities, a)
		}
	}
	g.draw(d, order)
	return d
}

// draw makes the data that the page's script draws, and the text of the page about it.
func (g *Gatherer) draw(of *Digest, order []branch) {
	d, n := &of.data, &of.notes
	d.Start, d.End = of.Start, ended(&of.End)
	d.Flight = of.Date != 0
	if d.Axis = "Simulated time"; d.Flight {
		d.Axis = "Time since the plan's start"
	}
	for s := bt.Success; s <= bt.Dropped; s++ {
		d.Statuses, d.Transient = append(d.Statuses, s.String()), append(d.Transient, s.Transient())
	}
	d.Tasks = make([]task, 0, len(of.Tasks))
	for i := range of.Tasks {
		d.Tasks = append(d.Tasks, newTask(&of.Tasks[i]))
	}
	if _, left := panels(&of.Header); len(left) > 0 {
		n.History = append(n.History, unplotted(left, 20))
	}
	for i, place := range g.places {
		s := of.Signals[place]
		c := curve{Name: s.Name, Unit: s.UnitOrOne(), Text: s.Text, Type: s.Type, Names: s.Values, Time: []byte{}}
		if g.width > 0 {
			times, values := g.curves[i].points()
			c.Time, c.Values = float64s(times), float32s(values)
		} else {
			c.Values = float32s(g.values[i])
		}
		d.Signals = append(d.Signals, c)
	}
	if g.width > 0 {
		n.History = append(n.History, fmt.Sprintf("The curves show the range of %d samples in each %s s; "+
			"signals.csv has them one by one.", g.samples, number(g.width)))
	}
	d.Time = float64s(g.times)
	for _, p := range g.plots {
		if len(p.curves) > 0 {
			d.Plots = append(d.Plots, panel{p.title, p.curves})
		}
	}
	g.drawLink(d)
	tooClose := 0
	d.Lanes = make([]lane, 0, len(order))
	for _, b := range order {
		l := &g.lanes[b.task]
		l.end()
		tooClose += 1 + g.tasks[b.task].changes - len(l.t)
		d.Lanes = append(d.Lanes, lane{Task: b.task, Depth: b.depth, T: l.t, S: l.s})
	}
	if tooClose > 0 {
		n.History = append(n.History, fmt.Sprintf("%d status changes are too close to others of their task to be "+
			"drawn: where they are, a lane shows which statuses there were; status.csv has all.", tooClose))
	}
	g.rows.each(func(r row) {
		to := &d.Changes
		to.T, to.Micro, to.Task = append(to.T, r.t), append(to.Micro, r.micro), append(to.Task, r.Task)
		to.From, to.To = append(to.From, int(r.From)), append(to.To, int(r.To))
	})
	g.drawCauses(&d.Changes, &of.End)
	g.lines.each(func(e record.Event) { d.Events = append(d.Events, visibleEvent(e)) })
	if g.rows.left > 0 {
		n.Table = append(n.Table, fmt.Sprintf("%d status changes from %s to %s are left out here; status.csv has all.",
			g.rows.left, Clock(g.rows.from), Clock(g.rows.to)))
	}
	if g.lines.left > 0 {
		d.Gap = []float64{g.lines.from, g.lines.to}
		n.Table = append(n.Table, fmt.Sprintf("%d events from %s to %s are left out here; run.mcap has all, on /events.",
			g.lines.left, Clock(g.lines.from), Clock(g.lines.to)))
	}
}
