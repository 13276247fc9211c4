package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"canopy/bt"
	"canopy/expr"
	"canopy/syntax/xmltree"
)

// BlackboardEntry is an entry of a blackboard that is no signal of a mission: a slot that the plan itself declares. It
// keeps its last value.
type BlackboardEntry struct {
	Name    string     // by which expressions of the plan name it; dots precede it if it belongs to the use of a subtree
	Type    expr.Type  // Real: any number
	Initial *expr.Expr // nil: it is not written at the start
	Free    bool       // no task of the plan writes it: its value comes from outside

	Offset, Length int // of its first mention in the source
}

// Variable returns the entry as expressions see it.
func (e *BlackboardEntry) Variable() expr.Variable {
	v := expr.Variable{Type: e.Type}
	if e.Type == expr.Real {
		v.Unit, v.Held = expr.AnyUnit, true
	}
	return v
}

// The nodes of BehaviorTree.CPP that read and write entries.
const (
	elementScript          = "Script"
	elementScriptCondition = "ScriptCondition"
	elementSetBlackboard   = "SetBlackboard"
	elementUnsetBlackboard = "UnsetBlackboard"
	elementWasEntryUpdated = "WasEntryUpdated"

	attrCode      = "code"
	attrValue     = "value"
	attrOutputKey = "output_key"
	attrKey       = "key"
	attrOfEntry   = "entry"
)

// clerks are the kinds of leaves of these nodes, with their attributes, all of which are required.
var clerks = map[string]struct {
	kind       bt.Kind
	attributes []string
}{
	elementScript:          {bt.Action, []string{attrCode}},
	elementScriptCondition: {bt.Condition, []string{attrCode}},
	elementSetBlackboard:   {bt.Action, []string{attrValue, attrOutputKey}},
	elementUnsetBlackboard: {bt.Action, []string{attrKey}},
	elementWasEntryUpdated: {bt.Action, []string{attrOfEntry}},
}

// clerk is what a leaf does with the blackboard.
type clerk struct {
	at        *xmltree.Attribute // with the scripts, or the name of the entry
	writes    []statement
	condition *expr.Expr // of a ScriptCondition
	watches   string     // the entry of which the leaf tells whether it was written
	clears    *item      // the leaf that tells so, from now on
	loop      *loop      // of which the leaf is a step; nil: of none
	step      loopStep
	joins     []string // the entries that stand for texts that the scripts join
}

// statement writes an entry: an expression, or a text that becomes a value of the entry's type, or neither: the entry
// is unset.
type statement struct {
	target  string
	span    xmltree.Span // of the target in the source
	creates bool
	value   *expr.Expr
	literal *xmltree.Attribute
}

// readClerk reads what a leaf does with the blackboard, nil if its ID is no such node's.
func (r *reader) readClerk(i *item) *clerk {
	row, ok := clerks[i.id]
	if !ok {
		return nil
	}
	for _, name := range row.attributes {
		if i.element.Find(name) == nil {
			r.reportMissing(i.element, codeNoAttr, i.id, name, "...")
			return &clerk{}
		}
	}
	c := &clerk{at: i.element.Find(row.attributes[len(row.attributes)-1])}
	whole := func(name string) statement {
		return statement{target: name, span: c.at.Raw, creates: true}
	}
	switch i.id {
	case elementScript:
		list, mistakes := expr.ParseScript(c.at.Value)
		for _, m := range mistakes {
			r.reportExpression(c.at, environment{}, m)
		}
		for _, a := range list {
			if a.Target == "" { // it has no effect
				continue
			}
			at, length := c.at.Inside(a.Offset, a.Length)
			if a.Value.Joins() {
				a.Value, c.joins = r.parse(a.Target+joined), append(c.joins, a.Target+joined)
			}
			c.writes = append(c.writes, statement{target: a.Target, span: xmltree.Span{At: at, End: at + length},
				creates: a.Creates, value: a.Value})
		}
	case elementScriptCondition:
		e, err := expr.ParseScriptCondition(c.at.Value)
		if err != nil {
			r.reportSyntax(c.at, err)
			return c
		}
		c.condition = e
	case elementSetBlackboard:
		name := r.key(c.at)
		if name == "" {
			return &clerk{}
		}
		s := whole(name)
		s.literal = i.element.Find(attrValue)
		if name, ok := entry(s.literal.Value); ok {
			if s.value, s.literal = r.named(s.literal, name), nil; s.value == nil {
				return &clerk{}
			}
		}
		c.writes = append(c.writes, s)
	case elementUnsetBlackboard:
		name := r.key(c.at)
		if name == "" {
			return &clerk{}
		}
		c.writes = append(c.writes, whole(name))
	case elementWasEntryUpdated:
		if c.watches = r.key(c.at); c.watches == "" {
			return &clerk{}
		}
	}
	for _, name := range c.names() {
		r.mentioned[name], r.mentioned[global+strings.TrimPrefix(name, global)] = true, true
	}
	return c
}

