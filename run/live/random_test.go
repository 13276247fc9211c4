package live

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/internal/trees"
)

// mirror is a random plan with random inputs at multiples of half a second, and its log.
type mirror struct {
	tree   *bt.Tree
	text   string
	slow   map[bt.Task][2]bool // by action: which procedures take time
	script [][]bt.Input        // by half seconds from 0.5 s on
	log    []string
}

func (m *mirror) note(t float64, c bt.Change) {
	m.log = append(m.log, fmt.Sprintf("%.9f %s: %v -> %v", t, m.tree.Name(c.Task), c.From, c.To))
}

// newMirror returns a random plan in which each leaf has an ID of its own; nil if its text stands for other tasks.
func newMirror(t *testing.T, r *rand.Rand) *mirror {
	t.Helper()
	d := trees.Random(r, 1+r.IntN(25))
	var leaves []plan.Leaf
	var visit func(n *bt.Node)
	visit = func(n *bt.Node) {
		if n.Kind.Family() == bt.Leaf {
			leaves = append(leaves, plan.Leaf{ID: fmt.Sprintf("leaf%d", len(leaves))})
			n.Name = leaves[len(leaves)-1].ID
		}
		for _, c := range n.Children {
			visit(c)
		}
	}
	visit(d)
	p, found := plan.New("main", d, leaves)
	if p == nil {
		t.Fatal(found)
	}
	if strings.Contains(p.Source.Text, "<"+bt.RunOnce.String()) {
		return nil
	}
	m := &mirror{tree: p.Tree, text: p.Source.Text, slow: map[bt.Task][2]bool{}}
	for _, l := range p.Tree.Leaves() {
		if p.Tree.Kind(l).Acts() {
			m.slow[l] = [2]bool{r.IntN(3) == 0, r.IntN(3) == 0}
		}
	}
	return m
}

// engine runs the plan with the tree engine and its timers; it makes the script on the way.
func (m *mirror) engine(r *rand.Rand, end float64) error {
	var initial []bt.Input
	for _, l := range m.tree.Leaves() {
		if s := m.slow[l]; s[0] || s[1] {
			initial = append(initial, bt.Slow(l, s[0], s[1]))
		}
	}
	e := bt.NewEngine(m.tree, initial, 0)
	due := map[bt.Task]float64{}
	ended := map[bt.Task]bool{}
	next := 0.5
	settle := func(t float64, inputs []bt.Input) error {
		instant, err := e.Settle(inputs)
		for _, c := range instant.Changes {
			m.note(t, c)
			if c.To == bt.Activating {
				ended[c.Task] = false
			}
		}
		for _, x := range instant.Timings {
			if delete(due, x.Task); x.Start {
				due[x.Task] = t + m.tree.Timer(x.Task)
			}
		}
		return err
	}
	if err := settle(0, nil); err != nil {
		return err
	}
	for {
		t := math.Inf(1)
		for _, at := range due {
			t = min(t, at)
		}
		given := next < t+1e-9 // the clock counts nanoseconds
		if given && next < t-1e-9 {
			t = next
		}
		if t > end {
			return nil
		}
		var inputs []bt.Input
		for _, timer := range m.tree.Timers() {
			if at, ok := due[timer]; ok && at <= t {
				delete(due, timer)
				inputs = append(inputs, bt.Elapsed(timer))
			}
		}
		if given {
			next += 0.5
			m.script = append(m.script, m.inputs(r, e, ended))
			inputs = append(inputs, m.script[len(m.script)-1]...)
		}
		if err := settle(t, inputs); err != nil {
			return err
		}
	}
}

// inputs returns random inputs of one instant, by leaf, as the executive sends them.
func (m *mirror) inputs(r *rand.Rand, e *bt.Engine, ended map[bt.Task]bool) []bt.Input {
	var in []bt.Input
	for _, l := range m.tree.Leaves() {
		status := e.Status(l)
		switch {
		case r.IntN(4) > 0:
		case !m.tree.Kind(l).Acts():
			in = append(in, bt.Set(l, r.IntN(2) == 0))
		case status == bt.Activating && r.IntN(2) == 0:
			in = append(in, bt.Entered(l))
		case status == bt.Deactivating:
			in = append(in, bt.Exited(l))
		case (status == bt.Activating || status == bt.Running) && !ended[l]:
			ended[l] = true
			in = append(in, bt.End(l, []bt.Status{bt.Success, bt.Failure}[r.IntN(2)]))
		default:
			in = append(in, bt.Request(l, []bt.Status{bt.Success, bt.Failure, bt.Accept}[r.IntN(3)]))
		}
	}
	return in
}

