package fmu

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// Interface is the way in which an FMU is simulated. The zero value is the first one that the FMU offers.
type Interface uint8

// The interfaces.
const (
	Any Interface = iota
	ModelExchange
	CoSimulation
)

// String returns the name of the interface in a mission.
func (i Interface) String() string { return [...]string{"any", "model_exchange", "co_simulation"}[i] }

// Unit is an FMU with the interface by which it is simulated. It is immutable.
type Unit struct {
	Name, Text string
	Version    int // 2 or 3
	Interface  Interface
	Identifier string // the name of its library
	Token      string
	Digest     string // SHA-256 of the file, in hexadecimal
	Files      []File
	Sources    Sources // to compile the library of, for the chosen interface

	// Fixed is the step of a co-simulation that allows no other one [s], 0: it allows all. Step is that of the mission.
	Fixed, Step float64

	tolerance  float64
	events     bool // a co-simulation with event mode
	early      bool // one that may return early
	completes  bool // it wants to know of completed steps
	serialises bool

	parameters         []*variable
	states, continuous []*variable
	discrete, outputs  []*variable
	names              map[*variable][]string // of the elements
	indicators         []string
	direct             map[*variable][]*variable // the inputs on which an output depends at once; nil: all
	variables          []*variable
	byRef              map[uint32]*variable
	types, units       map[string]*element
	taken              map[string]bool
	nx, nz, nc, nd, no int
}

// Sources are the files of which the library of an FMU is compiled, with the definitions for the preprocessor.
type Sources struct {
	Files, Defines []string // Files are paths in the archive
	Language       string
}

// kinds are the types of variables that are numbers, by the numbers that the process knows.
var kinds = map[string]int{"Real": 0, "Float64": 0, "Float32": 1, "Int8": 2, "UInt8": 3, "Int16": 4, "UInt16": 5,
	"Integer": 6, "Int32": 6, "UInt32": 7, "Int64": 8, "UInt64": 9, "Boolean": 10}

const (
	floats        = 1  // the largest number of a floating type
	boolean       = 10 // in FMI 3
	otherBoolean  = 11 // in FMI 2
	notNumber     = -1
	maxElements   = 100_000 // of all variables
	defaultAbsTol = 1e-6
)

// variable is a variable of an FMU: a number, or an array of these.
type variable struct {
	*element // with its attributes
	name     string
	kind     int
	ref      uint32
	size     int   // elements
	shape    []int // of an array
	start    []float64

	unit           string // coherent, SI
	factor, offset float64
	items          []float64 // the numbers of an enumeration,
	words          []string  // and their names
}

// attribute returns an attribute of the variable or, if it has none, of its type.
func (v *variable) attribute(u *Unit, name string) string {
	if s, ok := v.has(name); ok {
		return s
	}
	if u.Version == 2 && len(v.Children) > 0 {
		if s, ok := v.Children[0].has(name); ok {
			return s
		}
	}
	if t := u.types[v.declared()]; t != nil {
		return t.at(name)
	}
	return ""
}

// declared returns the name of the variable's type.
func (v *variable) declared() string {
	if len(v.Children) > 0 {
		return cmp.Or(v.at("declaredType"), v.Children[0].at("declaredType"))
	}
	return v.at("declaredType")
}

func (v *variable) continuous(u *Unit) bool {
	return v.kind <= floats && cmp.Or(v.attribute(u, "variability"), "continuous") == "continuous"
}

