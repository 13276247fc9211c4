package plan

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// The bounds of loops.
const (
	maxQueue  = 1_000   // values of all lists that a queue may be
	maxQueues = 100_000 // values of the lists of all loops
)

// queue is what a loop takes its values from in a use of its tree, with entries of its own.
type queue struct {
	loop  *loop
	scope *scope
	left  *symbol // the number of values that are left
	taken *symbol // the text that is the queue; nil: there is only one
	of    *symbol // the entry that is the queue; nil: there is none
	lists []list  // that the queue may be
	open  bool    // nothing of the plan fills the queue: its values are not known
}

// begin notes a loop: the numbers of values that are left, and the queue that it has taken, are entries of its own.
func (b *board) begin(l *loop, s *scope) {
	if b.full(2, l.queue.Raw) {
		return
	}
	x := &queue{loop: l, scope: s, left: b.hide(l.node, s, ".left", expr.Real)}
	if l.entry == nil {
		x.lists = []list{l.list}
	} else if x.of = b.at(s, l.entry.String(), l.queue.Raw); x.of != nil {
		x.taken = b.hide(l.node, s, ".queue", expr.Text)
		b.assume(x.of, expr.Text, l.queue.Raw)
	}
	b.queues[nodeUse{l.node, s}] = x
	b.loops = append(b.loops, x)
}

// hide adds an entry of a node's own.
func (b *board) hide(n *node, s *scope, suffix string, t expr.Type) *symbol {
	at := xmltree.Span{At: n.element.At, End: n.element.At + 1}
	e := &symbol{entryKey: entryKey{s, n.name + suffix}, at: at, created: true, written: true, typed: at, hidden: true}
	e.Type = t
	b.order = append(b.order, e)
	return e
}

// unfilled finds the loops whose queues nothing of the plan fills: how many values they have, and which, is free.
func (b *board) unfilled() {
	for _, x := range b.loops {
		if x.of == nil || (x.of.written || len(x.of.values) > 0) && !b.foreignText(x.of, map[*symbol]bool{}) {
			continue
		}
		x.open = true
		b.order = slices.DeleteFunc(b.order, func(e *symbol) bool { return e == x.left || e == x.taken })
		if x.loop.value != "" {
			if e := b.at(x.scope, x.loop.value, x.loop.queue.Raw); e != nil {
				e.outside = true
			}
		}
		b.warn(x.loop.queue.At, len(x.loop.queue.Name), codeFreeEntry, "write the values here, or let a script write them",
			"nothing gives the queue %q its values: how many it has, and which, is not known", x.loop.entry.String())
	}
}

// foreignText reports whether an entry may have a text that a free leaf has written, or a copy of one.
func (b *board) foreignText(e *symbol, seen map[*symbol]bool) bool {
	if e.outside || seen[e] {
		return e.outside
	}
	seen[e] = true
	return slices.ContainsFunc(e.values, func(g write) bool {
		return g.value != nil && slices.ContainsFunc(g.value.Names(), func(name string) bool {
			key, _ := g.scope.origin(name)
			from := b.entries[key]
			return from != nil && b.foreignText(from, seen)
		})
	})
}

// lists determines the lists that the queues of loops may be: the texts that are written to their entries.
func (b *board) lists() {
	total := 0 // values of all loops
	for _, x := range b.loops {
		if x.of != nil {
			if x.open {
				continue
			}
			b.texts(x, x.of, map[*symbol]bool{})
		}
		own := 0
		for _, list := range x.lists {
			b.within(&own, len(list.values), maxQueue, x.loop.queue.Raw, "",
				"the lists that the queue may be have more than %d values")
		}
		b.within(&total, own, maxQueues, x.loop.queue.Raw, "", "the queues of the plan's loops have more than %d values")
	}
}

