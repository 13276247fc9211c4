// Command versus compares the CPU times of programs, which it runs alternately.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const usage = `CPU times of programs that run alternately, as medians with their quartiles and relative to the first.

  go run ./internal/cmd/versus [-rounds N] 'PROGRAM ARGUMENT ...' 'PROGRAM ARGUMENT ...' ...

`

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs one command line and returns the exit status: 1 if a program fails, 2 for a wrong command line.
func execute(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("versus", flag.ContinueOnError)
	flags.SetOutput(stderr)
	rounds := flags.Int("rounds", 15, "runs of each program")
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil || flags.NArg() == 0 || *rounds < 1 {
		flags.Usage()
		return 2
	}
	programs := make([]program, flags.NArg())
	for range *rounds {
		for i := range programs {
			if err := programs[i].run(strings.Fields(flags.Arg(i))); err != nil {
				fmt.Fprintf(stderr, "versus: %s: %v\n", flags.Arg(i), err)
				return 1
			}
		}
	}
	fmt.Fprintf(stdout, "%26s %27s\n", "user [ms]", "user and system [ms]")
	fmt.Fprintf(stdout, "%9s %9s %6s %9s %9s %6s\n", "median", "quartiles", "ratio", "median", "quartiles", "ratio")
	for i, p := range programs {
		fmt.Fprintf(stdout, "%s %s  %s\n", row(p.user, programs[0].user), row(p.both, programs[0].both), flags.Arg(i))
	}
	return 0
}

// program has the CPU times of the runs of a program.
type program struct{ user, both []time.Duration }

func (p *program) run(words []string) error {
	if len(words) == 0 {
		return errors.New("no program")
	}
	c := exec.Command(words[0], words[1:]...)
	if err := c.Run(); err != nil {
		return err
	}
	user := c.ProcessState.UserTime()
	p.user, p.both = append(p.user, user), append(p.both, user+c.ProcessState.SystemTime())
	return nil
}

// row returns the median, the quartiles and the ratio of medians.
func row(times, first []time.Duration) string {
	at := func(list []time.Duration, part float64) float64 {
		return slices.Sorted(slices.Values(list))[int(part*float64(len(list)-1)+0.5)].Seconds() * 1e3
	}
	middle := at(times, 0.5)
	return fmt.Sprintf("%9.1f %4.1f-%4.1f %6.2f", middle, at(times, 0.25), at(times, 0.75), middle/at(first, 0.5))
}
