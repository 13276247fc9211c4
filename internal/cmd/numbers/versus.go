package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// versus prints the CPU times of programs that run alternately, for a number of rounds.
func versus(lines []string, rounds int, stdout io.Writer) error {
	programs := make([]program, len(lines))
	for range rounds {
		for i := range programs {
			if err := programs[i].run(strings.Fields(lines[i])); err != nil {
				return fmt.Errorf("%s: %w", lines[i], err)
			}
		}
	}
	fmt.Fprintf(stdout, "%26s %27s\n", "user [ms]", "user and system [ms]")
	fmt.Fprintf(stdout, "%9s %9s %6s %9s %9s %6s\n", "median", "quartiles", "ratio", "median", "quartiles", "ratio")
	for i, p := range programs {
		fmt.Fprintf(stdout, "%s %s  %s\n", ratio(p.user, programs[0].user), ratio(p.both, programs[0].both), lines[i])
	}
	return nil
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

// ratio returns the median, the quartiles and the ratio of medians.
func ratio(times, first []time.Duration) string {
	at := func(list []time.Duration, part float64) float64 {
		return slices.Sorted(slices.Values(list))[int(part*float64(len(list)-1)+0.5)].Seconds() * 1e3
	}
	middle := at(times, 0.5)
	return fmt.Sprintf("%9.1f %4.1f-%4.1f %6.2f", middle, at(times, 0.25), at(times, 0.75), middle/at(first, 0.5))
}
