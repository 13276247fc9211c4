package fmu

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// checker collects the mistakes of a model description.
type checker struct {
	src     *diag.Source
	found   diag.List
	version int
	root    *xmltree.Element

	units     map[string][]string // their display units
	types     map[string]*xmltree.Element
	items     map[*xmltree.Element]map[float64]bool // of types that are enumerations
	variables []*entry
	byNumber  map[string]*entry // by value reference; in FMI 2, the first one
	names     map[string]bool
}

// entry is a variable of a model description.
type entry struct {
	*xmltree.Element                  // the one with its name
	value            *xmltree.Element // the one with its start: in FMI 2 a child
	kind             string
	causality        string
	variability      string
	initial          string
	alias            bool // in FMI 2: its value reference is that of an earlier variable
}

// Check checks the description of an FMU, or a description alone, of FMI 2 or 3, beyond what its schema says: that its
// variables, its structure and the files of the archive belong together. The error is about what cannot be read.
func Check(name string, data []byte) (diag.List, error) {
	if !bytes.HasPrefix(data, []byte("PK")) {
		return checkText(name, data, nil)
	}
	files, err := unpack(data)
	if err != nil {
		return nil, err
	}
	names := []string{}
	for _, f := range files {
		names = append(names, f.Name)
	}
	i := slices.Index(names, description)
	if i < 0 {
		return nil, errors.New("the archive has no " + description)
	}
	if data, err = files[i].read(maxDescription); err != nil {
		return nil, err
	}
	return checkText(name+"/"+description, data, names)
}

// description is the file that describes an FMU.
const description = "modelDescription.xml"

func checkText(name string, data []byte, files []string) (diag.List, error) {
	text, err := utf8(data)
	if err != nil {
		return nil, err
	}
	return check(&diag.Source{Name: name, Text: text}, files), nil
}

// check checks a description; files are those of the archive, nil: it is alone.
func check(src *diag.Source, files []string) diag.List {
	doc, list := xmltree.Parse(src)
	if list.HasErrors() {
		return list
	}
	c := &checker{src: src, root: doc.Root, units: map[string][]string{}, types: map[string]*xmltree.Element{},
		items:    map[*xmltree.Element]map[float64]bool{},
		byNumber: map[string]*entry{}, names: map[string]bool{}}
	if c.root == nil || c.root.Name != "fmiModelDescription" {
		return diag.List{{Source: src, Code: "fmi-schema",
			Text: "the file describes no FMU: its root is not fmiModelDescription"}}
	}
	switch version := value(c.root, "fmiVersion"); {
	case version == "2.0":
		c.version = 2
	case strings.HasPrefix(version, "3.0"):
		c.version = 3
	default:
		c.at(c.root, "fmiVersion", "fmi-schema", "FMI version %q is not supported: this checks 2.0 and 3.0", version)
		return c.found
	}
	if !declaration.MatchString(src.Text) {
		c.found = append(c.found, diag.Diagnostic{Source: src, Code: "fmi-schema",
			Text: `the file must begin with <?xml version="1.0" encoding="UTF-8"?>, or with another encoding`})
	}
	c.element(c.root)
	c.head(files)
	c.definitions()
	c.declare()
	c.structure()
	return c.found
}

func value(e *xmltree.Element, name string) string {
	if a := e.Find(name); a != nil {
		return a.Value
	}
	return ""
}

func child(e *xmltree.Element, name string) *xmltree.Element {
	for x := range e.Elements() {
		if x.Name == name {
			return x
		}
	}
	return &xmltree.Element{}
}

// at reports a mistake at an attribute or, if the element does not have it, at the element.
func (c *checker) at(e *xmltree.Element, attribute, code, format string, args ...any) {
	d := diag.Diagnostic{Source: c.src, Offset: e.At, Length: e.Tag.End - e.Tag.At, Code: code,
		Text: fmt.Sprintf(format, args...)}
	if a := e.Find(attribute); a != nil {
		d.Offset, d.Length = a.Raw.At, a.Raw.End-a.Raw.At
	}
	c.found = append(c.found, d)
}

