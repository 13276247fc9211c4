package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestFmt(t *testing.T) {
	const loose, canonical = "<root>\n<!-- a -->\n    <b  x='1'/></root>\n", "<root>\n  <!-- a -->\n  <b x='1'/>\n</root>\n"
	dir := write(t, map[string]string{"loose.xml": loose, "good.xml": canonical, "bad.xml": "<root><a></root>"})
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args                      []string
		status                    int
		stdout, stderr, rewritten string
	}{
		{[]string{at("loose.xml")}, exitOK, canonical, "", loose},
		{[]string{at("good.xml"), at("loose.xml"), "--check"}, exitFailed, at("loose.xml") + "\n",
			"canopy: 1 file is not in the canonical layout; `canopy fmt -w` rewrites them\n", loose},
		{[]string{"-w", at("good.xml"), at("loose.xml"), at("bad.xml")}, exitInput, "", "", loose},
		{[]string{"-w", at("good.xml"), at("loose.xml")}, exitOK, at("loose.xml") + "\n", "", canonical},
		{[]string{"--check", at("good.xml"), at("loose.xml")}, exitOK, "", "", canonical},
		{[]string{"-w", "--check", at("good.xml")}, exitInput, "", "", canonical},
		{[]string{"-w", "-"}, exitInput, "", "", canonical},
		{nil, exitInput, "", "", canonical},
	} {
		stdout, stderr, status := canopy(append([]string{"fmt"}, c.args...)...)
		text, err := os.ReadFile(at("loose.xml"))
		if err != nil {
			t.Fatal(err)
		}
		if status != c.status || stdout != c.stdout || status != exitInput && stderr != c.stderr || string(text) != c.rewritten {
			t.Errorf("%v: %d\n%s%s%s", c.args, status, stdout, stderr, text)
		}
	}
}

// The shipped plans are in the canonical layout.
func TestShippedPlansAreCanonical(t *testing.T) {
	for _, pattern := range []string{"../../missions/*.xml", "../../examples/*/*.xml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: no plans (%v)", pattern, err)
		}
		if stdout, stderr, status := canopy(append([]string{"fmt", "--check"}, names...)...); status != exitOK {
			t.Errorf("%s%s", stdout, stderr)
		}
	}
}
