package sim

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/golden"
	"github.com/canopy-uav/canopy/ode"
)

// TestGolden runs the scripts of testdata: each shows a guarantee of docs/simulation.md. docs/scripts.md describes
// their directives.
func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine { return new(machine).answer }, "testdata/*.txt")
}

// TestGoldenPlain answers the same scripts by the plain finder, which shares no code with the simulator. Left out are
// scripts about the integrator, which it does not have.
func TestGoldenPlain(t *testing.T) {
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		return // the simulator rewrites the scripts
	}
	steps := []string{"bounce", "copy", "chattering-again", "chattering-continues", "chattering-stops", "narrow-hysteresis", "pulse",
		"not-finite-derivative", "steps-collapse", "zeno"}
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if !slices.Contains(steps, strings.TrimSuffix(filepath.Base(path), ".txt")) {
			golden.Run(t, func() golden.Machine { return (&machine{plain: true}).answer }, path)
		}
	}
}

// TestDocumented: docs/simulation.md names each script, and a script or an existing test for each guarantee.
func TestDocumented(t *testing.T) {
	golden.Documented(t, "../docs/simulation.md", "testdata/*.txt")
	golden.Shown(t, "../docs/simulation.md", "Guarantees", "*_test.go", "../ode/*_test.go", "../run/simulated/*_test.go",
		"../run/monitor/*_test.go", "../vehicle/equations/*_test.go")
}

// machine is the state of a golden script.
type machine struct {
	plain      bool // answered by the plain finder; sim only holds the values
	sys        *System
	sim, kept  *Simulator
	names      []string // of the signals: t, states, inputs, indicators
	signals    []float64
	rates      map[int]*expr.Code // of the states that move
	indicators []*expr.Code
	reactions  map[string][]assignment
}

type assignment struct {
	to    string
	value *expr.Code
}

func (m *machine) answer(t *testing.T, d golden.Directive) string {
	switch d.Name {
	case "system":
		if err := m.read(t, d); err != nil {
			return refusal(err)
		}
		return m.stand()
	case "run":
		return m.run(number(t, d, d.Value("until"))) + m.stand()
	case "chatter":
		return crowded(m.run(number(t, d, d.Value("until"))))
	case "count":
		return ends(m.run(number(t, d, d.Value("until")))) + m.stand()
	case "set":
		for _, a := range m.assignments(t, d, d.Input) {
			m.assign(a)
		}
		return m.stand()
	case "restart":
		m.sim.Restart()
		return "ok\n"
	case "copy":
		m.kept = copyOf(t, m.sim)
		return "ok\n"
	case "restore":
		m.sim = copyOf(t, m.kept)
		return m.stand()
	}
	t.Fatalf("%s: unknown directive %q", d.At, d.Name)
	return ""
}

