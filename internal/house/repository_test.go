package house

import (
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFilesStayUnder800Lines(t *testing.T) {
	for _, f := range readTree(t, ".go", ".ts", ".tsx", ".mjs", ".js", ".css", ".html") {
		if lines := strings.Count(f.text, "\n"); lines >= 800 && !strings.Contains(f.path, "testdata/") {
			t.Errorf("%s has %d lines: split the file or the room", f.path, lines)
		}
	}
}

// TestNoTextOutOfPlace searches all our own text for words that never belong in it. Some letters of the expressions are
// written as classes so that the expressions do not match themselves.
func TestNoTextOutOfPlace(t *testing.T) {
	tests := []struct {
		what, expression string
		suffixes         []string // none: every file
	}{
		{"a machine path", `(^|[\s"'(=:])/(work|farm|root|tmp|home)/[\w.]`, nil},
		{"a package registry's host", `\b(prox[y]|sum)\.golang\.org|registr[y]\.npmjs\.|de[b]\.debian\.org`, nil},
		{"unfinished work", `\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b|[nN]ot implemente[d]|\bunimplemente[d]`, nil},
		{"a test that sleeps", `\btime\.(Sleep|After|Tick)\(`, []string{"_test.go"}},
		{"spaces at the end of a line", `(?m)[ \t]+$`, []string{".go", ".md", ".yml", ".yaml", ".xml", "file", "run"}},
	}
	for _, test := range tests {
		pattern := regexp.MustCompile(test.expression)
		for _, f := range readTree(t, test.suffixes...) {
			if isForeign(f.path) || strings.Contains(f.path, "testdata/") && test.suffixes != nil {
				continue
			}
			for _, at := range pattern.FindAllStringIndex(f.text, -1) {
				t.Errorf("%s:%d: %s: %q", f.path, lineOf(f.text, at[0]), test.what, f.text[at[0]:at[1]])
			}
		}
	}
}

// TestFuzzFunctionsHaveCorpora: the inputs that fuzzing found are kept, so that every test run repeats them.
func TestFuzzFunctionsHaveCorpora(t *testing.T) {
	function := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(`)
	for _, f := range readTree(t, "_test.go") {
		for _, m := range function.FindAllStringSubmatch(f.text, -1) {
			if dir := path.Join(path.Dir(f.path), "testdata", "fuzz", m[1]); !exists(dir) {
				t.Errorf("%s: %s has no corpus in %s", f.path, m[1], dir)
			}
		}
	}
}

// TestLinesOfDocumentsAreShort: at most 120 characters, except in tables, in blocks of code, and in the changelog, whose
// entries are one line each.
func TestLinesOfDocumentsAreShort(t *testing.T) {
	for _, f := range readTree(t, ".md") {
		code, number := false, 0
		for line := range strings.Lines(f.text) {
			number++
			if strings.HasPrefix(strings.TrimSpace(line), "```") {
				code = !code
			}
			n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))
			if n > 120 && !code && !strings.HasPrefix(line, "|") && f.path != "CHANGELOG.md" {
				t.Errorf("%s:%d: %d characters", f.path, number, n)
			}
		}
	}
}
