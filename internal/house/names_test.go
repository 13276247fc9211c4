package house

import (
	"go/ast"
	"go/parser"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

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
