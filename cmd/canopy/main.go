// Command canopy simulates, draws and traces behaviour-tree missions of unmanned aircraft.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run/control"

	"github.com/spf13/cobra"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1 // a run failed or was interrupted
	exitInput  = 2 // wrong input: nothing was run
	exitRefute = 3 // a property is refuted or violated, the plan failed, or the behaviour of two differs
	exitOpen   = 4 // with --strict: nothing is refuted, but something is not proved without reservation
)

func main() {
	collectLate()
	os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr))
}

// rootCommand returns the program as a command, with all others.
func rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:     "canopy",
		Version: thisBuild().String(),
		Short:   "Mission management for unmanned aircraft with behaviour trees in continuous time",
		Long: `Mission management for unmanned aircraft with behaviour trees in continuous time

The file name "-" means standard input wherever a plan, mission, state graph or script is read.

Exit status of every command: 0 success, 1 started but failed or interrupted, 2 wrong input, 3 a property is
refuted or violated, the plan failed, or the behaviour of two plans differs, 4 only with --strict: something
is not proved.`,
		Example: `  canopy new first --vehicle circuit   # write a mission that flies, to begin with
  canopy run first.yaml                # simulate it and write a report
  canopy check first.yaml              # prove what its plan does, or show where it does not
  canopy why out/first stay            # explain why a task of the run started or ended
  canopy fly patrol.yaml --link fake:copter   # fly a mission of a copter over MAVLink, first on a fake autopilot`,
		SilenceErrors: true, SilenceUsage: true,
		Args: func(root *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noCommand(root, args[0])
			}
			return nil
		},
		Run: func(root *cobra.Command, _ []string) { _ = root.Help() },
	}
	addCommands(root, backchainCommand(), bridgeCommand(), choosesTree(checkCommand()), compareCommand(),
		choosesTree(convertCommand()),
		choosesTree(diffCommand()), exportCommand(), fakeCommand(), flyCommand(), fmtCommand(), fmuCommand(),
		importCommand(), lspCommand(),
		choosesTree(manifestCommand()), monitorCommand(), newCommand(), choosesTree(reactionCommand()), regionCommand(),
		replayCommand(), reportCommand(), verbCommand(control.Resume), runCommand(), schemaCommand(), studioCommand(),
		choosesTree(showCommand()), verbCommand(control.Stop), choosesTree(traceCommand()), translateCommand(),
		uploadCommand(), vehicleCommand(), versionCommand(), watchCommand(), whyCommand())
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetHelpCommand(helpCommand(root))
	root.SetFlagErrorFunc(wrongFlag)
	return root
}

// execute runs one command line and returns the exit status.
func execute(args []string, stdout, stderr io.Writer) int {
	documents, mainTree = map[string][]byte{}, ""
	root := rootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.InitDefaultCompletionCmd() // it writes to what is set
	err := root.Execute()
	if err == nil {
		return exitOK
	}
	var failed *failure
	var list diag.List
	switch {
	case errors.Is(err, errRefuted):
		return exitRefute
	case errors.Is(err, errOpen):
		return exitOpen
	case errors.As(err, &failed):
		say(stderr, failed)
		return exitFailed
	case errors.As(err, &list):
		list.Write(stderr, colour(stderr))
		return exitInput
	}
	say(stderr, err)
	if used, _, e := root.Find(args); e != nil || errors.As(err, new(*usageError)) {
		fmt.Fprintf(stderr, "canopy: see `%s --help`\n", used.CommandPath())
	}
	return exitInput
}

// say prints an error with all its lines visible.
func say(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "canopy: %s\n", diag.VisibleLines(diag.OfFile(err)))
}

// helpCommand is the help command of the library, except that an unknown command is an error.
func helpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Help on any command",
		Args:  cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			about, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return noCommand(root, strings.Join(args, " "))
			}
			return about.Help()
		},
	}
}

// usageError reports a command line with wrong arguments or flags.
type usageError struct{ text string }

func (u *usageError) Error() string { return u.text }

// arguments checks the arguments against those named in the command's Use line. The last is optional if in brackets.
func arguments(cmd *cobra.Command, args []string) error {
	wanted := strings.Fields(cmd.Use)[1:]
	least := len(wanted)
	if least > 0 && strings.HasPrefix(wanted[least-1], "[") {
		least--
	}
	if least <= len(args) && len(args) <= len(wanted) {
		return nil
	}
	text := fmt.Sprintf(": write `%s`", strings.Join(append([]string{cmd.CommandPath()}, wanted...), " "))
	if len(args) < least {
		return &usageError{wanted[len(args)] + " is missing" + text}
	}
	return &usageError{fmt.Sprintf("%q is one argument too many", args[len(wanted)]) + text}
}

// failure is the error of work that started and did not succeed; every other error of a command is wrong input.
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