// key returns the name of an entry in an attribute, with or without braces; empty if it is none.
func (r *reader) key(a *xmltree.Attribute) string {
	name, ok := entry(a.Value)
	if !ok {
		name = a.Value
	}
	if r.named(a, name) == nil {
		return ""
	}
	return name
}

// named returns the expression that is the name of an entry.
func (r *reader) named(a *xmltree.Attribute, name string) *expr.Expr {
	e, err := expr.ParseScriptCondition(name)
	if err == nil && len(e.Names()) == 1 && e.String() == name {
		return e
	}
	r.reportValue(a, codePort, "use letters, digits and _, a letter first", "%q cannot be the name of an entry", name)
	return nil
}

// names returns the entries that the leaf names.
func (c *clerk) names() []string {
	var names []string
	for _, s := range c.writes {
		if names = append(names, s.target); s.value != nil {
			names = append(names, s.value.Names()...)
		}
	}
	if c.condition != nil {
		names = append(names, c.condition.Names()...)
	}
	if c.watches != "" {
		names = append(names, c.watches)
	}
	return names
}

// board collects the entries of a plan with all subtrees expanded.
type board struct {
	*reader
	entries map[owned]*shared
	order   []*shared
	copies  map[*shared][]gift // the values that are the value of an entry whose type is not known yet
	first   map[owned]typedPort
	uses    int    // of entries by ports with types
	turns   []turn // all loops
}

// owned identifies an entry: its name in the tree that owns it.
type owned struct {
	scope *scope
	name  string
}

// shared is an entry while the plan is read.
type shared struct {
	BlackboardEntry
	owned
	at      xmltree.Span // of its first mention
	created bool         // a statement creates it, or it has a value from the start
	written bool
	outside bool     // a leaf that nothing defines may write it
	hidden  bool     // no expression of the plan can name it
	watcher *watcher // whose entry it is; nil: nobody's
	joined  bool     // it stands for a text that scripts join: any text
	signal  bool     // it is a signal of the mission, or of the world
	values  []given
	typed   xmltree.Span // the place that determined its type; empty: none has
}

// given is a value that a statement gives to an entry.
type given struct {
	statement
	scope *scope
}

// gift is a value with the entry that gets it.
type gift struct {
	to *shared
	given
}

// The bounds of the entries of a plan.
const (
	maxEntries   = 10_000
	maxEntryText = 16 << 20 // bytes of the names that tell them apart
	maxMarks     = 100_000  // assignments by which writers tell watchers that an entry was written
)

// global begins the name of an entry of the main tree, wherever it is used.
const global = "@"

// joined ends the name of the entry that stands for a text that scripts join, after that of the entry that gets it.
const joined = ".joined"

// private begins the name of an entry that is never passed on without being named.
const private = "_"

// origin returns the tree to which a name belongs, its name there, and the value that its use gives it there, if that
// is not an entry of the tree around it.
func (s *scope) origin(name string) (at *scope, local string, value *xmltree.Attribute) {
	if rest, ok := strings.CutPrefix(name, global); ok {
		for s.outer != nil {
			s = s.outer
		}
		return s, rest, nil
	}
	for s.outer != nil {
		value = s.use.element.Find(name)
		if value == nil && s.use.passesAll() {
			if strings.HasPrefix(name, private) {
				return s, name, nil
			}
			s = s.outer
			continue
		}
		if value == nil {
			value = s.use.given(name)
		}
		if value == nil {
			return s, name, nil
		}
		if value.Value != sameName {
			key, ok := entry(value.Value)
			if !ok {
				return s, name, value
			}
			name = key
		}
		s = s.outer
	}
	return s, name, nil
}

