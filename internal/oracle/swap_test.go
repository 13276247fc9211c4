package oracle

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/snapshot"
)

// crew is a log by which it is known what each task does, under whatever plan. It knows the plans as they are
// described, and finds what both have by their texts.
type crew struct {
	record.Nothing
	header   record.Header
	statuses map[string]bt.Status
	turned   map[string]bool // actions whose status has changed since it was cleared
	plan     *duties
	next     *duties // an exchange that was requested
	safe     bool
	awaited  []string // the removed actions that ran at a safe request, and have not ended since
	over     string   // the event iteration in which the last of them ended
	swaps    int
	wrong    []string
}

// duties is a plan: by the name of a leaf, how it is written, and the slots that it assigns to.
type duties struct {
	text  map[string]string
	acts  map[string]bool
	exits map[string]bool // actions with an exit procedure
	slots map[string][]int
	loose map[int]bool // slots that are assigned to when a task is halted
}

func (m *Mission) duties(tree *bt.Tree) *duties {
	d := &duties{map[string]string{}, map[string]bool{}, map[string]bool{}, map[string][]int{}, map[int]bool{}}
	for i, n := range m.root.leaves(nil) {
		t := tree.Leaves()[i]
		name := tree.Name(t)
		d.text[name] = fmt.Sprint(tree.Kind(t), n.clerk, n.leaf.attributes(m))
		d.acts[name] = n.kind.Acts()
		d.exits[name] = len(n.exit) > 0 || n.exitTime >= 0 || n.exitUntil != nil
		for _, a := range slices.Concat(n.write, n.entry, n.exit) {
			d.slots[name] = append(d.slots[name], a.slot)
		}
	}
	m.root.each(func(n *node) {
		if n.kind.Halts() {
			for _, a := range n.children[0].entry {
				d.loose[a.slot] = true
			}
		}
	})
	return d
}

// gone returns the actions of a plan that another one does not have.
func (d *duties) gone(next *duties) (names []string) {
	for name, text := range d.text {
		if d.acts[name] && next.text[name] != text {
			names = append(names, name)
		}
	}
	return names
}

// Event ends an exchange whose plan cannot take over.
func (c *crew) Event(e record.Event) error {
	if e.Kind == record.KindSwap && strings.Contains(e.Text, "cannot take over") {
		c.next = nil
	}
	return nil
}

func (c *crew) fault(t float64, text string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf("at %g: ", t)+fmt.Sprintf(text, args...))
}

// Plan checks that all that is removed has left, and that what is kept goes on as it was.
func (c *crew) Plan(p record.Takeover) error {
	c.swaps++
	if c.next == nil {
		c.fault(p.T, "a plan takes over that was not requested")
		return nil
	}
	for _, name := range c.plan.gone(c.next) {
		if s := c.statuses[name]; !s.Transient() {
			c.fault(p.T, "%s is removed, and %v", name, s)
		}
	}
	before := len(c.header.Tasks)
	c.header.Take(p)
	for _, x := range c.header.Tasks[before:] {
		c.statuses[x.Name] = x.Initial
	}
	for _, x := range p.Tasks {
		kept := c.next.acts[x.Name] && c.plan.text[x.Name] == c.next.text[x.Name]
		switch was := c.statuses[x.Name]; {
		case kept && x.Initial != was && !(x.Initial.Transient() && was.Transient()):
			c.fault(p.T, "%s is kept, was %v and is %v", x.Name, was, x.Initial)
		case !kept && c.next.acts[x.Name] && !x.Initial.Transient():
			c.fault(p.T, "%s is new, and %v", x.Name, x.Initial)
		}
	}
	c.plan, c.next = c.next, nil
	return nil
}

