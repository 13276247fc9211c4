package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/internal/golden"
)

// Scripts of command lines, with what they print. "file NAME" writes a file, "print NAME" prints one, or its
// "begin"; "canopy" runs the commands of its input, one a line, in a folder that also has the missions and the examples. A command may read a file
// by "< NAME" and write one by "> NAME". Lines of standard error begin with "! ", and a status that is not 0 ends the
// answer.
func TestScripts(t *testing.T) {
	golden.Run(t, func() golden.Machine {
		dir := ""
		return func(t *testing.T, d golden.Directive) (answer string) {
			here, err := os.Getwd()
			must(t, err)
			if dir == "" {
				clone(t)
				if dir, err = os.Getwd(); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			defer t.Chdir(here)
			switch d.Name {
			case "file":
				save(t, d.Args[0].Key, d.Input+"\n")
			case "print":
				answer = fileText(t, d.Args[0].Key)
				if len(d.Args) > 1 { // begin: only the first line
					answer, _, _ = strings.Cut(answer, "\n")
				}
			case "canopy":
				answer = typed(t, d.Input)
			default:
				t.Fatalf("%s: there is no directive %s", d.At, d.Name)
			}
			return answer
		}
	}, "testdata/*.txt")
}

// typed runs command lines.
func typed(t *testing.T, lines string) string {
	t.Helper()
	var b strings.Builder
	list := strings.Split(lines, "\n")
	for _, line := range list {
		if len(list) > 1 {
			b.WriteString("$ " + line + "\n")
		}
		var args []string
		redirected := map[string]string{} // by < and >
		words := shellWord.FindAllString(line, -1)
		for i := 0; i < len(words); i++ {
			if words[i] == "<" || words[i] == ">" {
				redirected[words[i]] = words[i+1]
				i++
				continue
			}
			args = append(args, strings.ReplaceAll(words[i], `"`, ""))
		}
		stdout, stderr, status := from(t, redirected["<"], args...)
		if to, saved := redirected[">"]; saved {
			save(t, to, stdout)
		} else {
			b.WriteString(stdout)
		}
		for line := range strings.Lines(stderr) {
			b.WriteString("! " + line)
		}
		if status != exitOK {
			fmt.Fprintf(&b, "status %d\n", status)
		}
	}
	return b.String()
}

// from runs a command line whose standard input is a file; "" is none.
func from(t *testing.T, name string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	if name != "" {
		f, err := os.Open(name)
		must(t, err)
		before := os.Stdin
		os.Stdin = f
		defer func() { os.Stdin = before; _ = f.Close() }()
	}
	return canopy(args...)
}

func save(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.WriteFile(name, []byte(text), 0o666))
}

func fileText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	must(t, err)
	return string(text)
}

// A document is read from the standard input as from its file, and a mission stands for its plan: commands print the
// same.
func TestSameOutput(t *testing.T) {
	clone(t)
	const plan, graph, world = "missions/solar-day.xml", "missions/solar-day.graph.yaml", "examples/11-back-chaining/world.xml"
	save(t, "script.txt", "set critical true\n")
	save(t, "tank.yaml", "vehicle: tank\nstates: {x: {unit: m, derivative: 1}}\n")
	for _, c := range [][2]string{
		{"show " + plan, "show - < " + plan},
		{"show " + graph, "show - < " + graph},
		{"trace " + plan + " script.txt", "trace " + plan + " - < script.txt"},
		{"translate " + plan, "translate - < " + plan},
		{"diff " + plan + " " + graph, "diff - " + graph + " < " + plan},
		{"backchain " + world + " --goal at_hangar", "backchain - --goal at_hangar < " + world},
		{"vehicle tank.yaml", "vehicle - < tank.yaml"},
		{"show " + plan, "show missions/solar-day.yaml"},
		{"show " + plan + " --svg", "show missions/solar-day.yaml --svg"},
		{"trace " + plan + " script.txt", "trace missions/solar-day.yaml script.txt"},
		{"diff " + plan + " " + plan, "diff missions/solar-day.yaml missions/solar-day.yaml"},
	} {
		want, got := typed(t, c[0]), typed(t, c[1])
		want = strings.ReplaceAll(want, world+":", "-:") // the place of a warning
		if got != want || want == "" || strings.Contains(want, "\nstatus ") {
			t.Errorf("%s:\n%s\n%s:\n%s", c[0], want, c[1], got)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
