package codegen

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"fmt"
	"html"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

//go:embed runtime/canopy_fmu.h
var fmuHeader string

//go:embed runtime/canopy_fmu.c
var fmuSource string

//go:embed runtime/canopy_fmu_plan.c
var fmuPlan string

//go:embed runtime/canopy_fmu_tree.c
var fmuTree string

//go:embed runtime/canopy_fmu_vehicle.c
var fmuVehicle string

//go:embed runtime/canopy_fmi.c
var fmi string

//go:embed runtime/canopy_fmi2.c
var fmi2 string

//go:embed runtime/canopy_fmi3.c
var fmi3 string

// Interface is how an FMU is simulated.
type Interface uint8

// The interfaces, which an FMU may have both.
const (
	ModelExchange Interface = 1 << iota
	CoSimulation
)

// FMU is a Functional Mock-up Unit to be written: what its description and its code say alike.
type FMU struct {
	Name    string // C identifier
	Text    string // one line that describes it
	Made    string // from what it was made
	Version int    // of FMI: 2 or 3
	With    Interface
	Stop    float64 // end of the default experiment [s]
}

// Binary returns the name of the file of the binary for a system, as Go names it.
func (u FMU) Binary(system, architecture string) string {
	ending := map[string]string{"windows": ".dll", "darwin": ".dylib"}[system]
	folder := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "386": "x86"}[architecture] + "-" + system
	if u.Version == 2 {
		folder = cmp.Or(map[string]string{"windows": "win"}[system], system) +
			cmp.Or(map[string]string{"386": "32"}[architecture], "64")
	}
	return "binaries/" + folder + "/" + identifier(u.Name) + cmp.Or(ending, ".so")
}

// Variable describes a signal, a state or a parameter of an FMU.
type Variable struct {
	Name, Text string
	Unit       expr.Unit // of a real
	Values     []string  // of an enumeration
	Boolean    bool
	Start      float64
	Min, Max   float64 // both 0: not known
}

// scalar is one with its place in an FMU. Its value reference is its index.
type scalar struct {
	Variable
	causality   string
	variability string
	settable    string // as canopy_settable says
	of          int    // value reference of the state of which it is the derivative; 0: none
	hidden      bool   // an event indicator, which FMI 2 does not describe
	inner       bool   // what no importer sees
}

// The variables of a model, by what they are.
func timeOf() scalar {
	second, _ := expr.ParseUnit("s")
	return scalar{Variable: Variable{Name: "time", Unit: second}, causality: "independent", settable: "NEVER"}
}

func inputOf(v Variable) scalar { return scalar{Variable: v, causality: "input", settable: "ALWAYS"} }

func outputOf(v Variable) scalar { return scalar{Variable: v, causality: "output", settable: "NEVER"} }

func indicatorOf(i int) scalar {
	return scalar{Variable: Variable{Name: fmt.Sprintf("event indicator %d", i+1)}, causality: "local",
		settable: "NEVER", hidden: true}
}

// contents are the code of an FMU and the variables that it has.
type contents struct {
	files     []File // that the last one includes, and others
	include   []string
	source    string // that of the model itself
	macros    string
	variables []scalar
	states    []int // value references of the continuous states,
	offset    int   // what is added to these for their derivatives
	nominals  []float64
}

// exportedPlan is the name of the plan in the code of an FMU, whatever name that has.
const exportedPlan = "exported_plan"