// read reads a system.
func (m *machine) read(t *testing.T, d golden.Directive) error {
	*m = machine{plain: m.plain, rates: map[int]*expr.Code{}, reactions: map[string][]assignment{}}
	var y0, u0 []float64
	var indicators []string
	var watch []Direction
	var later []func() // what reads signals, which must be known
	alarm, sys := math.Inf(1), &System{}
	for line := range strings.Lines(d.Input) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		words := strings.Fields(line)
		before, after, _ := strings.Cut(line, "=")
		_, text, _ := strings.Cut(line, ":")
		state, isRate := strings.CutSuffix(strings.TrimSpace(before), "'")
		switch {
		case len(words) == 0:
		case words[0] == "state":
			sys.States, y0 = append(sys.States, words[1]), append(y0, number(t, d, after))
		case words[0] == "input":
			m.names, u0 = append(m.names, words[1]), append(u0, number(t, d, after))
		case words[0] == "alarm":
			alarm = number(t, d, after)
		case words[0] == "on":
			later = append(later, func() { m.reactions[strings.TrimSuffix(words[1], ":")] = m.assignments(t, d, text) })
		case isRate:
			later = append(later, func() { m.rates[slices.Index(sys.States, state)] = m.compile(t, d, after) })
		default:
			switches := words[0] == "switch"
			if switches {
				words = words[1:]
			}
			direction, ok := map[string]Direction{"rises:": Rising, "falls:": Falling, "crosses:": Either, "watches:": 0}[words[1]]
			if !ok {
				t.Fatalf("%s: %s?", d.At, line)
			}
			indicators, watch = append(indicators, words[0]), append(watch, direction)
			sys.Indicators = append(sys.Indicators, Indicator{Name: words[0], Switches: switches})
			later = append(later, func() { m.indicators = append(m.indicators, m.compile(t, d, text)) })
		}
	}
	sys.Inputs = len(u0)
	m.names = slices.Concat([]string{"t"}, sys.States, m.names, indicators)
	m.signals = make([]float64, len(m.names))
	for _, read := range later {
		read()
	}
	sys.Derivatives = func(at float64, y []float64, d *Discrete, dydt []float64) {
		m.fill(at, y, d)
		clear(dydt)
		for i, code := range m.rates {
			dydt[i] = code.Real(m.signals, nil)
		}
	}
	sys.Zeros = func(at float64, y []float64, d *Discrete, _ []int, g []float64) {
		m.fill(at, y, d)
		for i, code := range m.indicators {
			g[i] = code.Real(m.signals, nil)
		}
	}
	var err error
	if m.sim, err = New(sys, 0, y0, u0, options(t, d)); err != nil {
		return err
	}
	m.sys, m.sim.Alarm = sys, alarm
	for i, w := range watch {
		m.sim.Watch(i, w)
	}
	return nil
}

// options reads the arguments of a system.
func options(t *testing.T, d golden.Directive) Options {
	o := Options{Options: ode.Options{RelTol: 1e-10}}
	if text := d.Value("rtol"); text != "" {
		o.RelTol = number(t, d, text)
	}
	if text := d.Value("maxstep"); text != "" {
		o.MaxStep = number(t, d, text)
	}
	if d.Value("chattering") == "continue" {
		o.Chattering = Continue
	}
	o.MaxIterations, _ = strconv.Atoi(d.Value("iterations"))
	return o
}

// assignments compiles "a = expression; b = expression".
func (m *machine) assignments(t *testing.T, d golden.Directive, text string) (list []assignment) {
	for part := range strings.SplitSeq(text, ";") {
		to, value, _ := strings.Cut(part, "=")
		list = append(list, assignment{strings.TrimSpace(to), m.compile(t, d, value)})
	}
	return list
}

func number(t *testing.T, d golden.Directive, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		t.Fatalf("%s: %v", d.At, err)
	}
	return v
}

// compile compiles an expression over the signals, as numbers without units that are read at once.
func (m *machine) compile(t *testing.T, d golden.Directive, text string) *expr.Code {
	t.Helper()
	e, err := expr.Parse(strings.TrimSpace(text))
	if err != nil {
		t.Fatalf("%s: %q: %v", d.At, text, err)
	}
	slot := func(name string) (int, bool) { i := slices.Index(m.names, name); return i, i >= 0 }
	return expr.NewCompiler(nil, slot).CompileAtOnce(e, expr.Number(expr.AnyUnit))
}

// fill writes the signals: of an indicator its committed side.
func (m *machine) fill(at float64, y []float64, d *Discrete) {
	s := append(append(append(m.signals[:0], at), y...), d.U...)
	for _, above := range d.Above {
		side := 0.0
		if above {
			side = 1
		}
		s = append(s, side)
	}
}

