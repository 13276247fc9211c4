package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
)

// ErrSwap is wrapped by the errors of a run whose plan cannot be exchanged.
var ErrSwap = errors.New("the plan cannot be exchanged")

// Adopter is a World in which the plan can be exchanged.
type Adopter interface {
	World
	// Adopt returns a world that goes on from here, at an instant, with another plan of the mission: that of m.Smooth(),
	// with the inputs u of its program. same has, by indicator of the program, the same one of this world, whose side it
	// takes over, or -1. This world stays as it is.
	Adopt(m *mission.Mission, u []float64, same []int) (World, error)
}

// swap is an exchange of the plan that is under way.
type swap struct {
	m      *mission.Mission // with the new plan
	change *bt.Exchange
	safe   bool // it waits for the end of the actions that it removes, and interrupts none
}

// source is the document of a plan.
type source struct{ Name, Text string }

func sourceOf(m *mission.Mission) source { return source{m.Plan.Source.Name, m.Plan.Source.Text} }

// Exchange requests, between two steps, that the run goes on with the plan of a mission that Mission().WithPlan has
// returned (docs/semantics.md, section 9). At once, the actions that only the present plan has are withheld; at the
// first instant at which none of them is engaged, which may be this one, the new plan takes over. If safe, those that
// are engaged end by themselves first (bt.Engine.Await). What both plans have goes on. A request replaces one that is
// under way; Mission() itself withdraws it.
//
// If the new plan does not settle when it takes over, the old one goes on, and the log has the reason. With an error
// that wraps ErrSwap, nothing has happened. Another error is that of the run, which it has ended.
func (r *Run) Exchange(next *mission.Mission, safe bool) error {
	switch {
	case r.over || r.stopping:
		return fmt.Errorf("%w: the run ends", ErrSwap)
	case !r.begun:
		return fmt.Errorf("%w: the run has not begun", ErrSwap)
	case !r.exchanges():
		return fmt.Errorf("%w: the run is not decided by the tree in continuous time, in a world for it", ErrSwap)
	}
	if err := r.request(next, safe); err != nil {
		return r.fail(err)
	}
	return nil
}

// Withdraw withdraws an exchange that is under way, without an instant of its own: the plan goes on with the next one.
func (r *Run) Withdraw() error {
	if r.next == nil {
		return nil
	}
	name := r.next.m.Plan.Source.Name
	r.next = nil
	r.withhold()
	return r.log(record.KindSwap, name+" is withdrawn; "+r.m.Plan.Source.Name+" stays")
}

// exchanges reports whether the plan can be exchanged.
func (r *Run) exchanges() bool {
	_, ok := r.world.(Adopter)
	return ok && r.executive.Exchanges()
}

// Swapping returns the document of the plan of an exchange that is under way, and the actions that must end before.
func (r *Run) Swapping() (document string, engaged []string, ok bool) {
	if r.next == nil {
		return "", nil, false
	}
	for _, t := range r.next.change.Gone() {
		if !r.executive.Status(t).Transient() {
			engaged = append(engaged, r.m.Plan.Tree.Name(t))
		}
	}
	return r.next.m.Plan.Source.Name, engaged, true
}

// Refusal returns why the last exchange that was requested did not take place; "" if it did, or is under way.
func (r *Run) Refusal() string { return r.refusal }

// Mission returns the mission with the present plan.
func (r *Run) Mission() *mission.Mission { return r.m }

// World returns the world of the present plan.
func (r *Run) World() World { return r.world }

// request begins an exchange, at an instant of its own.
func (r *Run) request(next *mission.Mission, safe bool) error {
	change := r.m.Exchange(next)
	if change.Whole() && r.next == nil {
		return nil
	}
	r.executive.Begin()
	r.refusal = ""
	if err := r.close(); err != nil {
		return err
	}
	if change.Whole() {
		if err := r.Withdraw(); err != nil {
			return err
		}
	} else {
		r.next = &swap{next, change, safe}
		r.withhold()
	}
	if name, engaged, _ := r.Swapping(); len(engaged) > 0 {
		if err := r.log(record.KindSwap, fmt.Sprintf("%s waits for the end of %s", name, some(engaged))); err != nil {
			return err
		}
	}
	changed, err := r.react()
	if err != nil {
		return err
	}
	if !changed {
		return r.endWithPlan()
	}
	return r.right()
}

