package script

import (
	"errors"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// Play runs a script on a plan and passes each instant to the function; the errors are those of [Print]. Where the plan
// has entries of a blackboard, these act by themselves, in the same instant: they are written, and conditions, requests
// and outcomes that name nothing else are judged. A script may set entries that are written from outside:
//
//	set ENTRY VALUE   a number, true, false, or a text in quotes
//
// An entry that it does not set, and that no task writes, is not known: what names it remains a stub, as procedures do.
// A script with inputs for a leaf that would act by itself plays all leaves, as those of counterexamples do. A task
// that reads an entry without a value is an error that wraps [executive.ErrUnset].
//
// A line `swap PATH` exchanges the plan (see [Swap]); open reads the other one. Nil: there is none.
func Play(p *plan.Plan, src *diag.Source, open PlanReader, pass Pass) error {
	reads := &parser{plan: p, tree: p.Tree, src: src, entries: settable(p), open: open, plans: map[string]*plan.Plan{}}
	start, lines := reads.lines()
	if err := reads.list.Err(); err != nil {
		return err
	}
	begin := append([]Line{start}, lines...)
	type part struct {
		plan *plan.Plan
		from int // the line with which it begins
	}
	parts := []part{{p, 0}}
	for n, line := range begin {
		if line.swap != nil {
			parts = append(parts, part{line.swap, n})
		}
	}
	play := func(i int) *game { return newGame(parts[i].plan, begin[:parts[i].from], begin[parts[i].from:]) }
	acts, played := false, false
	for i := range parts {
		g := play(i)
		acts, played = acts || g.acts, played || g.played
	}
	acts = acts && !played
	var first actor = stubs{bt.NewEngine(p.Tree, start.Inputs, 0)}
	if acts {
		first = play(0).begin(start)
	}
	return replay(&stage{plan: p, actor: first}, src, lines, pass, func(s *stage, next *swap) *stage {
		if acts {
			i := slices.IndexFunc(parts, func(x part) bool { return x.plan == next.plan })
			return &stage{plan: next.plan, actor: play(i).resume(s.actor.(*game), next)}
		}
		return &stage{plan: next.plan, actor: stubs{s.actor.engine().Exchange(next.exchange, next.inputs)}}
	})
}

// settable returns the entries that are written from outside.
func settable(p *plan.Plan) []plan.BlackboardEntry {
	return slices.DeleteFunc(slices.Clone(p.Entries), func(e plan.BlackboardEntry) bool {
		return !e.Free || e.Initial != nil // that of a watcher is no entry of the author's
	})
}

// value is what a script sets an entry to.
type value struct {
	entry string
	expr  *expr.Expr
}

// game is the world of a plan that a script plays: its signals are the entries that are known.
type game struct {
	executive.Numbers
	plan    *plan.Plan
	entries []plan.BlackboardEntry
	own     map[bt.Task]bool // leaves whose truth or outcome follows from entries
	asked   map[bt.Task]bool // those whose request does
	acts    bool             // an entry is written or read, or a condition is constant
	known   map[string]bool
	places  map[string]int // of the slots of known entries
	program *executive.Program
	code    *expr.Compiler
	types   []expr.Type // of the known entries
	names   []string    // of these; "" is that of a watcher
	before  []float64   // their values, when they were compared the last time
	wrote   []Written
	u       []float64
	signals *executive.Signals
	exec    *executive.Executive
	player  *player
	played  bool // the script has inputs for a leaf that would act by itself
}

// newGame returns the game of a plan: earlier lines set entries of plans before it; its own lines give inputs.
func newGame(p *plan.Plan, earlier, own []Line) *game {
	g := &game{plan: p, entries: p.Entries, own: map[bt.Task]bool{}, asked: map[bt.Task]bool{}, known: map[string]bool{},
		places: map[string]int{}}
	g.compile(g.leaves(slices.Concat(earlier, own)))
	for _, line := range own {
		if line.swap != nil && line.swap != p {
			break
		}
		g.played = g.played || slices.ContainsFunc(line.Inputs, func(in bt.Input) bool {
			return g.own[in.Task()] || g.asked[in.Task()] && strings.HasPrefix(in.Text(""), "request")
		})
	}
	return g
}

// begin begins a script.
func (g *game) begin(start Line) *game {
	g.set(start.values)
	g.exec = executive.New(g.program, g, executive.Listening(func(in []bt.Input) executive.Listener {
		g.player = &player{Engine: bt.NewEngine(g.plan.Tree, slices.Concat(start.Inputs, in), 0), compare: g.compare}
		return g.player
	}, g.stubs(), executive.Sparing))
	return g
}

// resume goes on with what an exchange keeps of another plan's game.
func (g *game) resume(old *game, next *swap) *game {
	copy(g.u, executive.Carry(old.program, old.u, next.exchange, g.program,
		func(was, now int, v float64) (is float64, ok bool) { return g.value(now, old, was, v) }))
	g.compare()
	g.wrote = g.wrote[:0]
	g.set(next.values)
	g.exec = executive.Continue(old.exec, next.exchange, g.program, g, executive.Listening(
		func(in []bt.Input) executive.Listener {
			g.player = &player{Engine: old.player.Engine.Exchange(next.exchange, slices.Concat(next.inputs, in)),
				compare: g.compare}
			return g.player
		}, g.stubs(), executive.Sparing))
	return g
}

// value returns the value of an entry that a value of another game's entry is; ok is false if its type has none.
func (g *game) value(slot int, of *game, was int, v float64) (is float64, ok bool) {
	from, to := of.types[was], g.types[slot]
	switch {
	case from == expr.Text && to == expr.Text:
		if texts := of.code.Texts(); int(v) < len(texts) { // else nothing has been captured
			return float64(g.code.Text(texts[int(v)])), true
		}
		return 0, false
	case from == expr.Text, to == expr.Text, to == expr.Boolean && v != 0 && v != 1,
		to == expr.Integer && v != math.Trunc(v):
		return 0, false
	}
	return v, true
}

// stubs returns, by task, whether it is a leaf that only the script gives inputs.
func (g *game) stubs() []bool {
	always := make([]bool, g.plan.Tree.Len())
	for t := range bt.Task(len(always)) {
		always[t] = g.plan.Tree.Kind(t).Family() == bt.Leaf && !g.own[t] && !g.asked[t]
	}
	return always
}

func (g *game) Withhold(x *bt.Exchange) { g.exec.Withhold(x) }

func (g *game) engine() *bt.Engine { return g.player.Engine }

// leaves returns the leaves of the plan with only what known entries determine.
func (g *game) leaves(lines []Line) []plan.Leaf {
	for _, e := range g.entries {
		g.known[e.Name] = !e.Free
	}
	leaves := slices.Clone(g.plan.Leaves)
	for _, l := range leaves {
		for _, a := range slices.Concat(l.Write, l.Entry, l.Exit) {
			if _, is := g.known[a.Target]; is {
				g.known[a.Target] = true
			}
		}
	}
	for _, e := range g.entries {
		if e.Free && e.Initial != nil {
			g.known[e.Name] = false
		}
	}
	for _, line := range lines {
		for _, v := range line.values {
			g.known[v.entry] = true
		}
	}
	for again := true; again; { // an entry with a value from elsewhere is not known
		again = false
		for _, l := range leaves {
			for _, a := range slices.Concat(l.Write, l.Entry, l.Exit) {
				if g.known[a.Target] && !g.knows(a.Value) {
					g.known[a.Target], again = false, true
				}
			}
		}
	}
	for i := range leaves {
		l := &leaves[i]
		assigns := func(list []plan.Assignment) []plan.Assignment {
			return slices.DeleteFunc(slices.Clone(list), func(a plan.Assignment) bool { return !g.known[a.Target] })
		}
		l.Write, l.Entry, l.Exit = assigns(l.Write), assigns(l.Entry), assigns(l.Exit)
		l.EntryTime, l.EntryUntil, l.ExitTime, l.ExitUntil = nil, nil, nil, nil
		on, request, outcome := g.judges(l.On, l.Off), g.judges(l.SuccessIf, l.FailureIf), g.judges(l.Done, l.Failed)
		if !on {
			l.On, l.Off, l.Until = nil, nil, nil
		}
		if !request {
			l.SuccessIf, l.FailureIf = nil, nil
		}
		if !outcome {
			l.Done, l.Failed = nil, nil
		}
		g.own[l.Task], g.asked[l.Task] = on || outcome, request
		g.acts = g.acts || g.own[l.Task] || len(l.Write)+len(l.Entry)+len(l.Exit) > 0 ||
			slices.ContainsFunc(l.Expressions(), func(e *expr.Expr) bool { return len(e.Names()) > 0 })
	}
	return leaves
}

// knows reports whether an expression names known entries only.
func (g *game) knows(e *expr.Expr) bool {
	return e == nil || !slices.ContainsFunc(e.Names(), func(name string) bool { return !g.known[name] })
}

// judges reports whether there is one of two conditions, and known entries determine both.
func (g *game) judges(a, b *expr.Expr) bool {
	return (a != nil || b != nil) && g.knows(a) && g.knows(b)
}

// compile compiles the leaves.
func (g *game) compile(leaves []plan.Leaf) {
	g.program = &executive.Program{Tree: g.plan.Tree}
	scope, variables := expr.Scope{}, []expr.Variable(nil)
	for i := range g.entries {
		if e := &g.entries[i]; g.known[e.Name] {
			g.places[e.Name] = len(variables)
			scope[e.Name] = e.Variable()
			variables = append(variables, e.Variable())
			g.types = append(g.types, e.Type)
			name := e.Name
			if e.Free && e.Initial != nil {
				name = ""
			}
			g.names = append(g.names, name)
		}
	}
	g.code = expr.NewCompiler(scope, func(name string) (int, bool) { i, ok := g.places[name]; return 1 + i, ok })
	for i := range g.entries {
		e := &g.entries[i]
		if !g.known[e.Name] {
			continue
		}
		s := executive.Slot{Name: e.Name, Empty: e.Initial == nil, Hold: true, Entry: true}
		if e.Initial != nil {
			s.Initial = g.code.CompileAtOnce(e.Initial, e.Variable()).Value(nil, nil)
		}
		g.program.All = append(g.program.All,
			executive.Evaluation{Kind: executive.EvaluateSlot, Index: len(g.program.Slots)})
		g.program.Slots = append(g.program.Slots, s)
	}
	n := 1 + len(variables)
	g.program.Layout = executive.Layout{Outputs: 1, Slots: 1, Computed: n, Signals: n}
	plan.Coder{Observed: g.code.CompileFor, Once: g.code.CompileAtOnce,
		Slot: func(a plan.Assignment) (int, expr.Variable) {
			i := g.places[a.Target]
			return i, variables[i]
		}}.Compile(g.program, leaves)
	g.program.Indicators = g.code.Indicators()
	g.program.Link()
	g.u, g.signals = g.program.Initial(), executive.NewSignals(g.program, nil)
	g.Numbers = executive.NewNumbers(g)
	g.compare()
}

// set sets entries from outside.
func (g *game) set(values []value) {
	for _, v := range values {
		slot, known := g.places[v.entry]
		if !known { // a task writes to it what is not known
			continue
		}
		want := g.entries[slices.IndexFunc(g.entries, func(e plan.BlackboardEntry) bool {
			return e.Name == v.entry
		})].Variable()
		g.program.SetHeld(g.u, slot, g.code.CompileAtOnce(v.expr, want).Value(nil, nil))
		if g.exec != nil {
			g.exec.SlotChanged(slot)
		}
	}
}

// settle settles an instant with the inputs of a script, and returns its log: that of all settlings.
func (g *game) settle(in []bt.Input, values []value) (bt.Instant, error) {
	g.wrote = g.wrote[:0]
	g.set(values)
	g.player.inputs, g.player.log = in, bt.Instant{}
	g.exec.Begin()
	defer g.compare()
	for again := true; again; {
		var err error
		if again, err = g.exec.Settle(); err == nil && again {
			err = g.exec.Endless(nil)
		}
		if err != nil {
			return g.player.log, err
		}
	}
	g.exec.Rest()
	return g.player.log, nil
}

// compare notes which entries have other values than before.
func (g *game) compare() {
	values := g.Signals()
	for slot, name := range g.names {
		now := values[g.program.Signal(slot)]
		if len(g.before) == slot {
			g.before = append(g.before, now)
		}
		was := g.before[slot]
		if g.before[slot] = now; name != "" && was != now && (was == was || now == now) {
			after := 0
			if g.player != nil {
				after = len(g.player.log.Changes)
			}
			g.wrote = append(g.wrote, Written{after, name, g.shown(slot, was), g.shown(slot, now)})
		}
	}
}

// shown returns an entry's value as a value of Go.
func (g *game) shown(slot int, v float64) any {
	switch texts := g.code.Texts(); {
	case v != v:
		return nil
	case g.types[slot] == expr.Boolean:
		return v != 0
	case g.types[slot] == expr.Text && int(v) < len(texts):
		return texts[int(v)]
	}
	return v
}

func (g *game) written() []Written { return g.wrote }

// Signals implements executive.Numeric.
func (g *game) Signals() []float64 {
	g.signals.Fill(g.program.All, 0, nil, g.u, nil)
	return g.signals.Values
}

// Discrete implements executive.World: without sides, conditions are judged by the values of entries.
func (g *game) Discrete() (u []float64, above []bool) { return g.u, nil }

// T implements executive.World: there is no time.
func (g *game) T() float64 { return 0 }

// Set implements executive.World.
func (g *game) Set(input int, value float64) { g.u[input] = value }

// Start implements executive.World: the script ends what takes time.
func (g *game) Start(int, *expr.Code, float64) (due float64, ok bool) { return math.Inf(1), true }

// Over implements executive.World.
func (g *game) Over(int, float64) bool { return false }

// player is the engine of a plan with what a script tells it.
type player struct {
	*bt.Engine
	compare func()     // the entries, before a settling
	inputs  []bt.Input // of the instant, not yet passed on
	log     bt.Instant // of the instant so far
}

// Reconsider implements executive.Listener: it is asked for inputs once in each instant.
func (p *player) Reconsider(in []bt.Input) []bt.Input {
	in = p.Engine.Reconsider(append(in, p.inputs...))
	p.inputs = nil
	return in
}

// Settle implements executive.Engine.
func (p *player) Settle(in []bt.Input) (bt.Instant, error) {
	p.compare()
	instant, err := p.Engine.Settle(in)
	for _, c := range instant.Changes {
		c.Iteration += int32(p.log.Iterations)
		p.log.Changes = append(p.log.Changes, c)
	}
	p.log.Iterations += instant.Iterations
	p.log.Visits += instant.Visits
	return instant, err
}

// value reads an input that sets an entry; ok is false if it is none.
func (p *parser) value(words []word) (v value, ok bool) {
	if len(words) < 3 || words[0].text != "set" {
		return v, false
	}
	for last := range words[1:] {
		if len(p.tree.Resolve(p.src.Text[words[1].offset:words[1+last].end()])) > 0 {
			return v, false
		}
	}
	i := slices.IndexFunc(p.entries, func(e plan.BlackboardEntry) bool { return e.Name == words[1].text })
	if i < 0 {
		return v, false
	}
	at := words[2].offset
	text := p.src.Text[at:words[len(words)-1].end()]
	want := p.entries[i].Variable()
	e, err := expr.Parse(text)
	var found *expr.Error
	if err != nil && !errors.As(err, &found) || err == nil && len(e.Names()) > 0 {
		found = &expr.Error{Length: len(text), Code: expr.CodeType, Text: "a value is expected",
			Hint: "write a number, true, false, or a text in quotes"}
	}
	if err == nil && found == nil {
		if list := e.CheckFor(want, expr.Scope{}); len(list) > 0 {
			found = list[0]
		}
	}
	if found != nil {
		p.list = append(p.list, found.In(p.src, at))
	}
	return value{entry: strings.Clone(words[1].text), expr: e}, true
}