// element checks an element by the schema.
func (c *checker) element(e *xmltree.Element) {
	r, known := schemas[c.version][e.Name]
	if !known {
		return // its parent has reported it
	}
	if r.open {
		return
	}
	for _, a := range e.Attributes {
		if _, ok := r.attributes[a.Name]; !ok && !strings.Contains(a.Name, ":") && a.Name != "xmlns" {
			c.at(e, a.Name, "fmi-schema", "%s has no attribute %s", e.Name, diag.Visible(a.Name))
			known := func() []string { return slices.Sorted(maps.Keys(r.attributes)) }
			c.found[len(c.found)-1].Suggest = diag.Near(a.Name, known)
		}
		c.form(e, a)
	}
	for _, name := range slices.Sorted(maps.Keys(r.attributes)) {
		if r.attributes[name] && e.Find(name) == nil {
			c.at(e, "", "fmi-schema", "%s needs the attribute %s", e.Name, name)
		}
	}
	at, count := 0, map[int]int{}
	for x := range e.Elements() {
		k := slices.IndexFunc(r.groups, func(g group) bool { return slices.Contains(g.names, x.Name) })
		switch {
		case k < 0:
			c.at(x, "", "fmi-schema", "%s has no element %s", e.Name, diag.Visible(x.Name))
			continue
		case k < at:
			c.at(x, "", "fmi-schema", "%s must come before %s", x.Name, strings.Join(r.groups[at].names, ", "))
		}
		at = max(at, k)
		if count[k]++; count[k] == 2 && !r.groups[k].many {
			c.at(x, "", "fmi-schema", "%s has more than one element %s", e.Name, x.Name)
		}
		c.element(x)
	}
	for k, g := range r.groups {
		if g.least && count[k] == 0 {
			c.at(e, "", "fmi-schema", "%s needs an element %s", e.Name, strings.Join(g.names, ", "))
		}
	}
}

// form checks the text of an attribute by its type.
func (c *checker) form(e *xmltree.Element, a *xmltree.Attribute) {
	text, ok := strings.TrimSpace(a.Value), true
	switch forms[a.Name] {
	case "boolean":
		ok = slices.Contains([]string{"true", "false", "0", "1"}, text)
	case "whole number":
		if e.Name == "Start" { // a text
			return
		}
		_, err := strconv.ParseInt(text, 10, 64)
		ok = err == nil
	case "number":
		_, ok = number64(text)
	}
	if list := words[a.Name]; list != nil && !slices.Contains(list, text) {
		c.at(e, a.Name, "fmi-schema", "%s must be one of %s, not %s", a.Name, strings.Join(list, ", "),
			diag.Visible(strconv.Quote(a.Value)))
	}
	if !ok {
		c.at(e, a.Name, "fmi-schema", "%s must be a %s, not %s", a.Name, forms[a.Name], diag.Visible(strconv.Quote(a.Value)))
	}
}

func number64(text string) (v float64, ok bool) {
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && !strings.ContainsAny(text, "xXpP_")
}

var (
	declaration = regexp.MustCompile(`^<\?xml version=["']1\.[01]["']`)
	identifiers = regexp.MustCompile(`^[A-Za-z_]\w*$`)
	times       = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)
)

