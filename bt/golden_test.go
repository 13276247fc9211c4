package bt_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/script"
	"github.com/canopy-uav/canopy/formalism/tick"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/internal/trees"
)

// TestGolden runs the scripts of testdata, one for each rule of docs/semantics.md. Rewrite them with
//
//	go test ./bt -run Golden -rewrite
//
// and review the difference. docs/scripts.md describes the directives.
//
// Unless the iterations are limited, a tick engine answers the same directives, and must log the same.
func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine { return new(machine).run }, "testdata/*.txt")
}

// machine is the state of a golden script.
type machine struct {
	tree                *bt.Tree
	engine, kept        *bt.Engine
	ticking, keptTicker *tick.Engine // nil if the iterations are limited
	line                int
	change              *bt.Exchange // that is under way
}

func (g *machine) run(t *testing.T, d golden.Directive) string {
	var b strings.Builder
	switch d.Name {
	case "plan":
		g.plan(t, d, &b)
	case "trace":
		src := &diag.Source{Name: "script", Text: d.Input}
		if err := script.Print(&plan.Plan{Tree: g.tree}, src, nil, &b); err != nil {
			fmt.Fprintf(&b, "error:\n%v\n", err)
		}
	case "run":
		for _, line := range g.lines(t, d, g.line == 0) {
			g.settle(t, d, line, &b)
		}
	case "tick":
		for _, line := range g.lines(t, d, g.line == 0) {
			instant, err := g.engine.Settle(line.Inputs)
			if err != nil {
				t.Fatalf("%s: %v", d.At, err)
			}
			g.tick(&b, line.Inputs)
			g.compare(t, instant, instant)
		}
	case "exchange":
		to := parse(t, d)
		g.change, g.ticking = bt.NewExchange(g.tree, trees.Compile(t, to), func(a, b bt.Task) bool { return true }), nil
		g.engine.Withhold(g.change)
		g.settle(t, d, script.Line{}, &b)
	case "conventional":
		e := tick.NewConventional(g.tree, nil)
		g.line = 0
		for _, line := range g.lines(t, d, true) {
			g.write(&b, e.Tick(line.Inputs))
		}
	case "state":
		g.state(&b)
	case "halt":
		instant := g.engine.Halt()
		if g.ticking != nil {
			g.compare(t, instant, g.ticking.Halt())
		}
		g.write(&b, instant)
	case "copy":
		g.kept, g.keptTicker = g.engine.Clone(), g.ticking.Clone()
	case "restore":
		g.engine.CopyFrom(g.kept)
		g.ticking.CopyFrom(g.keptTicker)
	default:
		t.Fatalf("%s: unknown directive %q", d.At, d.Name)
	}
	return b.String()
}

// parse returns the tree that a directive contains.
func parse(t *testing.T, d golden.Directive) *bt.Node {
	t.Helper()
	root, err := trees.Parse(d.Input)
	if err != nil {
		t.Fatalf("%s: %v", d.At, err)
	}
	return root
}

// lines returns the lines of the script that a directive contains; before the first instant, an empty one is added.
func (g *machine) lines(t *testing.T, d golden.Directive, first bool) []script.Line {
	t.Helper()
	_, lines, list := script.Parse(g.tree, &diag.Source{Name: "script", Text: d.Input})
	if list != nil {
		t.Fatalf("%s: %v", d.At, list)
	}
	if first {
		lines = append([]script.Line{{}}, lines...)
	}
	return lines
}

// plan begins with a tree.
func (g *machine) plan(t *testing.T, d golden.Directive, b *strings.Builder) {
	tree, err := bt.Compile(parse(t, d))
	if g.tree = tree; err != nil {
		fmt.Fprintf(b, "error: %v\n", err)
		return
	}
	if condition, task, ok := strings.Cut(d.Value("until"), ":"); ok {
		lasts, _ := g.tree.Find(condition)
		end, _ := g.tree.Find(task)
		g.tree = g.tree.Lasting(map[bt.Task][]bt.Task{lasts: {end}})
	}
	limit, _ := strconv.Atoi(d.Value("limit"))
	g.engine, g.ticking, g.line, g.change = bt.NewEngine(g.tree, nil, limit), nil, 0, nil
	if limit == 0 {
		g.ticking = tick.NewEngine(g.tree, nil, 0)
	}
	g.state(b)
}

