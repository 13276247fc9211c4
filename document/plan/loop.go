package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"canopy/bt"
	"canopy/diag"
	"canopy/expr"
	"canopy/syntax/xmltree"
)

// The attributes of a loop over a queue.
const (
	attrQueue   = "queue"
	attrIfEmpty = "if_empty"
)

var loopAttributes = []string{attrQueue, attrIfEmpty, attrValue}

// The bounds of loops.
const (
	maxQueue  = 1_000   // values of all lists that a queue may be
	maxQueues = 100_000 // values of the lists of all loops
)

// queued is a type of the values of a queue.
type queued struct {
	noun    string
	example *expr.Expr
	reads   func(text string) (value string, ok bool)
}

// loops are the elements that run their child for each value of a queue.
var loops = map[string]*queued{
	"LoopInt": {"whole numbers", must("0"), func(text string) (string, bool) {
		_, err := strconv.ParseInt(text, 10, 32)
		return text, err == nil && !strings.HasPrefix(text, "+")
	}},
	"LoopDouble": {"numbers", must("0"), func(text string) (string, bool) {
		x, err := strconv.ParseFloat(text, 64)
		return text, err == nil && !math.IsInf(x, 0) && !math.IsNaN(x)
	}},
	"LoopBool": {"truth values", must("true"), func(text string) (string, bool) {
		switch text {
		case "1", "true", "TRUE", "True":
			return "1", true
		case "0", "false", "FALSE", "False":
			return "0", true
		}
		return "", false
	}},
	"LoopString": {"texts", must("''"), func(text string) (string, bool) { return text, true }},
}

func init() {
	for name := range loops {
		shorthands[name] = &shorthand{elementDecorator, builtIn, loopAttributes, (*reader).loop}
	}
}

// values returns the values of a list that a text is, in the notation of BehaviorTree.CPP: an empty text is the empty
// list, and the last semicolon may end a value.
func (q *queued) values(text string) (list []string, ok bool) {
	if text == "" {
		return nil, true
	}
	for _, part := range strings.Split(strings.TrimSuffix(text, ";"), ";") {
		value, ok := q.reads(part)
		if !ok {
			return nil, false
		}
		list = append(list, value)
	}
	return list, true
}

// loop is a loop over a queue as written: its steps are leaves that share it.
type loop struct {
	*queued
	item  *item
	queue *xmltree.Attribute
	entry *expr.Expr // the queue, nil: it is written as a list
	value string     // the entry of the values; empty: none
}

// loopStep is what a leaf does for a loop.
type loopStep int

const (
	loopBegin loopStep = iota + 1 // takes the queue
	loopOver                      // whether no value is left
	loopNext                      // takes the next value
)

// feed is what a loop takes its values from in a use of its tree, with entries of its own.
type feed struct {
	left  *shared // the number of values that are left
	taken *shared // the text that is the queue; nil: there is only one
	of    *shared // the entry that is the queue; nil: there is none
	lists []list  // that the queue may be
	open  bool    // nothing of the plan fills the queue: its values are not known
}

// list is a text that is the queue of a loop, with its values.
type list struct {
	text   string
	values []string
}

// turn identifies a loop in a use of its tree.
type turn struct {
	loop  *loop
	scope *scope
}

// loop makes the tasks of a loop: the queue is taken; as long as a value is left, it is taken and the child runs.
func (r *reader) loop(i *item) {
	word := i.element.Name
	if slices.Contains(explicit, word) {
		word = i.id
	}
	queue, value := i.element.Find(attrQueue), i.element.Find(attrValue)
	i.kind, i.unknown = bt.Sequence, true
	switch n := len(i.written); {
	case queue == nil:
		r.reportName(i.element, codeNoAttr, `write queue="1;2;3" or queue="{entry}"`, "%s needs %q", word, attrQueue)
		return
	case n != 1:
		if r.doc.Whole {
			r.reportName(i.element, codeChildren, "put the children into a Sequence or Fallback",
				"%s needs exactly 1 child, this one has %d", word, n)
		}
		return
	}
	l := &loop{queued: loops[word], item: i, queue: queue}
	switch name, ok := named(queue); {
	case ok:
		if l.entry = r.named(queue, name); l.entry == nil {
			return
		}
		r.mentioned[l.entry.String()] = true
	case !r.list(l, queue, nil):
		return
	}
	next := r.step(l, loopNext)
	if value != nil {
		name, ok := named(value)
		if !ok {
			r.reportValue(value, codePort, "write {"+value.Value+"}", "%q is not an entry in braces", value.Value)
			return
		}
		if r.named(value, name) == nil {
			return
		}
		next.clerk.writes = []statement{{target: name, span: value.Raw, creates: true, value: l.example}}
		l.value, r.mentioned[name] = name, true
	}
	i.unknown = false
	inner := func(k bt.Kind, what string, children ...*item) *item {
		one := r.part(i, k, what)
		one.children, one.wraps = children, true
		return one
	}
	take := next
	if l.entry != nil { // a free action, which may fail, if nothing of the plan fills the queue
		take = inner(bt.ForceSuccess, "taken", next)
	}
	round := inner(bt.Sequence, "round", take, i.written[0])
	while := inner(attributed["_skipIf"], "rest", r.step(l, loopOver), round)
	each := &item{kind: bt.Repeat, id: bt.Repeat.String(), name: i.name + ".each", element: i.element, params: []int{-1},
		wraps: true, children: []*item{while}}
	i.children = []*item{r.step(l, loopBegin), each}
	switch end := i.element.Find(attrIfEmpty); {
	case end == nil, end.Value == "SUCCESS":
	case end.Value == "SKIPPED":
		i.kind = bt.IfThenElse
	case end.Value == "FAILURE", end.Value == "RUNNING":
		i.children = append(i.children, r.part(i, statuses[end.Value].kind, attrIfEmpty))
	default:
		r.reportValue(end, codeCount, diag.OneOf("write ", []string{"FAILURE", "RUNNING", "SKIPPED", "SUCCESS"}),
			"%s cannot be %q", attrIfEmpty, end.Value)
	}
}

