package main

import (
	"regexp"
	"strings"
	"testing"
)

// docs/runtime-assurance.md claims that the checklist, the table of docs/flying-checks.md, reads every parameter of a row that
// says so, and none of the others.
func TestAssurance(t *testing.T) {
	read := func(name string) string {
		text := fileText(t, "../../docs/"+name)
		return text
	}
	_, checklist, _ := strings.Cut(read("flying-checks.md"), "## Attachment and checklist")
	checklist, _, _ = strings.Cut(checklist, "\n## ")
	_, hazards, _ := strings.Cut(read("runtime-assurance.md"), "| checked by Canopy |\n")
	hazards, _, _ = strings.Cut(hazards, "\n\n")
	parameter, rows := regexp.MustCompile("`([A-Z0-9_]+)`"), 0
	for row := range strings.Lines(hazards) {
		cells := strings.Split(row, "|")
		if strings.HasPrefix(row, "|-") {
			continue
		}
		rows++
		for _, m := range parameter.FindAllStringSubmatch(cells[3], -1) {
			read := strings.Contains(checklist, m[0])
			if yes := strings.TrimSpace(cells[4]) == "yes"; yes != read {
				t.Errorf("%s is checked: %v, but the row is %s", m[1], read, row)
			}
		}
	}
	if rows < 10 {
		t.Errorf("%d rows", rows)
	}
}
