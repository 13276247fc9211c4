// Command numbers prints the numbers of docs/performance.md beside those that it measures, in some minutes. Without
// the C program in C, and without valgrind, it says so for the rows that need them. With programs as arguments, it
// prints their CPU times.
package main

import (
	"cmp"
	_ "embed" // the rows
	"errors"
	"flag"
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

const (
	page  = "docs/performance.md"
	usage = `The numbers of ` + page + ` beside those measured now; or the CPU times of programs that run alternately,
as medians with their quartiles and relative to the first.

  C=.../solarday ROUNDS=60 go run ./internal/cmd/numbers
  go run ./internal/cmd/numbers [-rounds N] 'PROGRAM ARGUMENT ...' 'PROGRAM ARGUMENT ...' ...

`
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs one command line and returns the exit status: 1 if a row is not on the page or a program fails, 2 for a
// wrong command line.
func execute(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("numbers", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rounds := flags.Int("rounds", 15, "runs of each program")
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err == nil && *rounds < 1:
		flags.Usage()
		return 2
	case err != nil:
		return 2
	case flags.NArg() > 0:
		err = versus(flags.Args(), *rounds, stdout)
	default:
		err = numbers(page, stdout)
	}
	if err != nil {
		fmt.Fprintln(stderr, "numbers:", err)
		return 1
	}
	return 0
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