// PlanFMU returns the files of the FMU of a plan in a mission: its inputs are the signals that it reads, its outputs
// those that it writes, and the statuses of its tasks. The levels of its thresholds are tunable parameters.
func PlanFMU(u FMU, tree *bt.Tree, about func(bt.Task) string, p *Program,
	signal func(place int) Variable) ([]File, error) {
	plan := *p
	plan.tunable = true
	w := newWriter(exportedPlan, u.Made, tree, about)
	g := newProgram(&plan, w)
	files, err := w.files(exportedPlan, g)
	if err != nil {
		return nil, err
	}
	m := contents{files: files, source: fmuPlan,
		include: []string{"canopy.c", "canopy_program.c", files[len(files)-1].Name}}
	m.variables = append(m.variables, timeOf())
	for i, place := range g.places[1:] {
		v := signal(place)
		switch {
		case i < g.inputs:
			m.variables = append(m.variables, inputOf(v))
		case i < g.inputs+len(g.Slots):
			m.variables = append(m.variables, outputOf(v))
			m.variables[1+i].variability = constantly(&g.Slots[i-g.inputs])
		default:
			m.variables = append(m.variables, outputOf(v))
			m.variables[1+i].causality = "local"
		}
	}
	count := map[string]int{}
	for _, l := range g.levels {
		v := signal(g.places[l.place])
		name := tree.Name(l.task) + "." + l.name
		if count[name]++; count[name] > 1 {
			name += fmt.Sprintf(" %d", count[name])
		}
		m.variables = append(m.variables, scalar{Variable: Variable{Name: name, Text: "level with which " + v.Name +
			" is compared", Unit: v.Unit, Start: l.value}, causality: "parameter", variability: "tunable",
			settable: "AT_EVENTS"})
	}
	statuses := len(m.variables)
	m.addStatuses(tree, about)
	indicators := len(m.variables)
	for i := range g.crossings {
		m.variables = append(m.variables, indicatorOf(i))
	}
	list := "NULL"
	if len(g.crossings) > 0 {
		list = strings.Join(g.crossings, ", ")
	}
	m.macros = fmt.Sprintf("static const canopy_value plan_indicators[] = {%s};\n", list) +
		fmt.Sprintf("static const unsigned plan_indicators_n = %d;\n", len(g.crossings)) +
		fmt.Sprintf("enum { PLAN_TASKS = %d, PLAN_STATUS = %d, PLAN_INDICATOR = %d };\n", tree.Len(), statuses, indicators) +
		fmt.Sprintf("#define PLAN %s\n#define PLAN_PROGRAM %[1]s_program\n", w.prefix)
	return u.files(m)
}

// constantly returns the variability of a slot: discrete if nothing that is written follows a signal.
func constantly(s *executive.Slot) string {
	for _, w := range s.Writers {
		if w.Value != nil && len(w.Value.Reads()) > 0 {
			return "continuous"
		}
	}
	return "discrete"
}

// statuses are the values of a status, by its number.
func statuses() (names []string) {
	for s := bt.Success; s <= bt.Dropped; s++ {
		names = append(names, s.String())
	}
	return names
}

func (m *contents) addStatuses(tree *bt.Tree, about func(bt.Task) string) {
	for i := range tree.Len() {
		m.variables = append(m.variables, outputOf(Variable{Name: "status of " + tree.Name(bt.Task(i)),
			Text: about(bt.Task(i)), Values: statuses()}))
	}
}

// TreeFMU returns the files of the FMU of a plan without a mission: its inputs are what its leaves say.
func TreeFMU(u FMU, tree *bt.Tree, about func(bt.Task) string) ([]File, error) {
	files, err := C(exportedPlan, u.Made, tree, about, nil)
	if err != nil {
		return nil, err
	}
	m := contents{files: files, include: []string{"canopy.c", files[len(files)-1].Name}, source: fmuTree}
	m.variables = append(m.variables, timeOf())
	var leaves []string
	for i := range tree.Len() {
		task := bt.Task(i)
		kind := tree.Kind(task)
		if kind.Family() != bt.Leaf {
			continue
		}
		leaves = append(leaves, strconv.Itoa(i))
		v := Variable{Name: tree.Name(task), Boolean: true, Text: about(task)}
		if kind.Acts() {
			v = Variable{Name: tree.Name(task), Values: []string{"running", "success", "failure"}, Text: about(task)}
		}
		m.variables = append(m.variables, inputOf(v))
	}
	m.addStatuses(tree, about)
	m.macros = fmt.Sprintf("enum { TREE_TASKS = %d, TREE_LEAVES = %d };\n", tree.Len(), len(leaves)) +
		fmt.Sprintf("static const canopy_task tree_leaves[] = {%s};\n", strings.Join(leaves, ", ")) +
		"#define TREE " + exportedPlan + "_tree\n"
	return u.files(m)
}

// VehicleVariables are the variables of a vehicle, in the order of its description.
type VehicleVariables struct {
	States, Commands, Parameters, Outputs []Variable
	Discrete                              []bool    // the states that only events change
	Nominals                              []float64 // of the states: a typical value in the error of a step
	Switches                              int
}