// head checks the interfaces and the archive.
func (c *checker) head(files []string) {
	token := map[int]string{2: "guid", 3: "instantiationToken"}[c.version]
	if c.root.Find(token) != nil && value(c.root, token) == "" {
		c.at(c.root, token, "fmi-interface", "the %s is empty", token)
	}
	if a := c.root.Find("generationDateAndTime"); a != nil && !times.MatchString(a.Value) {
		c.at(c.root, a.Name, "fmi-schema", "the time must be in UTC, as 2026-01-31T12:00:00Z")
	}
	some := false
	for _, name := range []string{"ModelExchange", "CoSimulation", "ScheduledExecution"} {
		e := child(c.root, name)
		if e.Name == "" {
			continue
		}
		some = true
		id := value(e, "modelIdentifier")
		if e.Find("modelIdentifier") != nil && !identifiers.MatchString(id) {
			c.at(e, "modelIdentifier", "fmi-interface", "the modelIdentifier must be an identifier of C")
		}
		if a := e.Find("fixedInternalStepSize"); a != nil {
			if v, ok := number64(a.Value); ok && !(v > 0) {
				c.at(e, a.Name, "fmi-interface", "the step must be positive")
			}
		}
		if (value(e, "canSerializeFMUState") == "true" && value(e, "canGetAndSetFMUState") != "true") ||
			(value(e, "canSerializeFMUstate") == "true" && value(e, "canGetAndSetFMUstate") != "true") {
			c.at(e, "", "fmi-interface", "an FMU that can serialize its state can also get and set it")
		}
		c.archive(e, id, files)
	}
	if !some {
		c.at(c.root, "", "fmi-interface", "the FMU offers no interface: neither model exchange nor co-simulation")
	}
	x := child(c.root, "DefaultExperiment")
	start, hasStart := number64(value(x, "startTime"))
	stop, hasStop := number64(value(x, "stopTime"))
	if hasStart && hasStop && stop < start {
		c.at(x, "stopTime", "fmi-interface", "the experiment ends before it begins")
	}
	for _, name := range []string{"stepSize", "tolerance"} {
		if v, ok := number64(value(x, name)); ok && !(v > 0) {
			c.at(x, name, "fmi-interface", "the %s must be positive", name)
		}
	}
}

// archive checks that the archive has what an interface needs.
func (c *checker) archive(e *xmltree.Element, id string, files []string) {
	if files == nil {
		return
	}
	binary, sources, there := false, false, map[string]bool{}
	for _, name := range files {
		there[name] = true
		parts := strings.Split(name, "/")
		last := parts[len(parts)-1]
		binary = binary || parts[0] == "binaries" && strings.HasPrefix(last, id+".")
		sources = sources || parts[0] == "sources"
	}
	for f := range child(e, "SourceFiles").Elements() {
		if name := value(f, "name"); !there["sources/"+name] {
			c.at(f, "name", "fmi-archive", "the archive has no file sources/%s", diag.Visible(name))
		}
	}
	if !binary && !sources {
		c.at(e, "modelIdentifier", "fmi-archive", "the archive has neither a binary %s nor sources", diag.Visible(id))
	}
}

// definitions checks units and types.
func (c *checker) definitions() {
	for u := range child(c.root, "UnitDefinitions").Elements() {
		name, display := value(u, "name"), []string{}
		if _, twice := c.units[name]; twice {
			c.at(u, "name", "fmi-unit", "the unit %s is defined twice", diag.Visible(name))
		}
		for x := range u.Elements() {
			if x.Name == "DisplayUnit" {
				display = append(display, value(x, "name"))
			}
		}
		c.units[name] = display
	}
	for t := range child(c.root, "TypeDefinitions").Elements() {
		name, is := value(t, "name"), t
		if c.types[name] != nil {
			c.at(t, "name", "fmi-type", "the type %s is defined twice", diag.Visible(name))
		}
		if c.version == 2 {
			for x := range t.Elements() {
				is = x
			}
		}
		c.types[name] = is
		c.unit(is, is)
		c.items[is] = map[float64]bool{}
		numbers, items, n := map[string]bool{}, map[string]bool{}, 0
		for x := range is.Elements() {
			if x.Name != "Item" {
				continue
			}
			n++
			if x, ok := number64(value(x, "value")); ok {
				c.items[is][x] = true
			}
			once := func(key string, taken map[string]bool) {
				if taken[value(x, key)] {
					c.at(x, key, "fmi-type", "two items of the enumeration have the %s %s", key, diag.Visible(value(x, key)))
				}
				taken[value(x, key)] = true
			}
			once("value", numbers)
			once("name", items)
		}
		if strings.HasPrefix(is.Name, "Enumeration") && n == 0 {
			c.at(t, "", "fmi-type", "an enumeration needs items")
		}
		c.limits(is)
	}
}