// withhold withholds the actions that an exchange removes, or ends this.
func (r *Run) withhold() {
	switch {
	case r.next == nil:
		r.executive.Withhold(nil)
	case r.next.safe:
		r.executive.Await(r.next.change)
	default:
		r.executive.Withhold(r.next.change)
	}
}

// settle completes an instant. The plan of an exchange takes over there if it can.
func (r *Run) settle() error {
	if err := r.instant(); err != nil || r.next == nil || !r.executive.Ready(r.next.change) {
		return err
	}
	next := r.next.m.Plan.Source.Name
	wrong, err := r.takeOver()
	if err != nil || wrong == nil {
		return err
	}
	r.next, r.refusal = nil, wrong.Error()
	r.withhold()
	text := fmt.Sprintf("%s cannot take over: %v; %s goes on", next, wrong, r.m.Plan.Source.Name)
	if err := r.log(record.KindSwap, text); err != nil {
		return err
	}
	return r.instant()
}

// takeOver lets the new plan take over. If it does not settle, nothing has happened, and wrong is the reason.
func (r *Run) takeOver() (wrong, err error) {
	n, log := *r, &buffer{}
	n.exchanged, n.storm = true, r.storm.exchanged(r.next)
	if err := n.adopt(r.next, false); err != nil {
		return err, nil
	}
	p := n.plan()
	n.next, n.rec = nil, log
	wrong = errors.Join(n.log(record.KindSwap, n.difference(r)), log.Plan(p), n.jumps(r, p), n.losses(), n.instant())
	if wrong != nil {
		return wrong, nil
	}
	n.rec = r.rec
	*r = n
	return nil, log.pass(r.rec)
}

// adopt replaces the plan, the world and the execution by those that go on. The state of fresh ones is restored after.
func (r *Run) adopt(next *swap, fresh bool) error {
	p := next.m.Smooth().Program
	u := p.Initial()
	if !fresh {
		old, _ := r.world.Discrete()
		u = executive.Carry(r.m.Program, old, next.change, p, func(was, now int, v float64) (is float64, ok bool) {
			name := r.m.Program.Slots[was].Name // an entry of the new plan may have another type
			before, _ := r.m.Signal(name)
			after, _ := next.m.Signal(name)
			return v, before.Type == after.Type
		})
	}
	w, err := r.world.(Adopter).Adopt(next.m, u, same(r.m.Program.Indicators, p.Indicators))
	if err != nil {
		return err
	}
	d := executive.Exchanged(r.executive, next.change, next.m.Attended())
	r.executive = executive.Continue(r.executive, next.change, p, w, d)
	r.m, r.world = next.m.Smooth(), w
	r.locate()
	r.findFence()
	r.numbers = r.logged.Take(r.plan())
	for i, t := range r.logged.Tasks { // only the names count
		r.logged.Tasks[i] = record.Task{Name: t.Name}
	}
	return nil
}

// same returns, by indicator of the new program, the only one of the old program with the same text, or -1.
func same(old, now []expr.Indicator) []int {
	places := map[string]int{}
	for i, x := range old {
		if _, twice := places[x.Text]; twice {
			i = -1
		}
		places[x.Text] = i
	}
	list := make([]int, len(now))
	for i, x := range now {
		k, ok := places[x.Text]
		if !ok {
			k = -1
		}
		list[i] = k
	}
	return list
}

// plan describes the present plan for the log.
func (r *Run) plan() record.Takeover {
	return record.Takeover{T: r.world.T(), Name: r.m.Plan.Name, Tasks: r.tasks(), Source: r.m.Plan.Source.Text}
}

// jumps logs the status changes of a plan's taking over: a task that it does not have is no more, Accept, and one of
// the same name is another one if it is not kept.
func (r *Run) jumps(old *Run, p record.Takeover) error {
	now := slices.Repeat([]bt.Status{bt.Accept}, len(r.logged.Tasks))
	for i, n := range r.numbers {
		now[n] = p.Tasks[i].Initial
	}
	for n := range old.logged.Tasks {
		was := bt.Accept
		if t := slices.Index(old.numbers, bt.Task(n)); t >= 0 {
			was = old.executive.Status(bt.Task(t))
		}
		if was == now[n] {
			continue
		}
		r.summary.StatusChanges++
		c := bt.Change{Task: bt.Task(n), From: was, To: now[n]}
		if err := r.rec.Status(r.world.T(), r.executive.Micro(), c); err != nil {
			return err
		}
	}
	return nil
}

