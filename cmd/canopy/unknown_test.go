package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A proof holds whatever is lost and when, a refutation has a script, and a run tells what was unknown.
func TestUnknownSources(t *testing.T) {
	mission, err := filepath.Abs("../../examples/25-unknown/survey.yaml")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	out, _, status := canopy("check", mission, "--scripts", "s", "--sarif", "s.json")
	for _, want := range []string{
		"sources                lost and found at any instant, in all answers: h, soc",
		"holds in every state: scan -> known(h)", "does not hold in every state: scan -> known(soc)",
		"known.h != 0 and known.soc = 0 and h in [100, 150) and t - stamp.soc < 60", "no task changes known.h, known.soc",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if status != exitRefute {
		t.Errorf("status %d", status)
	}
	for name, want := range map[string]string{"s/always-1.txt": "at any instant: h, soc\n", "s.json": "\"h\",\n"} {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %s", name, err, text)
		}
	}
	if out, _, _ := canopy("check", mission, "--json"); strings.Count(out, `"sources": [`) != strings.Count(out, `"question"`) {
		t.Errorf("sources of each finding in JSON:\n%s", out)
	}
	if out, stderr, _ := canopy("trace", filepath.Join(filepath.Dir(mission), "survey.xml"), "s/always-1.txt"); out == "" {
		t.Errorf("the script is not replayed: %s", stderr)
	}
	if _, stderr, status := canopy("run", mission, "--report=false"); status != exitRefute { // the same property
		t.Errorf("status %d: %s", status, stderr)
	}
	for at, want := range map[string]string{
		"101": "because h < 100 [m] (h = 150 m)\n  while these are unknown: h\n",
		"131": "because not (h < 100 [m]) (h = 188.843 m)\n",
	} {
		if out, _, _ := canopy("why", "out/survey", "climb", at); !strings.HasSuffix(out, want) {
			t.Errorf("at %s s:\n%s", at, out)
		}
	}
}
