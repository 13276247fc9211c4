package house

import (
	"go/parser"
	"path"
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
	for name := range rooms(t) {
		if len(comments[name]) != 1 {
			t.Errorf("%s has %d package comments, in %v; it must have one", name, len(comments[name]), comments[name])
		}
	}
}
