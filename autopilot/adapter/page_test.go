package adapter

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/vehicle/contract"
)

// The checklists in docs/flying-checks.md are those of the tables, row by row.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/flying-checks.md")
	if err != nil {
		t.Fatal(err)
	}
	_, first, _ := strings.Cut(string(text), head)
	_, second, _ := strings.Cut(first, head)
	compareTable(t, first, func(f *firmware) []check { return f.checks })
	compareTable(t, second, func(f *firmware) []check { return f.fences })
}

const head = "| parameter | autopilots | grave | finding |\n|---|---|---|---|\n"

// compareTable compares the table that begins a text with lists of the firmwares.
func compareTable(t *testing.T, text string, checks func(f *firmware) []check) {
	t.Helper()
	var rows []string
	of := map[string][]string{}
	for _, f := range firmwares {
		for _, c := range checks(f) {
			grave := "no"
			if c.grave {
				grave = "yes"
			}
			row := fmt.Sprintf("| `%s` | %%s | %s | %s |", strings.Join(c.names, "` or `"), grave, c.reason)
			if of[row] == nil {
				rows = append(rows, row)
			}
			of[row] = append(of[row], f.name)
		}
	}
	table, _, _ := strings.Cut(text, "\n\n")
	for i, row := range rows {
		rows[i] = fmt.Sprintf(row, strings.Join(of[row], ", "))
	}
	if want := strings.Join(rows, "\n"); table != want {
		t.Errorf("a table of docs/flying-checks.md must be\n%s", want)
	}
}

// Each firmware has a goal for every slot of its contract: what a plan wants is commanded. Those of PX4 have none for the
// payload.
func TestEverySlotIsCommanded(t *testing.T) {
	for _, f := range firmwares {
		for _, c := range contract.Contracts() {
			for i, s := range c.Slots {
				served := slices.ContainsFunc(f.goals, func(g goal) bool { return slices.Contains(g.slots, s.Name) })
				if wanted := i < c.Payload || f.autopilot == 3; c.Name == f.contract && served != wanted {
					t.Errorf("%s has a command for %s: %t", f.name, s.Name, served)
				}
			}
		}
	}
}