// settle settles an instant, and lets the new tree take over once that is possible.
func (g *machine) settle(t *testing.T, d golden.Directive, line script.Line, b *strings.Builder) {
	t.Helper()
	instant, err := g.engine.Settle(line.Inputs)
	if g.ticking != nil {
		got, err := g.ticking.Settle(line.Inputs)
		if err != nil {
			t.Fatalf("%s: %v", d.At, err)
		}
		g.compare(t, instant, got)
	}
	g.write(b, instant)
	if err != nil {
		fmt.Fprintf(b, "error: %v (loop: %v)\n", err, errors.Is(err, bt.ErrLoop))
	}
	g.exchange(b)
}

// exchange lets the new tree take over once that is possible.
func (g *machine) exchange(b *strings.Builder) {
	if g.change == nil || !g.engine.Ready(g.change) {
		return
	}
	g.tree, g.engine, g.change = g.change.To(), g.engine.Exchange(g.change, nil), nil
	instant, err := g.engine.Settle(nil)
	b.WriteString("the new tree takes over\n")
	g.line--
	g.write(b, instant)
	if err != nil {
		fmt.Fprintf(b, "error: %v\n", err)
	}
}

// write writes an instant: N.ITERATION NAME: From -> To, the procedures started, and the timers started and stopped.
func (g *machine) write(b *strings.Builder, instant bt.Instant) {
	commands := instant.Commands
	for _, c := range instant.Changes {
		fmt.Fprintf(b, "%d.%d %s: %s -> %s", g.line, c.Iteration, g.tree.Name(c.Task), c.From, c.To)
		if g.tree.Kind(c.Task).Acts() && (c.To == bt.Activating || c.To == bt.Deactivating) {
			fmt.Fprintf(b, " (%s procedure starts)", map[bool]string{false: "entry", true: "exit"}[commands[0].Exit])
			commands = commands[1:]
		}
		b.WriteByte('\n')
	}
	for _, c := range instant.Timings {
		fmt.Fprintf(b, "%d %s: the timer %s\n", g.line, g.tree.Name(c.Task), map[bool]string{false: "stops", true: "starts"}[c.Start])
	}
	if len(instant.Changes)+len(instant.Timings) == 0 {
		fmt.Fprintf(b, "%d nothing\n", g.line)
	}
	g.line++
}

// compare compares the tick engine's log of an instant, and its state after it, with the engine's.
func (g *machine) compare(t *testing.T, want, got bt.Instant) {
	t.Helper()
	if msg := tickDifference(g.engine, g.ticking, want, got); msg != "" {
		t.Errorf("line %d: %s", g.line, msg)
	}
}

// tick ticks the root until nothing changes and writes after each tick what has changed: N.TICK NAME: PHASE, ANSWER,
// and the procedures started.
func (g *machine) tick(b *strings.Builder, inputs []bt.Input) {
	e := g.ticking
	for n := 1; ; n++ {
		before := e.Clone()
		instant := e.Tick(inputs)
		inputs = nil
		for _, c := range instant.Commands {
			procedure := map[bool]string{false: "entry", true: "exit"}[c.Exit]
			fmt.Fprintf(b, "%d.%d %s: %s procedure starts\n", g.line, n, g.tree.Name(c.Task), procedure)
		}
		for i := range g.tree.Len() {
			t := bt.Task(i)
			if e.Activity(t) != before.Activity(t) || e.Answer(t) != before.Answer(t) {
				fmt.Fprintf(b, "%d.%d %s: %s, %s\n", g.line, n, g.tree.Name(t), e.Activity(t), e.Answer(t))
			}
		}
		if instant.Iterations == 0 {
			fmt.Fprintf(b, "%d.%d nothing\n", g.line, n)
			break
		}
	}
	g.line++
}

// state writes the tree with every task's status, activity and held result.
func (g *machine) state(b *strings.Builder) {
	var write func(t bt.Task, indent string)
	write = func(t bt.Task, indent string) {
		fmt.Fprintf(b, "%s%s: %s", indent, g.tree.Name(t), g.engine.Status(t))
		if g.engine.Active(t) {
			b.WriteString(", active")
		}
		if result, ok := g.engine.Held(t); ok {
			fmt.Fprintf(b, ", %s as %s", map[bool]string{false: "held", true: "pinned"}[g.engine.Pinned(t)], result)
		}
		b.WriteByte('\n')
		for _, child := range g.tree.Children(t) {
			write(child, indent+"  ")
		}
	}
	write(g.tree.Root(), "")
}

// TestDocumented holds docs/semantics.md and the golden scripts together.
func TestDocumented(t *testing.T) { golden.Documented(t, "../docs/semantics.md", "testdata/*.txt") }
