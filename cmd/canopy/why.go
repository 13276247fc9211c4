package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"

	"github.com/spf13/cobra"
)

func whyCommand() *cobra.Command {
	return &cobra.Command{
		Use: "why",
		RunE: func(cmd *cobra.Command, args []string) error {
			from, until := math.Inf(1), math.Inf(1)
			if len(args) == 3 {
				t, err := expr.Duration(args[2])
				if err != nil {
					return &usageError{fmt.Sprintf("TIME: %v", err)}
				}
				from, until = shownAs(args[2], t)
			}
			end, err := why(cmd.OutOrStdout(), args[0], args[1], from, until)
			if err == nil && end.Missing() != "" {
				err = failed(incomplete(args[0], &end))
			}
			return err
		},
	}
}

// shownAs returns the first and the last time that is printed as a text which is read as t: a clock shows complete
// seconds, or minutes, a number is rounded to its decimals.
func shownAs(text string, t float64) (from, until float64) {
	_, decimals, rounded := strings.Cut(strings.TrimRight(text, " s[]"), ".")
	unit := math.Pow10(-len(decimals))
	switch strings.Count(text, ":") {
	case 0:
		if _, err := strconv.Atoi(decimals); err != nil || !rounded {
			return t, t
		}
		return t - unit/2, t + unit/2
	case 1:
		unit = 60
	}
	return t - unit/1000, math.Nextafter(t+unit-unit/1000, t)
}

// why explains the last start, result or judgement of a task up to a time, or the last of its other changes from a time
// on; +Inf: before the plan was stopped.
func why(out io.Writer, name, task string, from, until float64) (record.End, error) {
	log, done, err := openLog(name)
	if err != nil {
		return record.End{}, err
	}
	defer done()
	var s *moment
	play := func(most int) (record.End, error) {
		return log.play(func(h *record.Header) record.Recorder {
			s = &moment{task: task, from: from, until: until, most: most, log: *h, exchanged: math.NaN()}
			s.show(*h, "the run begins")
			return s
		})
	}
	end, err := play(math.MaxInt)
	if err == nil && math.IsInf(until, 1) && end.Summary != nil && end.Summary.Planned > 0 {
		end, err = play(end.Summary.Planned)
	}
	if err != nil {
		return end, err
	}
	p := report.Plan(&s.then.header)
	var names []string
	for _, t := range s.log.Tasks {
		names = append(names, t.Name)
	}
	switch {
	case !slices.Contains(names, task):
		return end, &usageError{strings.TrimSuffix(fmt.Sprintf("%s has no task %q; %s", log.name, task,
			diag.DidYouMean(task, names)), "; ")}
	case len(s.changes) == 0:
		when := "in this run"
		if !math.IsInf(until, 1) {
			when = "up to " + report.Clock(until)
		}
		return end, &usageError{fmt.Sprintf("%s: %s does not change %s", log.name, diag.Visible(task), when)}
	case p == nil:
		return end, &usageError{fmt.Sprintf("%s does not carry the plan of its run", log.name)}
	}
	_, err = io.WriteString(out, s.explain(p, &end))
	return end, failed(err)
}

// moment is the part of a log that explains a change of a task: the changes of its instant, up to it, and the values of
// the signals at both limits of the instant.
type moment struct {
	record.Nothing
	task          string
	from, until   float64
	most          int // number of changes that count: those before the plan was stopped
	t             float64
	changes       []bt.Change
	meant         []int // of these, what a person means
	before, after []float64
	unknown       []string // sources
	then          reign
	exchange      bool // of the plan, is under way there

	log       record.Header // with the tasks of all plans
	present   reign
	jumping   bool    // the changes by which the present plan begins are read
	exchanged float64 // time of the last event of an exchange; NaN: none yet
	now       float64 // of the instant that is read
	instant   []bt.Change
	copied    int       // of these, to changes
	sample    []float64 // the last one that was read
	lost      []string  // the sources that are unknown
}

// reign is the time of a plan in a run.
type reign struct {
	header  record.Header // as of a run that begins with it
	because string        // why it begins
	numbers []bt.Task     // of its tasks in the log
	jumps   int           // the number of changes by which it begins: to other statuses than under the plan before
}

