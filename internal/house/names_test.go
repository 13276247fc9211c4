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

// shared are the names of exported types that several rooms use, with the reason. A name that is not here means one
// thing.
var shared = map[string]string{
	"Assignment":     "an assignment as it is written, in a plan, and compiled",
	"Change":         "of statuses, of steps, and as it is recorded or reported by a comparison: a difference from before",
	"Command":        "a tree's command to an action, and a vehicle's input, as control engineers call it",
	"Count":          "the number of members of a class",
	"Difference":     "the finding of a comparison",
	"Engine":         "what decides: a tree's, a ticked tree's, a state graph's, and the interface of them",
	"Formula":        "a condition of a leaf, and one over time",
	"Indicator":      "an event indicator, compiled and as the simulator takes it",
	"Input":          "an input of a tree",
	"Inputs":         "the possible inputs of a tree, and the actual ones",
	"Instant":        "what happens at one instant",
	"Kind":           "of a node",
	"Leaf":           "a leaf of a plan, and compiled",
	"Node":           "of a tree: of tasks, of a document, of an expression",
	"NotFiniteError": "a value that is not finite, in an integrator, a simulation, a run",
	"Op":             "an operator, and an operation of an edit",
	"Options":        "of a room's functions",
	"Plot":           "a panel of the report, as a mission names it, and as it is recorded",
	"Parameter":      "of a vehicle, and as it is recorded",
	"Phase":          "of a round in which a decision is made",
	"Property":       "a declared property, and its formula",
	"Question":       "a question that an analysis answers",
	"Run":            "a run, and a run that is recorded into a folder",
	"Segment":        "of a trajectory",
	"Signal":         "as a plan uses it, and as it is recorded",
	"State":          "of a vehicle, and of a computation",
	"Stats":          "of a computation",
	"Step":           "of a computation, of a state graph as GRAFCET calls it, and of a path to a difference",
	"Task":           "the number of a task, and its record",
	"Threshold":      "of an indicator, compiled and as the simulator takes it",
	"Variable":       "of a vehicle, and of an expression",
	"Verdict":        "on a plan, a property, a question",
	"Vocabulary":     "the names that a document may use",
	"World":          "the surroundings of a plan: simulated, as the executive uses them, and as facts",
	"Writer":         "of slots, and of a log",
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
			if isStandard(name) || strings.HasPrefix(name, "canopy/") {
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