// at returns the entry that a name means in a scope; nil if there are too many.
func (b *board) at(s *scope, name string, span xmltree.Span) *shared {
	scope, local, value := s.origin(name)
	key := owned{scope, local}
	e := b.entries[key]
	if e == nil {
		if b.full(1, span) {
			return nil
		}
		e = &shared{owned: key, at: span}
		if value != nil {
			e.created = true
			e.values = append(e.values, given{statement{literal: value, span: value.Raw}, s})
		}
		b.entries[key], b.order = e, append(b.order, e)
	}
	return e
}

// full reports that there is no room for more entries, if there is none.
func (b *board) full(more int, at xmltree.Span) bool {
	if len(b.order)+more <= maxEntries {
		return false
	}
	b.report(at.At, at.Len(), xmltree.CodeTooLarge, "", "the plan has more than %d entries", maxEntries)
	return true
}

// board surveys the main tree, whose scope is given, and returns the entries of the plan.
func (r *reader) board(root *item, main *scope) []BlackboardEntry {
	b := &board{reader: r, entries: map[owned]*shared{}, copies: map[*shared][]gift{},
		first: map[owned]typedPort{}}
	b.survey(root, main)
	if len(r.mentioned) == 0 {
		return nil
	}
	b.unfilled()
	b.settle()
	b.queues()
	return b.declare()
}

// survey notes what the leaves below an item do with the blackboard.
func (b *board) survey(i *item, s *scope) {
	if t := i.subtree; t != nil {
		if t.root != nil {
			inner := b.within(i, s)
			s.inner[i] = inner
			b.survey(t.root, inner)
		}
		return
	}
	if c := i.clerk; c != nil && c.at != nil {
		for _, w := range c.writes {
			if e := b.at(s, w.target, w.span); e != nil {
				e.written, e.created = true, e.created || w.creates
				b.reader.written[e.owned] = true
				e.values = append(e.values, given{w, s})
			}
		}
		for _, name := range c.names() {
			e := b.at(s, name, c.at.Raw)
			if e != nil && slices.Contains(c.joins, name) && !e.joined {
				e.joined, e.outside, e.created, e.Type, e.typed = true, true, true, expr.Text, e.at
				b.warn(e.at.At, e.at.Len(), codeFreeEntry, "", "texts are not joined: %s is any text", name)
			}
		}
		if c.watches != "" {
			if e := b.at(s, c.watches, c.at.Raw); e != nil {
				b.watch(i, s, e)
			}
		}
		if c.step == loopBegin {
			b.begin(c.loop, s)
		}
	}
	s.owns = len(b.mentioned) > 0
	if i.free {
		for _, name := range i.attributes() {
			a := i.element.Find(name)
			b.port(i, s, a)
			b.typed(i, s, a)
		}
	}
	for _, c := range i.children {
		b.survey(c, s)
	}
}

// port notes the entry that a port of a leaf names which nothing defines: the leaf may write it, unless its model
// declares an input.
func (b *board) port(i *item, s *scope, a *xmltree.Attribute) {
	name, ok := entry(a.Value)
	if a.Value == sameName {
		name = a.Name
	}
	if !ok && a.Value != sameName || !b.mentioned[strings.TrimPrefix(name, global)] && !b.mentioned[name] {
		return
	}
	e := b.at(s, name, a.Raw)
	if e == nil {
		return
	}
	if i.model != nil {
		if p := i.portOf(a); p != nil && p.input {
			return
		}
	}
	e.outside, e.created = true, true
}

// watcher is a leaf that tells whether an entry was written since it did so before, with entries of its own.
type watcher struct {
	of      *shared
	updated *shared // the entry was written
	was     *shared // of an action: what it tells
}

// visit identifies a leaf in the use of its tree.
type visit struct {
	item  *item
	scope *scope
}

// watch notes a leaf that watches an entry.
func (b *board) watch(i *item, s *scope, e *shared) {
	if b.full(2, i.clerk.at.Raw) {
		return
	}
	w := &watcher{of: e}
	own := func(suffix string) *shared {
		e := b.hide(i, s, suffix, expr.Boolean)
		e.watcher = w
		return e
	}
	if i.kind.Acts() {
		w.updated, w.was = own(".updated"), own(".was")
	} else {
		w.updated = own("")
	}
	b.watchers[visit{i, s}] = w
	b.watched[e.owned] = append(b.watched[e.owned], w)
}