// show begins the time of a plan.
func (m *moment) show(h record.Header, because string) {
	m.present = reign{header: h, because: because}
	for i := range h.Tasks {
		m.present.numbers = append(m.present.numbers, bt.Task(i))
	}
}

// Plan implements record.Recorder.
func (m *moment) Plan(p record.Takeover) error {
	numbers := m.log.Take(p)
	m.show(p.Header(m.log), "the plan "+p.Name+" takes over")
	m.present.numbers, m.present.header.Start, m.jumping = numbers, p.T, true
	m.now, m.instant, m.copied = p.T, m.instant[:0], 0 // what was before is of another plan
	return nil
}

// jumps reports whether a change is one by which the present plan begins. They come before all others.
func (m *moment) jumps(c bt.Change) bool {
	i := slices.Index(m.present.numbers, c.Task)
	m.jumping = m.jumping && (i < 0 || c.To == m.present.header.Tasks[i].Initial)
	return m.jumping
}

// Sample implements record.Recorder.
func (m *moment) Sample(t float64, values []float64) error {
	m.sample = append(m.sample[:0], values...)
	if len(m.changes) == 0 || t <= m.t {
		m.after = append(m.after[:0], values...)
	}
	return nil
}

// Status implements record.Recorder.
func (m *moment) Status(t float64, micro int, c bt.Change) error {
	if t != m.now {
		m.now, m.instant, m.copied = t, m.instant[:0], 0
	}
	c.Iteration = int32(micro)
	m.instant = append(m.instant, c)
	meant := m.jumps(c)
	if meant {
		m.present.jumps++
	}
	meant = meant || happens(c, false) != ""
	if m.most--; m.log.Tasks[c.Task].Name == m.task && m.most >= 0 && t <= m.until &&
		(meant || t >= m.from && (len(m.meant) == 0 || m.t < m.from)) {
		if m.copied == 0 {
			m.meant = m.meant[:0]
		}
		m.t, m.changes, m.then = t, append(m.changes[:m.copied], m.instant[m.copied:]...), m.present
		if m.copied = len(m.instant); meant {
			m.meant = append(m.meant, m.copied-1)
		}
		m.exchange = m.exchanged == t
		m.before, m.unknown = append(m.before[:0], m.sample...), append(m.unknown[:0], m.lost...)
	}
	return nil
}

// Event implements record.Recorder.
func (m *moment) Event(e record.Event) error {
	switch e.Kind {
	case run.KindSwap:
		m.exchanged = e.T
	case record.KindUnknown:
		m.lost = append(m.lost, e.Text)
	case record.KindKnown:
		m.lost = slices.DeleteFunc(m.lost, func(s string) bool { return s == e.Text })
	}
	return nil
}

// happens says what a task's start, result or judgement is; "" if a procedure begins or is complete.
func happens(c bt.Change, condition bool) string {
	judged := c.From.Transient() && c.To.Transient()
	switch {
	case c.To == bt.Activating:
		return "started"
	case c.To == bt.Finished:
		return "succeeded"
	case c.To == bt.Aborted:
		return "failed"
	case c.To == bt.Dropped, judged && c.To == bt.Skipped:
		return "was skipped"
	case c.To == bt.Deactivating && !c.From.Ended():
		return "was interrupted"
	case !judged:
		return ""
	case condition:
		return map[bt.Status]string{bt.Success: "became true", bt.Failure: "became false"}[c.To]
	}
	return map[bt.Status]string{bt.Success: "had nothing to do", bt.Failure: "could not run", bt.Accept: "could run"}[c.To]
}

