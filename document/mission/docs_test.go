package mission

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// The example of docs/missions.md is a mission, and uses every key that a mission may have.
func TestDocumentedExample(t *testing.T) {
	page := readPage(t)
	_, rest, _ := strings.Cut(page, "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	open := func(name string) ([]byte, error) {
		if name == "../../missions/example.yaml" {
			return []byte(example), nil
		}
		return os.ReadFile(name)
	}
	if m, diags := Read("../../missions/example.yaml", open, equations.Offers(), nil); m == nil || len(diags) > 0 {
		t.Fatal(diags)
	}
	for _, key := range []string{"mission", "text", "plan", "graph", "vehicle", "horizon", "tolerance", "method", "chattering", "ends_with_plan",
		"environment", "parameters", "initial", "commands", "signals", "record", "check", "plots"} {
		if !regexp.MustCompile(`(?m)^` + key + `:`).MatchString(example) {
			t.Errorf("the example does not show %s", key)
		}
	}
}

// The table of codes on the page is that of the source, and of the codes that come from expressions.
func TestDocumentedCodes(t *testing.T) {
	var want []string
	for _, file := range []string{"read.go", "compile.go", "fence.go", "vehicle.go", "../../syntax/yamldoc/table.go", "../../syntax/yamldoc/yamldoc.go"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?:Code: |Add\(&?\w+, |Unknown\(\w+, )"([a-z0-9-]+)"`).FindAllStringSubmatch(string(text), -1) {
			want = append(want, m[1])
		}
	}
	want = append(want, "unit-mismatch", expr.CodeTask) // found by expr
	slices.Sort(want)
	want = slices.Compact(want)
	var got []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\|").FindAllStringSubmatch(readPage(t), -1) {
		got = append(got, m[1])
	}
	if !slices.Equal(got, want) {
		t.Errorf("the page has the codes\n%v\nthe source\n%v", got, want)
	}
}

func readPage(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/missions.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}