// unit checks that the unit of an element is defined, and its display unit, too.
func (c *checker) unit(e, of *xmltree.Element) {
	unit := value(e, "unit")
	display, defined := c.units[unit]
	if unit != "" && !defined {
		c.at(e, "unit", "fmi-unit", "the unit %s is not defined", diag.Visible(unit))
	}
	if a := e.Find("displayUnit"); a != nil {
		if unit == "" {
			display = c.units[value(of, "unit")]
		}
		if !slices.Contains(display, a.Value) {
			c.at(e, "displayUnit", "fmi-unit", "the display unit %s is not defined", diag.Visible(a.Value))
		}
	}
}

// unitOf returns the element that has the unit of a variable.
func (c *checker) unitOf(v *entry) *xmltree.Element {
	if t := c.types[value(v.value, "declaredType")]; t != nil && v.value.Find("unit") == nil {
		return t
	}
	return v.value
}

// limits checks min, max and nominal.
func (c *checker) limits(e *xmltree.Element) {
	least, some := number64(value(e, "min"))
	most, other := number64(value(e, "max"))
	if e.Find("min") != nil && !some {
		c.at(e, "min", "fmi-schema", "min must be a number")
	}
	if e.Find("max") != nil && !other {
		c.at(e, "max", "fmi-schema", "max must be a number")
	}
	if some && other && least > most {
		c.at(e, "max", "fmi-variable", "max is less than min")
	}
	if v, ok := number64(value(e, "nominal")); ok && !(v > 0) {
		c.at(e, "nominal", "fmi-variable", "the nominal value must be positive")
	}
}

// Legal combinations of causality, variability and initial; the first of the initials is the default.
var initials = map[string][]string{
	"structuralParameter fixed": {"exact"}, "structuralParameter tunable": {"exact"},
	"parameter fixed": {"exact"}, "parameter tunable": {"exact"},
	"calculatedParameter fixed": {"calculated", "approx"}, "calculatedParameter tunable": {"calculated", "approx"},
	"input discrete": {""}, "input continuous": {""},
	"output constant": {"exact"}, "output discrete": {"calculated", "exact", "approx"},
	"output continuous": {"calculated", "exact", "approx"},
	"local constant":    {"exact"}, "local fixed": {"calculated", "approx"}, "local tunable": {"calculated", "approx"},
	"local discrete": {"calculated", "exact", "approx"}, "local continuous": {"calculated", "exact", "approx"},
	"independent continuous": {""},
}

// declare checks the variables.
func (c *checker) declare() {
	for e := range child(c.root, "ModelVariables").Elements() {
		v := &entry{Element: e, value: e, kind: e.Name}
		if c.version == 2 {
			for x := range e.Elements() {
				if slices.Contains(strings.Fields(types2), x.Name) {
					v.value, v.kind = x, x.Name
				}
			}
		}
		c.variables = append(c.variables, v)
		c.variable(v)
		for x := range e.Elements() {
			if x.Name == "Alias" {
				c.name(x)
				c.unit(x, c.unitOf(v))
			}
		}
	}
	independent := 0
	for _, v := range c.variables {
		if v.causality == "independent" {
			independent++
			if independent > 1 {
				c.at(v.Element, "causality", "fmi-variable", "there is more than one independent variable")
			}
		}
		c.derivative(v)
		for _, ref := range strings.Fields(value(v.Element, "clocks")) {
			if x := c.byNumber[ref]; x == nil || x.kind != "Clock" {
				c.at(v.Element, "clocks", "fmi-variable", "%s is not the value reference of a clock", diag.Visible(ref))
			}
		}
		for x := range v.Elements() {
			if ref := value(x, "valueReference"); x.Name == "Dimension" {
				if ref == "" && x.Find("start") != nil {
					continue
				}
				if of := c.byNumber[ref]; of == nil || of.causality != "structuralParameter" && of.variability != "constant" {
					c.at(x, "valueReference", "fmi-variable", "a dimension must be a structural parameter or a constant")
				}
			}
		}
	}
	if c.version == 3 && independent == 0 {
		c.at(child(c.root, "ModelVariables"), "", "fmi-variable", "there is no independent variable")
	}
}

