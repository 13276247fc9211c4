package model

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"canopy/diag"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the tables of the vehicles' pages from their metadata")

// tables are the parts of a vehicle's page that its metadata gives.
func tables(v *Vehicle) string {
	var b strings.Builder
	section := func(title, head string) {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n%s|\n", title, head, strings.Repeat("|---", strings.Count(head, "|")-1))
	}
	section("Commands", "| command | unit | default | range | when no task writes it | |")
	for _, c := range v.Commands {
		idle := "default"
		if c.Hold {
			idle = "held"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %v | %s | %s |\n", c.Name, c.Unit, number(c.Default), c.Range, idle, c.Text)
	}
	section("Outputs", "| output | unit | commands on which it depends directly | |")
	for _, o := range v.Outputs {
		direct := ""
		if len(o.Direct) > 0 {
			direct = "`" + strings.Join(o.Direct, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", o.Name, o.Unit, direct, o.Text)
	}
	section("States", "| state | unit | absolute tolerance | range | |")
	for _, s := range v.States {
		if strings.HasPrefix(s.Text, "panel ") && !strings.HasPrefix(s.Text, "panel 0,") {
			continue // the first speaks for all
		}
		name := "`" + s.Name + "`"
		if strings.HasPrefix(s.Text, "panel ") {
			name += fmt.Sprintf(" to `%s%d`", strings.TrimRight(s.Name, "0"), panelCount-1)
		}
		text := strings.Replace(s.Text, "panel 0", "panel", 1)
		fmt.Fprintf(&b, "| %s | %s | %s | %v | %s |\n", name, s.Unit, number(s.AbsTol), s.Range, text)
	}
	section("Parameters", "| parameter | unit | default | range | tag | |")
	for _, p := range v.Parameters {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s to %s | %v | %s |\n",
			p.Name, p.Unit, number(p.Default), number(p.Min), number(p.Max), p.Tag, p.Text)
	}
	return b.String()
}

func number(v float64) string { return diag.Number(v, -1) }

// TestPagesShowMetadata holds the tables of each vehicle's page, all from the first of their headings on, equal to the
// metadata.
func TestPagesShowMetadata(t *testing.T) {
	for _, v := range Vehicles() {
		name := "../../docs/vehicle-" + v.Name + ".md"
		text, err := os.ReadFile(name)
		if err != nil && *rewrite {
			text, err = fmt.Appendf(nil, "# The vehicle %s\n\n%s.\n", v.Name, v.Text), nil
		}
		if err != nil {
			t.Error(err)
			continue
		}
		prose, _, _ := strings.Cut(string(text), "\n## Commands")
		want := strings.TrimRight(prose, "\n") + "\n" + tables(v)
		if *rewrite {
			if err := os.WriteFile(name, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		} else if string(text) != want {
			t.Errorf("%s differs from the metadata: go test ./vehicle/model -rewrite, and review the difference", name)
		}
	}
}
