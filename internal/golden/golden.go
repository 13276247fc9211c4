// Package golden runs golden scripts: texts that state inputs and required outputs. A script is a list of
// directives, each with the answer below it. Any machine that answers the same directives, such as a second engine,
// generated code or a vehicle in flight, can be tested with the same files.
//
//	# What is shown, and why it holds.
//
//	directive key=value key=(value,value)
//	input
//	----
//	answer
//
// The flag -rewrite replaces the answers by the current ones. The format is that of github.com/cockroachdb/datadriven.
package golden

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// Directive is one step of a script.
type Directive struct {
	At    string // its file and line
	Name  string
	Args  []Arg
	Input string
}

// Arg is a word after a directive's name: key, or key=value, or key=(value,value).
type Arg struct {
	Key    string
	Values []string
}

// Value returns the first value of an argument, "" if there is none.
func (d Directive) Value(key string) string {
	for _, a := range d.Args {
		if a.Key == key && len(a.Values) > 0 {
			return a.Values[0]
		}
	}
	return ""
}

// Machine answers the directives of one script.
type Machine func(t *testing.T, d Directive) string

// Run runs each script that matches one of the patterns as a test of its own, with a new machine.
func Run(t *testing.T, fresh func() Machine, patterns ...string) {
	for _, pattern := range patterns {
		paths := scripts(t, pattern)
		for _, name := range slices.Sorted(maps.Keys(paths)) {
			path := paths[name]
			t.Run(name, func(t *testing.T) {
				text, err := os.ReadFile(path)
				if err != nil || !strings.HasPrefix(string(text), "# ") {
					t.Errorf("%s does not open with a comment that states what is shown (%v)", path, err)
				}
				machine := fresh()
				datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
					args := make([]Arg, len(d.CmdArgs))
					for i, a := range d.CmdArgs {
						args[i] = Arg{a.Key, a.Vals}
					}
					return machine(t, Directive{At: d.Pos, Name: d.Cmd, Args: args, Input: d.Input})
				})
			})
		}
	}
}

// Documented checks that a document names each script of a pattern as `name.txt`, and no others.
func Documented(t *testing.T, document, pattern string) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	paths, named := scripts(t, pattern), map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z0-9-]+)\\.txt`").FindAllStringSubmatch(string(text), -1) {
		if named[m[1]] = true; paths[m[1]] == "" {
			t.Errorf("%s names %s.txt, which %s does not match", document, m[1], pattern)
		}
	}
	for name, path := range paths {
		if !named[name] {
			t.Errorf("%s is not named in %s", path, document)
		}
	}
}

// Shown checks that a section of a document, "## " and its heading, is a list whose items each name a script or a test;
// outside its list it has an introduction only. The tests are functions in the files of the patterns.
func Shown(t *testing.T, document, heading string, tests ...string) {
	text := Tests(t, document, tests...)
	_, section, found := strings.Cut(text, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	parts := strings.Split(section, "\n### ")
	if !found || len(parts) < 2 {
		t.Errorf("%s has no section %q with parts", document, heading)
	}
	shown := regexp.MustCompile("\\((`([a-z0-9-]+\\.txt|Test\\w+)`(, )?)+\\)\\s*$")
	for _, part := range parts[1:] {
		title, list, _ := strings.Cut(part, "\n\n")
		for item := range strings.SplitSeq("\n"+strings.TrimSpace(list), "\n* ") {
			if item = strings.Join(strings.Fields(item), " "); item != "" && !shown.MatchString(item) {
				t.Errorf("%s, %s: nothing shows: %s", document, title, item)
			}
		}
	}
}

// Tests checks that each test that a document names as `TestName` is a function in the files of the patterns. It
// returns the document.
func Tests(t *testing.T, document string, tests ...string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	source := ""
	for _, pattern := range tests {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s (%v)", pattern, err)
		}
		for _, file := range files {
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source += string(code)
		}
	}
	for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(text), -1) {
		if !strings.Contains(source, "func "+m[1]+"(") {
			t.Errorf("%s names %s, which does not exist", document, m[1])
		}
	}
	return string(text)
}

// scripts returns the files that match a pattern, by their names without ending.
func scripts(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden scripts in %s (%v)", pattern, err)
	}
	named := map[string]string{}
	for _, path := range paths {
		named[strings.TrimSuffix(filepath.Base(path), ".txt")] = path
	}
	return named
}