func (c *checker) name(e *xmltree.Element) {
	name := value(e, "name")
	if e.Find("name") != nil && (name == "" || strings.ContainsAny(name, "\n\r\t")) {
		c.at(e, "name", "fmi-variable", "the name is empty or has a line break")
	}
	if c.names[name] {
		c.at(e, "name", "fmi-variable", "there are two variables %s", diag.Visible(name))
	}
	c.names[name] = true
}

func (c *checker) variable(v *entry) {
	e := v.Element
	c.name(e)
	ref := value(e, "valueReference")
	if other := c.byNumber[ref]; other != nil {
		v.alias = c.version == 2
		if c.version == 3 || other.kind != v.kind {
			c.at(e, "valueReference", "fmi-variable", "%s has the same value reference",
				diag.Visible(value(other.Element, "name")))
		}
	} else if ref != "" {
		c.byNumber[ref] = v
	}
	float := v.kind == "Real" || strings.HasPrefix(v.kind, "Float")
	if v.causality = value(e, "causality"); v.causality == "" {
		v.causality = "local"
	}
	if v.variability = value(e, "variability"); v.variability == "" {
		switch {
		case c.version == 2 || float && !strings.Contains(strings.ToLower(v.causality), "parameter"):
			v.variability = "continuous"
		case strings.Contains(strings.ToLower(v.causality), "parameter"):
			v.variability = "fixed"
		default:
			v.variability = "discrete"
		}
	}
	allowed, legal := initials[v.causality+" "+v.variability]
	given := e.Find("initial")
	v.initial = value(e, "initial")
	switch {
	case v.kind == "Clock":
	case !legal:
		c.at(e, "variability", "fmi-variable", "causality %s and variability %s do not go together",
			diag.Visible(v.causality), diag.Visible(v.variability))
	case given != nil && allowed[0] == "" && !(c.version == 3 && v.causality == "input" && v.initial == "exact"):
		c.at(e, "initial", "fmi-variable", "a variable with causality %s has no initial", v.causality)
	case given != nil && allowed[0] != "" && !slices.Contains(allowed, v.initial):
		c.at(e, "initial", "fmi-variable", "causality %s and variability %s do not go with initial %s", v.causality,
			v.variability, diag.Visible(v.initial))
	case given == nil:
		v.initial = allowed[0]
	}
	if v.variability == "continuous" && !float {
		c.at(e, "variability", "fmi-variable", "only a floating-point number can be continuous")
	}
	if v.causality == "independent" && !float {
		c.at(e, "causality", "fmi-variable", "the independent variable must be a floating-point number")
	}
	c.start(v)
	c.declared(v)
	c.limits(v.value)
	if value(v.value, "reinit") == "true" && v.variability != "continuous" {
		c.at(v.value, "reinit", "fmi-variable", "only a state can be set anew")
	}
}

// start checks the start value.
func (c *checker) start(v *entry) {
	start := v.value.Find("start")
	has := start != nil
	for x := range v.Elements() {
		has = has || x.Name == "Start"
	}
	needs := v.causality == "input" || v.initial == "exact" || v.initial == "approx"
	switch {
	case v.kind == "Clock":
		return
	case needs && !has:
		c.at(v.value, "", "fmi-variable", "the variable needs a start value: it is an input, or has initial %q", v.initial)
	case has && !needs:
		c.at(v.value, "start", "fmi-variable", "the variable must have no start value: it is %s",
			map[bool]string{true: "independent", false: "calculated"}[v.causality == "independent"])
	}
	if start == nil || v.kind == "String" || v.kind == "Binary" {
		return
	}
	for _, text := range strings.Fields(start.Value) {
		x, ok := number64(text)
		switch {
		case v.kind == "Boolean":
			ok = slices.Contains([]string{"true", "false", "0", "1"}, text)
		case v.kind != "Real" && !strings.HasPrefix(v.kind, "Float"):
			ok = ok && x == math.Trunc(x) && !(strings.HasPrefix(v.kind, "UInt") && x < 0)
		}
		if !ok {
			c.at(v.value, "start", "fmi-variable", "%s is no %s", diag.Visible(strconv.Quote(text)), v.kind)
			continue
		}
		least, some := c.limit(v, "min")
		most, other := c.limit(v, "max")
		if some && x < least || other && x > most {
			c.at(v.value, "start", "fmi-variable", "the start value is not between min and max")
		}
		if t := c.types[value(v.value, "declaredType")]; v.kind == "Enumeration" && t != nil && !c.items[t][x] {
			c.at(v.value, "start", "fmi-variable", "the start value is none of the enumeration")
		}
	}
	if len(strings.Fields(start.Value)) == 0 {
		c.at(v.value, "start", "fmi-variable", "the start value is empty")
	}
}