// named returns the name of the entry in an attribute that is a port.
func named(a *xmltree.Attribute) (name string, ok bool) {
	if a.Value == sameName {
		return a.Name, true
	}
	return entry(a.Value)
}

// step returns the leaf that does something for a loop.
func (r *reader) step(l *loop, s loopStep) *item {
	what := [...]string{loopBegin: attrQueue, loopOver: "over", loopNext: attrValue}[s]
	kind := bt.Action
	if s == loopOver {
		kind = bt.Condition
	}
	i := r.part(l.item, kind, what)
	i.clerk = &clerk{at: l.queue, loop: l, step: s}
	r.mentioned[l.item.name+".left"] = true
	return i
}

// list adds a text to the lists that the queue of a loop may be, and reports what is none.
func (r *reader) list(l *loop, at *xmltree.Attribute, to *[]list) bool {
	return r.listed(l, at.Value, to, func(code, hint, text string) { r.reportValue(at, code, hint, "%s", text) })
}

func (r *reader) listed(l *loop, text string, to *[]list, report func(code, hint, text string)) bool {
	switch values, ok := l.values(text); {
	case !ok:
		report(codeTypes, "write them as in 1;2;3, without blanks", fmt.Sprintf("%q is no list of %s", text, l.noun))
	case len(values) > maxQueue:
		report(xmltree.CodeTooLarge, "", fmt.Sprintf("a queue has at most %d values, this one %d", maxQueue, len(values)))
	default:
		if to != nil {
			*to = append(*to, list{text, values})
		}
		return true
	}
	return false
}

// begin notes a loop: the numbers of values that are left, and the queue that it has taken, are entries of its own.
func (b *board) begin(l *loop, s *scope) {
	if b.full(2, l.queue.Raw) {
		return
	}
	x := &feed{left: b.hide(l.item, s, ".left", expr.Real)}
	if l.entry == nil {
		b.list(l, l.queue, &x.lists)
	} else if x.of = b.at(s, l.entry.String(), l.queue.Raw); x.of != nil {
		x.taken = b.hide(l.item, s, ".queue", expr.Text)
		b.assume(x.of, expr.Text, l.queue.Raw)
	}
	b.feeds[turn{l, s}] = x
	b.turns = append(b.turns, turn{l, s})
}

// hide adds an entry of an item's own.
func (b *board) hide(i *item, s *scope, suffix string, t expr.Type) *shared {
	at := xmltree.Span{At: i.element.At, End: i.element.At + 1}
	e := &shared{owned: owned{s, i.name + suffix}, at: at, created: true, written: true, typed: at, hidden: true}
	e.Type = t
	b.order = append(b.order, e)
	return e
}

// unfilled finds the loops whose queues nothing of the plan fills: how many values they have, and which, is free.
func (b *board) unfilled() {
	for _, t := range b.turns {
		x := b.feeds[t]
		if x.of == nil || (x.of.written || len(x.of.values) > 0) && !b.foreignText(x.of, map[*shared]bool{}) {
			continue
		}
		x.open = true
		b.order = slices.DeleteFunc(b.order, func(e *shared) bool { return e == x.left || e == x.taken })
		if t.loop.value != "" {
			if e := b.at(t.scope, t.loop.value, t.loop.queue.Raw); e != nil {
				e.outside = true
			}
		}
		b.warn(t.loop.queue.At, len(t.loop.queue.Name), codeFreeEntry, "write the values here, or let a script write them",
			"nothing gives the queue %q its values: how many it has, and which, is not known", t.loop.entry.String())
	}
}

