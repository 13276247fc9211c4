package main

import (
	"strings"
	"testing"
)

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
