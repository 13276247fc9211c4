// Command canopy simulates, draws and traces behaviour-tree missions of unmanned aircraft.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"canopy/diag"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1 // a run failed or was interrupted
	exitInput  = 2 // wrong input: nothing was run
)

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// execute runs one command line and returns the exit status.
func execute(args []string, stdout, stderr io.Writer) int {
	root := &cobra.Command{
		Use:   "canopy",
		Short: "Mission management for unmanned aircraft with behaviour trees in continuous time",
		Example: `  canopy run missions/solar-day.yaml          simulate a mission and write a report
  canopy show missions/solar-day.xml          draw a plan
  canopy trace plan.xml script.txt            run a plan against scripted inputs
  canopy vehicle solar                        what a vehicle measures, accepts and assumes`,
		SilenceErrors: true, SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.AddCommand(runCommand(), reportCommand(), showCommand(), traceCommand(), vehicleCommand())
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	var failed *failure
	var list diag.List
	switch {
	case errors.As(err, &failed):
		fmt.Fprintf(stderr, "canopy: %v\n", failed)
		return exitFailed
	case errors.As(err, &list):
		list.Write(stderr, isTerminal(stderr))
		return exitInput
	}
	fmt.Fprintf(stderr, "canopy: %v\n", err)
	if strings.HasPrefix(err.Error(), "unknown command") || strings.Contains(err.Error(), "arg(s)") || strings.Contains(err.Error(), "flag") {
		fmt.Fprintln(stderr, "canopy: `canopy help` lists the commands, `canopy help COMMAND` its arguments")
	}
	return exitInput
}

// failure is the error of work that was begun and did not succeed; every other error of a command is wrong input.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// failed marks an error as a failure; nil stays nil.
func failed(err error) error {
	if err == nil {
		return nil
	}
	return &failure{err}
}

// source reads a file that the user named.
func source(name string) (*diag.Source, error) {
	text, err := os.ReadFile(name)
	return &diag.Source{Name: name, Text: string(text)}, err
}