// settle decides what the entries are: signals, or entries of the plan with their names and types.
func (b *board) settle() {
	used := b.taken()
	for _, e := range b.order {
		if !e.hidden {
			used[e.name] = 1
		}
	}
	words := map[string]bool{} // values of enumerations
	for _, s := range b.signals {
		for _, word := range s.Values {
			words[word] = true
		}
	}
	for _, e := range b.order {
		e.Name, e.Free = e.name, e.outside || !e.written
		_, signal := b.signals[e.name]
		switch {
		case e.scope.outer == nil && signal, !e.written && !e.outside && (signal || len(e.values) > 0 || words[e.name]):
			e.Free, e.signal = false, true
			continue
		case e.scope.outer != nil && (e.written || e.outside), e.hidden:
			e.Name = b.unused(e.scope.path+e.name, e.at)
			if signal && !e.hidden {
				b.warn(e.at.At, e.at.Len(), codeShadow, "write @"+e.name+", or pass it on to the subtree",
					"%q is an entry of the subtree's own here, not the signal", e.name)
			}
		}
		if e.written && !e.created {
			b.report(e.at.At, e.at.Len(), codeNoEntry, `create it with ":="`, "no script creates the entry %q", e.name)
		}
		if b.signals == nil && e.Free && len(e.name) > 1 && e.name == strings.ToUpper(e.name) {
			hint := "write '" + e.name + "' for a text; a mission declares values of enumerations"
			b.warn(e.at.At, e.at.Len(), codeFreeEntry, hint, "nothing gives the entry %q a value", e.name)
		}
	}
	b.infer()
}

// taken returns the names that no entry may get any more, each with the number in the latest name that begins so.
func (r *reader) taken() map[string]int {
	if r.used == nil {
		r.used = map[string]int{}
		for name := range r.signals {
			r.used[name] = 1
		}
	}
	return r.used
}

// unused returns a name that expressions can use and that is not used, for an entry that is mentioned at a place.
func (r *reader) unused(path string, at xmltree.Span) string {
	if before := r.entryText; before <= maxEntryText {
		if r.entryText += len(path); r.entryText > maxEntryText {
			r.report(at.At, at.Len(), xmltree.CodeTooLarge, "write shorter names",
				"the names of the plan's entries have more than %d bytes", maxEntryText)
		}
	}
	if r.entryText > maxEntryText {
		path = "_"
	}
	name := strings.Map(func(c rune) rune {
		if c == '.' || expr.IsName("x"+string(c)) {
			return c
		}
		if c == '/' {
			return '.'
		}
		return '_'
	}, path)
	if !expr.IsName(name) {
		name = "_" + name
	}
	used, first := r.taken(), name
	for used[name] > 0 || !expr.IsName(name) {
		used[first] = max(used[first], 1) + 1
		name = fmt.Sprint(first, "_", used[first])
	}
	used[name] = 1
	return name
}

// infer determines the types of the entries by the values that statements give them: a text, else a number, else a
// truth value.
func (b *board) infer() {
	var values []gift
	for _, e := range b.order {
		for _, g := range e.values {
			if g.value != nil && !e.signal {
				values = append(values, gift{e, g})
			}
		}
	}
	b.spread(values)
	values = nil
	for _, e := range b.order {
		for _, g := range e.values {
			if g.literal != nil && !e.signal && e.typed.Len() == 0 {
				b.assume(e, literalType(g.literal.Value), g.span)
				values = append(values, b.copies[e]...)
			}
		}
	}
	b.spread(values)
}

// spread determines the types of entries by values, then those of the entries that get the values of these.
func (b *board) spread(values []gift) {
	for len(values) > 0 {
		now := values
		values = nil
		for _, g := range now {
			switch t, of, known := b.typeOf(g.given); {
			case known && b.assume(g.to, t, g.span):
				values = append(values, b.copies[g.to]...)
				delete(b.copies, g.to)
			case of != nil:
				b.copies[of] = append(b.copies[of], g)
			}
		}
	}
}

