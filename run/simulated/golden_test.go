package simulated

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/internal/cart"
	"canopy/internal/golden"
	"canopy/run"
	"canopy/run/record"
)

// TestGolden runs the scripts of testdata, each for a statement of docs/missions.md, with the cart of internal/cart:
// x' = v, where v is a command with the default 0 and gear one that is held. Directives:
//
//	plan [set=(name=value,name=value)]   the body of a plan, then, after a line "---", further keys of the mission;
//	                                     answers what is wrong with them
//	fly [until=5] [brief]                answers status changes `T (ITERATION) NAME: FROM -> TO`, unless brief, events
//	                                     `T KIND: TEXT` and, at the end, the signals and what came of the plan
//
// Instants that are only recorded, events of kind state and time, are left out.
func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine { return new(player).answer }, "testdata/*.txt")
}

// TestDocumented: docs/missions.md names each script.
func TestDocumented(t *testing.T) { golden.Documented(t, "../../docs/missions.md", "testdata/*.txt") }

// player is the state of a golden script, and the recorder of its runs.
type player struct {
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
		var b strings.Builder
		diags.Write(&b, false)
		if m == nil {
			return b.String()
		}
		var err error
		if p.run, err = New(m, run.Continuous{}, until); err != nil {
			t.Fatalf("%s: %v", d.At, err)
		}
		p.header = p.run.Header()
		p.run.Attach(p)
		return b.String()
	case "fly":
		p.log.Reset()
		p.brief = slices.ContainsFunc(d.Args, func(a golden.Arg) bool { return a.Key == "brief" })
		var err error
		for more := true; more && err == nil && p.run.T() < until; {
			more, err = p.run.Step()
		}
		if err != nil {
			fmt.Fprintf(&p.log, "error: %v\n", err)
		}
		fmt.Fprintf(&p.log, "t = %s", seconds(p.run.T()))
		for i, s := range p.header.Signals {
			if s.Name != "T" && s.Name != "nearly" && s.Name != "push" {
				fmt.Fprintf(&p.log, ", %s = %.3g", s.Name, math.Round(p.last[i]*1e7)/1e7+0)
			}
		}
		s := p.run.Summary()
		fmt.Fprintf(&p.log, ", plan %s\n", s.Plan)
		return span.ReplaceAllString(p.log.String(), "within ... s")
	}
	t.Fatalf("%s: unknown directive %q", d.At, d.Name)
	return ""
}

// span is the time that events took up, which is a matter of rounding.
var span = regexp.MustCompile(`within \S+ s`)

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
		fmt.Fprintf(&p.log, "%s %s: %s\n", seconds(e.T), e.Kind, e.Text)
	}
	return nil
}