// Read reads an FMU. The error says what is wrong with it, or why it cannot be a vehicle.
func Read(data []byte, by Interface, step float64) (*Unit, error) {
	sum := sha256.Sum256(data)
	u := &Unit{Digest: hex.EncodeToString(sum[:]), names: map[*variable][]string{},
		byRef: map[uint32]*variable{}, types: map[string]*element{}, units: map[string]*element{},
		taken: map[string]bool{"t": true}}
	var err error
	if u.Files, err = unpack(data); err != nil {
		return nil, err
	}
	root, err := u.xml("modelDescription.xml")
	if err != nil {
		return nil, err
	}
	if root.XMLName.Local != "fmiModelDescription" {
		return nil, errors.New("modelDescription.xml describes no FMU")
	}
	switch version := root.at("fmiVersion"); {
	case version == "2.0":
		u.Version = 2
	case strings.HasPrefix(version, "3."):
		u.Version = 3
	default:
		return nil, fmt.Errorf("it has FMI version %q; versions 2.0 and 3.0 are supported", version)
	}
	u.Name, u.Text = root.at("modelName"), root.at("description")
	u.Token = cmp.Or(root.at("instantiationToken"), root.at("guid"))
	if err := u.choose(&root, by, step); err != nil {
		return nil, err
	}
	for _, list := range []string{"TypeDefinitions", "UnitDefinitions"} {
		for i := range root.child(list).Children {
			e := &root.child(list).Children[i]
			if list == "UnitDefinitions" {
				u.units[e.at("name")] = e
				continue
			}
			if u.types[e.at("name")] = e; e.XMLName.Local == "SimpleType" && len(e.Children) > 0 {
				u.types[e.at("name")] = &e.Children[0]
			}
		}
	}
	if err := u.declare(root.child("ModelVariables")); err != nil {
		return nil, err
	}
	return u, u.structure(&root)
}

// xml reads a document of the archive.
func (u *Unit) xml(name string) (element, error) {
	i := slices.IndexFunc(u.Files, func(f File) bool { return f.Name == name })
	if i < 0 {
		return element{}, errors.New("the archive has no " + name)
	}
	data, err := u.Files[i].read(maxDescription)
	if err != nil {
		return element{}, err
	}
	root, err := document(data)
	if err != nil {
		return root, fmt.Errorf("%s: %w", name, err)
	}
	return root, nil
}

// choose chooses the interface.
func (u *Unit) choose(root *element, by Interface, step float64) error {
	offers := map[Interface]*element{ModelExchange: root.child("ModelExchange"), CoSimulation: root.child("CoSimulation")}
	has := func(i Interface) bool { return offers[i].at("modelIdentifier") != "" }
	if u.Interface = by; by == Any {
		if u.Interface = ModelExchange; !has(ModelExchange) {
			u.Interface = CoSimulation
		}
	}
	if !has(u.Interface) {
		if by == Any {
			return errors.New("it offers neither model exchange nor co-simulation, only scheduled execution, " +
				"which needs a scheduler for its clocks")
		}
		return fmt.Errorf("it does not offer %v", by)
	}
	e := offers[u.Interface]
	if u.Identifier = e.at("modelIdentifier"); strings.ContainsAny(u.Identifier, `/\:`) || u.Identifier == ".." {
		return fmt.Errorf("its modelIdentifier is %q, which is no name", u.Identifier)
	}
	if e.flag("needsExecutionTool") {
		return errors.New("it needs the tool that has made it (needsExecutionTool)")
	}
	u.serialises = e.flag("canSerializeFMUState") || e.flag("canSerializeFMUstate")
	u.completes = u.Version == 2 && !e.flag("completedIntegratorStepNotNeeded") || e.flag("needsCompletedIntegratorStep")
	u.events, u.early = e.flag("hasEventMode"), e.flag("mightReturnEarlyFromDoStep")
	experiment := root.child("DefaultExperiment")
	u.tolerance = number(experiment.at("tolerance"), 1e-6)
	if u.Interface == ModelExchange {
		u.events = false
		if step != 0 {
			return errors.New("a step is for co-simulation; this FMU is simulated by model exchange")
		}
	} else {
		u.Fixed = 0
		own := number(cmp.Or(e.at("fixedInternalStepSize"), experiment.at("stepSize")), 0.1)
		if u.Step = step; step == 0 {
			u.Step = number(cmp.Or(experiment.at("stepSize"), e.at("fixedInternalStepSize")), 0.1)
		}
		if !e.flag("canHandleVariableCommunicationStepSize") {
			u.Fixed = u.Step
		}
		if n := u.Step / own; e.at("fixedInternalStepSize") != "" && !(math.Abs(n-math.Round(n)) <= 1e-6*n && n > 0.5) {
			return fmt.Errorf("its internal step is %g s, and the step %g s is no multiple of it", own, u.Step)
		}
		if !(u.Step > 0) || math.IsInf(u.Step, 0) {
			return errors.New("its step is not positive")
		}
	}
	return u.sources(e)
}

