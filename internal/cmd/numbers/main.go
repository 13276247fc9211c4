// Command numbers prints the numbers of docs/performance.md beside those that it measures, in some minutes. Without
// the C program in C, and without valgrind, it says so for the rows that need them.
//
//	C=.../solarday ROUNDS=60 go run ./internal/cmd/numbers
//
// Of programs it prints the CPU times, as medians with their quartiles and relative to the first:
//
//	ROUNDS=60 go run ./internal/cmd/numbers 'PROGRAM ARGUMENT ...' 'PROGRAM ARGUMENT ...' ...
package main

import (
	"cmp"
	_ "embed" // the rows
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
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

func main() {
	if err := execute(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "numbers:", err)
		os.Exit(1)
	}
}

// execute prints the rows of the page, or the CPU times of programs.
func execute(programs []string, stdout io.Writer) error {
	if len(programs) == 0 {
		return numbers("docs/performance.md", stdout)
	}
	rounds, err := strconv.Atoi(cmp.Or(os.Getenv("ROUNDS"), "15"))
	if err != nil || rounds < 1 {
		return errors.New("ROUNDS is not a number of runs")
	}
	return versus(programs, rounds, stdout)
}

// numbers prints the rows of a page, with the numbers there and those measured now.
func numbers(page string, stdout io.Writer) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp("", "numbers")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it has files for this command only
	var missing error
	for _, r := range rows() {
		said, err := r.find(string(text))
		if err != nil {
			missing = errors.Join(missing, err)
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
	return missing
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
