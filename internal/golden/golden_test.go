package golden_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The scripts of each suite of docs/scripts.md have the format that the page describes, read here from its description
// alone, and use exactly the directives that it lists.
func TestScriptsAreAsDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/scripts.md")
	if err != nil {
		t.Fatal(err)
	}
	suites := regexp.MustCompile("(?m)^\\| [a-z ]+ \\| `([a-z/]+)` \\|.*\\| ([^|]*) \\|$").FindAllStringSubmatch(string(page), -1)
	if len(suites) != 5 {
		t.Fatalf("%d suites on the page", len(suites))
	}
	for _, suite := range suites {
		listed := strings.Split(strings.ReplaceAll(suite[2], "`", ""), ", ")
		used := map[string]bool{}
		paths, err := filepath.Glob("../../" + suite[1] + "/*.txt")
		if err != nil || len(paths) == 0 {
			t.Errorf("no scripts in %s (%v)", suite[1], err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range directives(t, path, string(text)) {
				if used[name] = true; !slices.Contains(listed, name) {
					t.Errorf("%s: the page does not list %s", path, name)
				}
			}
		}
		for _, name := range listed {
			if !used[name] {
				t.Errorf("no script of %s uses %s", suite[1], name)
			}
			if !regexp.MustCompile("(?m)^\\|.*`" + name + "\\b[^|]*` *[,|]").MatchString(strings.Replace(string(page), suite[0], "", 1)) {
				t.Errorf("the page does not describe %s of %s", name, suite[1])
			}
		}
	}
}

// directives returns the names of the directives of a script.
func directives(t *testing.T, path, text string) (names []string) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if !strings.HasPrefix(text, "# ") {
		t.Errorf("%s does not begin with a comment", path)
	}
	for i := 0; i < len(lines); i++ {
		if lines[i] == "" || strings.HasPrefix(lines[i], "#") {
			continue
		}
		names = append(names, strings.Fields(lines[i])[0])
		for i++; i < len(lines) && lines[i] != "----"; i++ {
		}
		if i == len(lines) {
			t.Errorf("%s: %s has no answer", path, names[len(names)-1])
			break
		}
		if i+1 < len(lines) && lines[i+1] == "----" {
			for i += 2; i+1 < len(lines) && (lines[i] != "----" || lines[i+1] != "----"); i++ {
			}
			i++
			continue
		}
		for i++; i < len(lines) && lines[i] != ""; i++ {
		}
	}
	return names
}
