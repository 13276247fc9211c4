package plan

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Manifest returns a document that declares node types for an editor's palette: all kinds, leaf types that read and
// write the given signals, and the leaf types of a plan, nil for none. A plan may include it to use these leaf types.
func Manifest(signals Vocabulary, p *Plan) string {
	models := &xmltree.Markup{Name: elementModels}
	for _, k := range bt.Kinds() {
		if k.Family() != bt.Leaf && !k.Attributed() {
			models.Children = append(models.Children, kindModel(k))
		}
	}
	add := func(form, id string, ports []string) {
		m := xmltree.New(form, "ID", id)
		for _, name := range ports {
			t := cmp.Or(typedPorts[id+"."+name], typedPorts[name], typedPorts[""])
			addPort(m, name, t.typ, t.value, "")
			m.Children[len(m.Children)-1].Name = t.element
		}
		models.Children = append(models.Children, m)
	}
	for _, id := range slices.Sorted(maps.Keys(accesses)) {
		add(accesses[id].kind.String(), id, accesses[id].attributes)
	}
	for _, id := range slices.Sorted(maps.Keys(shorthands)) {
		if s := shorthands[id]; s.of != foreign { // their program has a palette
			add(s.form, id, s.attributes)
		}
	}
	declared := map[string]bool{}
	if p != nil {
		for e := range p.Document.Root.Elements() {
			if e.Name != elementModels {
				continue
			}
			for m := range e.Elements() {
				if id := valueOf(m.Find("ID")); id != "" && !reserved(id) && !declared[id] {
					declared[id] = true
					models.Children = append(models.Children, m.Markup())
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(signals)) {
		for _, m := range signalModels(name, signals[name]) {
			if !declared[m.Attributes[0].Value] {
				models.Children = append(models.Children, m)
			}
		}
	}
	return xmltree.New(elementRoot, attrFormat, preprocess.Format4).With(models).Document()
}

// typedPorts are the ports of nodes that are no kinds with their types as BehaviorTree.CPP declares them, by their ID
// and name, else by their name; "" is any other.
var typedPorts = map[string]struct{ element, typ, value string }{
	"ScriptCondition.code":   {inputPort, anyType, ""},
	"SetBlackboard.value":    {inputPort, anyType, ""},
	attrOutputKey:            {"inout_port", anyType, ""},
	attrOfEntry:              {inputPort, "BT::Any", ""},
	attrQueue:                {"inout_port", anyType, ""},
	attrIfEmpty:              {inputPort, statusType, "SUCCESS"},
	"LoopInt.value":          {"output_port", "int", ""},
	"LoopDouble.value":       {"output_port", "double", ""},
	"LoopBool.value":         {"output_port", "bool", ""},
	"LoopString.value":       {"output_port", "std::string", ""},
	"TestNode.return_status": {inputPort, statusType, "SUCCESS"},
	"":                       {inputPort, "std::string", ""},
}

const (
	inputPort  = "input_port"
	anyType    = "BT::AnyTypeAllowed"
	statusType = "BT::NodeStatus"
)

// addPort declares an input port of a node type.
func addPort(m *xmltree.Markup, name, typ, value, text string) {
	p := &xmltree.Markup{Name: inputPort, Text: text}
	p.Add("name", name)
	if typ != "" {
		p.Add("type", typ)
	}
	if value != "" {
		p.Add("default", value)
	}
	m.Children = append(m.Children, p)
}

func kindModel(k bt.Kind) *xmltree.Markup {
	m := xmltree.New(formOf(k), "ID", k.String())
	for _, p := range k.Params() {
		value := ""
		if p.Default != 0 {
			value = p.Format(p.Default)
		}
		types := map[bt.ParamType]string{bt.Resource: "std::string", bt.Duration: "unsigned int", bt.Choice: statusType}
		typ := cmp.Or(types[p.Type], "int")
		if slices.Contains(p.Words, "true") {
			typ = "bool"
		}
		addPort(m, p.Name, typ, value, p.Text)
	}
	if name := k.Condition(); name != "" {
		addPort(m, name, "std::string", "", "")
	}
	if name := k.Cleanup(); name != "" {
		addPort(m, name, "bool", "false", "true: the assignments of its last child are also made on a halt")
	}
	for _, name := range comparisonNames(k) {
		addPort(m, name, map[bool]string{true: "double", false: "std::string"}[k.Ranked() > 0], "", "")
	}
	return m
}

// signalModels returns leaf types for a signal: an action that writes it, or conditions that compare it.
func signalModels(name string, s Signal) []*xmltree.Markup {
	text := s.Text
	if unit := s.Unit.String(); s.Type == expr.Real && unit != "1" {
		text = strings.TrimSpace(text + " [" + unit + "]")
	}
	id := strings.ReplaceAll(name, ".", "_")
	var all []*xmltree.Markup
	add := func(element, id, attribute, value, port string) {
		m := xmltree.New(element, "ID", id)
		m.Add(attribute, value)
		if port != "" {
			addPort(m, port, map[bool]string{true: "double", false: "std::string"}[s.Type == expr.Real], "", text)
		}
		all = append(all, m)
	}
	switch {
	case s.Table != nil:
		return nil
	case s.Slot:
		add(elementAction, "write_"+id, attrWrite, name+" := value", "value")
	case s.Type == expr.Boolean:
		add(elementCondition, "is_"+id, attrOn, name, "")
	case s.Type == expr.Real:
		add(elementCondition, "above_"+id, attrOn, name+" ge limit", "limit")
		add(elementCondition, "below_"+id, attrOn, name+" le limit", "limit")
	default:
		add(elementCondition, "is_"+id, attrOn, name+" == value", "value")
	}
	return all
}
