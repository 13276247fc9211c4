package expr

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// The page of the simulation says of each function where it is not smooth, as the table of the functions does.
func TestSwitchesOfFunctions(t *testing.T) {
	text, err := os.ReadFile("../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	where := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| (`+"`"+`\w+`+"`"+`[^|]*) \| ([^|]*) \|`).FindAllStringSubmatch(string(text), -1) {
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[1], -1) {
			where[name[1]] += row[2]
		}
	}
	says := map[breaks]string{smooth: "nowhere", switches: "where branches or pieces meet", poles: "at poles",
		edges: "beyond the ends of their domain", stepwise: "everywhere"}
	for _, f := range functions {
		got := where[f.name]
		if want := says[f.breaks]; got == "" || f.breaks != composed && got != want || f.breaks == composed && !strings.Contains(got, " ") {
			t.Errorf("%s: %q, want %q", f.name, got, want)
		}
	}
}
