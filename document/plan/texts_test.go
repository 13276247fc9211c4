package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
)

// Every node of the language is described with its attributes, and nothing else is.
func TestTexts(t *testing.T) {
	used := map[string]bool{}
	for _, e := range Elements() {
		if s := shorthands[e.Name]; s != nil && s.of == foreign || slices.Contains([]string{elementRoot, elementModels}, e.Name) {
			continue
		}
		if used[e.Name] = true; e.Text == "" {
			t.Errorf("<%s> has no text", e.Name)
		}
		for _, a := range e.Attributes {
			used[a.Name], used[e.Name+"."+a.Name], used[strings.TrimRight(a.Name, "123456")] = true, true, true
			if a.Text == "" && (!slices.Contains(editorAttributes, a.Name) && a.Name != "repeat_last_selection") {
				t.Errorf("%s of <%s> has no text", a.Name, e.Name)
			}
		}
		if k, is := bt.ParseKind(e.Name); is && texts[e.Name] != "" && k.Text() != "" {
			t.Errorf("<%s> has two texts", e.Name)
		}
	}
	for name := range texts {
		if !used[name] {
			t.Errorf("%q describes nothing", name)
		}
	}
}