// typeOf returns the type of a value, if it is known; if it is that of an entry whose type is not known, that entry.
func (b *board) typeOf(g given) (t expr.Type, of *shared, known bool) {
	scope := expr.Scope{}
	for _, name := range g.value.Names() {
		at, local, text := g.scope.origin(name)
		e := b.entries[owned{at, local}]
		if text != nil && (e == nil || e.signal) {
			scope[name], known = expr.Variable{Type: literalType(text.Value)}, true
		} else if e != nil && !e.signal {
			if known = (!e.Free || e.joined) && e.typed.Len() > 0; known {
				scope[name] = e.Variable()
			}
		} else if s, ok := b.signals[local]; ok {
			scope[name], known = s.variable(), true
		}
		if !known && g.value.Root().Op() == expr.OpName {
			return 0, e, false
		}
	}
	switch t = g.value.Type(scope); t {
	case expr.Integer:
		return expr.Real, nil, true
	case expr.Enumeration:
		return 0, nil, false
	}
	return t, nil, true
}

// literalType returns the type of the text of an attribute, if nothing else determines it.
func literalType(text string) expr.Type {
	if _, err := strconv.ParseFloat(text, 64); err == nil {
		return expr.Real
	}
	if text == "true" || text == "false" {
		return expr.Boolean
	}
	return expr.Text
}

// literal returns the value of an entry's type that the text of an attribute is; nil if it is none.
func literal(text string, t expr.Type) *expr.Expr {
	switch t {
	case expr.Real, expr.Integer:
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return nil
		}
	case expr.Boolean:
		if text != "true" && text != "false" && text != "1" && text != "0" {
			return nil
		}
		text = strconv.FormatBool(truth(text))
	case expr.Text:
		quote := "'"
		if strings.Contains(text, quote) {
			quote = `"`
		}
		text = quote + text + quote
	}
	e, err := expr.Parse(text)
	if err != nil {
		return nil
	}
	return e
}

// assume records that an entry has values of a type, and reports whether that is new.
func (b *board) assume(e *shared, t expr.Type, at xmltree.Span) bool {
	switch {
	case e.typed.Len() == 0:
		e.Type, e.typed = t, at
		return true
	case e.Type == t, e.Type == expr.Real && t == expr.Boolean:
	case e.Type == expr.Boolean && t == expr.Real:
		e.Type = expr.Real
	default:
		b.report(at.At, at.Len(), codeTypes, "", "%q gets %s here, and %s %s", e.name, values[t], values[e.Type],
			b.whereAt(e.typed.At, at.At))
	}
	return false
}

var values = map[expr.Type]string{expr.Real: "a number", expr.Boolean: "a truth value", expr.Text: "a text"}

// declare adds the entries to the signals that expressions may name, and gives each scope its own.
func (b *board) declare() []BlackboardEntry {
	var list []BlackboardEntry
	if b.signals != nil {
		b.signals = maps.Clone(b.signals)
	}
	for _, e := range b.order {
		if e.signal {
			continue
		}
		if e.Name != e.name || e.scope.outer != nil {
			e.scope.own[e.name] = &binding{port: e.name, read: true, expr: b.parse(e.Name)}
		}
		for _, g := range e.values {
			if g.literal != nil && g.target == "" { // given by the use of the subtree
				if e.Initial = literal(g.literal.Value, e.Type); e.Initial == nil {
					b.unfit(g.literal, e.Type)
				}
			}
		}
		v := e.Variable()
		if w := e.watcher; w != nil {
			_, signal := b.signals[w.of.name]
			e.Initial, e.Free = never, w.of.outside
			if w.of.Initial != nil || w.of.signal && signal {
				e.Initial = always
			}
		}
		if b.types[e.Name] = v; b.signals != nil {
			b.signals[e.Name] = Signal{Unit: v.Unit, Type: v.Type, Held: v.Held, Slot: !e.Free, Hold: true}
			b.reader.scope[e.Name] = v
		}
		e.Offset, e.Length = e.at.At, e.at.Len()
		list = append(list, e.BlackboardEntry)
	}
	return list
}

// unfit reports a literal that is no value of a type.
func (r *reader) unfit(a *xmltree.Attribute, t expr.Type) {
	r.reportValue(a, codeTypes, "", "%q is not %s", a.Value, values[t])
}

func (r *reader) parse(name string) *expr.Expr {
	e, err := expr.Parse(name)
	if err != nil {
		panic("plan: an entry without a valid name")
	}
	return e
}