// foreignText reports whether an entry may have a text that a free leaf has written, or a copy of one.
func (b *board) foreignText(e *shared, seen map[*shared]bool) bool {
	if e.outside || seen[e] {
		return e.outside
	}
	seen[e] = true
	return slices.ContainsFunc(e.values, func(g given) bool {
		return g.value != nil && slices.ContainsFunc(g.value.Names(), func(name string) bool {
			at, local, _ := g.scope.origin(name)
			from := b.entries[owned{at, local}]
			return from != nil && b.foreignText(from, seen)
		})
	})
}

// queues determines the lists that the queues of loops may be: the texts that are written to their entries.
func (b *board) queues() {
	total := 0 // values of all loops
	for _, t := range b.turns {
		x := b.feeds[t]
		if x.of != nil {
			if x.open {
				continue
			}
			b.texts(t.loop, x.of, x, map[*shared]bool{})
		}
		before, own := total, 0
		for _, list := range x.lists {
			own += len(list.values)
		}
		switch total += own; {
		case own > maxQueue:
			b.reportValue(t.loop.queue, xmltree.CodeTooLarge, "", "the lists that the queue may be have more than %d values",
				maxQueue)
		case total > maxQueues && before <= maxQueues:
			b.reportValue(t.loop.queue, xmltree.CodeTooLarge, "", "the queues of the plan's loops have more than %d values",
				maxQueues)
		}
	}
}

// texts adds the texts that an entry may have to the lists of a loop.
func (b *board) texts(l *loop, e *shared, x *feed, seen map[*shared]bool) {
	if seen[e] {
		return
	}
	seen[e] = true
	for _, g := range e.values {
		add := func(text string) {
			if slices.ContainsFunc(x.lists, func(known list) bool { return known.text == text }) {
				return
			}
			b.listed(l, text, &x.lists, func(code, hint, text string) {
				b.report(g.span.At, g.span.Len(), code, hint, "%s, which %s needs", text, l.item.name)
			})
		}
		if g.literal != nil {
			add(g.literal.Value)
			continue
		}
		if g.value == nil {
			continue
		}
		if g.value == loops["LoopString"].example {
			b.report(g.span.At, g.span.Len(), codeTypes, "write the values as literals",
				"the values of the queue %q are those of another queue", l.entry.String())
			continue
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
				at, local, text := g.scope.origin(n.Name())
				if from := b.entries[owned{at, local}]; from != nil {
					b.texts(l, from, x, seen)
				} else if text != nil {
					add(text.Value)
				}
			case expr.OpNumber, expr.OpTruth: // a conflict of types
			default:
				b.report(g.span.At, g.span.Len(), codeTypes, "write the values as literals",
					"the values of the queue %q are not known before the run", l.entry.String())
			}
		}
		visit(g.value.Root())
	}
}

// loopLeaf gives a leaf what it does for a loop.
func (l leafReader) loopLeaf(leaf *Leaf, i *item) {
	c := i.clerk
	x := l.feeds[turn{c.loop, l.outer.scope}]
	if x == nil || !x.open && x.left.Name == "" { // a tree without its use
		leaf.Done, leaf.On = always, always
		return
	}
	if x.open {
		if leaf.Free = c.step != loopBegin; leaf.Free {
			leaf.ID = l.outer.scope.path + i.name
		} else {
			leaf.Done = always
		}
		return
	}
	at := func(target *shared, value *expr.Expr) Assignment {
		return Assignment{Target: target.Name, Value: value, Offset: leaf.Offset, Length: 1}
	}
	left := x.left.Name
	switch c.step {
	case loopOver:
		leaf.On = must(left + " == 0")
		return
	case loopBegin:
		var lengths []string
		for _, list := range x.lists {
			lengths = append(lengths, strconv.Itoa(len(list.values)))
		}
		if x.taken != nil {
			queue := l.script(c.loop.entry, c.at, expr.Variable{Type: expr.Text})
			if queue == nil {
				return
			}
			leaf.Entry = append(leaf.Entry, at(x.taken, queue))
		}
		leaf.Entry = append(leaf.Entry, at(x.left, must(x.among(lengths))))
	case loopNext:
		l.assign(leaf, c)
		leaf.Entry = append(leaf.Entry, at(x.left, must(left+" - 1")))
	}
	leaf.Done = always
}

// among returns the expression that is one of several, by the queue that a loop has taken.
func (x *feed) among(of []string) string {
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
func (x *feed) next(want expr.Type) (value *expr.Expr, unfit string) {
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
func (x *feed) choice(values []string, from int) string {
	if len(values) == 1 {
		return values[0]
	}
	half := len(values) / 2
	return fmt.Sprintf("(%s < %d ? %s : %s)", x.left.Name, from+half, x.choice(values[:half], from),
		x.choice(values[half:], from+half))
}
