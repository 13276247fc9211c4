package sim

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"canopy/expr"
	"canopy/internal/golden"
	"canopy/ode"
)

// TestGolden runs the scripts of testdata, each for a guarantee of docs/simulation.md. Directives:
//
//	system [rtol=1e-10] [chattering=continue] [iterations=100]   a system, as below; answers where it stands
//	run until=5                                                  answers each instant and where it stands at the end
//	chatter until=5                                              answers what chatters, and how many instants there were
//	restart                                                      Restart
//	copy, restore                                                keeps a copy; goes back to it
//
// The lines of a system are
//
//	state x = 1             a state and its start
//	input u = 0             an input and its value
//	alarm = 2               the first time event
//	x' = -x + u             a derivative, 0 if there is none
//	g rises: x - 2          an indicator that is watched: `rises`, `falls`, `crosses`; `watches` is not
//	switch g crosses: x - 2 one on whose side the derivatives depend: there `g` is 1 above, 0 below
//	on g: x = -x; u = 2     what is assigned, one after the other, when g changed side; `on +g`, `on -g`: to this side
//	on alarm: alarm = t + 1 and when the alarm was due
//
// An instant is written as its time, then for each event iteration what changed, `+` to above and `-` to below.
func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine { return new(machine).answer }, "testdata/*.txt")
}

// TestDocumented: docs/simulation.md names each script; each of its guarantees names a script or a test, which exists.
func TestDocumented(t *testing.T) {
	golden.Documented(t, "../docs/simulation.md", "testdata/*.txt")
	text, err := os.ReadFile("../docs/simulation.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests []byte
	for _, pattern := range []string{"*_test.go", "../ode/*_test.go", "../run/simulated/*_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no tests in %s (%v)", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests = append(tests, text...)
		}
	}
	for _, m := range regexp.MustCompile("`(Test\\w+)`").FindAllSubmatch(text, -1) {
		if !bytes.Contains(tests, append([]byte("func "), append(m[1], '(')...)) {
			t.Errorf("docs/simulation.md names %s, which does not exist", m[1])
		}
	}
	_, rest, _ := strings.Cut(string(text), "| guarantee |")
	rows := 0
	for line := range strings.Lines(rest) {
		if !strings.HasPrefix(line, "|") && rows > 0 {
			break
		}
		if rows++; !strings.HasPrefix(line, "|---") && !strings.Contains(line, "`Test") && !strings.Contains(line, ".txt`") && rows > 1 {
			t.Errorf("docs/simulation.md: nothing shows: %s", line)
		}
	}
	if rows < 20 {
		t.Errorf("docs/simulation.md has a table of %d rows", rows)
	}
}

// machine is the state of a golden script.
type machine struct {
	sys        *System
	sim, kept  *Simulator
	names      []string // of the signals: t, states, inputs, indicators
	signals    []float64
	rates      []*expr.Code // of the states
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
		m.read(t, d)
		return m.stand()
	case "run":
		until, err := strconv.ParseFloat(d.Value("until"), 64)
		if err != nil {
			t.Fatalf("%s: %v", d.At, err)
		}
		return m.run(until) + m.stand()
	case "chatter":
		until, err := strconv.ParseFloat(d.Value("until"), 64)
		if err != nil {
			t.Fatalf("%s: %v", d.At, err)
		}
		return crowded(m.run(until))
	case "restart":
		m.sim.Restart()
		return "ok\n"
	case "copy":
		m.kept = m.sim.Clone()
		return "ok\n"
	case "restore":
		m.sim.CopyFrom(m.kept)
		return m.stand()
	}
	t.Fatalf("%s: unknown directive %q", d.At, d.Name)
	return ""
}

