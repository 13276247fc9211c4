// Command workprecision prints the accuracy and the cost of the integrators and of event location on the reference
// problems.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/internal/problems"
	"github.com/canopy-uav/canopy/ode"
)

// Exit statuses.
const (
	exitOK     = 0
	exitFailed = 1 // a run failed
	exitInput  = 2 // wrong command line: nothing was run
)

const usage = `Work and precision: the reference problems with every method at several tolerances.

  go run ./internal/cmd/workprecision [-problem NAME] [-method NAME] [-rtol R] [-events]

`

const columns = `
Columns:
  error     at the end: the largest of |y - exact| / (|exact| + scale), scale being the problem's atol/rtol
  events    found / known to exist
  event [s] the largest error of an event time; of zeno: of the time at which the impacts accumulate
  rhs       evaluations of the right-hand side, those for Jacobians included
  CPU [ms]  the shortest of several runs, events included
  CVODE     evaluations of CVODE: backward differentiation, or Adams formulas if the problem is not stiff
  its error the same for CVODE

With a C compiler and SUNDIALS 6 (on Debian: libsundials-dev), CVODE runs beside; otherwise its numbers are stored ones.
The last line states which. It does not run problems whose events change the states or inputs.

Explicit methods are left out where a problem is stiff, solar72 at 1e-10 unless it is asked for.

Problems:
`

func main() { os.Exit(execute(os.Args[1:], os.Stdout, os.Stderr)) }

// selection is the work that a command line selects.
type selection struct {
	problems []*problems.Problem
	methods  []ode.Method
	rtols    []float64
	events   bool // print these instead of the table
}

// execute runs one command line and returns the exit status.
func execute(args []string, stdout, stderr io.Writer) int {
	s, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(stderr, "workprecision: %v\nworkprecision: see -help\n", err)
		return exitInput
	}
	if err := s.run(stdout); err != nil {
		fmt.Fprintf(stderr, "workprecision: %v\n", err)
		return exitFailed
	}
	return exitOK
}

// parse reads a command line; it prints help on request.
func parse(args []string, help io.Writer) (*selection, error) {
	s := &selection{problems: problems.All(), methods: ode.Methods(), rtols: []float64{1e-4, 1e-6, 1e-8, 1e-10}}
	flags := flag.NewFlagSet("workprecision", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	problem := flags.String("problem", "", "only the problem `NAME`")
	method := flags.String("method", "",
		"only the method `NAME`: "+strings.Join(names(ode.Methods(), ode.Method.String), ", "))
	rtol := flags.Float64("rtol", 0, "only the relative tolerance `R`; the absolute ones are in proportion")
	flags.BoolVar(&s.events, "events", false,
		"print a line \"t index\" per event of the one run, index counting the indicators from 0, instead of\n"+
			"the table. Needs -problem; method auto, tolerance 1e-6 if not given")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(help, usage)
			flags.SetOutput(help)
			flags.PrintDefaults()
			fmt.Fprint(help, columns)
			for _, p := range problems.All() {
				fmt.Fprintf(help, "  %-17s %s\n", p.Name, p.Text)
			}
		}
		return nil, err
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	err := choose("problem", *problem, &s.problems, func(p *problems.Problem) string { return p.Name })
	if err != nil {
		return nil, err
	}
	if s.events {
		if len(s.problems) != 1 {
			return nil, errors.New("-events needs -problem")
		}
		s.rtols = []float64{1e-6}
		if *method == "" {
			*method = ode.Auto.String()
		}
	}
	if err := choose("method", *method, &s.methods, ode.Method.String); err != nil {
		return nil, err
	}
	if *rtol != 0 {
		if !(*rtol > 0 && *rtol < 1) {
			return nil, fmt.Errorf("-rtol %g: a relative tolerance lies between 0 and 1", *rtol)
		}
		s.rtols = []float64{*rtol}
	}
	if p := s.problems[0]; len(s.problems) == 1 && len(s.methods) == 1 && !suits(p, s.methods[0]) {
		return nil, fmt.Errorf("%s is stiff: the explicit method would take too long", p.Name)
	}
	return s, nil
}