// Status checks that a change continues the one before, that an action enters only after it has left, and that nothing
// removed enters.
func (c *crew) Status(t float64, micro int, x bt.Change) error {
	name := c.header.Tasks[x.Task].Name
	if was := c.statuses[name]; was != x.From {
		c.fault(t, "%s: %v -> %v, but it was %v", name, x.From, x.To, was)
	}
	if c.statuses[name] = x.To; !c.plan.acts[name] {
		return nil
	}
	c.turned[name] = true
	if x.From.Transient() && !x.To.Transient() && x.To != bt.Activating || x.To == bt.Activating && !x.From.Transient() ||
		x.To.Transient() && !x.From.Transient() && x.From != bt.Deactivating {
		c.fault(t, "%s: %v -> %v", name, x.From, x.To)
	}
	now := fmt.Sprint(t, " ", micro, " ", x.Iteration)
	if n := slices.Index(c.awaited, name); n >= 0 && x.To.Transient() {
		if c.awaited = slices.Delete(c.awaited, n, n+1); len(c.awaited) == 0 {
			c.over = now
		}
	}
	if x.To == bt.Activating && c.next != nil && (!c.safe || len(c.awaited) == 0 && c.over != now) && slices.Contains(c.plan.gone(c.next), name) {
		c.fault(t, "%s is entered, although it is to be removed", name)
	}
	return nil
}

// writers returns the actions of a plan that assign to a slot and have it now, and whether one may have assigned.
func (c *crew) writers(d *duties, slot int) (engaged int, turned bool) {
	turned = d.loose[slot]
	for name, slots := range d.slots {
		if slices.Contains(slots, slot) {
			turned = turned || c.turned[name]
			if !c.statuses[name].Transient() {
				engaged++
			}
		}
	}
	return engaged, turned
}

// swapped says what the exchanges of a test have shown.
type swapped struct{ requested, swaps, waits, refused, unread, restored, values int }

// TestSwaps exchanges the plans of random missions at random instants for edited ones, along random paths of the
// signals, with runs that are saved and restored in between. The kinds, procedures that take time, guards, entries and
// slots are those of the missions. In each log, each status continues the one before; an action enters only after it
// has left; a removed action is not entered any more, and has left when the new plan takes over; what is kept goes on
// as it was, without a change; new actions begin afterwards. No slot changes its value at an exchange without an action
// that assigns to it. At the end, all exit procedures
// have begun.
func TestSwaps(t *testing.T) {
	shapes := []Shape{{Depth: 2, Slots: true, Typed: true, Captured: true, Procedures: true, Timers: true, Memory: true,
		Hysteresis: true, Computed: true}, scripts, guarded, {Depth: 3, Slots: true, Memory: true, Guards: true, Procedures: true}}
	var s swapped
	count := rounds(3000)
	for seed := range uint64(count) {
		if wrong := s.fly(seed, shapes[seed%uint64(len(shapes))]); wrong != "" {
			t.Fatalf("seed %d: %s", seed, wrong)
		}
	}
	t.Logf("%+v", s)
	if s.swaps < count || s.waits < count/10 || s.restored < count || s.values < count/3 || s.unread > s.requested/2 {
		t.Error("it tests little")
	}
}

// exchanging is a run of a random mission whose plans are exchanged.
type exchanging struct {
	*swapped
	seed   uint64
	shape  Shape
	first  *Mission
	read   *mission.Mission // the first one
	flown  *mission.Mission
	random *rand.Rand
	path   []Point
	all    bool // leaves are visited at every instant
	r      *run.Run
	c      *crew
	story  []string
}

// described returns the first mission, to be edited.
func (x *exchanging) described() *maker {
	k := &maker{Rand: rand.New(rand.NewPCG(x.seed, 91)), Shape: x.shape}
	k.m = Random(k.Rand, x.shape)
	k.count = 100
	k.m.Always, k.m.Facts, k.m.Goal, k.m.Written = nil, nil, nil, nil
	return k
}

// fresh returns a run at its beginning.
func (x *exchanging) fresh() *run.Run {
	r, err := run.New(x.flown, NewWorld(x.flown, x.path), run.Continuous{All: x.all}, x.path[len(x.path)-1].T+.25)
	if err != nil {
		panic(err)
	}
	return r
}

func (x *exchanging) fail(text string, args ...any) string {
	return fmt.Sprintf(text, args...) + "\n" + strings.Join(x.story, "\n")
}

