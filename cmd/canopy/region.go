package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"text/tabwriter"

	"github.com/canopy-uav/canopy/analysis/region"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/vehicle/model"

	"github.com/spf13/cobra"
)

// regionFlags are the flags of canopy region.
type regionFlags struct {
	box, start, from, set       []string
	until                       seconds
	task, out                   string
	resolution, refine, workers int
	compose, regression, asJSON bool
}

func regionCommand() *cobra.Command {
	f := regionFlags{until: seconds(math.Inf(1))}
	c := &cobra.Command{
		Use: "region",
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.resolution < 1 || f.resolution > 1024 || f.refine < 0 || f.refine > 8 || f.workers < 1 {
				return &usageError{"--resolution is 1 to 1024, --refine 0 to 8, --workers at least 1"}
			}
			m, err := simulatedMission(args[0], f.set, cmd.ErrOrStderr())
			if err != nil {
				return err
			}
			if _, err := simulated.New(m, run.Continuous{}, float64(f.until)); err != nil { // inconsistent parameters
				return err
			}
			a, err := newAnalysis(m, &f)
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			complete := a.sample(ctx, cmd.ErrOrStderr())
			return failed(a.finish(cmd.OutOrStdout(), complete))
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.box, "box", nil, "initial `ranges` of two states, as in x=0:10,y=0:2")
	flags.StringSliceVar(&f.start, "start", nil, "initial `values` of other states, as in z=5")
	flags.StringArrayVar(&f.from, "from", nil, "draw the trajectory from this `start`, as in x=1,y=2; may be repeated")
	flags.Var(&f.until, "until", "end each run at this simulated `time` (default the mission's horizon)")
	flags.StringVar(&f.task, "task", "", "sample the task with this `name` instead of the whole plan")
	flags.BoolVar(&f.compose, "compose", false, "compare the plan with its first child and the others")
	flags.BoolVar(&f.regression, "regression", false, "treat the plan as a list of rules")
	flags.IntVar(&f.resolution, "resolution", 32, "number of cells along each axis, before refinement")
	flags.IntVar(&f.refine, "refine", 3, "maximum number of times that a cell is quartered if its corners differ")
	flags.IntVar(&f.workers, "workers", runtime.NumCPU(),
		"number of parallel simulations; the result does not depend on it")
	flags.StringArrayVar(&f.set, "set", nil, "set `name=value`: a parameter of the vehicle, horizon or tolerance")
	flags.StringVar(&f.out, "out", "", "write a picture to this `file` (.svg)")
	flags.BoolVar(&f.asJSON, "json", false, "print as JSON")
	c.MarkFlagsMutuallyExclusive("compose", "regression")
	return c
}

// analysis is one sampling of canopy region.
type analysis struct {
	*regionFlags
	mission *mission.Mission
	task    bt.Task
	space   *region.Space
	grid    *region.Grid
	trials  []*region.Trial // the questions that have trajectories, T0 first
	paths   []region.Start
	result  regionResult
}

// regionResult is the output of canopy region.
type regionResult struct {
	Mission        string             `json:"mission"`
	Task           string             `json:"task"`
	Evidence       string             `json:"evidence"`
	Box            []boxResult        `json:"box"`
	Start          map[string]float64 `json:"start,omitempty"` // states that start at fixed values
	Until          float64            `json:"until_s"`
	Starts         int                `json:"starts"`
	Complete       bool               `json:"complete"`
	Memory         []string           `json:"memory"`
	Questions      []questionResult   `json:"questions"`
	Statements     []region.Claim     `json:"statements,omitempty"`
	Counterexample *counterexample    `json:"counterexample,omitempty"`
}

