package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/smv"
	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
)

// model is a model in the part of the SMV language that smv.Write uses, read and answered without Canopy.
type model struct {
	sizes   map[string]int    // of the range of each variable
	defines map[string]string // with the formulas
	next    map[string]string
	invar   []string
	specs   map[string]string
	first   string      // of a graph: the first states
	cases   [][2]string // states, and those that follow them
}

func readModel(t *testing.T, text string) *model {
	t.Helper()
	m := &model{sizes: map[string]int{}, defines: map[string]string{}, next: map[string]string{}, specs: map[string]string{}}
	section := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "--")
		line = strings.TrimSuffix(strings.TrimSpace(line), ";")
		head, rest, _ := strings.Cut(line, " ")
		name, value, assigned := strings.Cut(line, " := ")
		switch {
		case line == "" || head == "MODULE":
		case line == "VAR" || line == "DEFINE" || line == "ASSIGN":
			section = line
		case head == "INVAR":
			m.invar = append(m.invar, rest)
		case head == "INVARSPEC" && assigned:
			m.specs[strings.TrimPrefix(name, "INVARSPEC NAME ")] = value
		case section == "VAR":
			name, domain, _ := strings.Cut(line, " : ")
			m.sizes[name] = 2
			if most, is := strings.CutPrefix(domain, "0.."); is {
				n, _ := strconv.Atoi(most)
				m.sizes[name] = n + 1
			}
		case section == "DEFINE" && assigned:
			m.defines[name] = value
		case name == "init(state)":
			m.first = value
		case line == "next(state) := case" || line == "esac" || line == "TRUE : state":
		case section == "ASSIGN" && head == "state":
			states, next, _ := strings.Cut(line, " : ")
			m.cases = append(m.cases, [2]string{states, next})
		case section == "ASSIGN" && strings.HasPrefix(name, "next("):
			m.next[strings.TrimSuffix(name[5:], ")")] = value
		case section == "ASSIGN" && strings.HasPrefix(name, "init(") && value == "FALSE":
		default:
			t.Fatalf("a line that is not read: %s", line)
		}
	}
	return m
}

// state is the value of each variable.
type state map[string]int

// value evaluates a formula: a <-> b, a | b, a & b, !a, a > b.
func (m *model) value(s state, text string) int {
	p := &formulaReader{m: m, s: s, words: words(text)}
	v := p.level(0)
	if len(p.words) > 0 {
		panic("a formula with a rest: " + text)
	}
	return v
}

func words(text string) []string {
	for _, w := range []string{"(", ")", "!", "{", "}"} {
		text = strings.ReplaceAll(text, w, " "+w+" ")
	}
	return strings.Fields(strings.ReplaceAll(text, ",", " "))
}

type formulaReader struct {
	m     *model
	s     state
	words []string
}

var binary = []string{"<->", "|", "&", ">"}

func (p *formulaReader) level(n int) int {
	if n == len(binary) {
		return p.unary()
	}
	a := p.level(n + 1)
	if len(p.words) > 0 && p.words[0] == "in" {
		end := slices.Index(p.words, "}")
		is := slices.Contains(p.words[2:end], fmt.Sprint(a))
		p.words = p.words[end+1:]
		return int(truth(is))
	}
	for len(p.words) > 0 && p.words[0] == binary[n] {
		p.words = p.words[1:]
		b := p.level(n + 1)
		a = int(truth([]bool{a == b, a+b > 0, a*b > 0, a > b}[n]))
	}
	return a
}

func (p *formulaReader) unary() int {
	w := p.words[0]
	p.words = p.words[1:]
	switch w {
	case "!":
		return 1 - p.unary()
	case "(":
		v := p.level(0)
		p.words = p.words[1:]
		return v
	case "TRUE":
		return 1
	case "FALSE":
		return 0
	}
	if n, err := strconv.Atoi(w); err == nil {
		return n
	}
	if v, ok := p.s[w]; ok {
		return v
	}
	text, ok := p.m.defines[w]
	if !ok {
		panic("an unknown name: " + w)
	}
	v := p.m.value(p.s, text)
	p.s[w] = v
	return v
}