// texts adds the texts that an entry may have to the lists of a queue.
func (b *board) texts(x *queue, e *symbol, seen map[*symbol]bool) {
	l := x.loop
	if seen[e] {
		return
	}
	seen[e] = true
	for _, g := range e.values {
		add := func(text string) {
			if slices.ContainsFunc(x.lists, func(known list) bool { return known.text == text }) {
				return
			}
			if list, ok := l.queued.list(text, func(code, hint, text string) {
				b.report(g.span.At, g.span.Len(), code, hint, "%s, which %s needs", text, l.node.name)
			}); ok {
				x.lists = append(x.lists, list)
			}
		}
		var visit func(n *expr.Node)
		visit = func(n *expr.Node) {
			switch n.Op() {
			case expr.OpText:
				add(n.Name())
			case expr.OpIf:
				visit(n.Arg(1))
				visit(n.Arg(2))
			case expr.OpName:
				key, text := g.scope.origin(n.Name())
				if from := b.entries[key]; from != nil {
					b.texts(x, from, seen)
				} else if text != nil {
					add(text.Value)
				}
			case expr.OpNumber, expr.OpTruth: // a conflict of types
			default:
				b.report(g.span.At, g.span.Len(), codeTypes, "write the values as literals",
					"the values of the queue %q are not known before the run", l.entry.String())
			}
		}
		switch {
		case g.literal != nil:
			add(g.literal.Value)
		case g.value == anyText:
			b.report(g.span.At, g.span.Len(), codeTypes, "write the values as literals",
				"the values of the queue %q are those of another queue", l.entry.String())
		case g.value != nil:
			visit(g.value.Root())
		}
	}
}

func (s loopStep) compile(l leafReader, leaf *Leaf, n *node) {
	x := l.queues[nodeUse{s.node, l.outer.scope}]
	if x == nil || !x.open && x.left.Name == "" { // a tree without its use
		leaf.Done, leaf.On = always, always
		return
	}
	if x.open {
		if leaf.Free = s.part != loopBegin; leaf.Free {
			leaf.ID = l.outer.scope.path + n.name
		} else {
			leaf.Done = always
		}
		return
	}
	at := func(target *symbol, value *expr.Expr) Assignment {
		return Assignment{Target: target.Name, Value: value, Offset: leaf.Offset, Length: 1}
	}
	left := x.left.Name
	switch s.part {
	case loopOver:
		leaf.On = must(left + " == 0")
		return
	case loopBegin:
		var lengths []string
		for _, list := range x.lists {
			lengths = append(lengths, strconv.Itoa(len(list.values)))
		}
		if x.taken != nil {
			queue := l.script(s.entry, s.queue, expr.Variable{Type: expr.Text})
			if queue == nil {
				return
			}
			leaf.Entry = append(leaf.Entry, at(x.taken, queue))
		}
		leaf.Entry = append(leaf.Entry, at(x.left, must(x.among(lengths))))
	case loopNext:
		l.assign(leaf, n.access, x)
		leaf.Entry = append(leaf.Entry, at(x.left, must(left+" - 1")))
	}
	leaf.Done = always
}

// among returns the expression that is one of several, by the queue that a loop has taken.
func (x *queue) among(of []string) string {
	if len(of) == 0 {
		return "0"
	}
	text := "(" + of[0] + ")"
	for i, list := range x.lists[1:] {
		text = fmt.Sprintf("(%s == %s ? (%s) : %s)", x.taken.Name, literal(list.text, expr.Text), of[i+1], text)
	}
	return text
}

// next returns the expression that is the next value of the queue for a variable; nil if there is none.
func (x *queue) next(want expr.Type) (value *expr.Expr, unfit string) {
	var of []string
	for _, list := range x.lists {
		var values []string
		for _, text := range list.values {
			e := literal(text, want)
			if e == nil {
				return nil, text
			}
			values = append(values, e.String())
		}
		if slices.Reverse(values); len(values) == 0 {
			values = []string{"0"}
		}
		of = append(of, x.choice(values, 1))
	}
	return must(x.among(of)), ""
}

// choice returns the expression that is the value of a number of values left, of which the first is for from.
func (x *queue) choice(values []string, from int) string {
	if len(values) == 1 {
		return values[0]
	}
	half := len(values) / 2
	return fmt.Sprintf("(%s < %d ? %s : %s)", x.left.Name, from+half, x.choice(values[:half], from),
		x.choice(values[half:], from+half))
}