// VehicleFMU returns the files of the FMU of a vehicle; files are its code, as Vehicle returns it.
func VehicleFMU(u FMU, v VehicleVariables, files []File) ([]File, error) {
	m := contents{files: files, source: fmuVehicle, offset: len(v.States)}
	for _, f := range files {
		if strings.HasSuffix(f.Name, ".c") {
			m.include = append(m.include, f.Name)
		}
	}
	m.variables = append(m.variables, timeOf())
	for i, x := range v.States {
		is := scalar{Variable: x, causality: "output", settable: "ALWAYS"}
		if v.Discrete[i] {
			is.settable, is.variability = "AT_START", "discrete"
		} else {
			m.states, m.nominals = append(m.states, 1+i), append(m.nominals, v.Nominals[i])
		}
		m.variables = append(m.variables, is)
	}
	for i, x := range v.States {
		m.variables = append(m.variables, scalar{Variable: Variable{Name: "der(" + x.Name + ")", Unit: x.Unit.Per(
			timeOf().Unit)}, causality: "local", settable: "NEVER", of: i + 1, inner: v.Discrete[i]})
	}
	for _, x := range v.Commands {
		m.variables = append(m.variables, inputOf(x))
	}
	for _, x := range v.Parameters {
		m.variables = append(m.variables, scalar{Variable: x, causality: "parameter", variability: "fixed",
			settable: "AT_START"})
	}
	for _, x := range v.Outputs {
		m.variables = append(m.variables, outputOf(x))
	}
	for i := range v.Switches {
		m.variables = append(m.variables, indicatorOf(i))
	}
	m.macros = fmt.Sprintf("enum { VEHICLE_STATES = %d };\n#define VEHICLE %s_vehicle\n", len(v.States),
		identifier(u.Name))
	return u.files(m)
}

// declared matches declarations of functions that are not FMI's.
var declared = regexp.MustCompile(`(?m)^[a-z][a-z0-9_ *]*?\b(canopy_\w+)\(`)

