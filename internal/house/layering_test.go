package house

import (
	"go/parser"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// room is one package: a row of the table of docs/architecture.md.
type room struct {
	imports []string // other rooms, sorted
	pure    bool     // the same arguments give the same results: no clock, file, socket, lock or random source
}

// rooms returns the rows of the table of docs/architecture.md.
func rooms(t *testing.T) map[string]room {
	t.Helper()
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9/-]+)` \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$")
	house := map[string]room{}
	for _, m := range row.FindAllStringSubmatch(readFile(t, "docs/architecture.md"), -1) {
		r := room{pure: m[4] == "none"}
		if m[3] != "-" {
			r.imports = strings.Split(m[3], ", ")
		}
		house[m[1]] = r
	}
	return house
}

// impure are the packages of the standard library, each with those below it, that a pure room must not import.
var impure = map[string]string{
	"time":      "time is an argument, in seconds of the simulation",
	"os":        "files come as io.Reader, io.Writer or fs.FS",
	"net":       "the world is what the caller hands over",
	"sync":      "a pure value needs no lock, a mutable one has one owner",
	"math/rand": "a seed is an argument",
}

// TestArchitectureShowsTheImports: the table has each room with the rooms that it imports, and a room without effects
// imports nothing that has some. Tests may import what they need.
func TestArchitectureShowsTheImports(t *testing.T) {
	house, found := rooms(t), map[string]map[string]bool{}
	for _, s := range readSources(t, parser.ImportsOnly) {
		if found[s.room] == nil {
			found[s.room] = map[string]bool{}
		}
		if s.test {
			continue
		}
		inside, outside := s.imports(t)
		for _, name := range inside {
			found[s.room][name] = true
			if house[s.room].pure && !house[name].pure {
				t.Errorf("%s: %s is a pure room, but imports %s, which is not", s.path, s.room, name)
			}
		}
		for _, name := range outside {
			for top, why := range impure {
				if house[s.room].pure && (name == top || strings.HasPrefix(name, top+"/")) {
					t.Errorf("%s: %s is a pure room and must not import %q: %s", s.path, s.room, name, why)
				}
			}
		}
	}
	for name, imports := range found {
		want := slices.Sorted(maps.Keys(imports))
		if r, known := house[name]; !known {
			t.Errorf("docs/architecture.md does not show the room %s", name)
		} else if !slices.Equal(r.imports, want) {
			t.Errorf("docs/architecture.md: %s imports %s, not %v", name, strings.Join(want, ", "), r.imports)
		}
	}
	for name := range house {
		if found[name] == nil {
			t.Errorf("docs/architecture.md: there is no room %s", name)
		}
	}
}

// layers are the folders of the house, from the lowest to the highest; the core are the rooms without a folder.
var layers = []string{"", "expr", "syntax", "vehicle", "document", "autopilot", "formalism", "run", "analysis", "editor", "bridge",
	"cmd"}

// layerOf returns the place of a room's folder in layers; a room of internal/ is as high as what it imports.
func layerOf(house map[string]room, name string) int {
	folder, _, below := strings.Cut(name, "/")
	switch {
	case folder == "internal":
		layer := 0
		for _, imported := range house[name].imports {
			layer = max(layer, layerOf(house, imported))
		}
		return layer
	case below || folder == "run":
		return slices.Index(layers, folder)
	}
	return 0
}

// TestNoArrowLeadsUpward: a room imports rooms of its own folder and of lower ones only, and no command. Go itself
// refuses circles.
func TestNoArrowLeadsUpward(t *testing.T) {
	house := rooms(t)
	for name, r := range house {
		layer := layerOf(house, name)
		if layer < 0 {
			t.Errorf("%s: its folder is not in the list of layers", name)
		}
		for _, imported := range r.imports {
			if layerOf(house, imported) > layer || strings.HasPrefix(imported, "cmd/") {
				t.Errorf("%s imports %s, which is in a higher layer: the layers are %q", name, imported, layers)
			}
		}
	}
}
