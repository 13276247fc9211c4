package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/vehicle/model"

	"github.com/spf13/cobra"
)

func uploadCommand() *cobra.Command {
	var to string
	var r reach
	limit := seconds(checkLimit)
	when := "now"
	var asJSON, dry bool
	c := &cobra.Command{
		Use: "upload",
		RunE: func(cmd *cobra.Command, args []string) error {
			if when != "now" && when != "safe" {
				return &usageError{fmt.Sprintf("--when is now or safe, not %q", when)}
			}
			if limit > control.MostLimit {
				return &usageError{fmt.Sprintf("--check-limit is at most %d s", control.MostLimit)}
			}
			if to == "" {
				return &usageError{"--to names the folder of the run, or its address"}
			}
			at, err := r.place(to)
			if err != nil {
				return err
			}
			src, err := source(args[0])
			if err != nil {
				return err
			}
			p, list := plan.ReadFiles(src, nil, readFile)
			if p == nil {
				return list.Err()
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			q := control.Demand{Verb: control.Upload, Name: args[0], Plan: p.Source.Text, Safe: when == "safe", Dry: dry,
				Limit: float64(limit)}
			return send(ctx, to, at, q, cmd.OutOrStdout(), asJSON)
		},
	}
	c.Flags().StringVar(&to, "to", "", "the `folder` of the run, or its address")
	r.flags(c)
	c.Flags().StringVar(&when, "when", when, "`now`, or safe: without interrupting an action")
	c.Flags().Var(&limit, "check-limit", "maximum `time` of the check")
	c.Flags().BoolVar(&dry, "dry-run", false, "compile, check and compare only")
	c.Flags().BoolVar(&asJSON, "json", false, "print each answer as a JSON object")
	return c
}

// send sends a request to a run of a name at a place, and prints the answers.
func send(ctx context.Context, name string, at control.Endpoint, q control.Demand, out io.Writer, asJSON bool) error {
	last, err := follow(ctx, name, "the run has ended", func(tell func(control.Response) error) error {
		return control.Send(at, q, tell)
	}, func(a *control.Response) error {
		if asJSON {
			return printJSON(out, a)
		}
		_, err := io.WriteString(out, answered(a))
		return err
	})
	switch {
	case errors.Is(err, record.ErrInterrupted) && last.Progress == control.Waiting && q.Safe:
		return failed(fmt.Errorf("%w: the exchange is withdrawn unless it has taken place", record.ErrInterrupted))
	case err == nil && (last.Progress == control.Refused || last.Progress == control.Failed):
		return errRefuted
	}
	return err
}

// follow shows what a run tells, which receive passes on, until there is no more, and returns the last of it. The
// context ends that with [record.ErrInterrupted]. The error of a run that ends before says so, as given.
func follow[T any](ctx context.Context, name, ends string, receive func(tell func(T) error) error,
	show func(*T) error,
) (last T, err error) {
	told, ended := make(chan T), make(chan error, 1)
	go func() {
		ended <- receive(func(x T) error {
			select {
			case told <- x:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	for {
		select {
		case <-ctx.Done():
			return last, failed(record.ErrInterrupted)
		case last = <-told:
			if err := show(&last); err != nil {
				return last, failed(err)
			}
		case err := <-ended:
			switch {
			case err == nil:
				return last, nil
			case errors.Is(err, control.ErrNoRun), errors.Is(err, control.ErrUnreached), errors.Is(err, control.ErrRefused):
				return last, fmt.Errorf("%s: %w", name, err)
			}
			return last, failed(fmt.Errorf("%s: %s: %w", name, ends, err))
		}
	}
}

// answered returns an answer as text.
func answered(a *control.Response) string {
	var b strings.Builder
	fmt.Fprintf(&b, "t = %s s: %s\n", diag.Number(a.T, 9), a.Progress)
	if text := strings.TrimSpace(a.Text); text != "" {
		fmt.Fprintf(&b, "%s\n", diag.VisibleLines(text))
	}
	for _, text := range a.Open {
		fmt.Fprintf(&b, verdictOpen+": %s\n", diag.Visible(text))
	}
	if a.Progress == control.Checking {
		fmt.Fprintf(&b, "the check takes at most %s s; the present plan goes on meanwhile\n", diag.Number(a.Limit, 6))
	}
	if len(a.Waiting) > 0 {
		fmt.Fprintf(&b, "waits for the end of %s\n", diag.Visible(strings.Join(a.Waiting, ", ")))
		return b.String()
	}
	if a.Kept > 0 || len(a.Removed)+len(a.Added) > 0 {
		fmt.Fprintf(&b, "tasks kept: %d\n", a.Kept)
	}
	for _, list := range []struct {
		what  string
		names []string
	}{{"removed", a.Removed}, {"new", a.Added}} {
		if len(list.names) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", list.what, diag.Visible(strings.Join(list.names, ", ")))
		}
	}
	return b.String()
}

// checkLimit is the time that the check of an uploaded plan may take, unless the request says otherwise [s].
const checkLimit = 10

// checked checks a mission with a new plan, as canopy check does, for a limited time [s]. A command that the plan never
// writes keeps its value, if it holds values: no reason to refuse the plan. Nor do notes matter that are about another
// plan and accept nothing.
func checked(ctx context.Context, m *mission.Mission, limit float64) (j control.Review) {
	s, err := provable(m)
	if err != nil {
		s = m.Subject()
	}
	s = s.FromAnywhere() // it takes over in flight
	s.Commands = slices.DeleteFunc(slices.Clone(s.Commands), func(name string) bool {
		return slices.ContainsFunc(m.Vehicle.Commands, func(c model.Command) bool { return c.Name == name && c.Hold })
	})
	for _, f := range ask(ctx, s, limit, newProgress(io.Discard, 1)) {
		text := f.Question + ": " + f.Text
		switch {
		case f.Accepted != "", f.Text == verify.Idle, f.Verdict == verify.NotAsked && (f.Late || f.Needs != ""):
		case f.Verdict == verify.Refuted:
			j.Refuted = append(j.Refuted, f.Question+": refuted: "+f.Text)
		case f.Verdict != verify.Proved && !slices.Contains(j.Open, text):
			j.Open = append(j.Open, text)
		}
	}
	return j
}

// operated is a simulated run as its operator commands it.
type operated struct {
	*run.Run
	failed error // of the run, by an exchange
}

func (o *operated) Swap(next *mission.Mission, safe bool, _ string) error {
	err := o.Exchange(next, safe)
	if err != nil && !errors.Is(err, run.ErrSwap) {
		o.failed = err
	}
	return err
}

func (o *operated) Command(v control.Verb, _ string) error {
	switch v {
	case control.Stop:
		return o.Stop("stopped by the operator")
	case control.Withdraw:
		return o.Swap(o.Mission(), true, "")
	}
	return fmt.Errorf("there is nothing to %s in a simulation", v)
}

// paced lets a run advance by a number of simulated seconds per second, at most. In between, operators are served.
type paced struct {
	operated
	dir    string
	speed  float64
	server *control.Server
	feed   *control.Feed // nil: nobody can watch
	cancel func()        // interrupts the run
	began  time.Time
	from   float64
}

// wait waits, after a step, until its time has come. The folder of the run exists then.
func (p *paced) wait(ctx context.Context) {
	if p.speed == 0 || p.failed != nil {
		return
	}
	if p.server == nil {
		p.began, p.from = time.Now(), p.T()
		if p.server, p.failed = control.Listen(p.dir, checked, checkLimit, p.feed); p.failed != nil {
			p.cancel()
			return
		}
	}
	due := time.Duration((p.T() - p.from) / p.speed * float64(time.Second))
	p.server.Wait(ctx, time.Until(p.began.Add(due)), p)
}

// close ends the service, and returns why the run failed beside its own steps.
func (p *paced) close() error {
	if p.server != nil {
		p.failed = errors.Join(p.failed, p.server.Close())
	}
	return p.failed
}