// choose leaves the value of a name, if one is given, ignoring case.
func choose[T any](what, name string, values *[]T, nameOf func(T) string) error {
	known, name := names(*values, nameOf), strings.ToLower(name)
	i := slices.Index(known, name)
	switch hint := diag.DidYouMean(name, known); {
	case name == "":
	case i >= 0:
		*values = []T{(*values)[i]}
	case hint == "":
		return fmt.Errorf("unknown %s %q: known are %s", what, name, strings.Join(known, ", "))
	default:
		return fmt.Errorf("unknown %s %q: %s", what, name, hint)
	}
	return nil
}

// names returns the names of values.
func names[T any](values []T, nameOf func(T) string) (list []string) {
	for _, v := range values {
		list = append(list, nameOf(v))
	}
	return list
}

// suits reports whether a method can solve a problem.
func suits(p *problems.Problem, m ode.Method) bool { return m.Stiff() || !p.Stiff }

// run runs the selection, and prints each result when it is complete.
func (s *selection) run(stdout io.Writer) (err error) {
	if s.events {
		r, err := run(s.problems[0], s.methods[0], s.rtols[0])
		if err != nil {
			return err
		}
		for _, e := range r.happened {
			fmt.Fprintf(stdout, "%.12f %d\n", e.T, e.Index)
		}
		return nil
	}
	fmt.Fprintf(stdout, "%-17s %-10s %6s %9s %13s %9s %7s %7s %8s %9s %9s %9s\n", "problem", "method", "rtol", "error",
		"events", "event [s]", "steps", "failed", "rhs", "CPU [ms]", "CVODE", "its error")
	cvode := newPeer()
	defer func() { err = errors.Join(err, cvode.close()) }()
	whole := len(s.problems) > 1 && len(s.rtols) > 1
	for _, p := range s.problems {
		for _, m := range s.methods {
			for _, rtol := range s.rtols {
				if !suits(p, m) || whole && p.Costly && rtol < 1e-8 {
					continue
				}
				r, err := measure(p, m, rtol)
				if err == nil {
					err = r.compare(cvode, p)
				}
				if err != nil {
					return fmt.Errorf("%s, %v, rtol %g: %w", p.Name, m, rtol, err)
				}
				r.print(stdout)
			}
		}
	}
	fmt.Fprint(stdout, cvode.note())
	return nil
}

// print prints one line of the table.
func (r *result) print(w io.Writer) {
	events := "-"
	switch {
	case r.KnownEvents == nil:
		events = fmt.Sprint(r.Events, "/inf")
	case *r.KnownEvents > 0:
		events = fmt.Sprint(r.Events, "/", *r.KnownEvents)
	}
	peer := "-"
	if r.CVODE > 0 {
		peer = fmt.Sprint(map[bool]string{true: ">"}[r.CVODEStopped], r.CVODE)
	}
	fmt.Fprintf(w, "%-17s %-10s %6.0e %9s %13s %9s %7d %7d %8d %9.3f %9s %9s\n", r.Problem, r.Method, r.RelTol,
		number(r.Error), events, number(r.EventError), r.Steps, r.Rejected, r.Evaluations, 1e3*r.CPU, peer,
		number(r.CVODEError))
}

// number formats a number that may be missing for the table.
func number(x *float64) string {
	if x == nil {
		return "-"
	}
	return strconv.FormatFloat(*x, 'e', 1, 64)
}

// measure runs a problem often enough to measure its CPU time.
func measure(p *problems.Problem, m ode.Method, rtol float64) (*result, error) {
	const enough, most = 0.03, 20 // seconds, runs
	var best *result
	total := 0.0
	for n := 0; n < most && (n == 0 || total < enough); n++ {
		r, err := run(p, m, rtol)
		if err != nil {
			return nil, err
		}
		total += r.CPU
		if best == nil || r.CPU < best.CPU {
			best = r
		}
	}
	return best, nil
}
