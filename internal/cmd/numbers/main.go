// Command numbers prints the numbers of docs/performance.md beside those that it measures, in some minutes. Without
// the C program in C, and without valgrind, it says so for the rows that need them.
//
//	C=.../solarday ROUNDS=60 go run ./internal/cmd/numbers
package main

import (
	"cmp"
	_ "embed" // the rows
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

// tools are the shell functions of the commands in the table.
//
//go:embed measure.sh
var tools string

// table has two lines for each row: the text of the page with # in place of its numbers, and the command that prints
// these, with - for those that are not measured.
//
//go:embed rows.txt
var table string

func main() { os.Exit(execute("docs/performance.md", os.Stdout, os.Stderr)) }

// execute returns the exit status: 1 if a row is not on the page.
func execute(page string, stdout, stderr io.Writer) (status int) {
	text, err := os.ReadFile(page)
	if err != nil {
		fmt.Fprintln(stderr, "numbers:", err)
		return 1
	}
	temp, err := os.MkdirTemp("", "numbers")
	if err != nil {
		fmt.Fprintln(stderr, "numbers:", err)
		return 1
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it has files for this command only
	for _, r := range rows() {
		said, err := r.find(string(text))
		if err != nil {
			fmt.Fprintln(stderr, "numbers:", err)
			status = 1
			continue
		}
		var problem strings.Builder
		c := exec.Command("bash", "-c", tools+r.command)
		c.Env, c.Stderr = append(os.Environ(), "T="+temp), &problem
		now, err := c.Output()
		if err != nil {
			now = append(now, "not measured: "+cmp.Or(problem.String(), err.Error())...)
		}
		fmt.Fprintf(stdout, "%s\n  page  %s\n  now   %s\n", r.text, strings.Join(said, " "),
			strings.Join(strings.Fields(string(now)), " "))
	}
	return status
}

type row struct{ text, command string }

func rows() (list []row) {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	for i := 0; i+1 < len(lines); i += 2 {
		list = append(list, row{lines[i], lines[i+1]})
	}
	return list
}

// number is a number of the page.
const number = `\d(?:[\d,]*\d)?(?:\.\d+)?`

// pattern matches the row on the page, with the numbers as groups.
func (r row) pattern() *regexp.Regexp {
	words := strings.Fields(r.text)
	for i, w := range words {
		words[i] = strings.ReplaceAll(regexp.QuoteMeta(w), "#", "("+number+")")
	}
	return regexp.MustCompile(strings.Join(words, `\s+`))
}

// find returns the numbers of a row on the page, in which the row occurs once.
func (r row) find(page string) ([]string, error) {
	found := r.pattern().FindAllStringSubmatch(page, -1)
	if len(found) != 1 {
		return nil, fmt.Errorf("%d times on the page: %s", len(found), r.text)
	}
	return found[0][1:], nil
}