// answers returns which specifications hold in every state that can be reached.
func (m *model) answers() map[string]bool {
	holds := map[string]bool{}
	for name := range m.specs {
		holds[name] = true
	}
	if m.first != "" {
		m.walk(holds)
		return holds
	}
	var inputs []string
	for name := range m.sizes {
		if m.next[name] == "" {
			inputs = append(inputs, name)
		}
	}
	slices.Sort(inputs)
	seen, first := map[string]bool{}, state{}
	for name := range m.next {
		first[name] = 0
	}
	todo := []state{first}
	for seen[fmt.Sprint(first)] = true; len(todo) > 0; todo = todo[1:] {
		var visit func(s state, rest []string)
		visit = func(s state, rest []string) {
			if len(rest) > 0 {
				for v := range m.sizes[rest[0]] {
					s[rest[0]] = v
					visit(s, rest[1:])
				}
				return
			}
			s = maps.Clone(s)
			if slices.ContainsFunc(m.invar, func(f string) bool { return m.value(s, f) == 0 }) {
				return
			}
			for name, f := range m.specs {
				holds[name] = holds[name] && m.value(s, f) == 1
			}
			next := state{}
			for name, f := range m.next {
				next[name] = m.value(s, f)
			}
			if key := fmt.Sprint(next); !seen[key] {
				seen[key] = true
				todo = append(todo, next)
			}
		}
		visit(maps.Clone(todo[0]), inputs)
	}
	return holds
}

// walk visits the states of a graph.
func (m *model) walk(holds map[string]bool) {
	numbers := func(set string) []string { w := words(set); return w[1 : len(w)-1] }
	seen := map[string]bool{}
	for todo := numbers(m.first); len(todo) > 0; todo = todo[1:] {
		if seen[todo[0]] {
			continue
		}
		seen[todo[0]] = true
		n, _ := strconv.Atoi(todo[0])
		s := state{"state": n}
		for name, f := range m.specs {
			holds[name] = holds[name] && m.value(s, f) == 1
		}
		for _, c := range m.cases {
			if m.value(state{"state": n}, c[0]) == 1 {
				todo = append(todo, numbers(c[1])...)
				break
			}
		}
	}
}

// TestExportedModelsAgree: the answers of an exported model, found by an evaluator of its own, are those of Canopy, and
// those of all flights.
func TestExportedModelsAgree(t *testing.T) {
	counts := map[bool]int{}
	for _, class := range classes {
		for seed := range uint64(rounds(100)) {
			m, read := drawn(t, rand.New(rand.NewPCG(seed, 21)), class.shape)
			want := m.Truth(200)
			if want.Unstable || !want.Complete || want.Entered == nil {
				continue
			}
			text, err := smv.Write(read.Subject(), "test", func() string { return "" })
			if err != nil {
				t.Fatalf("%v\n%s", err, m)
			}
			got := readModel(t, text).answers()
			expect := func(name string, holds bool) {
				if counts[holds]++; got[name] != holds {
					t.Fatalf("%s, seed %d: %s should be %t, is %t\n%s\n%s", class.name, seed, name, holds, got[name], m, text)
				}
			}
			expect("complete", !want.Faults[Fault{Of: "complete"}].Settled)
			for i := range m.Always {
				if v := want.Faults[Fault{"always", i}]; v.Rest == v.Within && !want.Faults[Fault{"open", i}].Within {
					expect(fmt.Sprintf("always_%d", i+1), !v.Rest)
				}
			}
			for i, entered := range want.Entered {
				name := want.Tree.Name(bt.Task(i))
				if want.Tree.Kind(bt.Task(i)).Acts() && !strings.ContainsAny(name, "/[.") {
					expect("dead_"+name, !entered)
				}
			}
			for _, f := range verify.Check(read.Subject()) {
				if f.Question == "complete" && f.Verdict != verify.Undecided {
					expect("complete", f.Verdict == verify.Proved)
				}
			}
		}
	}
	if counts[false] < rounds(900) || counts[true] < rounds(900) {
		t.Errorf("%v", counts)
	}
}
