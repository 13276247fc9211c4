package plan

import (
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

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

// accesses are the kinds of leaves of these nodes, with their attributes, all of which are required.
var accesses = map[string]struct {
	kind       bt.Kind
	attributes []string
}{
	elementScript:          {bt.Action, []string{attrCode}},
	elementScriptCondition: {bt.Condition, []string{attrCode}},
	elementSetBlackboard:   {bt.Action, []string{attrValue, attrOutputKey}},
	elementUnsetBlackboard: {bt.Action, []string{attrKey}},
	elementWasEntryUpdated: {bt.Action, []string{attrOfEntry}},
}

// access is what a leaf does with the blackboard.
type access struct {
	at        *xmltree.Attribute // with the scripts, or the name of the entry
	writes    []statement
	condition *expr.Expr // of a ScriptCondition
	watches   string     // the entry of which the leaf tells whether it was written
	does      step       // what no element of a plan says; nil: nothing
	joins     []string   // the entries that stand for texts that the scripts join
}

// step is what a leaf of the second pass does that no element of a plan says.
type step interface {
	compile(l leafReader, leaf *Leaf, n *node)
	describe(m *xmltree.Markup) // for people
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

// readAccess reads what a leaf does with the blackboard: its ID is that of such a node.
func (d *document) readAccess(n *node) *access {
	row := accesses[n.id]
	n.kind = row.kind
	for _, name := range row.attributes {
		if n.element.Find(name) == nil {
			d.reportMissing(n.element, codeNoAttr, n.id, name, "...")
			return &access{}
		}
	}
	c := &access{at: n.element.Find(row.attributes[len(row.attributes)-1])}
	switch n.id {
	case elementScript:
		list, mistakes := expr.ParseScript(c.at.Value)
		for _, m := range mistakes {
			d.reportMistake(c.at, m)
		}
		c.assign(list)
	case elementScriptCondition:
		e, err := expr.ParseScriptCondition(c.at.Value)
		list, mistakes := expr.ParseScript(c.at.Value)
		if k := len(list) - 1; k >= 0 && err != nil && len(mistakes) == 0 && list[k].Target == "" { // assignments first
			c.assign(list)
			n.kind, e, err = bt.Action, list[k].Value, nil
		}
		if c.condition = e; err != nil {
			d.reportSyntax(c.at, err)
			return c
		}
	default:
		name := d.key(c.at)
		if name == "" {
			return &access{}
		}
		if n.id == elementWasEntryUpdated {
			c.watches = name
			break
		}
		s := statement{target: name, span: c.at.Raw, creates: true}
		if n.id == elementSetBlackboard {
			s.literal = n.element.Find(attrValue)
			if of, ok := entry(s.literal.Value, attrValue); ok {
				if s.value, s.literal = d.named(s.literal, of), nil; s.value == nil {
					return &access{}
				}
			}
		}
		c.writes = append(c.writes, s)
	}
	d.mention(c.names()...)
	return c
}

// assign adds the assignments of a script. An expression alone has no effect.
func (c *access) assign(script []expr.Assignment) {
	for _, a := range script {
		if a.Target == "" {
			continue
		}
		at, length := c.at.Inside(a.Offset, a.Length)
		if a.Value.Joins() {
			a.Value, c.joins = must(a.Target+joined), append(c.joins, a.Target+joined)
		}
		c.writes = append(c.writes, statement{target: a.Target, span: xmltree.Span{At: at, End: at + length},
			creates: a.Creates, value: a.Value})
	}
}

// mention notes that the plan reads or writes entries.
func (d *document) mention(names ...string) {
	for _, name := range names {
		d.mentioned[name], d.mentioned[global+strings.TrimPrefix(name, global)] = true, true
	}
}

// key returns the name of an entry in an attribute, with or without braces; empty if it is none.
func (d *document) key(a *xmltree.Attribute) string {
	name, ok := entry(a.Value, a.Name)
	if !ok {
		name = a.Value
	}
	if d.named(a, name) == nil {
		return ""
	}
	return name
}

// named returns the expression that is the name of an entry.
func (d *document) named(a *xmltree.Attribute, name string) *expr.Expr {
	e, err := expr.ParseScriptCondition(name)
	if err == nil && len(e.Names()) == 1 && e.String() == name {
		return e
	}
	d.reportValue(a, codePort, "use letters, digits and _, a letter first", "%q cannot be the name of an entry", name)
	return nil
}

// names returns the entries that the leaf names.
func (c *access) names() []string {
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

// joined ends the name of the entry that stands for a text that scripts join, after that of the entry that gets it.
const joined = ".joined"

// global begins the name of an entry of the main tree, wherever it is used.
const global = "@"

// entry returns the name of the entry that is the value of a port in the notation of BehaviorTree.CPP.
func entry(value, port string) (name string, ok bool) {
	if value == sameName {
		return port, true
	}
	name, begins := strings.CutPrefix(strings.TrimSpace(value), "{")
	name, ends := strings.CutSuffix(name, "}")
	return name, begins && ends && name != "" && !strings.ContainsAny(name, "{}")
}

// sameName is the value of a port that means the entry with the port's own name, as in BehaviorTree.CPP.
const sameName = "{=}"

// braced returns the name of the entry in an attribute that is the port of a leaf.
func braced(a *xmltree.Attribute) (name string, ok bool) {
	if a.Value == "=" {
		return a.Name, true
	}
	return entry(a.Value, a.Name)
}