// live runs the plan with Go leaves until the end of the script, or to an earlier time, and checks that every entry has
// its exit.
func (m *mirror) live(t *testing.T, until time.Duration, asked bool) []string {
	t.Helper()
	x, clock := New("random.xml", m.text), &Virtual{}
	x.Use(clock)
	ctx, cancel := context.WithCancel(t.Context())
	over, open := false, map[string]Activation{}
	inputs := m.register(t, x, open, &over, asked)
	for i, line := range m.script {
		clock.At(time.Duration(i+1)*500*time.Millisecond, func() {
			for _, in := range line {
				words := strings.Fields(in.Text(m.tree.Name(in.Task())))
				inputs[words[1]](words)
			}
		})
	}
	leaving := map[string]func(){}
	clock.At(until, func() {
		over = true
		cancel()
		for _, stopped := range leaving {
			stopped()
		}
	})
	var log []string
	x.Subscribe(func(c Change) {
		if !over {
			log = append(log, fmt.Sprintf("%.9f %s: %v -> %v", c.At.Seconds(), c.Task, c.From, c.To))
		}
		switch c.To {
		case bt.Deactivating:
			if a, ok := open[c.Task]; ok {
				leaving[c.Task] = a.Stopped
			}
		case bt.Success, bt.Failure, bt.Accept:
			delete(leaving, c.Task)
		}
	})
	if err := x.Serve(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(open) > 0 {
		t.Errorf("not stopped: %v", open)
	}
	return log
}

// register gives an execution the code of all leaves, which keeps the open activations, and returns how each leaf takes
// an input, in the words of a script.
func (m *mirror) register(t *testing.T, x *Execution, open map[string]Activation, over *bool, asked bool,
) map[string]func([]string) {
	inputs := map[string]func(words []string){}
	for _, l := range m.tree.Leaves() {
		id := m.tree.Name(l)
		if !m.tree.Kind(l).Acts() {
			if asked {
				holds := false
				c := x.ConditionFunc(id, nil, func(Leaf) bool { return holds })
				inputs[id] = func(words []string) { holds = words[2] == "true"; c.Changed() }
				continue
			}
			c := x.Condition(id)
			inputs[id] = func(words []string) { c.Set(words[2] == "true") }
			continue
		}
		var last Activation
		request := x.Action(id, Action{
			StartTakesTime: m.slow[l][0], StopTakesTime: m.slow[l][1],
			Start: func(a Activation) {
				if _, ok := open[id]; ok {
					t.Errorf("%s has been started again before it was stopped", id)
				}
				open[id], last = a, a
			},
			Stop: func(a Activation) {
				if open[id] != a {
					t.Errorf("%s has been stopped without being active", id)
				}
				if delete(open, id); *over {
					a.Stopped()
				}
			},
		})
		inputs[id] = func(words []string) {
			switch words[0] {
			case "request":
				request.Set(map[string]bt.Status{"success": bt.Success, "failure": bt.Failure, "accept": bt.Accept}[words[2]])
			case "end":
				map[string]func(){"success": last.Succeed, "failure": func() { last.Fail(nil) }}[words[2]]()
			case "entered":
				last.Started()
			case "exited":
				last.Stopped()
			}
		}
	}
	return inputs
}

// acts returns the lines of a log about the activity of actions, to which the plan comes in the same way if it judges
// conditions only when it hears them.
func (m *mirror) acts(log []string) []string {
	return slices.DeleteFunc(slices.Clone(log), func(line string) bool {
		_, line, _ = strings.Cut(line, " ")
		name, change, _ := strings.Cut(line, ": ")
		task, _ := m.tree.Find(name)
		return !m.tree.Kind(task).Acts() || !strings.Contains(change, "ing")
	})
}

// TestRandomPlans: random plans of all kinds, with Go leaves, have the log of the tree engine for the same inputs, to
// the nanosecond, and do the same if they ask their conditions. Cancelled at any time they have its beginning, and every
// entry procedure has exactly one exit.
func TestRandomPlans(t *testing.T) {
	count := 10_000
	if testing.Short() {
		count = 1_000
	}
	changes := 0
	for seed := range uint64(count) {
		r := rand.New(rand.NewPCG(12, seed))
		m := newMirror(t, r)
		if m == nil || m.engine(r, 5.25) != nil { // an instantaneous loop
			continue
		}
		got := m.live(t, 5250*time.Millisecond, false)
		want := slices.DeleteFunc(slices.Clone(m.log), func(line string) bool { return at(line) >= 5.25 })
		differ(t, got, want)
		changes += len(got)
		differ(t, m.acts(m.live(t, 5250*time.Millisecond, true)), m.acts(want))
		until := time.Duration(r.IntN(5e9))
		got = m.live(t, until, false)
		want = slices.DeleteFunc(want, func(line string) bool { return at(line) >= until.Seconds() })
		differ(t, got, want)
		if t.Failed() {
			t.Fatalf("seed %d, cancelled at %v\n%s", seed, until, m.text)
		}
	}
	t.Logf("%d changes", changes)
}

// differ reports the first difference of two logs.
func differ(t *testing.T, got, want []string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || got[i] != want[i] {
			t.Errorf("after %d changes, live\n%s\nengine\n%s", i, strings.Join(got[min(i, len(got)):], "\n"),
				strings.Join(want[min(i, len(want)):], "\n"))
			return
		}
	}
}

// at returns the time of a line of a log.
func at(line string) float64 {
	text, _, _ := strings.Cut(line, " ")
	t, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return t
}