// sources finds the source files of the library.
func (u *Unit) sources(e *element) error {
	u.Sources.Language = "C99"
	add := func(name string) { u.Sources.Files = append(u.Sources.Files, "sources/"+name) }
	if u.Version == 2 {
		for _, f := range e.child("SourceFiles").Children {
			add(f.at("name"))
		}
		return nil
	}
	const name = "sources/buildDescription.xml"
	if !slices.ContainsFunc(u.Files, func(f File) bool { return f.Name == name }) {
		return nil
	}
	root, err := u.xml(name)
	if err != nil {
		return err
	}
	for _, c := range root.Children {
		of := c.at("modelIdentifier") // some are wrong
		if c.XMLName.Local != "BuildConfiguration" || len(u.Sources.Files) > 0 ||
			of != u.Identifier && len(root.Children) > 1 {
			continue
		}
		for _, set := range c.Children {
			for _, f := range set.Children {
				switch f.XMLName.Local {
				case "SourceFile":
					add(f.at("name"))
				case "PreprocessorDefinition":
					u.Sources.Defines = append(u.Sources.Defines, f.at("name")+"="+f.at("value"))
				}
			}
			u.Sources.Language = cmp.Or(set.at("language"), u.Sources.Language)
		}
	}
	return nil
}

// number reads a number of an attribute.
func number(text string, missing float64) float64 {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		switch strings.TrimSpace(text) {
		case "true":
			return 1
		case "false":
			return 0
		}
		return missing
	}
	return x
}

// declare reads the variables.
func (u *Unit) declare(list *element) error {
	elements := 0
	for i := range list.Children {
		e := &list.Children[i]
		v := &variable{element: e, name: e.at("name"), size: 1}
		kind := e.XMLName.Local
		if kind == "ScalarVariable" && len(e.Children) > 0 {
			kind = e.Children[0].XMLName.Local
		}
		ref, err := strconv.ParseUint(e.at("valueReference"), 10, 32)
		if err != nil {
			return fmt.Errorf("the variable %q has no value reference", v.name)
		}
		v.ref = uint32(ref)
		u.variables = append(u.variables, v)
		if _, known := u.byRef[v.ref]; !known || v.at("causality") == "output" {
			u.byRef[v.ref] = v
		}
		if kind == "Clock" && v.at("causality") == "input" {
			return fmt.Errorf("its clock %s is an input; FMUs with input clocks are not supported", v.name)
		}
		k, known := kinds[kind]
		switch {
		case kind == "Enumeration":
			u.enumerate(v)
		case !known:
			v.kind = notNumber
			continue
		case k == boolean && u.Version == 2:
			v.kind = otherBoolean
		default:
			v.kind = k
		}
		u.measure(v)
		for _, text := range strings.Fields(v.attribute(u, "start")) {
			v.start = append(v.start, number(text, math.NaN()))
		}
	}
	for _, v := range u.variables {
		for i := range v.Children {
			d := &v.Children[i]
			if d.XMLName.Local != "Dimension" {
				continue
			}
			n := number(d.at("start"), -1)
			if ref, ok := d.has("valueReference"); ok {
				r, _ := strconv.ParseUint(ref, 10, 32)
				if by := u.byRef[uint32(r)]; by != nil && len(by.start) == 1 {
					n = by.start[0]
				}
			}
			if !(n >= 0 && n <= maxElements && n == math.Trunc(n)) {
				return fmt.Errorf("the array %s has no size", v.name)
			}
			v.shape = append(v.shape, int(n))
			v.size *= int(n)
			if v.size > maxElements {
				break
			}
		}
		if elements += v.size; elements > maxElements {
			return fmt.Errorf("its variables have more than %d elements", maxElements)
		}
	}
	return nil
}