// limit returns a limit of a variable, or of its type.
func (c *checker) limit(v *entry, name string) (float64, bool) {
	if v.value.Find(name) != nil {
		return number64(value(v.value, name))
	}
	if t := c.types[value(v.value, "declaredType")]; t != nil {
		return number64(value(t, name))
	}
	return 0, false
}

// declared checks the type and the unit of a variable.
func (c *checker) declared(v *entry) {
	a := v.value.Find("declaredType")
	of := &xmltree.Element{}
	if a != nil {
		if of = c.types[a.Value]; of == nil {
			c.at(v.value, "declaredType", "fmi-type", "the type %s is not defined", diag.Visible(a.Value))
			return
		}
		if strings.TrimSuffix(of.Name, "Type") != v.kind {
			c.at(v.value, "declaredType", "fmi-type", "the type %s is for %s", diag.Visible(a.Value),
				strings.TrimSuffix(of.Name, "Type"))
		}
	} else if v.kind == "Enumeration" {
		c.at(v.value, "", "fmi-type", "an enumeration needs a declaredType")
	}
	c.unit(v.value, of)
}

// find returns the variable of a reference: of an index from 1 in FMI 2, of a value reference in FMI 3.
func (c *checker) find(text string) *entry {
	if c.version == 3 {
		return c.byNumber[text]
	}
	if i, err := strconv.Atoi(text); err == nil && 1 <= i && i <= len(c.variables) {
		return c.variables[i-1]
	}
	return nil
}

// derivative checks that a variable which is a derivative is one of a state.
func (c *checker) derivative(v *entry) {
	a := v.value.Find("derivative")
	if a == nil {
		return
	}
	of := c.find(a.Value)
	switch {
	case of == nil:
		c.at(v.value, "derivative", "fmi-structure", "there is no variable %s of which it could be the derivative",
			diag.Visible(a.Value))
	case of == v:
		c.at(v.value, "derivative", "fmi-structure", "a variable is not its own derivative")
	case of.variability != "continuous" || of.kind != v.kind || of.causality != "local" && of.causality != "output":
		c.at(v.value, "derivative", "fmi-structure", "%s is no state: a state is a continuous local variable or output",
			diag.Visible(value(of.Element, "name")))
	case v.variability != "continuous":
		c.at(v.value, "derivative", "fmi-structure", "a derivative must be continuous")
	}
}