// fly flies a mission with exchanges, and returns what is wrong.
func (s *swapped) fly(seed uint64, shape Shape) (wrong string) {
	x := &exchanging{swapped: s, seed: seed, shape: shape, random: rand.New(rand.NewPCG(seed, 92))}
	x.first = x.described().m
	var list diag.List
	if x.read, list = x.first.Read(); x.read == nil {
		return fmt.Sprintf("%v\n%s", list, x.first)
	}
	x.flown = x.read.Flown()
	x.path = randomPath(x.random, x.first, 16)
	x.all = x.random.IntN(2) == 0
	x.r, x.story = x.fresh(), []string{x.first.String()}
	x.c = &crew{header: x.r.Header(), statuses: map[string]bt.Status{}, turned: map[string]bool{},
		plan: x.first.duties(x.flown.Plan.Tree)}
	for _, task := range x.c.header.Tasks {
		x.c.statuses[task.Name] = task.Initial
	}
	x.r.Attach(x.c)
	var err error
	for more := true; more && err == nil && len(x.c.wrong) == 0; {
		if more, err = x.r.Step(); !more || err != nil {
			break
		}
		if x.random.IntN(4) == 0 {
			var refused bool
			if refused, wrong, err = x.exchange(); wrong != "" {
				return wrong
			} else if refused {
				continue
			}
		}
		if err == nil && x.random.IntN(4) == 0 {
			if wrong = x.restore(); wrong != "" {
				return wrong
			}
		}
	}
	s.swaps += x.c.swaps
	if err != nil && !errors.Is(err, executive.ErrUnsettled) && !errors.Is(err, executive.ErrUnset) &&
		!errors.Is(err, bt.ErrLoop) && !errors.Is(err, ErrUnsettled) {
		return x.fail("%v", err)
	}
	if len(x.c.wrong) > 0 {
		return x.fail("%s", strings.Join(x.c.wrong, "\n"))
	}
	for name, status := range x.c.statuses {
		if err == nil && x.c.plan.exits[name] && !status.Transient() && status != bt.Deactivating {
			return x.fail("in the end, %s is %v", name, status)
		}
	}
	return ""
}

// exchange requests an edited plan, and compares what happens at once. Refused: the plan has mistakes. The error is
// that of the run.
func (x *exchanging) exchange() (refused bool, wrong string, err error) {
	next := x.described()
	next.Rand = rand.New(rand.NewPCG(x.seed, 1000+uint64(len(x.story))))
	next.edit(x.random.IntN(6))
	src := &diag.Source{Name: fmt.Sprintf("plan%d.xml", len(x.story)), Text: next.m.Plan()}
	changed, _ := x.r.Mission().WithPlan(src)
	if x.requested++; changed == nil {
		x.unread++
	}
	c := x.c
	before, saved, was := slots(x.r, x.first, x.read), snapshot.Save(nil, x.r), *c
	clear(c.turned)
	if changed != nil {
		c.next, c.safe = next.m.duties(changed.Plan.Tree), x.random.IntN(2) == 0
		c.over, c.awaited = "", slices.DeleteFunc(c.plan.gone(c.next), func(name string) bool {
			return c.statuses[name].Transient()
		})
	}
	compiled, list := x.r.Mission().WithPlan(src)
	if compiled != nil {
		err = x.r.Exchange(compiled, c.safe)
	}
	x.story = append(x.story, fmt.Sprintf("at %g, safe %t:\n%s", x.r.T(), c.safe, src.Text))
	switch {
	case errors.Is(err, run.ErrSwap) || list.HasErrors():
		if changed != nil && !x.r.Stopping() && !x.r.Over() {
			return true, x.fail("refused: %v", list), nil
		}
		if string(snapshot.Save(nil, x.r)) != string(saved) {
			return true, x.fail("a refused plan changes something"), nil
		}
		c.next, c.safe, c.awaited, c.over = was.next, was.safe, was.awaited, was.over
		return true, "", nil
	case err != nil:
		return false, "", err
	}
	if _, engaged, ok := x.r.Swapping(); ok {
		if x.waits++; len(engaged) == 0 {
			return false, x.fail("it waits for nothing"), nil
		}
	} else if c.next = nil; x.r.Refusal() != "" {
		x.refused++
	}
	return false, x.jumps(before, was), nil
}