// read reads a system.
func (m *machine) read(t *testing.T, d golden.Directive) {
	*m = machine{}
	var y0, u0 []float64
	var o Options
	alarm, derivatives := math.Inf(1), map[string]string{}
	var indicators, texts []string
	var watch []Direction
	reactions := map[string]string{}
	sys := &System{}
	for line := range strings.Lines(d.Input) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), "#")
		words := strings.Fields(line)
		before, after, _ := strings.Cut(line, "=")
		_, text, _ := strings.Cut(line, ":")
		switch {
		case len(words) == 0:
		case words[0] == "state":
			sys.States, y0 = append(sys.States, words[1]), append(y0, number(t, d, after))
		case words[0] == "input":
			m.names, u0 = append(m.names, words[1]), append(u0, number(t, d, after))
		case words[0] == "alarm":
			alarm = number(t, d, after)
		case words[0] == "on":
			reactions[strings.TrimSuffix(words[1], ":")] = text
		case strings.HasSuffix(strings.TrimSpace(before), "'"):
			derivatives[strings.TrimSuffix(strings.TrimSpace(before), "'")] = after
		default:
			switches := words[0] == "switch"
			if switches {
				words = words[1:]
			}
			direction, ok := map[string]Direction{"rises:": Rising, "falls:": Falling, "crosses:": Either, "watches:": 0}[words[1]]
			if !ok {
				t.Fatalf("%s: %s?", d.At, line)
			}
			indicators, texts, watch = append(indicators, words[0]), append(texts, text), append(watch, direction)
			sys.Indicators = append(sys.Indicators, Indicator{Name: words[0], Switches: switches})
		}
	}
	sys.Inputs = len(u0)
	m.names = append(append(append([]string{"t"}, sys.States...), m.names...), indicators...)
	m.signals = make([]float64, len(m.names))
	for _, name := range sys.States {
		text := derivatives[name]
		if text == "" {
			text = "0"
		}
		m.rates = append(m.rates, m.compile(t, d, text))
	}
	for _, text := range texts {
		m.indicators = append(m.indicators, m.compile(t, d, text))
	}
	m.reactions = map[string][]assignment{}
	for name, text := range reactions {
		for part := range strings.SplitSeq(text, ";") {
			to, value, _ := strings.Cut(part, "=")
			m.reactions[name] = append(m.reactions[name], assignment{strings.TrimSpace(to), m.compile(t, d, value)})
		}
	}
	sys.Derivatives = func(at float64, y []float64, d *Discrete, dydt []float64) {
		m.fill(at, y, d)
		for i, code := range m.rates {
			dydt[i] = code.Real(m.signals, nil)
		}
	}
	sys.Zeros = func(at float64, y []float64, d *Discrete, g []float64) {
		m.fill(at, y, d)
		for i, code := range m.indicators {
			g[i] = code.Real(m.signals, nil)
		}
	}
	o.RelTol = 1e-10
	if text := d.Value("rtol"); text != "" {
		o.RelTol = number(t, d, text)
	}
	if d.Value("chattering") == "continue" {
		o.Chattering = Continue
	}
	o.MaxIterations, _ = strconv.Atoi(d.Value("iterations"))
	o.Method = ode.Auto
	var err error
	if m.sim, err = New(sys, 0, y0, u0, o); err != nil {
		t.Fatalf("%s: %v", d.At, err)
	}
	m.sys = sys
	copy(m.sim.Watch, watch)
	m.sim.Alarm = alarm
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
	slot := func(name string) (int, bool) {
		for i, n := range m.names {
			if n == name {
				return i, true
			}
		}
		return 0, false
	}
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
	s := m.sim
	for s.T < until {
		segment, err := s.Advance(until)
		var chatter *ChatterError
		if errors.As(err, &chatter) {
			fmt.Fprintf(&b, "error: %s chatter near %.3g\n", strings.Join(chatter.Names, ", "), chatter.T)
			return b.String()
		}
		if err != nil {
			fmt.Fprintf(&b, "error: %v\n", err)
			return b.String()
		}
		if segment.Chatter != nil {
			fmt.Fprintf(&b, "%.6g chattering: %s\n", segment.To, strings.Join(segment.Chatter.Names, ", "))
		}
		if len(segment.Events) == 0 && !segment.Alarm {
			continue
		}
		fmt.Fprintf(&b, "%.6g:", math.Round(segment.To*1e9)/1e9)
		for alarm, round := segment.Alarm, 1; ; alarm, round = false, round+1 {
			changed, err := s.Iterate()
			if err != nil {
				fmt.Fprintf(&b, "\nerror: %v\n", err)
				return b.String()
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

// crowded leaves the instants out of an answer but the first; they are too many to read.
func crowded(answer string) string {
	var kept strings.Builder
	instants := 0
	for line := range strings.Lines(answer) {
		if at, _, _ := strings.Cut(line, ":"); strings.ContainsAny(at, " e") {
			kept.WriteString(line)
		} else if instants++; instants == 1 {
			kept.WriteString(line + "...\n")
		}
	}
	return kept.String()
}

// react makes the assignments of a name, each with what the ones before it have assigned.
func (m *machine) react(name string) {
	s := m.sim
	for _, a := range m.reactions[name] {
		m.fill(s.T, s.Y, &s.Discrete)
		v := a.value.Real(m.signals, nil)
		if a.to == "alarm" {
			s.Alarm = v
			continue
		}
		for i, n := range m.names[1:] {
			if n == a.to && i < len(s.Y) {
				s.Y[i] = v
			} else if n == a.to {
				s.U[i-len(s.Y)] = v
			}
		}
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