// explain returns as text the chain of causes of the last change that a person means, and before it that of the first
// one at the same instant.
func (m *moment) explain(p *plan.Plan, end *record.End) string {
	jumps := 0
	if m.t == m.then.header.Start {
		jumps = m.then.jumps
	}
	for i := range m.changes[jumps:] {
		c := &m.changes[jumps+i]
		c.Task = bt.Task(slices.Index(m.then.numbers, c.Task))
	}
	list := m.meant
	if len(list) == 0 {
		list = []int{len(m.changes) - 1}
	}
	first, last := list[0], list[len(list)-1]
	text, chain := m.chain(p, end, jumps, last)
	if first != last && !slices.Contains(chain, first) {
		before, _ := m.chain(p, end, jumps, first)
		text = before + text
	}
	var what []string
	for _, i := range slices.Compact([]int{first, last}) {
		c := m.changes[i]
		if word := happens(c, i >= jumps && p.Tree.Kind(c.Task).Judged()); word != "" && i >= jumps {
			what = append(what, word)
		}
	}
	head := fmt.Sprintf("%s, %.3f s", report.Clock(m.t), m.t)
	if len(what) > 0 {
		head += fmt.Sprintf(": %s %s", diag.Visible(m.task), strings.Join(what, ", then "))
	}
	if len(m.unknown) > 0 {
		text += fmt.Sprintf("  while these are unknown: %s\n", diag.Visible(strings.Join(m.unknown, ", ")))
	}
	return head + "\n" + text
}

// chain returns the chain of causes of a change, as text and as the places of the changes. The first ones are the jumps
// by which a plan begins.
func (m *moment) chain(p *plan.Plan, end *record.End, jumps, i int) (text string, places []int) {
	if i < jumps {
		return fmt.Sprintf("%s: %s -> %s\n  because %s\n", diag.Visible(m.task), m.changes[i].From, m.changes[i].To,
			diag.Visible(m.then.because)), []int{i}
	}
	because, changes := "", m.changes[jumps:]
	var c bt.Change
	for k := i - jumps; k >= 0; k = bt.Cause(p.Tree, changes, k) {
		c, places = changes[k], append(places, jumps+k)
		text += fmt.Sprintf("%s%s: %s -> %s\n", because, diag.Visible(p.Tree.Name(c.Task)), c.From, c.To)
		because = "  because "
	}
	return text + because + diag.Visible(m.reason(p, end, c)) + "\n", places
}

// reason returns what a change follows from that follows from no other.
func (m *moment) reason(p *plan.Plan, end *record.End, c bt.Change) string {
	h := &m.then.header
	leaf, isLeaf := slices.BinarySearch(p.Tree.Leaves(), c.Task)
	activity := c.To == bt.Activating || c.To == bt.Deactivating
	switch {
	case (activity || !isLeaf) && m.t == h.Start:
		return m.then.because
	case activity && end.Summary != nil && slices.Contains([]float64{end.Summary.Ended, end.Summary.Stopped}, m.t):
		return "the run ends: " + end.Summary.Reason
	case activity && m.exchange:
		return "another plan is to take over"
	case activity || !isLeaf:
		for t := c.Task; t >= 0; t = p.Tree.Parent(t) {
			if p.Tree.Kind(t).Timer() {
				return fmt.Sprintf("the time of %s is over", p.Tree.Name(t))
			}
		}
		return "the log does not hold the reason"
	}
	text, e := p.Leaves[leaf].Reason(c)
	if e == nil {
		return text
	}
	sample, at := m.before, map[string]float64{"t": m.t}
	decides := func() (*expr.Expr, bool) {
		for i := range min(len(h.Signals), len(sample)) {
			at[h.Signals[i].Name] = sample[i]
		}
		return e.Deciding(at)
	}
	decisive, ok := decides()
	if !ok || c.Iteration > 1 || m.t == h.Start { // else nothing has been written yet
		sample = m.after
		decisive, _ = decides()
	}
	text += decisive.String()
	if _, err := strconv.ParseFloat(decisive.String(), 64); err == nil { // of a procedure, without its unit
		text += " s"
	}
	var values []string
	for _, name := range decisive.Names() {
		i := slices.IndexFunc(h.Signals, func(s record.Signal) bool { return s.Name == name })
		if i < 0 || i >= len(sample) {
			continue
		}
		s := &h.Signals[i]
		value, ok := s.Value(sample[i])
		if !ok {
			value = fmt.Sprintf("%.6g %s", sample[i], s.UnitOrOne())
		}
		values = append(values, name+" = "+strings.TrimSuffix(value, " 1"))
	}
	if len(values) == 0 {
		return text
	}
	return text + " (" + strings.Join(values, ", ") + ")"
}