// enumerate reads the values of an enumeration, which travel as numbers.
func (u *Unit) enumerate(v *variable) {
	if v.kind = kinds["Int64"]; u.Version == 2 {
		v.kind = kinds["Integer"]
	}
	t := u.types[v.declared()]
	if t == nil {
		return
	}
	for i := range t.Children {
		if item := &t.Children[i]; item.XMLName.Local == "Item" {
			v.items = append(v.items, number(item.at("value"), float64(i+1)))
			word := identifier(item.at("name"))
			for slices.Contains(v.words, word) {
				word += "_"
			}
			v.words = append(v.words, word)
		}
	}
}

// measure finds the unit of a variable, and how values are converted to it.
func (u *Unit) measure(v *variable) {
	v.unit, v.factor = "1", 1
	if v.kind > floats {
		return
	}
	name := v.attribute(u, "unit")
	e := u.units[name]
	base := &element{}
	if e != nil {
		base = e.child("BaseUnit")
	}
	switch parsed, err := expr.ParseUnit(name); {
	case base.XMLName.Local != "":
		var parts []string
		for _, symbol := range []string{"kg", "m", "s", "A", "K", "mol", "cd", "rad"} {
			switch exponent := cmp.Or(base.at(symbol), "0"); exponent {
			case "0":
			case "1":
				parts = append(parts, symbol)
			default:
				parts = append(parts, symbol+"^"+exponent)
			}
		}
		v.unit = cmp.Or(strings.Join(parts, " "), "1")
		factor, offset := number(base.at("factor"), 1), number(base.at("offset"), 0)
		if v.attribute(u, "relativeQuantity") == "true" {
			offset = 0
		}
		if si, wrong := expr.ParseUnit(v.unit); wrong != nil || !(math.Abs(factor) > 0) {
			v.unit = "1"
		} else if v.factor, v.offset = factor, offset; err == nil && parsed.Coherent() && parsed.Same(si) {
			v.unit = name
		}
	case err == nil && name != "":
		v.unit, v.factor = parsed.InSI().String(), parsed.SI(1)
	}
}

// identifier makes a name of an expression from that of an FMU: what is no letter, digit or dot becomes a line.
func identifier(name string) string {
	var text strings.Builder
	last := '.'
	for _, r := range name {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) && text.Len() > 0 || r == '.' && last != '.':
		case r == '[' && last != '.':
			r = '.'
		case r == ']':
			continue
		default:
			r = '_'
		}
		text.WriteRune(r)
		last = r
	}
	result := strings.TrimRight(text.String(), ".")
	for !expr.IsName(result) {
		result += "_"
	}
	return result
}

// offer makes signals or parameters of the elements of a variable.
func (u *Unit) offer(v *variable) {
	var names []string
	for i := range v.size {
		name, rest := v.name, i
		if len(v.shape) > 0 {
			var indices []string
			for _, n := range slices.Backward(v.shape) {
				indices = append(indices, strconv.Itoa(rest%n+1))
				rest /= n
			}
			slices.Reverse(indices)
			name += "." + strings.Join(indices, ".")
		}
		name = u.free(name)
		u.taken[name] = true
		names = append(names, name)
	}
	u.names[v] = names
}

// free returns a name that nothing else has.
func (u *Unit) free(name string) string {
	for name = identifier(name); u.taken[name]; {
		name += "_"
	}
	return name
}

