package main

import (
	"strings"
	"testing"
)

// The examples of exchanges: what is kept gets no command, what is removed leaves first, memory survives, an exchange
// for the same plan shows nothing, and a plan that cannot start does not take over.
func TestExampleOfExchanges(t *testing.T) {
	clone(t)
	trace := func(script string, want int) string {
		out, stderr, status := canopy("trace", "examples/26-hot-swap/north.xml", "examples/26-hot-swap/"+script)
		if status != want {
			t.Errorf("%s: status %d\n%s", script, status, stderr)
		}
		return out + stderr
	}
	out := trace("swap.txt", exitOK)
	for line := range strings.Lines(out) {
		if line[0] > '1' && (strings.Contains(line, "film") || strings.Contains(line, "take_off") || strings.Contains(line, "flight")) {
			t.Errorf("a kept task changes: %s", line)
		}
	}
	says(t, "what is removed leaves first", out, "2 survey_north: Running -> Deactivating\n3 survey_north: Deactivating -> Accept\n"+
		"3 survey_south: Accept -> Activating\n")
	if out := trace("same.txt", exitOK); strings.Contains(out, "\n2 ") {
		t.Errorf("an exchange for the same plan shows something:\n%s", out)
	}
	out = trace("refused.txt", exitFailed)
	says(t, "the old plan goes on", out, "refused.txt:2: the old plan goes on", "2 survey_north: Accept -> Activating")
}

// The example of replays: the same plan gives the same bytes, another one does something else.
func TestExampleOfReplays(t *testing.T) {
	clone(t)
	if _, stderr, status := canopy("fly", "examples/27-replay/visit.yaml", "--link", "fake:plane", "--report=false"); status != exitOK {
		t.Fatal(status, stderr)
	}
	out, stderr, status := canopy("replay", "out/visit", "--out", "out/again", "--report=false")
	if status != exitOK {
		t.Error(status, stderr)
	}
	says(t, "the replay is the same", out, "the same datagrams and the same status.csv")
	out, stderr, status = canopy("replay", "out/visit", "--out", "out/careful", "--plan", "examples/27-replay/careful.xml",
		"--report=false")
	if status != exitOK {
		t.Error(status, stderr)
	}
	says(t, "another plan does something else", out, "return_home        1", "status.csv differs from line")
}
