package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// from runs a command line whose standard input is a text.
func from(t *testing.T, text string, args ...string) (stdout, stderr string, status int) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "stdin")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // only read
	old := os.Stdin
	os.Stdin = f
	defer func() { os.Stdin = old }()
	var out, err2 bytes.Buffer
	status = execute(args, &out, &err2)
	return out.String(), err2.String(), status
}

func fileText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every command that reads a document reads it from the standard input as well, with the same result as from its file.
func TestStandardInput(t *testing.T) {
	const plan, graph, world = "../../missions/solar-day.xml", "../../missions/solar-day.graph.yaml", "../../examples/11-back-chaining/world.xml"
	vehicle := write(t, map[string]string{"tank.yaml": "vehicle: tank\nstates: {x: {unit: m, derivative: 1}}\n",
		"script.txt": "set critical true\n", "facts.yaml": "facts: [soc >= 0 and soc <= 1]\n"})
	for _, c := range [][]string{
		{plan, "show", plan},
		{graph, "show", graph, "--dot"},
		{vehicle + "/script.txt", "trace", plan, vehicle + "/script.txt"},
		{plan, "translate", plan},
		{plan, "diff", plan, graph},
		{world, "backchain", world, "--goal", "at_hangar"},
		{vehicle + "/tank.yaml", "vehicle", vehicle + "/tank.yaml"},
	} {
		want, stderr, status := canopy(c[1:]...)
		if status != exitOK {
			t.Fatalf("%v: status %d, %s", c, status, stderr)
		}
		args := strings.Split(strings.ReplaceAll(strings.Join(c[1:], "\x00"), c[0], "-"), "\x00")
		got, stderr, status := from(t, fileText(t, c[0]), args...)
		if status != exitOK || got != want {
			t.Errorf("%v: status %d, %s\n%s\nwant\n%s", args, status, stderr, got, want)
		}
	}
	if _, stderr, status := from(t, "plan: 7\nbattery", "check", "-"); status != exitInput || !strings.Contains(stderr, "-:") {
		t.Errorf("status %d, %s", status, stderr)
	}
}

// A mission is accepted in place of its plan where a plan is shown, traced or compared.
func TestMissionsStandForPlans(t *testing.T) {
	script := filepath.Join(write(t, map[string]string{"script.txt": "set critical true\n"}), "script.txt")
	const plan = "../../missions/solar-day.xml"
	for _, args := range [][]string{{"show", plan}, {"show", plan, "--svg"}, {"trace", plan, script}, {"diff", plan, plan}} {
		want, _, _ := canopy(args...)
		for i := range args {
			if args[i] == plan {
				args[i] = solarDay
			}
		}
		if got, stderr, status := canopy(args...); status != exitOK || got != want || got == "" {
			t.Errorf("%v: status %d, %s\n%s", args, status, stderr, got)
		}
	}
	_, stderr, status := canopy("check", "../../missions/solar-day.graph.yaml")
	if status != exitInput {
		t.Errorf("status %d", status)
	}
	says(t, "a state graph", stderr, "is a state graph; give a plan or a mission")
}

// A mistyped word of the command line is reported with a suggestion, or with the possible words.
func TestSuggestions(t *testing.T) {
	for line, want := range map[string]string{
		"rnu " + solarDay:                                 `did you mean "run"?`,
		"soar":                                            "there are backchain, check",
		"help chekc":                                      `did you mean "check"?`,
		"run --untill 3 " + solarDay:                      "did you mean --until?",
		"compare --perod 3 " + solarDay:                   "did you mean --period?",
		"run " + solarDay + " --set horizn=3":             `did you mean "horizon"?`,
		"run " + solarDay + " --set batery.E_Wh=3":        `did you mean "battery.E_Wh"?`,
		"run " + solarDay + " --set methd=auto":           `did you mean "method"?`,
		"run " + solarDay + " --set method=autoo":         `did you mean "auto"?`,
		"run " + solarDay + " --set horizon":              "write name=value",
		"run " + solarDay + " --until 3q":                 "write seconds, 12h30m",
		"run " + solarDay + " --checkpoint -5":            "a time above 0",
		"compare " + solarDay + " --period 60,0":          "a time above 0",
		"compare " + solarDay + " --budget 1e-400":        "a time above 0",
		"check " + solarDay + " --budget soon":            "write seconds, 12h30m",
		"vehicle solr":                                    `did you mean "solar"?`,
		"vehicle glider":                                  "there are solar, circuit",
		"translate ../../missions/solar-day.xml --to dto": `did you mean "dot"?`,
		"reaction " + solarDay + " --worst visit":         `did you mean "visits"?`,
		"compare " + solarDay + " --repeat x":             `--repeat: "x" is not a whole number`,
		"run " + solarDay + " --report=maybe":             `--report: "maybe" is neither true nor false`,
		"region " + solarDay + " --box hh=0:1,q=0:1":      `did you mean "h"?`,
		"show ../../missions/solar-dya.xml":               `did you mean "solar-day.xml"?`,
		"run ../../missions/solarday.yaml":                `did you mean "solar-day.yaml"?`,
		"monitor ../../missions":                          "give the output folder of `canopy run`",
		"monitor ../../missions/solar-day.xml":            "solar-day.xml: record: not a valid run log",
		"report ../../missions":                           "give the output folder of `canopy run`",
	} {
		_, stderr, status := canopy(strings.Fields(line)...)
		if status != exitInput || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d, %s, want %s", line, status, stderr, want)
		}
	}
}

// The help lists every command, the completion of command lines too.
func TestHelpListsCompletion(t *testing.T) {
	stdout, _, status := canopy("--help")
	if status != exitOK || !strings.Contains(stdout, "\n  completion ") {
		t.Errorf("status %d, %s", status, stdout)
	}
	if stdout, _, status := canopy("completion", "bash"); status != exitOK || !strings.Contains(stdout, "bash completion") {
		t.Errorf("status %d, %.80s", status, stdout)
	}
	if stdout, _, status := canopy(); status != exitOK || !strings.Contains(stdout, "Usage:") {
		t.Errorf("status %d, %.80s", status, stdout)
	}
}