// clerkLeaf gives a leaf what it does with the blackboard: an action that makes assignments and has ended, or a
// condition.
func (l leafReader) clerkLeaf(leaf *Leaf, i *item) {
	c := i.clerk
	leaf.ID = i.kind.String() // what it does is said in full
	if c.condition != nil {
		leaf.On = l.script(c.condition, c.at, expr.Variable{Type: expr.Boolean})
		return
	}
	if c.clears != nil {
		if w := l.watchers[visit{c.clears, l.outer.scope}]; w != nil {
			leaf.Entry = []Assignment{{Target: w.updated.Name, Value: never, Notes: true, Offset: leaf.Offset, Length: 1}}
		}
		leaf.Done = always
		return
	}
	if w := l.watchers[visit{i, l.outer.scope}]; w != nil && !i.kind.Acts() {
		leaf.On = l.parse(w.updated.Name)
		return
	} else if w != nil {
		updated, was := l.parse(w.updated.Name), l.parse(w.was.Name)
		leaf.Entry = []Assignment{{Target: w.was.Name, Value: updated, Offset: leaf.Offset, Length: 1},
			{Target: w.updated.Name, Value: never, Notes: true, Offset: leaf.Offset, Length: 1}}
		leaf.Done, leaf.Failed = was, negation.Substitute(map[string]*expr.Expr{"it": was})
		return
	}
	if c.loop != nil {
		l.loopLeaf(leaf, i)
		return
	}
	leaf.Done = always
	l.assign(leaf, c)
}

// assign gives a leaf the assignments of its statements.
func (l leafReader) assign(leaf *Leaf, c *clerk) {
	for _, w := range c.writes {
		target, known := l.target(w.target, w.span, l.outer)
		if !known {
			continue
		}
		a := Assignment{Target: target, Offset: w.span.At, Length: w.span.Len()}
		want := l.types[target]
		if s, ok := l.signals[target]; ok {
			want = s.variable()
		}
		switch {
		case c.loop != nil:
			var unfit string
			if a.Value, unfit = l.feeds[turn{c.loop, l.outer.scope}].next(want.Type); a.Value == nil {
				l.report(w.span.At, w.span.Len(), codeTypes, "", "%q of the queue is not %s", unfit, values[want.Type])
			}
		case w.literal != nil:
			if a.Value = literal(w.literal.Value, want.Type); a.Value == nil {
				l.unfit(w.literal, want.Type)
			}
		case w.value != nil:
			a.Value = l.script(w.value, c.at, want)
		default:
			a.Value, a.Unset = always, true
		}
		if a.Value == nil {
			continue
		}
		leaf.Entry = append(leaf.Entry, a)
		if l.outer.scope == nil {
			continue
		}
		at, local, _ := l.outer.scope.origin(w.target)
		for _, x := range l.watched[owned{at, local}] {
			if l.marks++; l.marks > maxMarks {
				if l.marks == maxMarks+1 {
					l.report(w.span.At, w.span.Len(), xmltree.CodeTooLarge, "",
						"the plan's tasks write watched entries more than %d times", maxMarks)
				}
				return
			}
			value := always
			if a.Unset {
				value = never
			}
			leaf.Entry = append(leaf.Entry,
				Assignment{Target: x.updated.Name, Value: value, Notes: true, Offset: a.Offset, Length: a.Length})
		}
	}
	l.warnLost(leaf.Entry, "a script takes", "")
}

// script returns an expression of a script that gives the value of a variable; nil if it is wrong.
func (l leafReader) script(e *expr.Expr, at *xmltree.Attribute, want expr.Variable) *expr.Expr {
	env := environment{ports: map[string]*binding{}, outer: &l.outer}
	for _, name := range e.Names() { // in scripts, the value that a use gives to a port is a literal
		b := l.outer.find(name)
		if b == nil || b.value == nil || b.use == nil || b.use.subtree == nil || b.value.Value == sameName {
			continue
		}
		if _, named := entry(b.value.Value); !named {
			env.ports[name] = &binding{port: name, use: b.use, value: b.value, read: true,
				expr: literal(b.value.Value, literalType(b.value.Value))}
		}
	}
	if e = l.replaced(e, at, env); e == nil {
		return nil
	}
	return l.fits(e, at, env, want, true)
}
