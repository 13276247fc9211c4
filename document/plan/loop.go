package plan

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Attributes of the loops over a queue.
const (
	attrQueue   = "queue"
	attrIfEmpty = "if_empty"
)

var anyText = must("''")

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
	"LoopString": {"texts", anyText, func(text string) (string, bool) { return text, true }},
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

// list is a text that is the queue of a loop, with its values.
type list struct {
	text   string
	values []string
}

// list reads a text as the queue of a loop; report gets what is wrong with it.
func (q *queued) list(text string, report func(code, hint, text string)) (list, bool) {
	switch values, ok := q.values(text); {
	case !ok:
		report(codeTypes, "write them as in 1;2;3, without blanks", fmt.Sprintf("%q is not a list of %s", text, q.noun))
	case len(values) > maxQueue:
		report(xmltree.CodeTooLarge, "", fmt.Sprintf("a queue has at most %d values, this one %d", maxQueue, len(values)))
	default:
		return list{text, values}, true
	}
	return list{}, false
}

// loop is a loop over a queue: its steps are leaves that share it.
type loop struct {
	*queued
	node  *node
	queue *xmltree.Attribute
	list  list       // the queue if it is written as a list
	entry *expr.Expr // the queue, nil: it is written as a list
	value string     // the entry of the values; empty: none
}

// loopStep is what a leaf does for a loop.
type loopStep struct {
	*loop
	part loopPart
}

type loopPart string

const (
	loopBegin loopPart = "begin" // takes the queue
	loopOver  loopPart = "over"  // whether no value is left
	loopNext  loopPart = "next"  // takes the next value
)

func (s loopStep) describe(m *xmltree.Markup) {
	m.Add("loop", s.node.name)
	m.Add("step", string(s.part))
	if value := s.node.element.Find(attrValue); s.part == loopBegin {
		m.Add(attrQueue, s.queue.Value)
	} else if s.part == loopNext && value != nil {
		m.Add(attrValue, value.Value)
	}
}

// loop makes the tasks of a loop: the queue is taken; as long as a value is left, it is taken and the child runs.
func (d *desugarer) loop(n *node) {
	if n.element.Find(attrQueue) == nil {
		d.reportName(n.element, codeNoAttr, `write queue="1;2;3" or queue="{entry}"`, "%s needs %q", n.word(), attrQueue)
		return
	}
	l := d.readLoop(n)
	if l == nil {
		return
	}
	take := l.step(bt.Action, attrValue, loopNext)
	if l.value != "" {
		take.access.writes = []statement{{target: l.value, span: n.element.Find(attrValue).Raw, creates: true,
			value: l.example}}
	}
	if l.entry != nil { // a free action, which may fail, if nothing of the plan fills the queue
		take = n.around(bt.ForceSuccess, "taken", nil, take)
	}
	round := n.around(bt.Sequence, "round", nil, take, n.children[0])
	rest := n.around(bt.SkipIf, "rest", nil, l.step(bt.Condition, "over", loopOver), round)
	n.children = []*node{l.step(bt.Action, attrQueue, loopBegin), n.around(bt.Repeat, "each", []int{-1}, rest)}
	switch end := n.element.Find(attrIfEmpty); {
	case end == nil, end.Value == "SUCCESS":
	case end.Value == "SKIPPED":
		n.kind = bt.IfThenElse
	case end.Value == "FAILURE", end.Value == "RUNNING":
		n.children = append(n.children, n.status(end.Value, attrIfEmpty))
	default:
		d.reportValue(end, codeCount, diag.OneOf("write ", []string{"FAILURE", "RUNNING", "SKIPPED", "SUCCESS"}),
			"%s cannot be %q", attrIfEmpty, end.Value)
	}
}

// readLoop reads the queue and the entry of a loop's values; nil if one of them is wrong.
func (d *desugarer) readLoop(n *node) *loop {
	l := &loop{queued: loops[n.word()], node: n, queue: n.element.Find(attrQueue)}
	if name, ok := braced(l.queue); ok {
		if l.entry = d.named(l.queue, name); l.entry == nil {
			return nil
		}
		d.mentioned[l.entry.String()] = true
	} else if l.list, ok = l.queued.list(l.queue.Value, func(code, hint, text string) {
		d.reportValue(l.queue, code, hint, "%s", text)
	}); !ok {
		return nil
	}
	d.mentioned[n.name+".left"] = true
	value := n.element.Find(attrValue)
	if value == nil {
		return l
	}
	name, ok := braced(value)
	if !ok {
		d.reportValue(value, codePort, "write {"+value.Value+"}", "%q is not an entry in braces", value.Value)
		return nil
	}
	if d.named(value, name) == nil {
		return nil
	}
	l.value, d.mentioned[name] = name, true
	return l
}

// step returns the leaf that does something for a loop.
func (l *loop) step(k bt.Kind, what string, part loopPart) *node {
	n := l.node.newLeaf(k, k.String(), l.node.name+"."+what)
	n.access = &access{at: l.queue, does: loopStep{l, part}}
	return n
}
