package main

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
)

// The command and the flag print one line; a build in a clone has its commit, and only a build with changes says so.
func TestVersion(t *testing.T) {
	for _, test := range []struct {
		build build
		want  string
	}{
		{build{"v0.1.0", "", false, "go1.26.0", "linux/arm64"}, "canopy v0.1.0, go1.26.0 linux/arm64"},
		{build{"v0.1.0", "8d93a5d6", false, "go1.26.0", "linux/arm64"},
			"canopy v0.1.0, commit 8d93a5d6, go1.26.0 linux/arm64"},
		{build{"(devel)", "8d93a5d6", true, "go1.26.0", "linux/arm64"},
			"canopy (devel), commit 8d93a5d6 with changes, go1.26.0 linux/arm64"},
	} {
		if got := test.build.String(); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
	line, stderr, status := canopy("version")
	flag, _, _ := canopy("--version")
	if status != exitOK || stderr != "" || flag != line || line != thisBuild().String()+"\n" {
		t.Errorf("version: status %d, %q, %q; --version: %q", status, line, stderr, flag)
	}
	object, _, _ := canopy("version", "--json")
	var b build
	if err := json.Unmarshal([]byte(object), &b); err != nil || b != thisBuild() || b.Go != runtime.Version() {
		t.Errorf("%v: %s", err, object)
	}
	if _, stderr, status := canopy("version", "all"); status != exitInput ||
		!strings.HasPrefix(stderr, "canopy: \"all\" is one argument too many: write `canopy version`\n") {
		t.Errorf("an argument: status %d, %s", status, stderr)
	}
}
