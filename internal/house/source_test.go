package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is one parsed Go file of the module.
type source struct {
	path string
	room string
	test bool
	ast  *ast.File
}

// readSources parses every Go file of this module; the tools' module is not part of it.
func readSources(t *testing.T, mode parser.Mode) []source {
	t.Helper()
	var sources []source
	for _, f := range readTree(t, ".go") {
		if strings.Contains(f.path, "testdata/") || strings.HasPrefix(f.path, "internal/tools/") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), f.path, f.text, mode)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, source{f.path, path.Dir(f.path), strings.HasSuffix(f.path, "_test.go"), tree})
	}
	return sources
}

// imports returns the paths that a file imports, split into rooms of this module and packages from elsewhere.
func (s source) imports(t *testing.T) (inside, outside []string) {
	t.Helper()
	for _, spec := range s.ast.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if in, ok := strings.CutPrefix(name, module(t)); ok {
			inside = append(inside, in)
		} else {
			outside = append(outside, name)
		}
	}
	return inside, outside
}

// module returns the prefix of this module's packages.
func module(t *testing.T) string {
	t.Helper()
	first, _, _ := strings.Cut(readFile(t, "go.mod"), "\n")
	return strings.TrimPrefix(first, "module ") + "/"
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