type boxResult struct {
	State string  `json:"state"`
	Unit  string  `json:"unit"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

type questionResult struct {
	Name     string           `json:"name"`
	Answers  []region.Portion `json:"answers"`
	Boundary float64          `json:"boundary_share"` // of the box, in cells whose corners differ
}

// counterexample is a run that does not succeed although each rule leads to an earlier one.
type counterexample struct {
	Start    region.Start `json:"start"`
	Ended    float64      `json:"ended_s"`
	Switches []begin      `json:"activations"`
}

type begin struct {
	T    float64 `json:"t_s"`
	Task string  `json:"task"`
}

// newAnalysis prepares the sampling that the flags request; every error is wrong input.
func newAnalysis(m *mission.Mission, f *regionFlags) (*analysis, error) {
	if f.out != "" && !strings.EqualFold(filepath.Ext(f.out), ".svg") {
		return nil, &usageError{fmt.Sprintf("--out %s: the file name must end in .svg", f.out)}
	}
	a := &analysis{regionFlags: f, mission: m, space: &region.Space{Until: min(m.Horizon, float64(f.until))}}
	if len(f.box) != 2 {
		return nil, &usageError{"--box takes the ranges of two states, as in --box x=0:10,y=0:2; each other " +
			"state starts at one value, from the mission or --start"}
	}
	taken := map[int]bool{}
	for k, text := range f.box {
		s, err := oneState(m.Vehicle, "--box", text, 2, "give the minimum and the maximum, as in x=0:10", taken)
		if err != nil {
			return nil, err
		}
		v := m.Vehicle.States[s.state]
		box := boxResult{v.Name, v.Unit, s.values[0], s.values[1]}
		a.space.Axes[k] = region.Axis{State: s.state, Name: v.Name, Unit: v.Unit, Least: box.Least, Most: box.Most}
		a.result.Box = append(a.result.Box, box)
	}
	for _, text := range f.start {
		s, err := oneState(m.Vehicle, "--start", text, 1, "give one value, as in z=5", taken)
		if err != nil {
			return nil, err
		}
		a.space.Fixed = append(a.space.Fixed, region.Fixed{State: s.state, Value: s.values[0]})
		if a.result.Start == nil {
			a.result.Start = map[string]float64{}
		}
		a.result.Start[m.Vehicle.States[s.state].Name] = s.values[0]
	}
	for _, text := range f.from {
		start, err := a.parseStart(text)
		if err != nil {
			return nil, err
		}
		a.paths = append(a.paths, start)
	}
	questions, err := a.questions()
	if err != nil {
		return nil, err
	}
	a.grid = region.NewGrid(a.space, questions, f.resolution, f.refine)
	return a, nil
}

// questions returns the questions to answer at every start.
func (a *analysis) questions() ([]region.Question, error) {
	task, err := region.Find(a.mission.Plan, a.regionFlags.task)
	if err != nil {
		return nil, err
	}
	a.task = task
	a.result.Mission, a.result.Task = a.mission.Name, a.mission.Plan.Tree.Name(task)
	a.result.Memory = append([]string{}, region.Memory(a.mission, task)...)
	whole, err := region.Of(a.space, a.mission, task)
	if err != nil {
		return nil, err
	}
	a.trials = []*region.Trial{whole}
	switch {
	case a.compose:
		first, second, err := region.Parts(a.space, a.mission, task)
		if err != nil {
			return nil, err
		}
		a.trials = append(a.trials, first, second)
		return []region.Question{whole, first, second}, nil
	case a.regression:
		rules, err := region.NewRegression(a.space, a.mission, task)
		if err != nil {
			return nil, err
		}
		return []region.Question{whole, rules}, nil
	}
	return []region.Question{whole}, nil
}

// stateValue is a part of a flag: `state=value` or `state=value:value`.
type stateValue struct {
	state  int
	values []float64
}

// stateValues reads the parts of a flag, which are separated by commas. Values are in the state's unit, or have one.
func stateValues(v *model.Vehicle, flag, text string, taken map[int]bool) (list []stateValue, err error) {
	p := expr.NewParser(text, ":")
	for more := true; more && err == nil; more = p.Accept(",") {
		var s stateValue
		s, err = readStateValue(p, v, taken)
		list = append(list, s)
	}
	if mistake := p.End(); err == nil && mistake != nil {
		err = mistake
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", flag, text, err)
	}
	return list, nil
}

// oneState reads a flag with the values of one state, so many; two are a minimum and a maximum.
func oneState(v *model.Vehicle, flag, text string, n int, hint string, taken map[int]bool) (stateValue, error) {
	list, err := stateValues(v, flag, text, taken)
	if err != nil {
		return stateValue{}, err
	}
	if values := list[0].values; len(list) != 1 || len(values) != n || n == 2 && !(values[0] < values[1]) {
		return stateValue{}, fmt.Errorf("%s %s: %s", flag, text, hint)
	}
	return list[0], nil
}

func readStateValue(p *expr.Parser, v *model.Vehicle, taken map[int]bool) (r stateValue, err error) {
	name := p.Next()
	if !name.IsName() || !p.Accept("=") {
		return r, errors.New("write state=value")
	}
	r.state = slices.IndexFunc(v.States, func(s model.State) bool { return s.Name == name.Text })
	switch {
	case r.state < 0:
		var names []string
		for _, s := range v.States {
			names = append(names, s.Name)
		}
		return r, errors.New(unknownWord("state", name.Text, names))
	case taken[r.state]:
		return r, fmt.Errorf("%s is given twice", name.Text)
	}
	taken[r.state] = true
	s := v.States[r.state]
	unit, err := expr.ParseUnit(s.Unit)
	if err != nil {
		return r, err
	}
	for more := true; more; more = p.Accept(":") {
		e, err := p.Expression(unit)
		if err != nil {
			return r, err
		}
		if wrong := e.Check(expr.Real, unit, expr.Scope{}); len(wrong) > 0 {
			return r, wrong[0]
		}
		x, _ := e.Constant()
		if !s.Range.Contains(x) || math.IsInf(x, 0) {
			return r, fmt.Errorf("%g is outside the range of %s, %v", x, s.Name, s.Range)
		}
		r.values = append(r.values, x)
	}
	return r, nil
}

// parseStart reads a start such as x=1,y=2.
func (a *analysis) parseStart(text string) (start region.Start, err error) {
	list, err := stateValues(a.mission.Vehicle, "--from", text, map[int]bool{})
	if err != nil {
		return start, err
	}
	for _, s := range list {
		k := slices.IndexFunc(a.space.Axes[:], func(x region.Axis) bool { return x.State == s.state })
		if k < 0 || len(s.values) != 1 || len(list) != 2 {
			return start, fmt.Errorf("--from %s: give one value for each state of the box", text)
		}
		start[k] = s.values[0]
	}
	return start, nil
}

// sample fills the grid with several simulations in parallel. It reports false if it was interrupted.
func (a *analysis) sample(ctx context.Context, stderr io.Writer) bool {
	bar := newProgress(stderr, 1)
	defer bar.clear()
	return a.grid.Refine(func(starts []region.Start) [][]region.Sample {
		answers := make([][]region.Sample, len(starts))
		var next, done atomic.Int64
		var group sync.WaitGroup
		for w := range a.workers {
			group.Go(func() {
				for i := int(next.Add(1)) - 1; i < len(starts) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
					s := make([]region.Sample, len(a.grid.Questions))
					for k, q := range a.grid.Questions {
						s[k] = q.Sample(starts[i][0], starts[i][1])
					}
					answers[i] = s
					if n := done.Add(1); w == 0 {
						bar.step(float64(n)/float64(len(starts)),
							fmt.Sprintf("of %d starts, %d sampled before", len(starts), a.grid.Len()))
					}
				}
			})
		}
		group.Wait()
		return answers
	})
}

// finish prints and draws the samples.
func (a *analysis) finish(stdout io.Writer, complete bool) error {
	r := &a.result
	r.Evidence, r.Until, r.Starts, r.Complete = "samples, not a proof", a.space.Until, a.grid.Len(), complete
	for k, q := range a.grid.Questions {
		counts, boundary := a.grid.Portions(k)
		r.Questions = append(r.Questions, questionResult{q.Name(), counts, boundary})
	}
	if a.compose {
		r.Statements = a.grid.Lemma(a.mission.Plan.Tree.Kind(a.task))
	}
	if a.regression {
		r.Statements = a.grid.Rules()
		if complete {
			if err := a.counter(); err != nil {
				return err
			}
		}
	}
	err := show(stdout, a.asJSON, r, func(w io.Writer) error {
		var text bytes.Buffer
		err := a.write(&text)
		return errors.Join(err, writeText(w, "", diag.VisibleLines(text.String())))
	})
	if err == nil {
		err = a.draw()
	}
	if err != nil {
		return err
	}
	if !complete {
		return record.ErrInterrupted
	}
	return nil
}

// counter finds the counterexample nearest to the mission's own start.
func (a *analysis) counter() error {
	instance, err := a.mission.Vehicle.New(a.mission.Parameters)
	if err != nil {
		return err
	}
	y := a.mission.Initial(instance)
	start, found := a.grid.Counterexample(region.Start{y[a.space.Axes[0].State], y[a.space.Axes[1].State]})
	if !found {
		return nil
	}
	path := a.trials[0].Path(start[0], start[1])
	c := &counterexample{Start: start, Ended: path.Sample.Time}
	for _, b := range path.Begins {
		c.Switches = append(c.Switches, begin{b.T, b.Name})
	}
	a.result.Counterexample = c
	a.paths = append(a.paths, start)
	return nil
}

// draw writes the picture, a panel for each question.
func (a *analysis) draw() error {
	if a.out == "" {
		return nil
	}
	var panels []region.Panel
	for k, q := range a.grid.Questions {
		p := region.Panel{Title: q.Name(), Grid: a.grid, Question: k}
		if len(a.trials) == len(a.grid.Questions) && len(a.trials) > 1 {
			p.Title = fmt.Sprintf("T%d = %s", k, p.Title)
		}
		if k < len(a.trials) {
			for _, s := range a.paths {
				p.Paths = append(p.Paths, a.trials[k].Path(s[0], s[1]))
			}
		}
		panels = append(panels, p)
	}
	var out bytes.Buffer
	if err := region.Draw(&out, panels); err != nil {
		return err
	}
	return files.Save(a.out, out.Bytes())
}

// at formats an initial state.
func (a *analysis) at(s region.Start) string {
	x, y := a.space.Axes[0].Name, a.space.Axes[1].Name
	return fmt.Sprintf("%s = %s, %s = %s", x, diag.Number(s[0], 6), y, diag.Number(s[1], 6))
}

// write prints the result as text.
func (a *analysis) write(out io.Writer) error {
	r := &a.result
	fmt.Fprintf(out, "%s of %s: %d starts, evidence from samples, not a proof\n", diag.Visible(r.Task),
		diag.Visible(r.Mission), r.Starts)
	for _, b := range r.Box {
		fmt.Fprintf(out, "%s = %s to %s%s, ", b.State, diag.Number(b.Least, -1), diag.Number(b.Most, -1),
			strings.TrimSuffix(" "+b.Unit, " 1"))
	}
	fmt.Fprintf(out, "runs until %s s, %d x %d cells, quartered %d times at boundaries\n", diag.Number(r.Until, -1),
		a.resolution, a.resolution, a.refine)
	if len(r.Memory) > 0 {
		fmt.Fprintf(out, "the plan has memory (%s): regions of starts at which no task was active before\n",
			strings.Join(r.Memory, ", "))
	}
	for k, q := range r.Questions {
		title := q.Name
		if a.compose {
			title = fmt.Sprintf("T%d = %s", k, title)
		}
		fmt.Fprintf(out, "\n%s: shares of the box; a boundary crosses cells with %s %% of its area\n", title,
			diag.Number(100*q.Boundary, 3))
		w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
		for _, c := range q.Answers {
			fmt.Fprintf(w, "  %s\t%.2f %%", c.Text, 100*c.Share)
			switch {
			case k < len(a.trials) && c.Class == region.Attracted:
				fmt.Fprintf(w, "\ttau%d = %s s from %s", k, diag.Number(c.Longest.Time, 6), a.at(c.Longest.Start))
			case c.First.Text != "":
				fmt.Fprintf(w, "\tfirst from %s: %s", a.at(c.First.Start), c.First.Text)
			}
			fmt.Fprintln(w)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
	if len(r.Statements) > 0 {
		fmt.Fprintln(out)
	}
	for _, s := range r.Statements {
		verdict := fmt.Sprintf("seen at all %d starts", s.Starts)
		if !s.Holds {
			verdict = fmt.Sprintf("NOT at %d of %d starts, first %s", s.Against, s.Starts, a.at(s.Example.Start))
		}
		fmt.Fprintf(out, "%s: %s\n", s.Text, verdict)
	}
	if a.regression {
		a.writeVerdict(out)
	}
	return nil
}

// writeVerdict writes the conclusion for a list of rules.
func (a *analysis) writeVerdict(out io.Writer) {
	r := &a.result
	complete, weak, strong, succeeds := r.Statements[0], r.Statements[1], r.Statements[2], r.Statements[3]
	c := r.Counterexample
	switch {
	case !r.Complete:
		fmt.Fprintln(out, "\nInterrupted: no conclusion.")
	case !complete.Holds || !weak.Holds:
		fmt.Fprintln(out, "\nThe rules are not universal: Lemma 1 does not apply.")
	case c != nil:
		fmt.Fprintf(out, "\nCounterexample to Lemma 1 (Example 3): the rules are universal, yet from %s\n"+
			"they have not succeeded after %s s; %d activations:", a.at(c.Start), diag.Number(c.Ended, 6), len(c.Switches))
		for k, b := range c.Switches {
			if k == 12 {
				fmt.Fprint(out, ", ...")
				break
			}
			fmt.Fprintf(out, "%s %s s %s", map[bool]string{true: "", false: ","}[k == 0], diag.Number(b.T, 4), b.Task)
		}
		fmt.Fprintln(out)
	case strong.Holds:
		fmt.Fprintln(out, "\nThe stronger regression property was seen everywhere: it implies success.")
	case succeeds.Holds:
		fmt.Fprintln(out, "\nThe regression properties do not imply success, because Definition 4 is sufficient,\n"+
			"not necessary. Every start succeeded.")
	default:
		fmt.Fprintln(out, "\nThe regression properties do not imply success, and not every start succeeded.")
	}
}
