package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
)

// swing is a vehicle whose states cross any limit at times that are no round numbers.
const swing = `vehicle: swing
states:
  x: {unit: m, derivative: v}
  y: {unit: m, initial: 1, derivative: "z + u"}
  z: {unit: m/s, derivative: "-0.7 * y / 1 [s^2] - 0.05 * z / 1 [s]"}
outputs:
  sum: {unit: m, value: "x + 0.3 * y"}
commands:
  v: {unit: m/s}
  u: {unit: m/s}
`

const swingSignals = `signals:
  gap: {unit: m, value: "x - y"}
  twice: {unit: m, value: "2 * x - 1 [m]"}
  far: {type: boolean, value: "x gt 0.4 [m]"}
`

// roundingMission writes random missions of the swing, with properties that use the relations of their conditions.
type roundingMission struct {
	*rand.Rand
	relations  []string
	conditions []string
	actions    []string
}

func (r *roundingMission) one(texts ...string) string { return texts[r.IntN(len(texts))] }

// relation returns a relation with a random limit, or with that of an earlier one.
func (r *roundingMission) relation() string {
	if len(r.relations) > 0 && r.IntN(3) == 0 {
		return r.one(r.relations...)
	}
	limit := r.Float64()*3 - 1.5
	op := r.one("gt", "ge", "lt", "le")
	k := r.one("0.1", "0.7", "3", "-2")
	text := r.one("x OP LIMIT [m]", "y OP LIMIT [m]", "K * y OP LIMIT [m]", "gap OP LIMIT [m]", "twice OP LIMIT [m]", "x OP y",
		"x - y OP LIMIT [m]", "abs(y) OP LIMIT [m]", "sum OP LIMIT [m]", "K * x + 0.1 [m] OP LIMIT [m]", "z OP LIMIT [m/s]")
	same := map[string]string{"x OP LIMIT [m]": "twice OP 2 * LIMIT [m] - 1 [m]", "gap OP LIMIT [m]": "x OP y + LIMIT [m]",
		"twice OP LIMIT [m]": "x OP (LIMIT [m] + 1 [m]) / 2", "x OP y": "gap OP 0 [m]"}[text] // for properties
	fill := strings.NewReplacer("OP", op, "LIMIT", fmt.Sprintf("%.3g", limit), "K", k)
	text = fill.Replace(text)
	r.relations = append(r.relations, text)
	if same != "" {
		r.relations = append(r.relations, fill.Replace(same))
	}
	return text
}

func (r *roundingMission) tree(depth int) string {
	if depth == 0 || r.IntN(4) == 0 {
		if r.IntN(2) == 0 {
			name := fmt.Sprintf("c%d", len(r.conditions))
			r.conditions = append(r.conditions, name)
			off := ""
			if r.IntN(3) == 0 {
				off = ` off="` + r.relation() + `"`
			}
			return fmt.Sprintf(`<Condition ID="%s" on="%s"%s/>`, name, r.relation(), off)
		}
		name := fmt.Sprintf("a%d", len(r.actions))
		r.actions = append(r.actions, name)
		more := r.one("", "", "", ` done="`+r.relation()+`"`, ` exit_time="0.3 [s]"`, ` entry_time="0.2 [s]"`)
		return fmt.Sprintf(`<Action ID="%s" write="v := %.2f [m/s]; u := %.2f [m/s]"%s/>`, name, r.Float64()*2-1,
			r.Float64()*2-1, more)
	}
	kind := r.one("ReactiveFallback", "ReactiveSequence", "ReactiveFallback", "Sequence", "Inverter", "ReactiveParallel")
	n := 2 + r.IntN(2)
	if kind == "Inverter" {
		n = 1
	}
	var b strings.Builder
	for range n {
		b.WriteString(r.tree(depth - 1))
	}
	return "<" + kind + ">" + b.String() + "</" + kind + ">"
}

// property returns a property over the relations, conditions and actions of the plan.
func (r *roundingMission) property() string {
	tasks := append(append([]string{}, r.conditions...), r.actions...)
	part := func() string {
		not := r.one("", "not ")
		if r.IntN(2) == 0 {
			return not + r.one(tasks...)
		}
		return not + "(" + r.one(r.relations...) + ")"
	}
	return r.one("always ("+part()+" -> "+part()+")", "always ("+part()+" or "+part()+")",
		"always ("+part()+" -> "+part()+" or "+part()+")", "never both("+part()+", "+part()+")", "always ("+part()+" and "+part()+
			" -> "+part()+")", part()+" before "+part())
}

var rounded = flag.Int("rounded", 60, "random missions of TestProvedIsNotViolated")

