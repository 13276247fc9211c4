package plan

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// cppType is a type of C++ that models name.
type cppType struct {
	name  string                 // the same for all names of one type
	reads func(text string) bool // whether BehaviorTree.CPP reads a literal as its value; nil: it is not known here
}

// cppTypes are the types of which BehaviorTree.CPP reads literals, by all their names, without std:: and BT::.
var cppTypes = func() map[string]*cppType {
	anything := func(string) bool { return true }
	all := map[string]*cppType{}
	for names, reads := range map[string]func(text string) bool{
		"int8_t, int8":                             whole(math.MinInt8, math.MaxInt8),
		"int16_t, int16, short":                    whole(math.MinInt16, math.MaxInt16),
		"int, int32_t, int32":                      whole(math.MinInt32, math.MaxInt32),
		"int64_t, int64, long":                     whole(math.MinInt64, math.MaxInt64),
		"uint8_t, uint8":                           whole(0, math.MaxUint8),
		"uint16_t, uint16, unsigned short":         whole(0, math.MaxUint16),
		"unsigned int, unsigned, uint32_t, uint32": whole(0, math.MaxUint32),
		"uint64_t, uint64, unsigned long, size_t":  whole(0, math.MaxUint64),
		"double": leadingNumber.MatchString,
		"float":  leadingNumber.MatchString,
		"bool":   regexp.MustCompile(`^([01]|true|TRUE|True|false|FALSE|False)$`).MatchString,
		"string": anything,
	} {
		list := strings.Split(names, ", ")
		for _, name := range list {
			all[name] = &cppType{list[0], reads}
		}
	}
	for _, of := range []string{"int", "double", "bool", "string"} {
		all["vector<"+of+">"] = &cppType{"vector<" + of + ">", func(text string) bool {
			wrong := func(part string) bool { return !all[of].reads(part) }
			return text == "" || !slices.ContainsFunc(strings.Split(text, ";"), wrong)
		}}
	}
	return all
}()

// A number in BehaviorTree.CPP may have anything behind it, such as its unit.
var (
	leadingWhole  = regexp.MustCompile(`^-?\d+`)
	leadingNumber = regexp.MustCompile(`^-?(\d|\.\d|inf|nan|INF|NAN)`)
)

// whole returns whether a text begins with a whole number within bounds.
func whole(least int64, most uint64) func(string) bool {
	return func(text string) bool {
		n, ok := new(big.Int).SetString(leadingWhole.FindString(text), 10)
		return ok && n.Cmp(big.NewInt(least)) >= 0 && n.Cmp(new(big.Int).SetUint64(most)) <= 0
	}
}

// typeOfPort returns the type that a model names for a port; nil if it names none, or one that takes any value.
func typeOfPort(p *port) *cppType {
	if p.typ == nil {
		return nil
	}
	words := strings.Fields(strings.NewReplacer("std::", "", "BT::", "").Replace(p.typ.Value))
	name := strings.ReplaceAll(strings.Join(words, " "), " >", ">")
	switch t := cppTypes[name]; {
	case t != nil:
		return t
	case name == "" || strings.HasPrefix(name, "Any"):
		return nil
	}
	return &cppType{name: name}
}

// alike reports whether two types may be one: a type of a program may have several names.
func (t *cppType) alike(o *cppType) bool {
	last := func(name string) string {
		name, _, _ = strings.Cut(name, "_<") // an allocator
		return name[strings.LastIndex(name, ":")+1:]
	}
	return t.name == o.name || t.reads == nil && o.reads == nil && last(t.name) == last(o.name)
}

// portOf returns the port that the model of a leaf without meaning declares for an attribute, nil if none does. The
// ports of other leaves are expressions.
func (n *node) portOf(a *xmltree.Attribute) *port {
	if !n.free || n.subtree != nil || n.model == nil {
		return nil
	}
	k := slices.IndexFunc(n.model.ports, func(p *port) bool { return p.name == a.Name })
	if k < 0 {
		return nil
	}
	return n.model.ports[k]
}

// fitsPort checks a literal that is the value of a port.
func (d *document) fitsPort(a *xmltree.Attribute, p *port) {
	if t := typeOfPort(p); t != nil && t.reads != nil && !t.reads(a.Value) && !strings.HasPrefix(a.Value, "json:") {
		d.reportValue(a, codeTypes, "", "%q is not a value of the type %s, which the port %q has %s", a.Value, p.typ.Value,
			p.name, d.whereAt(p.typ.At, a.At))
	}
}

// literalPorts checks the literals that the ports of a leaf without meaning have, by its element or as defaults.
func (d *document) literalPorts(n *node) {
	if !n.free || n.subtree != nil {
		return
	}
	for _, p := range n.model.ports {
		a := n.element.Find(p.name)
		if a == nil {
			a = p.value
		}
		if a == nil {
			continue
		}
		if _, ok := braced(a); ok {
			continue
		}
		if d.fitsPort(a, p); p.output {
			d.warn(a.Raw.At, a.Raw.Len(), codePort, "write {"+p.name+"}",
				"the port %q is an output %s: without an entry, what the leaf writes is lost", p.name,
				d.whereAt(p.element.At, a.At))
		}
	}
}

// typedPort is the use of an entry by a port.
type typedPort struct {
	t    *cppType // nil: the port takes any value
	port *port
	at   *xmltree.Attribute
}

// maxTyped bounds the uses of entries by ports with types.
const maxTyped = 1_000_000

// typed compares the type of a port with that of the first port that names the same entry, as BehaviorTree.CPP does. A
// text becomes a value of any type.
func (b *board) typed(i *instance, a *xmltree.Attribute) {
	p := i.portOf(a)
	name, ok := braced(a)
	if p == nil || !ok || !expr.IsName(strings.TrimPrefix(name, global)) {
		return
	}
	if !b.within(&b.uses, 1, maxTyped, a.Raw, "", "the ports of the plan name entries more than %d times") {
		return
	}
	key, given := i.scope.origin(name)
	if given != nil && !p.output {
		b.fitsPort(given, p)
	}
	now := typedPort{typeOfPort(p), p, a}
	first, known := b.first[key]
	if !known {
		b.first[key] = now
		return
	}
	if first.t == nil || now.t == nil || first.t.name == "string" || first.t.alike(now.t) {
		return
	}
	const text = "the entry %q has the type %s here, and %s %s"
	where := b.whereAt(first.at.Raw.At, a.Raw.At)
	if first.t.reads == nil || now.t.reads == nil {
		b.warn(a.Raw.At, a.Raw.Len(), codeTypes, "BehaviorTree.CPP refuses them unless they are names of one type", text,
			name, p.typ.Value, first.port.typ.Value, where)
		return
	}
	b.reportValue(a, codeTypes, "", text, name, p.typ.Value, first.port.typ.Value, where)
}
