package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/canopy-uav/canopy/diag"
)

// evil is what a hostile name holds: an escape sequence that clears a terminal, marks that turn the direction of writing,
// and characters that are not seen.
const evil = "\u202eevil\u2066\u200b\u00ad"

// hostilePlan, hostileMission and hostileVehicle name everything in a hostile way, as far as their readers let them.
const (
	hostilePlan = `<root BTCPP_format="4"><BehaviorTree ID="` + evil + `"><ReactiveFallback name="f` + evil + `">
<Condition name="c` + evil + `" on="x gt 3"/><Action name="a` + evil + `" write="u := 1" done="x gt 5"/></ReactiveFallback></BehaviorTree></root>`
	hostileText    = `"\e[2J\e]0;evil\a\0\u202e\u2066\nforged: line\r\x7f\u009b31m\u200b"`
	hostileMission = "mission: " + hostileText + "\ntext: " + hostileText + `
plan: plan.xml
vehicle: vehicle.yaml
horizon: 20
plots: [{title: ` + hostileText + `, signals: [x, y]}]
signals: {y: {unit: m, value: 2 * x, text: ` + hostileText + `}}
check:
  goal: x > 3
  properties: ["eventually (x >= 3)", "always (x >= 0)"]
`
	hostileVehicle = "vehicle: " + hostileText + "\ntext: " + hostileText + `
parameters: {p: {default: 1, unit: "1", text: ` + hostileText + `}}
commands: {u: {default: 0, unit: m/s, text: ` + hostileText + `}}
states: {x: {unit: m, derivative: u, text: ` + hostileText + `}}
outputs: {z: {unit: m, value: x, text: ` + hostileText + `}}
`
)

// clean fails if a text holds a character that a reader does not see as itself.
func clean(t *testing.T, what, text string) {
	t.Helper()
	for i, line := range strings.Split(text, "\n") {
		if line = strings.ReplaceAll(line, "\t", " "); diag.Visible(line) != line {
			t.Errorf("%s: line %d is %q", what, i+1, line)
		}
		if strings.HasPrefix(line, "forged") {
			t.Errorf("%s: a name made line %d", what, i+1)
		}
	}
}

// For any names, the output of a command and its pictures and pages contain no invisible characters.
func TestHostileNames(t *testing.T) {
	dir := write(t, map[string]string{"plan.xml": hostilePlan, "mission.yaml": hostileMission, "vehicle.yaml": hostileVehicle,
		"script.txt": "set c" + evil + " true\nset c" + evil + " false\nset \x1b[2J true\n", "good.txt": "set c" + evil + " true\n",
		"other.xml": strings.Replace(hostilePlan, "gt 3", "gt 4", 1), "bad.xml": strings.Replace(hostilePlan, "u :=", "\u202eu :=", 1),
		"bad.yaml": "plan: \"\\e\\n\"\nvehicle: \u202esolar\nhorizon: \"\\e[2J\"\n\"\\e\": 3\n", "world.xml": `<root BTCPP_format="4"><TreeNodesModel>
<Condition ID="c` + evil + `" on="x gt 3"/><Action ID="a` + evil + `" post="c` + evil + `"/></TreeNodesModel></root>`})
	at := func(name string) string { return filepath.Join(dir, name) }
	out := at("out")
	for _, args := range [][]string{
		{"show", at("plan.xml")}, {"show", at("plan.xml"), "--svg"}, {"show", at("mission.yaml")},
		{"show", at("plan.xml"), "--desugared"},
		{"show", at("bad.xml")}, {"show", at("bad.yaml")}, {"show", at("none\x1b\u202e.xml")},
		{"trace", at("plan.xml"), at("good.txt")}, {"trace", at("plan.xml"), at("good.txt"), "--count"}, {"trace", at("plan.xml"), at("script.txt")},
		{"vehicle", at("vehicle.yaml")}, {"vehicle", "\x1bsolar"},
		{"check", at("plan.xml")}, {"check", at("mission.yaml")}, {"check", at("mission.yaml"), "--scripts", out}, {"check", at("bad.yaml")},
		{"reaction", at("plan.xml")}, {"reaction", at("mission.yaml")},
		{"diff", at("plan.xml"), at("other.xml")}, {"diff", at("plan.xml"), at("plan.xml")},
		{"translate", at("plan.xml"), "--to", "dot"}, {"translate", at("plan.xml"), "--to", "\x1bdot"},
		{"backchain", at("world.xml"), "--goal", "c" + evil}, {"backchain", at("world.xml"), "--goal", "\x1b"},
		{"run", at("mission.yaml"), "--out", out}, {"run", at("mission.yaml"), "--out", out, "--set", "\x1b=3"},
		{"run", at("mission.yaml"), "--\x1bout", out}, {"run", at("mission.yaml"), "--until", "\x1b"},
		{"why", out, "a" + evil}, {"why", out, "c" + evil}, {"why", out, "\x1b"}, {"why", out, "a" + evil, "\x1b"},
		{"report", out}, {"report", at("none\x1b")}, {"monitor", at("mission.yaml")}, {"monitor", out}, {"monitor", out, "--property", "always {\x1b}"},
		{"compare", at("mission.yaml"), "--repeat", "1", "--period", "1"},
		{"region", at("mission.yaml"), "--box", "x=0:4,y=0:1"}, {"\x1brun"}, {"help", "\x1brun"},
	} {
		stdout, stderr, status := canopy(args...)
		clean(t, strings.Join(args, " "), stdout)
		clean(t, strings.Join(args, " ")+": stderr", stderr)
		if stdout+stderr == "" || status == exitFailed {
			t.Errorf("%q: status %d, %s", args, status, stderr)
		}
	}
	for _, name := range []string{"report.html", "status.csv", "signals.csv"} {
		text := fileText(t, filepath.Join(out, name))
		clean(t, name, text)
		if _, data, found := strings.Cut(text, `<script type="application/json" id="log">`); found { // what the page's script shows
			data, _, _ = strings.Cut(data, "</script>")
			var v any
			must(t, json.Unmarshal([]byte(data), &v))
			walk(v, func(s string) {
				if strings.IndexFunc(s, func(r rune) bool { return unicode.Is(unicode.Cf, r) || unicode.IsControl(r) }) >= 0 {
					t.Errorf("the page shows %q", s)
				}
			})
		}
	}
}

// walk visits every text of a JSON value.
func walk(v any, visit func(string)) {
	switch v := v.(type) {
	case string:
		visit(v)
	case []any:
		for _, e := range v {
			walk(e, visit)
		}
	case map[string]any:
		for k, e := range v {
			visit(k)
			walk(e, visit)
		}
	}
}