// jumps compares the slots with their values before an exchange, when the crew was another one.
func (x *exchanging) jumps(before []float64, was crew) (wrong string) {
	for i, v := range slots(x.r, x.first, x.read) {
		if math.IsInf(v, 0) || math.IsInf(before[i], 0) || v == before[i] || v != v && before[i] != before[i] {
			continue
		}
		x.values++
		_, old := x.c.writers(was.plan, i)
		several, is := x.c.writers(x.c.plan, i)
		if !old && !is && several < 2 && !(several == 1 && x.c.swaps > was.swaps) {
			return x.fail("%s jumps from %g to %g", x.first.slots[i].name, before[i], v)
		}
	}
	return ""
}

// restore goes on with a run that was saved and restored.
func (x *exchanging) restore() (wrong string) {
	saved, again := snapshot.Save(nil, x.r), x.fresh()
	if err := snapshot.Load(saved, again); err != nil {
		return x.fail("%v", err)
	}
	again.Attach(x.c)
	if string(snapshot.Save(nil, again)) != string(saved) {
		return x.fail("a restored run is another one")
	}
	x.r = again
	x.restored++
	return ""
}

// slots returns the values of the slots of a mission.
func slots(r *run.Run, m *Mission, read *mission.Mission) (values []float64) {
	w := r.World()
	for _, s := range m.slots {
		v := math.Inf(1) // the plan has no such entry of this type
		want, _ := read.Signal(s.name)
		if d, place := r.Mission().Signal(s.name); place >= 0 && d.Type == want.Type {
			v = w.At(w.T())[place]
		}
		values = append(values, v)
	}
	return values
}

// edit changes the plan of a mission at some places: tasks are removed, added, moved, renamed, changed and exchanged,
// and get others around them. What results need not be a plan.
func (k *maker) edit(changes int) {
	for range changes {
		if k.chance(3) && k.variant() {
			continue
		}
		var all []*node
		parent := map[*node]*node{}
		k.m.root.each(func(n *node) {
			all = append(all, n)
			for _, c := range n.children {
				parent[c] = n
			}
		})
		n := all[k.IntN(len(all))]
		put := func(with *node) {
			p := parent[n]
			switch {
			case p == nil && n != k.m.root: // a case of a switch
			case p == nil:
				k.m.root = with
			case p.variable == nil && !p.attached:
				p.children[slices.Index(p.children, n)] = with
			}
		}
		switch k.IntN(8) {
		case 0:
			if !n.attached {
				n.name = fmt.Sprintf("r%d_%v", k.IntN(100), n.kind)
			}
		case 1:
			if p := parent[n]; p != nil && len(p.children) > 1 && p.kind.Cases() == 0 && !p.attached {
				p.children = slices.DeleteFunc(p.children, func(c *node) bool { return c == n })
			}
		case 2:
			if _, most := n.kind.Arity(); most < 0 && n.kind.Cases() == 0 {
				n.children = slices.Insert(n.children, k.IntN(len(n.children)+1), k.leaf())
			}
		case 3:
			if n.kind.Family() != bt.Leaf && !n.attached && n.kind.Cases() == 0 && !trees.Guards(n.kind) {
				n.params = trees.Params(k.Rand, n.kind, len(n.children))
			}
		case 4:
			if n.kind.Acts() && n.clerk == "" {
				n.exitTime, n.exitUntil = float64(k.IntN(3)), nil
			}
		case 5:
			if !n.attached {
				put(k.composite(func(kind bt.Kind) bool {
					least, most := kind.Arity()
					return least == 1 && most == 1 && !kind.Runs() && kind.Effect() == "" && kind.Condition() == ""
				}, n))
			}
		case 6:
			if !n.attached {
				put(k.leaf())
			}
		case 7:
			if n.kind.Family() != bt.Leaf && !n.attached && n.params == nil && n.kind.Cases() == 0 {
				n.kind = k.composite(func(kind bt.Kind) bool {
					least, most := kind.Arity()
					return kind.Family() != bt.Leaf && len(n.children) >= least && (most < 0 || len(n.children) <= most) &&
						len(kind.Params()) == 0 && kind.Cases() == 0 && kind.Effect() == "" && kind.Condition() == ""
				}).kind
			}
		}
	}
	known := map[string]bool{}
	k.m.root.each(func(n *node) { known[n.name] = true })
	k.m.root.each(func(n *node) {
		if !known[n.until] {
			n.until = ""
		}
	})
}
