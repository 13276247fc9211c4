package contract_test

import (
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"canopy/diag"
	"canopy/vehicle/contract"
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

// tables are the parts of docs/contracts.md that the contracts and their libraries give.
func tables(t *testing.T) string {
	var b strings.Builder
	head := func(cells ...string) {
		fmt.Fprintf(&b, "| %s |\n%s|\n", strings.Join(cells, " | "), strings.Repeat("|---", len(cells)))
	}
	for _, c := range contract.Contracts() {
		fmt.Fprintf(&b, "\n## %s\n\nVehicles of this contract are %s.\n\n### Signals of a %s\n\n",
			strings.ToUpper(c.Name[:1])+c.Name[1:], c.Text, c.Name)
		head("signal", "unit or values", "source", "")
		for _, s := range c.Signals {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", s.Name, typed(s.Unit, s.Type, s.Values), s.Source, s.Text)
		}
		fmt.Fprintf(&b, "\n### Slots of a %s\n\n", c.Name)
		head("slot", "unit or values", "default", "range", "")
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
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", s.Name, typed(s.Unit, s.Type, s.Values), none, within, s.Text)
		}
		var l library
		if err := xml.Unmarshal([]byte(c.Library), &l); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n### Actions of a %s\n\n", c.Name)
		head("action", "port", "default", "")
		for _, a := range slices.Concat(l.Models.Actions, l.Models.SubTrees) {
			name := "`" + a.ID + "`"
			if len(a.Ports) == 0 {
				fmt.Fprintf(&b, "| %s | | | |\n", name)
			}
			for _, p := range a.Ports {
				value := "must be given"
				if p.Default != nil {
					value = *p.Default
				}
				fmt.Fprintf(&b, "| %s | `%s` | %s | %s |\n", name, p.Name, value, p.Text)
				name = ""
			}
		}
	}
	return b.String()
}

// The tables of docs/contracts.md are those of the contracts and their libraries.
func TestPage(t *testing.T) {
	const name = "../../docs/contracts.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	prose, _, _ := strings.Cut(string(text), "\n## Plane")
	want := strings.TrimRight(prose, "\n") + "\n" + tables(t)
	if *rewrite {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s differs from the contracts: go test ./vehicle/contract -rewrite, and review the difference", name)
	}
}
