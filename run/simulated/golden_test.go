package simulated

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/sim"
	"github.com/canopy-uav/canopy/snapshot"
)

// TestGolden runs the scripts of testdata: each shows a statement of docs/missions.md, those of the folder cart more of it.
// docs/scripts.md describes their directives, and the cart that they fly.
func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine { return new(player).answer }, "testdata/*.txt", "testdata/cart/*.txt")
}

func TestHysteresisBehindAGuard(t *testing.T) {
	golden.Run(t, func() golden.Machine { return new(player).answer }, "testdata/cart/guarded.txt")
}

// TestGoldenRestored answers the same scripts by runs that are saved and continued by another run, after each of the first 200
// steps and after each 97th later on.
func TestGoldenRestored(t *testing.T) { again(t, player{restored: true}) }

// TestGoldenEquations answers the same scripts by the cart that is written as equations.
func TestGoldenEquations(t *testing.T) { again(t, player{equations: true}) }

func again(t *testing.T, p player) {
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		return // the first player rewrites the scripts
	}
	golden.Run(t, func() golden.Machine { fresh := p; return fresh.answer }, "testdata/*.txt", "testdata/cart/*.txt")
}

// TestDocumented: docs/missions.md names each script.
func TestDocumented(t *testing.T) { golden.Documented(t, "../../docs/missions.md", "testdata/*.txt") }

// player is the state of a golden script, and the recorder of its runs.
type player struct {
	record.Nothing
	restored, equations bool

	fresh  func() *run.Run
	run    *run.Run
	header record.Header
	last   []float64
	log    strings.Builder
	brief  bool
}

func (p *player) answer(t *testing.T, d golden.Directive) string {
	until := math.Inf(1)
	if text := d.Value("until"); text != "" {
		if _, err := fmt.Sscan(text, &until); err != nil {
			t.Fatalf("%s: %v", d.At, err)
		}
	}
	switch d.Name {
	case "plan":
		var set []string
		for _, a := range d.Args {
			set = append(set, a.Key+"="+strings.Join(a.Values, ""))
		}
		body, yaml, _ := strings.Cut(d.Input+"\n", "---\n")
		m, diags := cart.Read(body, yaml, set...)
		if p.equations {
			head := strings.Replace(cart.Head, "vehicle: cart", "vehicle: cart.vehicle.yaml", 1)
			files := cart.Files{"m/test.yaml": head + yaml, "m/plan.xml": cart.Plan(body), "m/cart.vehicle.yaml": cart.Equations}
			m, diags = mission.Read("m/test.yaml", files.Open, nil, set)
		}
		var b strings.Builder
		for _, d := range diags {
			line, column := d.Position()
			fmt.Fprintf(&b, "%s:%d:%d: %s: %s\n", d.Source.Name, line, column, d.Severity, d.Code)
		}
		if m == nil {
			return b.String()
		}
		p.fresh = func() *run.Run {
			r, err := New(m, run.Continuous{}, math.Inf(1))
			if err != nil {
				t.Fatalf("%s: %v", d.At, err)
			}
			return r
		}
		p.run = p.fresh()
		p.header = p.run.Header()
		p.run.Attach(p)
		return b.String()
	case "fly":
		p.log.Reset()
		p.brief = slices.ContainsFunc(d.Args, func(a golden.Arg) bool { return a.Key == "brief" })
		var err error
		for n, more := 0, true; more && err == nil && p.run.T() < until; n++ {
			if more, err = p.run.Step(); p.restored && err == nil && (n < 200 || n%97 == 0) {
				saved := snapshot.Save(nil, p.run)
				p.run = p.fresh()
				if err := snapshot.Load(saved, p.run); err != nil {
					t.Fatalf("%s: %v", d.At, err)
				}
				p.run.Attach(p)
			}
		}
		if err != nil {
			fmt.Fprintf(&p.log, "error: %s: %s\n", kind(err), p.names(err.Error()))
		}
		fmt.Fprintf(&p.log, "t = %s", seconds(p.run.T()))
		for i, s := range p.header.Signals {
			if s.Name != "T" && s.Name != "nearly" && s.Name != "push" {
				fmt.Fprintf(&p.log, ", %s = %.3g", s.Name, math.Round(p.last[i]*1e7)/1e7+0)
			}
		}
		s := p.run.Summary()
		fmt.Fprintf(&p.log, ", plan %s\n", s.Plan)
		return p.log.String()
	}
	t.Fatalf("%s: unknown directive %q", d.At, d.Name)
	return ""
}

// kind is the kind of an error of a run.
func kind(err error) string {
	var chatter *sim.ChatterError
	var bad *sim.NotFiniteError
	switch {
	case errors.As(err, &chatter), errors.Is(err, run.ErrStorm):
		return "chattering"
	case errors.As(err, &bad):
		return "not finite"
	case errors.Is(err, executive.ErrUnsettled):
		return "unsettled"
	case errors.Is(err, executive.ErrUnset):
		return "unset"
	case errors.Is(err, executive.ErrDuration):
		return "duration"
	}
	return "unknown: " + err.Error()
}

// names returns the relations, tasks and signals that a message names: its wording is for people.
func (p *player) names(text string) string {
	words := []string{`\S+ [<>]=? \S+ \[\S+\]`}
	for _, task := range p.header.Tasks {
		words = append(words, `\b`+regexp.QuoteMeta(task.Name)+`\b`)
	}
	for _, s := range p.header.Signals {
		words = append(words, `\b`+regexp.QuoteMeta(s.Name)+`\b`)
	}
	var found []string
	for _, name := range regexp.MustCompile(strings.Join(words, "|")).FindAllString(text, -1) {
		if !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return strings.Join(found, ", ")
}

func seconds(t float64) string { return fmt.Sprintf("%.6g", math.Round(t*1e7)/1e7) }

func (p *player) Sample(_ float64, values []float64) error {
	p.last = append(p.last[:0], values...)
	return nil
}

func (p *player) Status(t float64, micro int, c bt.Change) error {
	if !p.brief {
		fmt.Fprintf(&p.log, "%s (%d) %s: %s -> %s\n", seconds(t), micro, p.header.Tasks[c.Task].Name, c.From, c.To)
	}
	return nil
}

func (p *player) Event(e record.Event) error {
	if e.Kind != "state" && e.Kind != "time" {
		fmt.Fprintf(&p.log, "%s %s: %s\n", seconds(e.T), e.Kind, p.names(e.Text))
	}
	return nil
}