// run advances to a time.
func (m *machine) run(until float64) string {
	var b strings.Builder
	s, f := m.sim, finder(m.sim)
	if m.plain {
		f = &plain{Simulator: s, step: 1. / 1024}
	}
	for s.T < until {
		segment, err := f.Advance(until)
		if err != nil {
			return b.String() + refusal(err)
		}
		if segment.Chatter != nil {
			fmt.Fprintf(&b, "%.3g chattering: %s\n", segment.To, strings.Join(segment.Chatter.Names, ", "))
		}
		if len(segment.Events) == 0 && !segment.Alarm {
			continue
		}
		fmt.Fprintf(&b, "%.6g:", math.Round(segment.To*1e9)/1e9)
		for alarm, round := segment.Alarm, 1; ; alarm, round = false, round+1 {
			changed, err := f.Iterate()
			if err != nil {
				return b.String() + "\n" + refusal(err)
			}
			if len(changed) == 0 && !alarm {
				break
			}
			fmt.Fprintf(&b, " (%d)", round)
			if alarm {
				b.WriteString(" alarm")
				m.react("alarm")
			}
			sign := map[bool]string{false: "-", true: "+"}
			for _, i := range changed {
				fmt.Fprintf(&b, " %s%s", sign[s.Above[i]], m.sys.Indicators[i].Name)
			}
			for _, i := range changed {
				name := m.sys.Indicators[i].Name
				m.react(name)
				m.react(sign[s.Above[i]] + name)
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// refusal writes an error as its kind, its time and the names.
func refusal(err error) string {
	kind, text := "", err.Error()
	at := func(digits int) string {
		_, after, _ := strings.Cut(text, "t = ")
		number, _, _ := strings.Cut(after, " s")
		value, _ := strconv.ParseFloat(number, 64)
		return strconv.FormatFloat(value, 'g', digits, 64)
	}
	names := text[strings.LastIndex(text, ": ")+2:]
	var chatter *ChatterError
	var bad *NotFiniteError
	switch {
	case errors.As(err, &chatter):
		kind, names = "chattering near "+at(3), strings.Join(chatter.Names, ", ")
	case errors.As(err, &bad):
		kind, names = "not finite at "+at(6), bad.Kind+" "+bad.Name
	case errors.Is(err, ErrEventIteration):
		kind = "no end of iterations at " + at(6)
	case errors.Is(err, ErrCrawl):
		kind, names = "steps collapse near "+at(3), strings.Trim(text[strings.LastIndex(text, " ")+1:], `"`)
	default:
		kind, names = "unknown", text
	}
	return "error: " + kind + ": " + names + "\n"
}

// instant matches the line of an instant.
var instant = regexp.MustCompile(`^[^ ]+: \(`)

// crowded leaves out the instants of an answer except the first.
func crowded(answer string) string {
	var kept strings.Builder
	instants := 0
	for line := range strings.Lines(answer) {
		if !instant.MatchString(line) {
			kept.WriteString(line)
		} else if instants++; instants == 1 {
			kept.WriteString(line + "...\n")
		}
	}
	return kept.String()
}

// ends leaves out the instants of an answer except the first and the last, and counts them.
func ends(answer string) string {
	instants := strings.SplitAfter(answer, "\n")
	n := len(instants) - 1
	return fmt.Sprintf("%s...\n%s%d instants\n", instants[0], instants[n-1], n)
}

// react makes the assignments of a name, each with the values of the earlier ones.
func (m *machine) react(name string) {
	for _, a := range m.reactions[name] {
		m.assign(a)
	}
}

func (m *machine) assign(a assignment) {
	s := m.sim
	m.fill(s.T, s.Y, &s.Discrete)
	v := a.value.Real(m.signals, nil)
	if a.to == "alarm" {
		s.Alarm = v
		return
	}
	if i := slices.Index(m.names[1:], a.to); i < len(s.Y) {
		s.Y[i] = v
	} else {
		s.Set(i-len(s.Y), v)
	}
}

// stand writes the time, the states and the sides.
func (m *machine) stand() string {
	var b strings.Builder
	fmt.Fprintf(&b, "t = %.6g", m.sim.T)
	for i, name := range m.sys.States {
		fmt.Fprintf(&b, ", %s = %.6g", name, math.Round(m.sim.Y[i]*1e8)/1e8+0) // no -0
	}
	for i, in := range m.sys.Indicators {
		fmt.Fprintf(&b, ", %s %s", in.Name, map[bool]string{false: "below", true: "above"}[m.sim.Above[i]])
	}
	return b.String() + "\n"
}
