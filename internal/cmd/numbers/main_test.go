package main

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
)

// others counts the numbers of each section that no row measures: they are given, or were measured once against what is
// no more, or by a person. A number that is new on the page gets a row, or is counted here.
var others = map[string]int{
	"# Performance: the cost of a run, and its limits": 13,
	"Against the C program":                            52,
	"Profile":                                          2,
	"The plan and its events":                          6,
	"Growth with the number of states":                 2,
	"Where it is slower":                               25,
	"What cpu_s counts":                                0,
	"Expressions and the tree engine":                  3,
	"Wake-up of a Go program":                          20,
	"Latency of a flight":                              21,
	"Tried and not adopted":                            5,
	"The report in a browser":                          41, // BenchmarkReport of web prints them
	"Commands":                                         0,
}

var hidden = regexp.MustCompile("(?s)```.*?```|`[^`]*`|\\]\\([^)]*\\)")

// Every number of the page is measured or counted, and every row is on the page.
func TestEveryNumberIsKnown(t *testing.T) {
	text, err := os.ReadFile("../../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	rest := string(text)
	for _, r := range rows() {
		if _, err := r.find(string(text)); err != nil {
			t.Error(err)
		}
		rest = r.pattern().ReplaceAllString(rest, "")
	}
	left := map[string]int{}
	for section := range strings.SplitSeq(hidden.ReplaceAllString(rest, ""), "\n## ") {
		title, content, _ := strings.Cut(section, "\n")
		left[title] = len(regexp.MustCompile(number).FindAllString(content, -1))
	}
	if !maps.Equal(left, others) {
		t.Errorf("numbers that no row measures: %#v, want %#v", left, others)
	}
}

// A page without the rows, or no page, is an error.
func TestPageWithoutRows(t *testing.T) {
	empty := t.TempDir() + "/page.md"
	if err := os.WriteFile(empty, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{empty, empty + ".none"} {
		var out strings.Builder
		if err := numbers(page, &out); err == nil || out.Len() > 0 {
			t.Errorf("%s: %v, %q", page, err, out.String())
		}
	}
}

func TestExecute(t *testing.T) {
	t.Setenv("ROUNDS", "3")
	self := os.Args[0] + " -test.run=^$"
	for _, c := range []struct {
		programs []string
		out, err string
	}{
		{[]string{self, self + " -test.v"}, "-test.v\n", ""},
		{[]string{self + " -no-such-flag"}, "", "exit status 2"},
		{[]string{" "}, "", "no program"},
		{nil, "", "no such file"}, // the tests' folder has no page
	} {
		var out strings.Builder
		err := execute(c.programs, &out)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || !strings.Contains(out.String(), c.out) {
			t.Errorf("%q: %v, %s", c.programs, err, out.String())
		}
	}
}
