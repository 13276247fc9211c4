package house

import (
	"go/parser"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestEveryRoomHasOnePackageComment(t *testing.T) {
	comments := map[string][]string{}
	for _, s := range readSources(t, parser.PackageClauseOnly|parser.ParseComments) {
		if doc := s.ast.Doc.Text(); doc != "" {
			comments[s.room] = append(comments[s.room], s.path)
			want := "Package " + s.ast.Name.Name + " "
			if s.ast.Name.Name == "main" {
				want = "Command " + path.Base(s.room) + " "
			}
			if !strings.HasPrefix(doc, want) {
				t.Errorf("%s: the package comment begins with %q", s.path, want)
			}
		}
	}
	for _, name := range sortedKeys(rooms) {
		if len(comments[name]) != 1 {
			t.Errorf("%s has %d package comments, in %v; it must have one", name, len(comments[name]), comments[name])
		}
	}
}

// TestArchitectureShowsTheTable compares the rooms of docs/architecture.md with the table of rooms, import by import.
func TestArchitectureShowsTheTable(t *testing.T) {
	row := regexp.MustCompile("(?m)^\\| `([a-z0-9/-]+)` \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$")
	shown := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(readFile(t, "docs/architecture.md"), -1) {
		name, imports := m[1], m[3]
		shown[name] = true
		want := strings.Join(sortedKeys(rooms[name].imports), ", ")
		if want == "" {
			want = "-"
		}
		if got := strings.TrimSpace(imports); got != want {
			t.Errorf("docs/architecture.md: %s may import %q, the table of internal/house gives %q", name, got, want)
		}
		if pure := strings.TrimSpace(m[4]) == "none"; pure != rooms[name].pure {
			t.Errorf("docs/architecture.md: the effects of %s are %q, but internal/house has pure: %v",
				name, m[4], rooms[name].pure)
		}
	}
	if got, want := sortedKeys(shown), sortedKeys(rooms); !slices.Equal(got, want) {
		t.Errorf("docs/architecture.md shows the rooms %v, the table of internal/house has %v", got, want)
	}
}