// structure checks the lists of outputs, derivatives, event indicators and initial unknowns.
func (c *checker) structure() {
	s := child(c.root, "ModelStructure")
	parts := map[string][]*xmltree.Element{}
	names := map[string]string{"Outputs": "Output", "Derivatives": "ContinuousStateDerivative",
		"InitialUnknowns": "InitialUnknown"}
	for e := range s.Elements() {
		if c.version == 3 {
			parts[e.Name] = append(parts[e.Name], e)
			continue
		}
		for x := range e.Elements() {
			parts[names[e.Name]] = append(parts[names[e.Name]], x)
		}
	}
	listed := map[string]map[*entry]bool{} // sets: a description may have very many variables
	for _, part := range slices.Sorted(maps.Keys(parts)) {
		listed[part] = map[*entry]bool{}
		for _, e := range parts[part] {
			attribute := map[int]string{2: "index", 3: "valueReference"}[c.version]
			v := c.find(value(e, attribute))
			switch {
			case v == nil:
				c.at(e, attribute, "fmi-structure", "there is no variable %s", diag.Visible(value(e, attribute)))
			case listed[part][v]:
				c.at(e, attribute, "fmi-structure", "%s is listed twice", diag.Visible(value(v.Element, "name")))
			default:
				listed[part][v] = true
			}
			c.dependencies(e)
		}
	}
	needs := func(part, what string, is func(v *entry) bool) {
		for _, v := range c.variables {
			has := listed[part][v]
			if is(v) && !has && !v.alias {
				c.at(s, "", "fmi-structure", "%s is missing among the %s", diag.Visible(value(v.Element, "name")), what)
			}
			if !is(v) && has {
				c.at(s, "", "fmi-structure", "%s is no %s", diag.Visible(value(v.Element, "name")), strings.TrimSuffix(what, "s"))
			}
		}
	}
	needs("Output", "outputs", func(v *entry) bool { return v.causality == "output" })
	derivatives := listed["ContinuousStateDerivative"]
	states := map[*entry]bool{}
	for _, v := range c.variables {
		if !derivatives[v] {
			continue
		}
		if v.value.Find("derivative") == nil {
			c.at(s, "", "fmi-structure", "%s is listed as a derivative, and does not say of which state",
				diag.Visible(value(v.Element, "name")))
			continue
		}
		if of := c.find(value(v.value, "derivative")); of != nil {
			if states[of] {
				c.at(s, "", "fmi-structure", "two derivatives are those of %s", diag.Visible(value(of.Element, "name")))
			}
			states[of] = true
		}
	}
	calculated := func(v *entry) bool { return v.initial == "calculated" || v.initial == "approx" }
	needs("InitialUnknown", "initial unknowns", func(v *entry) bool {
		if value(v.Element, "clocks") != "" {
			return listed["InitialUnknown"][v]
		}
		return v.causality == "calculatedParameter" || calculated(v) &&
			(v.causality == "output" || states[v] || derivatives[v])
	})
	for _, v := range c.variables {
		if !listed["EventIndicator"][v] {
			continue
		}
		if !strings.HasPrefix(v.kind, "Float") || v.variability != "continuous" ||
			v.causality != "local" && v.causality != "output" {
			c.at(v.Element, "", "fmi-structure", "an event indicator must be a continuous number, local or an output")
		}
	}
	for _, v := range c.variables {
		if value(v.value, "reinit") == "true" && !states[v] {
			c.at(v.value, "reinit", "fmi-structure", "only a state can be set anew")
		}
	}
}

// dependencies checks the dependencies of an unknown.
func (c *checker) dependencies(e *xmltree.Element) {
	list, kinds := e.Find("dependencies"), e.Find("dependenciesKind")
	if kinds != nil && list == nil {
		c.at(e, "dependenciesKind", "fmi-structure", "dependenciesKind without dependencies")
	}
	if list == nil {
		return
	}
	seen := map[string]bool{}
	for _, text := range strings.Fields(list.Value) {
		if c.find(text) == nil {
			c.at(e, "dependencies", "fmi-structure", "there is no variable %s", diag.Visible(text))
		}
		if seen[text] {
			c.at(e, "dependencies", "fmi-structure", "the dependency %s is listed twice", diag.Visible(text))
		}
		seen[text] = true
	}
	if kinds == nil {
		return
	}
	words := strings.Fields(kinds.Value)
	if len(words) != len(strings.Fields(list.Value)) {
		c.at(e, "dependenciesKind", "fmi-structure", "there are %d dependencies, and %d kinds",
			len(strings.Fields(list.Value)), len(words))
	}
	for _, w := range words {
		if !slices.Contains([]string{"dependent", "constant", "fixed", "tunable", "discrete"}, w) {
			c.at(e, "dependenciesKind", "fmi-structure", "%s is no kind of a dependency", diag.Visible(w))
		}
	}
}
