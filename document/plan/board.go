package plan

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
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

// board collects the entries of a plan with all subtrees expanded.
type board struct {
	*compiler
	entries map[entryKey]*symbol
	order   []*symbol
	copies  map[*symbol][]flow // the values that are the value of an entry whose type is not known yet
	first   map[entryKey]typedPort
	uses    int      // of entries by ports with types
	loops   []*queue // all of them
}

// symbol is an entry while the plan is compiled.
type symbol struct {
	BlackboardEntry
	entryKey
	at      xmltree.Span // of its first mention
	created bool         // a statement creates it, or it has a value from the start
	written bool
	outside bool     // a leaf that nothing defines may write it
	hidden  bool     // no expression of the plan can name it
	watcher *watcher // whose entry it is; nil: nobody's
	joined  bool     // it stands for a text that scripts join: any text
	signal  bool     // it is a signal of the mission, or of the world
	values  []write
	ported  []portType   // of the ports by which code writes it
	typed   xmltree.Span // the place that determined its type; empty: none has
	used    expr.Type    // as what conditions use it
	usedAt  xmltree.Span // empty: nowhere
}

// write is a value that a statement gives to an entry.
type write struct {
	statement
	scope *scope
}

// flow is a value with the entry that gets it.
type flow struct {
	to *symbol
	write
}

// The bounds of the entries of a plan.
const (
	maxEntries   = 10_000
	maxEntryText = 16 << 20 // bytes of the names that tell them apart
	maxMarks     = 100_000  // assignments by which writers tell watchers that an entry was written
)

