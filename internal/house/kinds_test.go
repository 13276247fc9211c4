package house

import (
	"go/ast"
	"go/parser"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
)

// builders are the rooms that construct plans from other input and so name the kinds that they construct.
var builders = []string{"formalism/translate", "formalism/backchain", "analysis/region", "document/plan"}

// TestOnlyTheTableNamesKinds keeps the law of the kinds in one place: a kind is a row of bt/kind.go, and no other file
// compares with one, switches on one or keeps something by kind. Rooms that build plans may name what they build.
func TestOnlyTheTableNamesKinds(t *testing.T) {
	var names []string
	for _, k := range bt.Kinds() {
		names = append(names, k.String())
	}
	for _, s := range readSources(t, parser.SkipObjectResolution) {
		if s.test || s.path == "bt/kind.go" {
			continue
		}
		builds := slices.Contains(builders, s.room)
		isKind := func(e ast.Expr) bool {
			if sel, ok := e.(*ast.SelectorExpr); ok {
				room, _ := sel.X.(*ast.Ident)
				return room != nil && room.Name == "bt" && slices.Contains(names, sel.Sel.Name)
			}
			id, ok := e.(*ast.Ident)
			return ok && s.room == "bt" && slices.Contains(names, id.Name)
		}
		report := func(e ast.Expr, what string) {
			if isKind(e) {
				t.Errorf("%s: %s the kind %s; ask its row in bt/kind.go", s.path, what, text(e))
			}
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if !strings.HasPrefix(s.room, "formalism/") { // a program is constructed in parts
					report(n.X, "compares with")
					report(n.Y, "compares with")
				}
			case *ast.CaseClause:
				for _, e := range n.List {
					report(e, "switches on")
				}
			case *ast.KeyValueExpr:
				report(n.Key, "keeps something by")
			}
			if e, ok := n.(ast.Expr); ok && !builds {
				report(e, "names")
			}
			return true
		})
	}
}

func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	}
	return ""
}

// familySwitches is how often each file switches on the family of a kind: the law (bt/law.go), what makes a tree of
// descriptions, the engine, which keeps decisions up to date change by change, and what makes tables for other languages.
var familySwitches = map[string]int{"bt/law.go": 1, "bt/kind.go": 1, "bt/tree.go": 1, "bt/composite.go": 3, "bt/hearing.go": 1,
	"codegen/c.go": 1}

// TestTheLawStandsOnce: a family decides in bt.Decide, for every algebra. No other room switches on families.
func TestTheLawStandsOnce(t *testing.T) {
	found := map[string]int{}
	for _, s := range readSources(t, parser.SkipObjectResolution) {
		if s.test {
			continue
		}
		ast.Inspect(s.ast, func(n ast.Node) bool {
			if n, ok := n.(*ast.SwitchStmt); ok {
				tag := n.Tag
				if call, ok := tag.(*ast.CallExpr); ok {
					tag = call.Fun
				}
				if sel, ok := tag.(*ast.SelectorExpr); ok && strings.EqualFold(sel.Sel.Name, "family") {
					found[s.path]++
				}
			}
			return true
		})
	}
	if !maps.Equal(found, familySwitches) {
		t.Errorf("switches on families: %v, should be %v", found, familySwitches)
	}
}