// mission returns the mission of a tree, with properties and other declarations.
func (r *roundingMission) mission(t *testing.T, body, declared string) *mission.Mission {
	t.Helper()
	var yaml strings.Builder
	yaml.WriteString("mission: m\nplan: p.xml\nvehicle: swing.yaml\nhorizon: 20\nchattering: continue\nrecord: {interval: 0.7}\n" +
		swingSignals + "check:\n  properties:\n")
	for range 15 {
		fmt.Fprintf(&yaml, "    - %q\n", r.property())
	}
	yaml.WriteString(declared)
	files := map[string]string{"m.yaml": yaml.String(), "swing.yaml": swing,
		"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="main">` + body + `</BehaviorTree></root>`}
	m, diags := mission.Read("m.yaml", func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}, nil, nil)
	if m == nil {
		t.Fatal(diags)
	}
	return m
}

// TestProvedIsNotViolated: of random missions, no flight violates what is proved of the plan, although the times of its
// events are rounded; the verdicts in flight, from the log and after an interruption are the same to the last bit. What
// the flight contradicts by more than rounding is found.
func TestProvedIsNotViolated(t *testing.T) {
	missions := *rounded
	if testing.Short() {
		missions /= 4
	}
	kept, proved, violated := 0, 0, 0
	ask := verify.Questions()[slices.IndexFunc(verify.Questions(), func(q verify.Question) bool { return q.Name == "property" })]
	for seed := range missions {
		r := &roundingMission{Rand: rand.New(rand.NewPCG(9, uint64(seed)))}
		body := r.tree(3)
		if len(r.conditions) == 0 || len(r.actions) == 0 {
			continue
		}
		m := r.mission(t, body, "")
		dir := filepath.Join(t.TempDir(), "out")
		fly := func(o folder.Options, ctx context.Context) *record.Summary {
			fresh, err := simulated.New(m, run.Continuous{}, math.Inf(1))
			must(t, err)
			o.Watch = m.Watch()
			s, err := folder.Fly(ctx, fresh, dir, o)
			if s == nil {
				t.Fatal(err)
			}
			return s
		}
		s := fly(folder.Options{}, t.Context())
		text := fmt.Sprint(judgements(slices.Concat(s.Properties, s.Assumptions)))
		if s.Outcome != record.Complete {
			continue
		}
		kept++
		log, err := os.ReadFile(filepath.Join(dir, folder.LogFile))
		must(t, err)
		rows, _, err := (&runLog{bytes.NewReader(log), "log"}).judge(nil)
		if err != nil || fmt.Sprint(judgements(rows)) != text {
			t.Fatalf("seed %d: from the log, %v\n%v\n%s", seed, err, judgements(rows), text)
		}
		ctx, stop := context.WithCancel(t.Context())
		n := 0
		fly(folder.Options{Observe: func() {
			if n++; n == 20+seed {
				stop()
			}
		}}, ctx)
		stop()
		if _, err := os.Stat(filepath.Join(dir, folder.CheckpointFile)); !errors.Is(err, fs.ErrNotExist) {
			s := fly(folder.Options{Resume: true}, t.Context())
			if again := fmt.Sprint(judgements(slices.Concat(s.Properties, s.Assumptions))); again != text {
				t.Fatalf("seed %d: resumed\n%s\n%s", seed, again, text)
			}
		}
		doubtful := m.Subject() // only what is violated or nearly so can contradict a proof
		doubtful.Declared.Properties = slices.DeleteFunc(slices.Clone(doubtful.Declared.Properties), func(p declare.Property) bool {
			r := s.Properties[slices.IndexFunc(s.Properties, func(r record.Property) bool { return r.Property == p.Text })]
			return r.Verdict != record.PropertyViolated && (r.Margin == nil || math.Abs(*r.Margin) > 1e-12)
		})
		for _, f := range ask.Ask(verify.NewModel(doubtful)) {
			p := s.Properties[slices.IndexFunc(s.Properties, func(r record.Property) bool { return r.Property == f.About })]
			switch {
			case f.Verdict == verify.Proved && p.Verdict == record.PropertyViolated:
				t.Errorf("seed %d: %q is proved, but violated at %v\n%s", seed, p.Property, *p.At, body)
			case f.Verdict == verify.Proved:
				proved++
			case p.Verdict == record.PropertyViolated:
				violated++
			}
		}
	}
	if kept < missions/2 || proved < missions/20 || violated < missions {
		t.Errorf("%d missions: %d were flown, %d properties touch a limit and are proved, %d are violated", missions, kept,
			proved, violated)
	}
}

// judgements returns verdicts with all their numbers.
func judgements(rows []record.Property) []string {
	var list []string
	for _, p := range rows {
		number := func(v *float64) string {
			if v == nil {
				return "-"
			}
			return fmt.Sprintf("%x", math.Float64bits(*v))
		}
		list = append(list, p.Property+": "+p.Verdict+" "+number(p.Margin)+" "+number(p.At)+" "+number(p.After))
	}
	return list
}