// at returns the entry that a name means in a scope; nil if there are too many.
func (b *board) at(s *scope, name string, span xmltree.Span) *symbol {
	key, value := s.origin(name)
	e := b.entries[key]
	if e == nil {
		if b.full(1, span) {
			return nil
		}
		e = &symbol{entryKey: key, at: span}
		if value != nil {
			e.created = true
			e.values = append(e.values, write{statement{literal: value, span: value.Raw}, s})
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

// board surveys the main tree and returns the entries of the plan.
func (c *compiler) board(root *instance) []BlackboardEntry {
	b := &board{compiler: c, entries: map[entryKey]*symbol{}, copies: map[*symbol][]flow{},
		first: map[entryKey]typedPort{}}
	root.visit(b.survey)
	root.visit(b.conditions)
	root.visit(b.ports)
	if len(c.mentioned) == 0 {
		return nil
	}
	b.unfilled()
	b.settle()
	b.lists()
	return b.declare()
}

// survey notes what a leaf does with the blackboard.
func (b *board) survey(i *instance) {
	if a := i.access; a != nil && a.at != nil {
		for _, w := range a.writes {
			if e := b.at(i.scope, w.target, w.span); e != nil {
				e.written, e.created = true, e.created || w.creates
				e.values = append(e.values, write{w, i.scope})
			}
		}
		for _, name := range a.names() {
			e := b.at(i.scope, name, a.at.Raw)
			if e != nil && slices.Contains(a.joins, name) && !e.joined {
				e.joined, e.outside, e.created, e.Type, e.typed = true, true, true, expr.Text, e.at
				b.warn(e.at.At, e.at.Len(), codeFreeEntry, "", "texts are not joined: %s is any text", name)
			}
		}
		if a.condition != nil {
			b.used(i.scope, a.condition, a.at)
		}
		if a.watches != "" {
			if e := b.at(i.scope, a.watches, a.at.Raw); e != nil {
				b.watch(i, e)
			}
		}
		switch s := a.does.(type) {
		case loopStep:
			if s.part == loopBegin {
				b.begin(s.loop, i.scope)
			}
		case countStep:
			if e := b.at(i.scope, s.entry, s.at.Raw); e != nil && b.signals == nil && e.name == clock { // not the time
				e.outside, e.created = true, true
			}
		case caseStep:
			e := b.at(i.scope, s.entry.String(), s.value.Raw)
			if s.other != nil {
				if of := b.at(i.scope, s.other.String(), s.value.Raw); e != nil && of != nil {
					b.copies[of] = append(b.copies[of], flow{e, write{statement{value: s.other, span: s.value.Raw}, i.scope}})
				}
			} else if e != nil && literalType(unquoted(s.value.Value)) == expr.Text {
				e.used, e.usedAt = expr.Text, s.value.Raw
			}
		}
	}
}

// conditions notes the entries from outside that the preconditions of a leaf and conditions of attributes read.
func (b *board) conditions(i *instance) {
	var list []*xmltree.Attribute
	switch {
	case b.signals != nil:
	case i.script:
		list = i.given([]string{attrOn})
	case i.kind.Acts() && !i.wrapped:
		list = i.given(requests)
	}
	for _, a := range list {
		if e, err := expr.ParseScriptCondition(a.Value); err == nil {
			for _, name := range e.Names() {
				b.at(i.scope, name, a.Raw)
			}
			b.used(i.scope, e, a)
		}
	}
}

// used notes as what a condition uses entries: one that nothing writes has that type.
func (b *board) used(s *scope, e *expr.Expr, a *xmltree.Attribute) {
	used := expr.Scope{}
	usage(used, e, true)
	for name, v := range used {
		key, _ := s.origin(name)
		switch x := b.entries[key]; {
		case x == nil:
		case x.usedAt.Len() == 0:
			x.used, x.usedAt = v.Type, a.Raw
		case x.used != v.Type:
			x.used = expr.Real
		}
	}
}

// ports notes what a leaf that nothing defines does with the blackboard.
func (b *board) ports(i *instance) {
	if i.free || i.coded {
		for _, a := range append(i.portValues(), i.defaults()...) {
			b.port(i, a)
			b.typed(i, a)
		}
	}
}

// port notes the entry that a port of such a leaf names: the leaf may write it, unless its model or code declares an
// input. A port of any sort creates it, unless code only reads it.
func (b *board) port(i *instance, a *xmltree.Attribute) {
	name, ok := braced(a)
	if !ok {
		return
	}
	key, _ := i.scope.origin(name)
	code, coded := b.code[i.id]
	if !coded && b.entries[key] == nil { // no script names it
		return
	}
	e := b.at(i.scope, name, a.Raw)
	switch p, declared := code.Ports[a.Name]; {
	case e == nil, declared && !p.Writes, code.Condition:
	case coded:
		e.written, e.created = true, true
		if declared {
			e.ported = append(e.ported, portType{p.Type, a.Raw})
		}
	default:
		m := i.portOf(a)
		e.created, e.outside = true, e.outside || m == nil || !m.input
	}
}

// watcher is a leaf that tells whether an entry was written since it did so before: two entries of its own differ. Who
// writes the entry changes written, also if it does not end for long, and the leaf copies that to seen.
type watcher struct{ of, written, seen *symbol }

// updated returns the condition that the entry was written, or that it was not.
func (w *watcher) updated(is bool) *expr.Expr {
	return must(w.written.Name + map[bool]string{true: " != ", false: " == "}[is] + w.seen.Name)
}

// mark returns the assignment that notes that the entry was written, or that this counts no longer.
func (w *watcher) mark(updated bool, at Assignment) Assignment {
	at.Target, at.Value, at.Notes, at.Unset = w.written.Name, must(w.seen.Name), true, false
	if updated {
		at.Value = negation.Substitute(map[string]*expr.Expr{"it": at.Value})
	}
	return at
}

// see returns the assignment by which the leaf that is at an offset takes note.
func (w *watcher) see(offset int) []Assignment {
	return []Assignment{{Target: w.seen.Name, Value: must(w.written.Name), Offset: offset, Length: 1}}
}

// nodeUse identifies a node in the use of its tree.
type nodeUse struct {
	node  *node
	scope *scope
}

// watch notes a leaf that watches an entry.
func (b *board) watch(i *instance, e *symbol) {
	if b.full(2, i.access.at.Raw) {
		return
	}
	w := &watcher{e, b.hide(i.node, i.scope, ".written", expr.Boolean), b.hide(i.node, i.scope, ".seen", expr.Boolean)}
	w.written.watcher, w.seen.watcher = w, w
	b.watchers[nodeUse{i.node, i.scope}] = w
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
		case e.scope.outer != nil && (e.written || e.outside), e.hidden, !expr.IsName(e.name),
			b.signals == nil && e.name == clock && (e.written || e.outside):
			e.Name = b.unused(e.scope.path+e.name, e.at)
			if signal && !e.hidden {
				b.warn(e.at.At, e.at.Len(), codeShadow, "write @"+e.name+", or pass it on to the subtree",
					"%q is an entry of the subtree's own here, not the signal", e.name)
			}
		}
		if e.written && !e.created {
			e.Free = b.signals == nil // the program around the plan may create it
			b.unlessProgram(diag.Diagnostic{Offset: e.at.At, Length: e.at.Len(), Code: codeNoEntry,
				Text: fmt.Sprintf("no script creates the entry %q", e.name), Hint: `create it with ":="`,
				Suggest: func() string {
					var names []string
					for _, other := range b.order {
						if other.created {
							names = append(names, other.name)
						}
					}
					return diag.DidYouMean(e.name, names)
				}})
		}
		if b.signals == nil && e.Free && len(e.name) > 1 && e.name == strings.ToUpper(e.name) {
			hint := "write '" + e.name + "' for a text; a mission declares values of enumerations"
			b.warn(e.at.At, e.at.Len(), codeFreeEntry, hint, "nothing gives the entry %q a value", e.name)
		}
	}
	b.infer()
}

// taken returns the names that no entry may get any more, each with the number in the latest name that begins so.
func (c *compiler) taken() map[string]int {
	if c.used == nil {
		c.used = map[string]int{}
		for name := range c.signals {
			c.used[name] = 1
		}
	}
	return c.used
}

// unused returns a name that expressions can use and that is not used, for an entry that is mentioned at a place.
func (c *compiler) unused(path string, at xmltree.Span) string {
	if !c.within(&c.entryText, len(path), maxEntryText, at, "write shorter names",
		"the names of the plan's entries have more than %d bytes") {
		path = "_"
	}
	name := strings.Map(func(r rune) rune {
		if r == '.' || expr.IsName("x"+string(r)) {
			return r
		}
		if r == '/' {
			return '.'
		}
		return '_'
	}, path)
	if !expr.IsName(name) {
		name = "_" + name
	}
	if !expr.IsName(name) {
		name = strings.ReplaceAll(name, ".", "_")
	}
	used, first := c.taken(), name
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
	own := slices.DeleteFunc(slices.Clone(b.order), func(e *symbol) bool { return e.signal })
	var values []flow
	for _, e := range own {
		for _, g := range e.values {
			if g.value != nil {
				values = append(values, flow{e, g})
			}
		}
	}
	b.spread(values)
	b.claim(own, func(e *symbol) []portType {
		k := slices.IndexFunc(e.values, func(g write) bool { return g.literal != nil })
		if k < 0 || e.typed.Len() > 0 {
			return nil
		}
		return []portType{{literalType(e.values[k].literal.Value), e.values[k].span}}
	})
	b.claim(own, func(e *symbol) []portType { // of ports of code, else as expressions use it
		if v, ok := b.usedAs[e.Name]; ok && e.typed.Len() == 0 && len(e.ported) == 0 && !e.hidden {
			return []portType{{v.Type, e.at}}
		}
		return e.ported
	})
	for _, e := range own {
		if b.code != nil && !e.hidden && e.typed.Len() == 0 { // any value of the program
			e.Type, b.untyped = expr.Enumeration, true
		}
		if e.usedAt.Len() > 0 && e.typed.Len() == 0 {
			b.assume(e, e.used, e.usedAt)
			b.spread(b.copies[e])
		}
	}
	for _, e := range b.order { // from outside: as what it is used
		for _, g := range b.copies[e] {
			if e.typed.Len() == 0 && g.to.typed.Len() > 0 {
				b.assume(e, g.to.Type, g.span)
			}
		}
	}
}

// claim determines the types of entries by what claims them, then those of the entries that get their values.
func (b *board) claim(entries []*symbol, types func(e *symbol) []portType) {
	var values []flow
	for _, e := range entries {
		for _, p := range types(e) {
			if b.assume(e, p.t, p.at) {
				values = append(values, b.copies[e]...)
			}
		}
	}
	b.spread(values)
}

// spread determines the types of entries by values, then those of the entries that get the values of these.
func (b *board) spread(values []flow) {
	for len(values) > 0 {
		now := values
		values = nil
		for _, g := range now {
			switch t, of, known := b.typeOf(g.write); {
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
func (b *board) typeOf(g write) (t expr.Type, of *symbol, known bool) {
	scope := expr.Scope{}
	for _, name := range g.value.Names() {
		key, text := g.scope.origin(name)
		e := b.entries[key]
		if text != nil && (e == nil || e.signal) {
			scope[name], known = expr.Variable{Type: literalType(text.Value)}, true
		} else if e != nil && !e.signal {
			if known = (!e.Free || e.joined) && e.typed.Len() > 0; known {
				scope[name] = e.Variable()
			}
		} else if s, ok := b.signals[key.name]; ok {
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
	if isNumber(text) {
		return expr.Real
	}
	if text == "true" || text == "false" {
		return expr.Boolean
	}
	return expr.Text
}

func isNumber(text string) bool {
	e, err := expr.Parse(text)
	if err != nil {
		return false
	}
	_, constant := e.Constant()
	_, err = strconv.ParseFloat(text, 64)
	return constant && err == nil
}

// literal returns the value of an entry's type that the text of an attribute is; nil if it is none.
func literal(text string, t expr.Type) *expr.Expr {
	switch t {
	case expr.Real, expr.Integer:
		if !isNumber(text) {
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
func (b *board) assume(e *symbol, t expr.Type, at xmltree.Span) bool {
	switch {
	case e.typed.Len() == 0:
		e.Type, e.typed = t, at
		return true
	case e.Type == t, e.Type == expr.Real && (t == expr.Boolean || t == expr.Integer):
	case (e.Type == expr.Boolean || e.Type == expr.Integer) && (t == expr.Real || t == expr.Boolean || t == expr.Integer):
		e.Type = expr.Real
	default:
		b.report(at.At, at.Len(), codeTypes, "", "%q gets %s here, and %s %s", e.name, values[t], values[e.Type],
			b.whereAt(e.typed.At, at.At))
	}
	return false
}

var values = map[expr.Type]string{expr.Real: "a number", expr.Boolean: "a truth value", expr.Text: "a text",
	expr.Integer: "a whole number", expr.Enumeration: "a value of the program"}

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
			e.scope.bindings[e.name] = &binding{port: e.name, read: true, expr: must(e.Name)}
		}
		for _, g := range e.values {
			if g.literal != nil && g.target == "" { // write by the use of the subtree
				if e.Initial = literal(g.literal.Value, e.Type); e.Initial == nil {
					b.unfit(g.literal, e.Type)
				}
			}
		}
		b.symbols[e.entryKey] = e
		v := e.Variable()
		if w := e.watcher; w != nil {
			_, signal := b.signals[w.of.name]
			e.Initial, e.Free = never, false
			if e == w.written {
				b.watched[w.of.Name] = append(b.watched[w.of.Name], w)
				if e.Free = w.of.outside; w.of.Initial != nil || w.of.signal && (signal || len(w.of.values) > 0) {
					e.Initial = always
				}
			}
		}
		if v.Type != expr.Enumeration || b.signals != nil { // else its use tells
			b.types[e.Name] = v
		}
		if b.signals != nil {
			b.signals[e.Name] = Signal{Unit: v.Unit, Type: v.Type, Held: v.Held, Slot: !e.Free, Hold: true}
			b.compiler.scope[e.Name] = v
		}
		e.Offset, e.Length = e.at.At, e.at.Len()
		list = append(list, e.BlackboardEntry)
	}
	return list
}

// unfit reports a literal that is no value of a type.
func (c *compiler) unfit(a *xmltree.Attribute, t expr.Type) {
	c.reportValue(a, codeTypes, "", "%q is not %s", a.Value, values[t])
}

// typeOfEntry returns the type of the entry or signal that a name means; known is false if there is none.
func (l leafReader) typeOfEntry(name string) (t expr.Type, known bool) {
	if l.outer.scope == nil {
		return 0, false
	}
	key, given := l.outer.scope.origin(name)
	e := l.symbols[key]
	switch s, isSignal := l.signals[key.name]; {
	case e != nil && !e.signal:
		return e.Type, true
	case given != nil:
		return literalType(given.Value), true
	case isSignal:
		return s.Type, true
	}
	return expr.Enumeration, l.signals == nil
}