// files writes an FMU with its model, but for the binary.
func (u FMU) files(m contents) ([]File, error) {
	unique := map[string]bool{}
	for i := range m.variables {
		v := &m.variables[i]
		name := v.Name
		for k := 2; unique[v.Name]; k++ {
			v.Name = fmt.Sprintf("%s (%d)", name, k)
		}
		unique[v.Name] = true
		if v.variability == "" {
			v.variability = "continuous"
			if v.Boolean || v.Values != nil {
				v.variability = "discrete"
			}
		}
		if v.settable == "ALWAYS" && v.variability == "discrete" {
			v.settable = "AT_EVENTS"
		}
	}
	frame := File{"canopy_fmi3.c", fmi3}
	if u.Version == 2 {
		frame = File{"canopy_fmi2.c", fmi2}
	}
	sources := slices.Concat(m.files, []File{{"canopy_fmu.h", fmuHeader}, {"canopy_fmu.c", fmuSource},
		{"canopy_fmi.c", fmi}, frame})
	hash := sha256.New()
	for _, f := range sources {
		fmt.Fprintf(hash, "%s\n%d\n%s", f.Name, len(f.Text), f.Text)
	}
	fmt.Fprintf(hash, "%v\n%s\n%v", u, m.macros, m.variables)
	token := hex.EncodeToString(hash.Sum(nil)[:16])
	own := u.own(m, token, sources, frame.Name)
	sources = append(sources, File{"fmu.c", own})
	files := []File{{"modelDescription.xml", u.description(m, token)}, {"documentation/index.html", u.page(m)}}
	if u.Version == 3 {
		files = append(files, File{"sources/buildDescription.xml", fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<fmiBuildDescription fmiVersion="3.0">
  <BuildConfiguration modelIdentifier="%s">
    <SourceFileSet language="C99">
      <SourceFile name="fmu.c"/>
    </SourceFileSet>
    <Library name="m"/>
  </BuildConfiguration>
</fmiBuildDescription>
`, identifier(u.Name))})
	}
	for _, f := range sources {
		if strings.HasSuffix(f.Name, ".c") || strings.HasSuffix(f.Name, ".h") {
			files = append(files, File{"sources/" + f.Name, f.Text})
		}
	}
	return files, nil
}

// own returns the file that includes all others. The names of their functions begin with that of the FMU, so that
// programs can link several.
func (u FMU) own(m contents, token string, sources []File, frame string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n#define FMI%d_FUNCTION_PREFIX %s_\n\n", comment(u.Made), u.Version, identifier(u.Name))
	names := []string{exportedPlan + "_tree", exportedPlan + "_program", exportedPlan + "_begin"}
	for _, f := range sources {
		if strings.HasPrefix(f.Name, "canopy") && strings.HasSuffix(f.Name, ".h") {
			for _, found := range declared.FindAllStringSubmatch(f.Text, -1) {
				names = append(names, found[1])
			}
		}
	}
	for _, name := range names {
		fmt.Fprintf(&b, "#define %s %s_%[1]s\n", name, identifier(u.Name))
	}
	b.WriteString("\n")
	for _, name := range m.include {
		fmt.Fprintf(&b, "#include %q\n", name)
	}
	first := func(is func(v *scalar) bool) int {
		if i := slices.IndexFunc(m.variables, func(v scalar) bool { return is(&v) }); i >= 0 {
			return i
		}
		return len(m.variables)
	}
	fmt.Fprintf(&b, "\n#include \"canopy_fmu.h\"\n\n%s\n%s\nstatic const canopy_variable variables[] = {\n",
		m.macros, m.source)
	for i := range m.variables {
		v := &m.variables[i]
		kind := "REAL"
		switch {
		case v.Boolean:
			kind = "BOOLEAN"
		case v.Values != nil:
			kind = "INTEGER"
		}
		fmt.Fprintf(&b, "    {CANOPY_%s, CANOPY_%s, %s}, %s\n", kind, v.settable, inC.constant(v.Start).text, comment(v.Name))
	}
	indicators := first(func(v *scalar) bool { return v.hidden })
	b.WriteString("};\n")
	define(&b, "uint32_t", "states", len(m.states), func(i int) string { return strconv.Itoa(m.states[i]) })
	define(&b, "double", "nominals", len(m.states), func(i int) string { return inC.constant(m.nominals[i]).text })
	fmt.Fprintf(&b, "\nstatic const canopy_model this_model = {%q, variables, %d, %s, %d, %d, %d, %d, %s, "+
		"MODEL_FUNCTIONS};\n\n"+
		"#define CANOPY_MODEL this_model\n\n#include \"canopy_fmu.c\"\n#include %q\n", token, len(m.variables),
		pointer("states", len(m.states)), m.offset, indicators, len(m.states), len(m.variables)-indicators,
		pointer("nominals", len(m.states)), frame)
	return b.String()
}

// element is an XML element with its attributes, of which empty ones are left out.
func element(name string, attributes ...string) string {
	var b strings.Builder
	b.WriteString("<" + name)
	for i := 0; i < len(attributes); i += 2 {
		if attributes[i+1] != "" {
			fmt.Fprintf(&b, ` %s="%s"`, attributes[i], escape(attributes[i+1]))
		}
	}
	return b.String() + "/>"
}

// around returns an element that is open, with what is in it.
func around(open, inside string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(open, "<"), " ")
	name = strings.TrimSuffix(name, "/>")
	if inside == "" {
		return open
	}
	return strings.TrimSuffix(open, "/>") + ">" + inside + "</" + name + ">"
}

func escape(text string) string {
	return html.EscapeString(strings.Map(func(r rune) rune {
		if r < ' ' {
			return ' '
		}
		return r
	}, text))
}

func exactly(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// unitName is the name of a unit in the description; "": none.
func unitName(v *scalar) string {
	if v.Boolean || v.Values != nil || v.Unit == (expr.Unit{}) || v.Unit == expr.AnyUnit {
		return ""
	}
	return v.Unit.String()
}

// typeName is the name of the type of an enumeration.
func typeName(v *scalar, all []scalar) string {
	for i := range all {
		if slices.Equal(all[i].Values, v.Values) {
			return "values of " + all[i].Name
		}
	}
	panic("codegen: an enumeration of no variable")
}

// initial is how the value at the start is known.
func (v *scalar) initial() string {
	switch {
	case v.causality == "independent", v.causality == "input":
		return ""
	case v.settable == "NEVER":
		return "calculated"
	}
	return "exact"
}

// start is the value at the start as an attribute; "": there is none.
func (v *scalar) start() string {
	switch {
	case v.settable == "NEVER":
		return ""
	case v.Boolean:
		return strconv.FormatBool(v.Start != 0)
	case v.Values != nil:
		return strconv.Itoa(int(v.Start))
	}
	return exactly(v.Start)
}

func (u FMU) description(m contents, token string) string {
	var b strings.Builder
	two := u.Version == 2
	pick := func(a, b string) string {
		if two {
			return a
		}
		return b
	}
	id := identifier(u.Name)
	n := 0
	for i := range m.variables {
		n += number(m.variables[i].hidden)
	}
	fmt.Fprintf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- %s -->\n", strings.ReplaceAll(u.Made, "--", "- -"))
	root := element("fmiModelDescription", "fmiVersion", pick("2.0", "3.0"), "modelName", u.Name,
		pick("guid", "instantiationToken"), token, "description", u.Text, "generationTool", "Canopy",
		"variableNamingConvention", "flat", "numberOfEventIndicators", pick(strconv.Itoa(n), ""))
	b.WriteString(strings.TrimSuffix(root, "/>") + ">\n")
	files := pick("<SourceFiles>"+element("File", "name", "fmu.c")+"</SourceFiles>", "")
	state := []string{pick("canGetAndSetFMUstate", "canGetAndSetFMUState"), "true",
		pick("canSerializeFMUstate", "canSerializeFMUState"), "true",
		"canNotUseMemoryManagementFunctions", pick("true", "")}
	if u.With&ModelExchange != 0 {
		b.WriteString("  " + around(element("ModelExchange", append([]string{"modelIdentifier", id,
			"completedIntegratorStepNotNeeded", pick("true", "")}, state...)...), files) + "\n")
	}
	if u.With&CoSimulation != 0 {
		b.WriteString("  " + around(element("CoSimulation", append([]string{"modelIdentifier", id,
			"canHandleVariableCommunicationStepSize", "true", "hasEventMode", pick("", "true"),
			"mightReturnEarlyFromDoStep", pick("", "true")}, state...)...), files) + "\n")
	}
	b.WriteString(m.units() + m.types(two))
	b.WriteString("  <LogCategories>" + element("Category", "name", "logStatusError") + "</LogCategories>\n")
	b.WriteString("  " + element("DefaultExperiment", "startTime", "0", "stopTime", exactly(u.Stop)) + "\n")
	b.WriteString("  <ModelVariables>\n")
	for i := range m.variables {
		if m.listed(i, two) {
			b.WriteString("    " + m.variable(i, two) + "\n")
		}
	}
	b.WriteString("  </ModelVariables>\n" + m.structure(two) + "</fmiModelDescription>\n")
	return b.String()
}

func (m *contents) units() string {
	taken := map[string]bool{}
	list := ""
	for i := range m.variables {
		name := unitName(&m.variables[i])
		if name == "" || taken[name] {
			continue
		}
		taken[name] = true
		exponents, factor, ok := m.variables[i].Unit.Base()
		base := ""
		if ok {
			attributes := []string{}
			for _, symbol := range []string{"kg", "m", "s", "A", "K", "mol", "cd"} {
				if e := exponents[symbol]; e != 0 {
					attributes = append(attributes, symbol, strconv.Itoa(e))
				}
			}
			if factor != 1 {
				attributes = append(attributes, "factor", exactly(factor))
			}
			base = element("BaseUnit", attributes...)
		}
		list += "    " + around(element("Unit", "name", name), base) + "\n"
	}
	if list == "" {
		return ""
	}
	return "  <UnitDefinitions>\n" + list + "  </UnitDefinitions>\n"
}

func (m *contents) types(two bool) string {
	taken := map[string]bool{}
	list := ""
	for i := range m.variables {
		v := &m.variables[i]
		if v.Values == nil || taken[typeName(v, m.variables)] {
			continue
		}
		name := typeName(v, m.variables)
		taken[name] = true
		items := ""
		for k, value := range v.Values {
			items += element("Item", "name", value, "value", strconv.Itoa(k))
		}
		if two {
			list += "    " + around(element("SimpleType", "name", name), around(element("Enumeration"), items)) + "\n"
		} else {
			list += "    " + around(element("EnumerationType", "name", name), items) + "\n"
		}
	}
	if list == "" {
		return ""
	}
	return "  <TypeDefinitions>\n" + list + "  </TypeDefinitions>\n"
}

// listed reports whether the description has a variable.
func (m *contents) listed(i int, two bool) bool {
	return !m.variables[i].inner && !(two && m.variables[i].hidden)
}

// reference returns how others refer to a variable: in FMI 2 by its place in the list, from 1.
func (m *contents) reference(i int, two bool) string {
	if !two {
		return strconv.Itoa(i)
	}
	n := 1
	for k := range i {
		n += number(m.listed(k, two))
	}
	return strconv.Itoa(n)
}

// variable describes one.
func (m *contents) variable(i int, two bool) string {
	v := &m.variables[i]
	kind, attributes := "Float64", []string{"unit", unitName(v)}
	switch {
	case v.Boolean:
		kind, attributes = "Boolean", nil
	case v.Values != nil:
		kind, attributes = "Enumeration", []string{"declaredType", typeName(v, m.variables)}
	default:
		if two {
			kind = "Real"
		}
		limit := func(name string, value float64) {
			if (v.Min != 0 || v.Max != 0) && !math.IsInf(value, 0) {
				attributes = append(attributes, name, exactly(value))
			}
		}
		limit("min", v.Min)
		limit("max", v.Max)
		if k := slices.Index(m.states, i); k >= 0 {
			attributes = append(attributes, "nominal", exactly(m.nominals[k]), "reinit", "true")
		}
	}
	attributes = append(attributes, "start", v.start())
	if v.of > 0 {
		attributes = append(attributes, "derivative", m.reference(v.of, two))
	}
	general := []string{"name", v.Name, "valueReference", strconv.Itoa(i), "description", v.Text, "causality", v.causality,
		"variability", v.variability, "initial", v.initial()}
	if two {
		return around(element("ScalarVariable", general...), element(kind, attributes...))
	}
	return element(kind, slices.Concat(general, attributes)...)
}

// structure lists what depends on others.
func (m *contents) structure(two bool) string {
	part := func(group, name string, is func(v *scalar) bool) (list string) {
		for i := range m.variables {
			switch {
			case !is(&m.variables[i]) || m.variables[i].inner:
			case two:
				list += "      " + element("Unknown", "index", m.reference(i, two)) + "\n"
			default:
				list += "    " + element(name, "valueReference", m.reference(i, two)) + "\n"
			}
		}
		if two && list != "" {
			list = "    <" + group + ">\n" + list + "    </" + group + ">\n"
		}
		return list
	}
	text := part("Outputs", "Output", func(v *scalar) bool { return v.causality == "output" }) +
		part("Derivatives", "ContinuousStateDerivative", func(v *scalar) bool { return v.of > 0 }) +
		part("InitialUnknowns", "InitialUnknown", func(v *scalar) bool {
			return v.initial() == "calculated" && (v.causality == "output" || v.of > 0)
		})
	if !two {
		text += part("", "EventIndicator", func(v *scalar) bool { return v.hidden })
	}
	return "  <ModelStructure>\n" + text + "  </ModelStructure>\n"
}

// page is the documentation of an FMU.
func (u FMU) page(m contents) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>%s</title>\n"+
		"<h1>%[1]s</h1>\n<p>%s</p>\n"+
		"<p>%s</p>\n<table><tr><th>variable<th>unit<th>causality<th>start<th>description</tr>\n", escape(u.Name),
		escape(u.Text), escape(u.Made))
	for i := range m.variables {
		if v := &m.variables[i]; m.listed(i, true) {
			fmt.Fprintf(&b, "<tr><td>%s<td>%s<td>%s<td>%s<td>%s</tr>\n", escape(v.Name), escape(unitName(v)), v.causality,
				v.start(), escape(v.Text))
		}
	}
	return b.String() + "</table></html>\n"
}
