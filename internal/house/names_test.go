package house

import (
	"go/ast"
	"go/parser"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shared are the names of exported types that several rooms use for the same thing, with what it is. A name that is not
// here is used by one room.
var shared = map[string]string{
	"Action":         "what an upper level activates: a name in a state graph, Go code",
	"Assignment":     "a name := value: as it is parsed, in a plan, compiled",
	"Change":         "an entry in the log of an instant: of a tree, of a state graph, as it is recorded",
	"Clock":          "the reading of all clocks, and the source of a program's time",
	"Command":        "what the upper level orders: a tree an action, a plan a vehicle",
	"Difference":     "the result of a comparison: of two runs, of two documents",
	"Engine":         "the mutable half of a formalism, and the interface by which the executive drives each",
	"Event":          "an entry of a log: of a run, of the connection to a vehicle",
	"Flight":         "a plan in flight: what one has shown of it, and as it is flown",
	"Indicator":      "an event indicator: compiled, and as the simulator, which knows no expressions, takes it",
	"Input":          "what a machine is given at one time: a tree a truth or an end, a flight a datagram",
	"Instant":        "the result of settling an engine: of a tree, of a state graph",
	"Kind":           "which of several it is: a node of a document, an input of a flight, an event of a vehicle",
	"Leaf":           "a leaf of a plan: as it is written, and compiled",
	"Node":           "a node of a tree: of tasks, of a document, of an expression",
	"Link":           "the channel to a vehicle, and whether the vehicle is heard on it",
	"NotFiniteError": "a value that is not finite: found by the integrator, the simulator, the run",
	"Op":             "an operator: of expressions, and of formulas over time",
	"Options":        "the settings of a room's constructor; the zero value has the defaults",
	"Parameter":      "a parameter of a vehicle: declared, and as it is recorded",
	"Plot":           "a panel of the report: as a mission names it, and as it is recorded",
	"Property":       "a temporal property: parsed, and with its place in the declarations",
	"Question":       "what an analysis answers",
	"Reader":         "what reads: a document, the bytes of a link",
	"Run":            "a run, and the interface by which a folder receives it",
	"Sample":         "what was measured at one point: of a box of starts, of the telemetry",
	"Segment":        "a stretch of trajectory: of the simulator, and of any world",
	"Signal":         "a signal: as a plan may use it, and as it is recorded",
	"Slot":           "what tasks write: in an execution, and of a class of vehicles",
	"Source":         "where something comes from: a text from a document, signals from the telemetry",
	"State":          "what changes: of a vehicle, and of the connection to one",
	"Stats":          "the work done: by an integrator, and by the simulator around it",
	"Task":           "a task of a tree: its number, and its record",
	"Threshold":      "an indicator of one signal: compiled, and as the simulator takes it",
	"Value":          "a value of a signal: an interval, and as the telemetry gives it",
	"Variable":       "a quantity with a name and a unit: of a vehicle, and of expressions",
	"Verdict":        "the result of a judgement: of the plan, a property, a question",
	"Vocabulary":     "the names that a document may use",
	"World":          "the surroundings of a plan: as the executive uses them, as a run advances them, as facts",
	"Writer":         "what writes: a leaf into a slot, a run into its log",
}

// TestATypesNameMeansOneThing finds exported types of the same name in several rooms. Commands and examples export
// nothing.
func TestATypesNameMeansOneThing(t *testing.T) {
	rooms := map[string][]string{}
	for _, s := range readSources(t, parser.SkipObjectResolution) {
		if s.test || slices.ContainsFunc([]string{"cmd/", "examples/", "internal/"}, func(p string) bool {
			return strings.HasPrefix(s.path, p)
		}) {
			continue
		}
		for _, d := range s.ast.Decls {
			if g, ok := d.(*ast.GenDecl); ok {
				for _, spec := range g.Specs {
					if named, ok := spec.(*ast.TypeSpec); ok && named.Name.IsExported() {
						rooms[named.Name.Name] = append(rooms[named.Name.Name], s.room)
					}
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rooms)) {
		if len(rooms[name]) > 1 && shared[name] == "" {
			t.Errorf("%s is a type of %s: find another name, or give the reason here", name, strings.Join(rooms[name], ", "))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(shared)) {
		if len(rooms[name]) < 2 {
			t.Errorf("%s means one thing: take it out of this table", name)
		}
	}
}

// TestSignaturesShowNoForeignTypes finds types of other modules in what rooms export: functions, methods, fields
// and variables. Commands and examples export nothing.
func TestSignaturesShowNoForeignTypes(t *testing.T) {
	for _, s := range readSources(t, parser.SkipObjectResolution) {
		if s.test || strings.HasPrefix(s.path, "cmd/") || strings.HasPrefix(s.path, "examples/") {
			continue
		}
		modules := map[string]bool{} // by the name that the file uses
		for _, spec := range s.ast.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if isStandard(name) || strings.HasPrefix(name, module(t)) {
				continue
			}
			local := path.Base(name)
			if len(local) > 1 && local[0] == 'v' && strings.Trim(local[1:], "0123456789") == "" {
				local = path.Base(path.Dir(name))
			}
			if spec.Name != nil {
				local = spec.Name.Name
			}
			modules[local] = true
		}
		show := func(where string, e ast.Node) {
			ast.Inspect(e, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if from, ok := sel.X.(*ast.Ident); ok && modules[from.Name] {
						t.Errorf("%s: %s shows %s.%s: wrap it in a type of the room", s.path, where, from.Name, sel.Sel.Name)
					}
				}
				return true
			})
		}
		for _, d := range s.ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() && (d.Recv == nil || exported(d.Recv)) {
					show(d.Name.Name, d.Type)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if spec.Name.IsExported() {
							showType(spec, show)
						}
					case *ast.ValueSpec:
						if spec.Type != nil && slices.ContainsFunc(spec.Names, (*ast.Ident).IsExported) {
							show(spec.Names[0].Name, spec.Type)
						}
					}
				}
			}
		}
	}
}

// exported reports whether a method's receiver is an exported type.
func exported(receiver *ast.FieldList) bool {
	is := false
	ast.Inspect(receiver.List[0].Type, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		is = is || ok && id.IsExported()
		return true
	})
	return is
}

// showType shows the exported fields of a structure, and all of another type.
func showType(named *ast.TypeSpec, show func(where string, e ast.Node)) {
	if named.TypeParams != nil {
		show(named.Name.Name, named.TypeParams)
	}
	structure, ok := named.Type.(*ast.StructType)
	if !ok {
		show(named.Name.Name, named.Type)
		return
	}
	for _, f := range structure.Fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			show(named.Name.Name, f.Type)
		}
	}
}
