package house

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link = regexp.MustCompile(`\[([^\]]*)\]\(([^)\s]+)\)`)
	// declared is the text of a link that names a declaration: `pkg.Name` or `pkg.Type.Member`.
	declared = regexp.MustCompile("^`[a-z]+\\.(?:\\w+\\.)?(\\w+)`$")
	inTree   = regexp.MustCompile(`^(missions|docs|bt|plan)/`)
	written  = regexp.MustCompile(`(?:--out |--script |--scripts |--sarif | > )(\S+)`)
	code     = regexp.MustCompile("(?ms)^```.*?^```")
	fence    = regexp.MustCompile("(?ms)^```sh\n(.*?)^```")
)

// TestLinksResolve follows every relative link; a link from a declaration's name to a Go file requires the declaration
// there.
func TestLinksResolve(t *testing.T) {
	for _, f := range readTree(t, ".md") {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(f.text, ""), -1) {
			target, _, _ := strings.Cut(m[2], "#")
			if target == "" || strings.Contains(target, "://") {
				continue
			}
			target = path.Join(path.Dir(f.path), target)
			if !exists(target) {
				t.Errorf("%s: the link to %s leads nowhere", f.path, m[2])
				continue
			}
			if name := declared.FindStringSubmatch(m[1]); name != nil && strings.HasSuffix(target, ".go") &&
				!slices.Contains(declarations(t, target), name[1]) {
				t.Errorf("%s: %s does not declare %s", f.path, target, m[1])
			}
		}
	}
}

// declarations returns the names of a Go file's top-level declarations, methods and members of types.
func declarations(t *testing.T, name string) []string {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), name, readFile(t, name), 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range tree.Decls {
		if f, ok := d.(*ast.FuncDecl); ok {
			names = append(names, f.Name.Name)
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				names = append(names, n.Name.Name)
			case *ast.ValueSpec:
				for _, id := range n.Names {
					names = append(names, id.Name)
				}
			case *ast.Field:
				for _, id := range n.Names {
					names = append(names, id.Name)
				}
			}
			return true
		})
	}
	return names
}

// TestDependenciesAreExplained compares each section of docs/dependencies.md, whose entries are lines "- `name`: …",
// with the file that requires them.
func TestDependenciesAreExplained(t *testing.T) {
	text := readFile(t, "docs/dependencies.md")
	entry := regexp.MustCompile("(?m)^- `([^`]+)`: \\S")
	explained := map[string][]string{}
	for _, section := range strings.Split(text, "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		for _, m := range entry.FindAllStringSubmatch(body, -1) {
			explained[title] = append(explained[title], m[1])
		}
	}
	var packages []string
	for _, file := range []string{"web/package.json", "internal/mcapcheck/package.json"} {
		var npm struct{ Dependencies, DevDependencies map[string]string }
		if err := json.Unmarshal([]byte(readFile(t, file)), &npm); err != nil {
			t.Fatal(err)
		}
		packages = slices.Concat(packages, sortedKeys(npm.Dependencies), sortedKeys(npm.DevDependencies))
	}
	for title, required := range map[string][]string{
		"Modules": directRequirements(readFile(t, "go.mod")),
		"Tools":   toolModules(readFile(t, "internal/tools/go.mod")),
		"npm":     packages,
	} {
		got := slices.Sorted(slices.Values(explained[title]))
		if slices.Sort(required); !slices.Equal(got, required) {
			t.Errorf("docs/dependencies.md, %s: explains %v, required are %v", title, got, required)
		}
	}
}

// directRequirements returns the modules that a go.mod requires without the mark "// indirect".
func directRequirements(mod string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^(?:require|)\s+(\S+\.\S+) v\S+$`).FindAllStringSubmatch(mod, -1) {
		names = append(names, m[1])
	}
	return names
}

// toolModules returns the commands of a go.mod's tool directives.
func toolModules(mod string) []string {
	var names []string
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+/cmd/\S+)$`).FindAllStringSubmatch(mod, -1) {
		names = append(names, m[1])
	}
	return names
}

// TestIndexIsComplete: docs/README.md links every document beside it.
func TestIndexIsComplete(t *testing.T) {
	index := readFile(t, "docs/README.md")
	for _, f := range readTree(t, ".md") {
		if path.Dir(f.path) == "docs" && path.Base(f.path) != "README.md" && !strings.Contains(index, "]("+path.Base(f.path)+")") {
			t.Errorf("docs/README.md does not link %s", f.path)
		}
	}
}

