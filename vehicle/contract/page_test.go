package contract_test

import (
	"cmp"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the tables of docs/contracts.md from the contracts and the libraries")

// typed returns how a page names the unit or the type of a value.
func typed(unit, typ string, values []string) string {
	switch {
	case typ == contract.Boolean:
		return "true, false"
	case values != nil:
		return "`" + strings.Join(values, "`, `") + "`"
	}
	return unit
}

// library is what a page shows of a library.
type library struct {
	Models struct {
		Actions  []leafType `xml:"Action"`
		SubTrees []leafType `xml:"SubTree"`
	} `xml:"TreeNodesModel"`
}

type leafType struct {
	ID    string `xml:"ID,attr"`
	Ports []struct {
		Name    string  `xml:"name,attr"`
		Default *string `xml:"default,attr"`
		Text    string  `xml:",chardata"`
	} `xml:"input_port"`
}

// table is a table of the page. The first cell of a row says of which contract it is, if not of all of them.
type table struct {
	rows []string
	of   map[string][]string // the contracts of a row
}

func (t *table) add(contract, row string) {
	if t.of == nil {
		t.of = map[string][]string{}
	}
	if t.of[row] == nil {
		t.rows = append(t.rows, row)
	}
	t.of[row] = append(t.of[row], contract)
}

// write writes a table whose rows are sorted by their first cell, in the order in which these occurred first.
func (t *table) write(b *strings.Builder, title string, cells ...string) {
	fmt.Fprintf(b, "\n## %s\n\n| %s |\n%s|\n", title, strings.Join(cells, " | "), strings.Repeat("|---", len(cells)))
	order := map[string]int{}
	first := func(row string) int { return order[strings.Split(row, "|")[0]] }
	for i, row := range t.rows {
		if name := strings.Split(row, "|")[0]; order[name] == 0 {
			order[name] = i + 1
		}
	}
	slices.SortStableFunc(t.rows, func(a, b string) int { return first(a) - first(b) })
	for _, row := range t.rows {
		if len(t.of[row]) < len(contract.Contracts()) {
			row = strings.Replace(row, " |", " ("+strings.Join(t.of[row], ", ")+") |", 1)
		}
		fmt.Fprintf(b, "| %s |\n", row)
	}
}

// tables are the parts of docs/contracts.md that the contracts and their libraries give.
func tables(t *testing.T) string {
	var signals, slots, actions table
	for _, c := range contract.Contracts() {
		for _, s := range c.Signals {
			signals.add(c.Name, fmt.Sprintf("`%s` | %s | %s | %s", s.Name, typed(s.Unit, s.Type, s.Values), s.Source, s.Text))
		}
		for _, s := range c.Slots {
			within, none := fmt.Sprintf("%s to %s", diag.Number(s.Min, -1), diag.Number(s.Max, -1)), "0"
			switch {
			case s.Type == contract.Boolean:
				within, none = "", "false"
			case s.Values != nil:
				within, none = "", s.Values[0]
			case s.Max-s.Max != 0:
				within = "any"
			}
			slots.add(c.Name, fmt.Sprintf("`%s` | %s | %s | %s | %s", s.Name, typed(s.Unit, s.Type, s.Values), none, within, s.Text))
		}
		var l library
		if err := xml.Unmarshal([]byte(c.Library), &l); err != nil {
			t.Fatal(err)
		}
		for _, a := range slices.Concat(l.Models.Actions, l.Models.SubTrees) {
			var ports []string
			for _, p := range a.Ports {
				port := "`" + p.Name + "`"
				if p.Default != nil {
					port += " = " + cmp.Or(*p.Default, "none")
				}
				if p.Text != "time limit" {
					port += " (" + p.Text + ")"
				}
				ports = append(ports, port)
			}
			actions.add(c.Name, fmt.Sprintf("`%s` | %s", a.ID, strings.Join(ports, ", ")))
		}
	}
	var b strings.Builder
	signals.write(&b, "Signals", "signal", "unit or values", "source", "")
	slots.write(&b, "Slots", "slot", "unit or values", "default", "range", "")
	actions.write(&b, "Actions", "action", "ports")
	return b.String()
}

// The tables of docs/contracts.md are those of the contracts and their libraries.
func TestPage(t *testing.T) {
	const name = "../../docs/contracts.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	prose, _, _ := strings.Cut(string(text), "\n## Signals")
	want := strings.TrimRight(prose, "\n") + "\n" + tables(t)
	if *rewrite {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s differs from the contracts: go test ./vehicle/contract -rewrite, and review the difference", name)
	}
}