// difference describes a plan that takes over from the one before it.
func (r *Run) difference(old *Run) string {
	kept, removed, added := old.next.change.Difference()
	text := fmt.Sprintf("%s takes over from %s: tasks kept: %d", r.m.Plan.Source.Name, old.m.Plan.Source.Name, kept)
	if len(removed) > 0 {
		text += "; removed: " + some(removed)
	}
	if len(added) > 0 {
		text += "; new: " + some(added)
	}
	return text
}

// some joins names, the first ones if there are many.
func some(names []string) string {
	const most = 20
	if n := len(names); n > most {
		names = append(names[:most:most], fmt.Sprintf("%d more", n-most))
	}
	return strings.Join(names, ", ")
}

// passExchanges passes the exchanges of a run to the codec: of those that are over, only what still counts, the present
// plan, the numbers of texts, and those of tasks in the log.
func (r *Run) passExchanges(c *snapshot.Codec) {
	exchanged, pending := r.exchanged, r.next != nil
	snapshot.Vars(c, &exchanged, &pending)
	if (exchanged || pending) && !r.exchanges() {
		c.Fail(snapshot.ErrMismatch)
		return
	}
	if exchanged {
		present, texts, names := sourceOf(r.m), r.m.Texts(), []string(nil)
		for _, t := range r.logged.Tasks {
			names = append(names, t.Name)
		}
		snapshot.Vars(c, &present)
		snapshot.List(c, &names, snapshot.Text)
		snapshot.List(c, &texts, snapshot.Text)
		if c.Loading() && (c.Failed() || !r.exchangeBack(c, present, names, texts)) {
			return
		}
	}
	if pending {
		next, safe := source{}, false
		if r.next != nil {
			next, safe = sourceOf(r.next.m), r.next.safe
		}
		if snapshot.Vars(c, &next, &safe); c.Loading() && !c.Failed() {
			r.next = r.read(c, r.m, next, safe)
		}
	}
}

// exchangeBack makes a fresh run one with a plan that has taken over.
func (r *Run) exchangeBack(c *snapshot.Codec, s source, names, texts []string) bool {
	next := r.read(c, r.m.WithTexts(texts), s, false)
	if next == nil {
		return false
	}
	r.logged.Tasks = nil
	for _, name := range names {
		r.logged.Tasks = append(r.logged.Tasks, record.Task{Name: name})
	}
	r.exchanged, r.storm = true, r.storm.exchanged(next)
	if err := r.adopt(next, true); err != nil {
		c.Fail(err)
		return false
	}
	return true
}

// read compiles the plan of an exchange from a state; nil: it fails.
func (r *Run) read(c *snapshot.Codec, m *mission.Mission, s source, safe bool) *swap {
	next, _ := m.WithPlan(&diag.Source{Name: s.Name, Text: s.Text})
	if next == nil {
		c.Fail(snapshot.ErrMismatch)
		return nil
	}
	return &swap{next, r.m.Exchange(next), safe}
}

// buffer is a recorder that keeps what it receives, except samples: at an instant there are none.
type buffer struct {
	record.Nothing
	list []func(record.Recorder) error
}

func (b *buffer) add(pass func(record.Recorder) error) error {
	b.list = append(b.list, pass)
	return nil
}

func (b *buffer) Status(t float64, micro int, c bt.Change) error {
	return b.add(func(r record.Recorder) error { return r.Status(t, micro, c) })
}

func (b *buffer) Event(e record.Event) error {
	return b.add(func(r record.Recorder) error { return r.Event(e) })
}

func (b *buffer) Plan(p record.Takeover) error {
	return b.add(func(r record.Recorder) error { return r.Plan(p) })
}

// pass passes everything to a recorder.
func (b *buffer) pass(to record.Recorder) error {
	for _, pass := range b.list {
		if err := pass(to); err != nil {
			return err
		}
	}
	return nil
}