// TestCitationIsOfTheRelease: CITATION.cff has the version of the newest release notes.
func TestCitationIsOfTheRelease(t *testing.T) {
	notes := regexp.MustCompile(`(?m)^## (\S+)`).FindStringSubmatch(readFile(t, "CHANGELOG.md"))
	cited := regexp.MustCompile(`(?m)^version: (\S+)$`).FindStringSubmatch(readFile(t, "CITATION.cff"))
	if notes == nil || cited == nil || notes[1] != cited[1] {
		t.Errorf("the newest notes are %v, cited is %v", notes, cited)
	}
}

// TestDecisionsHaveNumbers: no two decisions have one number.
func TestDecisionsHaveNumbers(t *testing.T) {
	known := map[string]string{}
	for _, f := range readTree(t, ".md") {
		if path.Dir(f.path) != "docs/decisions" {
			continue
		}
		number, _, _ := strings.Cut(path.Base(f.path), "-")
		if known[number] != "" {
			t.Errorf("%s has the number of %s", f.path, known[number])
		}
		known[number] = f.path
	}
}

// TestCIRunsEveryCheck: every check of the Makefile is part of .ci/run, which begins with README's command.
func TestCIRunsEveryCheck(t *testing.T) {
	ci := readFile(t, ".ci/run")
	for _, step := range []string{`eval "$second"`, "for target in lint web race long robust;", "make check"} {
		if !strings.Contains(ci, step) {
			t.Errorf(".ci/run has no step %s", step)
		}
	}
	block := fence.FindStringSubmatch(readFile(t, "README.md"))
	if block == nil || strings.Split(block[1], "\n")[1] != "make test" {
		t.Error("the second command of README.md is not make test")
	}
}

// TestLongRunsWhatShortShortens: make long finds tests in each folder whose tests ask for -short, directly, by
// trees.Count, by a function of their own, or in TestMain.
func TestLongRunsWhatShortShortens(t *testing.T) {
	if !strings.Contains(readFile(t, "Makefile"), "awk -f internal/tools/shortened.awk") {
		t.Fatal("make long does not use internal/tools/shortened.awk")
	}
	args := []string{"-f", "internal/tools/shortened.awk"}
	asking := map[string]bool{}
	for _, f := range readTree(t, "_test.go") {
		args = append(args, f.path)
		for _, question := range []string{"testing." + "Short()", "trees." + "Count("} {
			if strings.Contains(f.text, question) {
				asking[path.Dir(f.path)] = true
			}
		}
	}
	c := exec.Command("awk", args...)
	c.Dir = filepath.Join("..", "..")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	list := string(out)
	for dir := range asking {
		if !strings.Contains("\n"+list, "\n"+dir+" Test") {
			t.Errorf("make long runs no test of %s", dir)
		}
	}
	for _, test := range []string{"bt TestRandom", "cmd/canopy TestPapers", "internal/oracle TestTickingConverges",
		"expr TestStringParsesToTheSameTree"} {
		if !strings.Contains(list, test+"\n") {
			t.Errorf("make long does not run %s", test)
		}
	}
	if strings.Contains(list, "internal/house ") {
		t.Error("make long runs tests that -short does not shorten")
	}
}

// TestDocumentedCommandsExist reads the shell blocks of every document: each `make` has its target, each `canopy` has
// its command's file, each file of the repository that it names exists, and its output files are in out/.
func TestDocumentedCommandsExist(t *testing.T) {
	makefile := readFile(t, "Makefile")
	for _, f := range readTree(t, ".md") {
		for _, block := range fence.FindAllStringSubmatch(f.text, -1) {
			for _, line := range strings.FieldsFunc(block[1], func(r rune) bool { return r == '\n' || r == '|' }) {
				words := strings.Fields(strings.Replace(line, "go run ./cmd/canopy", "canopy", 1))
				switch {
				case len(words) < 2:
				case words[0] == "make":
					if target := words[1]; !strings.Contains(makefile, "\n"+target+":") {
						t.Errorf("%s: the Makefile has no target %s", f.path, target)
					}
				case words[0] == "canopy":
					if !exists("cmd/canopy/" + words[1] + ".go") {
						t.Errorf("%s: cmd/canopy has no file for the command %s", f.path, words[1])
					}
				}
				for _, m := range written.FindAllStringSubmatch(line, -1) {
					if !strings.HasPrefix(m[1], "out/") {
						t.Errorf("%s: a command writes %s, which git does not ignore; write into out/", f.path, m[1])
					}
				}
				for _, word := range words {
					if inTree.MatchString(word) && !exists(word) {
						t.Errorf("%s: a command names %s, which does not exist", f.path, word)
					}
				}
			}
		}
	}
}