// structure finds the states, the inputs, the outputs, the parameters and the indicators.
func (u *Unit) structure(root *element) error {
	s := root.child("ModelStructure")
	derivatives, outputs, err := u.unknowns(s)
	if err != nil {
		return err
	}
	state := map[*variable]bool{}
	for _, d := range derivatives {
		if u.Interface == CoSimulation {
			break
		}
		of := u.refers(d.attribute(u, "derivative"))
		if of == nil || of.kind != 0 || of.size != d.size || state[of] {
			return fmt.Errorf("the derivative %s does not say which state it is the derivative of", d.name)
		}
		state[of] = true
		u.states = append(u.states, of)
		u.nx += of.size
		u.offer(of)
	}
	for _, v := range u.variables {
		if v.kind == notNumber {
			continue
		}
		switch v.at("causality") {
		case "input":
			if u.offer(v); v.continuous(u) && u.Interface == ModelExchange {
				u.continuous, u.nc = append(u.continuous, v), u.nc+v.size
			} else {
				u.discrete, u.nd = append(u.discrete, v), u.nd+v.size
			}
		case "output":
			if !slices.ContainsFunc(u.states, func(s *variable) bool { return s.ref == v.ref }) {
				u.offer(v)
				u.outputs, u.no = append(u.outputs, v), u.no+v.size
			}
		case "parameter":
			u.offer(v)
			u.parameters = append(u.parameters, v)
		}
	}
	u.direct = outputs
	for _, v := range u.variables { // a value has no name of a signal
		for i := range v.words {
			for u.taken[v.words[i]] {
				v.words[i] += "_"
			}
		}
	}
	if u.Interface == CoSimulation {
		return nil
	}
	count := number(root.at("numberOfEventIndicators"), 0)
	if !(count >= 0 && count <= maxElements) {
		return errors.New("it has a wrong number of event indicators")
	}
	u.nz = int(count)
	for i := range u.nz {
		u.indicators = append(u.indicators, fmt.Sprintf("event indicator %d", i+1))
	}
	for i := range s.Children {
		if e := &s.Children[i]; e.XMLName.Local == "EventIndicator" {
			v := u.refers(e.at("valueReference"))
			if v == nil || v.size > maxElements-u.nz {
				return errors.New("an event indicator refers to no variable, or there are too many")
			}
			for range v.size {
				u.nz++
				u.indicators = append(u.indicators, fmt.Sprintf("event indicator %d, %s", u.nz, v.name))
			}
		}
	}
	return nil
}

// refers returns the variable that an attribute refers to: by its index in FMI 2, by its value reference in FMI 3.
func (u *Unit) refers(text string) *variable {
	n, err := strconv.ParseUint(text, 10, 32)
	switch {
	case err != nil:
		return nil
	case u.Version == 3:
		return u.byRef[uint32(n)]
	case n >= 1 && n <= uint64(len(u.variables)):
		return u.variables[n-1]
	}
	return nil
}

// unknowns returns the derivatives, and the inputs on which each output depends at once. Without a list, it depends on
// all.
func (u *Unit) unknowns(s *element) (derivatives []*variable, outputs map[*variable][]*variable, err error) {
	outputs = map[*variable][]*variable{}
	which := "index"
	list := slices.Concat(s.child("Derivatives").Children, s.child("Outputs").Children)
	count := len(s.child("Derivatives").Children)
	if u.Version == 3 {
		which, list = "valueReference", nil
		for _, name := range []string{"ContinuousStateDerivative", "Output"} {
			for _, e := range s.Children {
				if e.XMLName.Local == name {
					list = append(list, e)
				}
			}
			if name != "Output" {
				count = len(list)
			}
		}
	}
	for i := range list {
		v := u.refers(list[i].at(which))
		if v == nil {
			return nil, nil, errors.New("the model structure refers to a variable that does not exist")
		}
		if i < count {
			derivatives = append(derivatives, v)
			continue
		}
		if depends, ok := list[i].has("dependencies"); ok {
			outputs[v] = []*variable{}
			for _, text := range strings.Fields(depends) {
				outputs[v] = append(outputs[v], u.refers(text))
			}
		}
	}
	return derivatives, outputs, nil
}

// bounds returns the range that the attributes of a variable give, in its SI unit.
func (u *Unit) bounds(v *variable) model.Range {
	least, most := v.factor*number(v.attribute(u, "min"), math.Inf(-1))+v.offset,
		v.factor*number(v.attribute(u, "max"), math.Inf(1))+v.offset
	switch {
	case v.kind >= boolean:
		return model.Between(0, 1)
	case len(v.items) > 0:
		return model.Between(0, float64(len(v.items)-1))
	case v.factor < 0:
		least, most = most, least
	}
	if !(least <= most) {
		return model.Range{}
	}
	return model.Between(least, most)
}
