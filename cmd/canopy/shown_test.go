package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/monitor"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
)

// sightings is what a flight shows, noted by other code than that of the check: after each step of a run, by the
// statuses of its tasks.
type sightings struct {
	*monitor.Monitor
	tree     *bt.Tree
	period   float64
	engaged  map[bt.Task]bool
	together map[[2]bt.Task]bool // were active at one time
	begun    map[bt.Task][]float64

	good    bool // the plan has succeeded
	stopped error

	gap, unwritten, early, late bool // by question: complete, command, and both directions of goal
}

func (s *sightings) Status(t float64, micro int, c bt.Change) error {
	if c.Task == s.tree.Root() && c.To != bt.Accept && c.To != bt.Deactivating { // which keep its result
		s.good = c.To == bt.Success || c.To == bt.Finished
	}
	if !s.tree.Kind(c.Task).Acts() {
		return s.Monitor.Status(t, micro, c)
	}
	if c.To == bt.Activating {
		s.begun[c.Task] = append(s.begun[c.Task], t)
		for other := range s.engaged {
			s.together[[2]bt.Task{min(other, c.Task), max(other, c.Task)}] = true
		}
		s.engaged[c.Task] = true
	}
	if c.To == bt.Deactivating {
		delete(s.engaged, c.Task)
	}
	return s.Monitor.Status(t, micro, c)
}

// look notes what the statuses of a settled plan show, as far as rounding leaves no doubt: margin is that of the goal.
func (s *sightings) look(statuses []bt.Status, writers []bt.Task, margin float64) {
	active := func(t bt.Task) bool { return statuses[t] == bt.Activating || statuses[t] == bt.Running }
	for _, t := range s.tree.Leaves() {
		if statuses[t] == bt.Activating || statuses[t] == bt.Deactivating {
			return
		}
	}
	s.gap = s.gap || !s.good && !slices.ContainsFunc(s.tree.Leaves(), active)
	s.unwritten = s.unwritten || !slices.ContainsFunc(writers, active)
	s.early, s.late = s.early || s.good && margin < 1e-6, s.late || !s.good && margin > -1e-6
}

// turns reports whether tasks take turns faster than the period.
func (s *sightings) turns(tasks []bt.Task) bool {
	for _, t := range tasks {
		for i, at := range s.begun[t][min(1, len(s.begun[t])):] {
			before := s.begun[t][i]
			idle := func(o bt.Task) bool {
				return !slices.ContainsFunc(s.begun[o], func(b float64) bool { return before <= b && b <= at })
			}
			if at-before < s.period && !slices.ContainsFunc(tasks, idle) {
				return true
			}
		}
	}
	return false
}

var shown = flag.Int("shown", 150, "random missions of TestRefutedIsFlown")

// TestRefutedIsFlown: what is refuted of a random mission is seen in a flight of it, and what is proved of it is not.
func TestRefutedIsFlown(t *testing.T) {
	missions := *shown
	if testing.Short() {
		missions /= 8
	}
	refuted, proved, doubted := map[string]int{}, map[string]int{}, 0
	for seed := range missions {
		r := &roundingMission{Rand: rand.New(rand.NewPCG(27, uint64(seed)))}
		body := r.tree(2)
		if len(r.conditions) == 0 || len(r.actions) == 0 {
			continue
		}
		limit := r.Float64()*3 - 1.5
		m := r.mission(t, body, fmt.Sprintf("  goal: x ge %.3g [m]\n  always: [\"%s -> %s\", \"x lt %.3g [m]\"]\n  written: [u]\n  period: 3 [s]\n", limit,
			r.one(r.actions...), r.one(r.relations...), limit))
		subject, err := provable(m)
		must(t, err)
		s, rows := sighted(t, m, limit)
		for _, f := range verify.Check(subject) {
			seen, judged := s.shows(&f, rows)
			switch {
			case !judged:
			case f.Verdict == verify.Refuted && !seen:
				t.Errorf("seed %d: %s: %s: the flight does not show it\n%s", seed, f.Question, f.Text, body)
			case f.Verdict == verify.Proved && seen:
				t.Errorf("seed %d: %s: %s: the flight shows the opposite\n%s", seed, f.Question, f.Text, body)
			case f.Verdict == verify.Refuted:
				refuted[f.Question]++
			case f.Verdict == verify.Proved:
				proved[f.Question]++
			case strings.Contains(f.Text, "the proof does not exclude it"):
				doubted++
			}
		}
	}
	for _, q := range []string{"complete", "goal", "always", "property", "conflict", "command"} {
		if refuted[q] < missions/20 || q != "goal" && q != "command" && proved[q] < missions/10 {
			t.Errorf("%s: %d are refuted, %d proved", q, refuted[q], proved[q])
		}
	}
	if missions >= 150 && refuted["chatter"] == 0 || doubted < missions {
		t.Errorf("%d turns are refuted, %d findings are not shown", refuted["chatter"], doubted)
	}
}

// sighted flies a mission whose goal is that x is at least a limit.
func sighted(t *testing.T, m *mission.Mission, limit float64) (*sightings, []record.Property) {
	t.Helper()
	watch := m.Watch()
	r, err := simulated.New(m.Judging(watch), run.Continuous{}, math.Inf(1))
	must(t, err)
	header := r.Header()
	s := &sightings{Monitor: monitor.New(&header, watch), tree: m.Plan.Tree, period: m.Declared.Period,
		good: header.Tasks[m.Plan.Tree.Root()].Initial == bt.Success, engaged: map[bt.Task]bool{}, together: map[[2]bt.Task]bool{}, begun: map[bt.Task][]float64{}}
	r.Attach(s)
	var writers []bt.Task
	for _, l := range m.Plan.Leaves {
		if len(l.Write) > 0 {
			writers = append(writers, l.Task)
		}
	}
	_, x := m.Signal("x")
	s.stopped = r.Fly(t.Context(), func(more bool) error {
		if more {
			s.look(r.Statuses(), writers, r.World().At(r.T())[x]-limit)
		}
		return nil
	})
	summary := r.Summary()
	rows, err := s.Judge(&record.End{Told: r.T(), Summary: &summary})
	must(t, err)
	return s, rows
}

// shows reports whether the flight shows what a finding is about; ok is false if it is no matter of a flight.
func (s *sightings) shows(f *verify.Finding, rows []record.Property) (seen, ok bool) {
	switch f.Question {
	case "complete":
		return s.gap || s.stopped != nil, true
	case "dead": // of what is refuted, the flight shows nothing
		begun := func(t bt.Task) bool { return len(s.begun[t]) > 0 }
		return !slices.ContainsFunc(f.Tasks, begun), f.Verdict == verify.Refuted
	case "goal":
		return strings.Contains(f.Text, " succeeds ") && s.early || strings.Contains(f.Text, " not succeed ") && s.late,
			f.Verdict == verify.Refuted
	case "command":
		return s.unwritten, f.About == "u" && strings.Contains(f.Text, "active task")
	case "always", "property":
		name := map[string]string{"always": "always (" + f.About + ")", "property": f.About}[f.Question]
		i := slices.IndexFunc(rows, func(p record.Property) bool { return p.Property == name })
		return rows[i].Verdict == record.PropertyViolated, true
	case "conflict":
		together := func(u []bt.Task) bool { return s.together[[2]bt.Task{u[0], u[1]}] }
		return f.Verdict == verify.Refuted && !slices.ContainsFunc(f.Units, func(u []bt.Task) bool { return !together(u) }) ||
			f.Verdict == verify.Proved && len(s.together) > 0, true
	case "chatter":
		return s.turns(f.Tasks), f.Verdict == verify.Refuted
	}
	return false, false
}

// What an abstract run refutes, and the flight of the mission does not show, is not proved: the finding says so, and
// what would exclude it. From anywhere, it is refuted.
func TestWhatTheFlightDoesNotShow(t *testing.T) {
	files := stopping(`<ReactiveFallback><ReactiveSequence><Condition name="far" on="x * (x - 5 [m]) ge 2000 [m^2]"/>
		<Action name="back" write="u := -1 [m/s]"/></ReactiveSequence><ReactiveSequence><Condition name="near" on="x lt 100 [m]"/>
		<Action name="out" write="u := 1 [m/s]"/></ReactiveSequence></ReactiveFallback>`)
	files["m.yaml"] += `check:
  always: ["x le 15 [m]", "x le 60 [m]"]
  properties: [never back, eventually back, "always (x le 10 [m])"]
  period: 30 [s]
`
	file := filepath.Join(write(t, files), "m.yaml")
	for _, c := range []struct {
		flag, question, about, verdict, text, next string
		at                                         float64
	}{
		{"", "always", "x le 15 [m]", "refuted", "; the mission's own flight shows it at t = 15 s", "`canopy run` shows it", 15},
		{"", "property", "never back", "not_proved", "not concluded whether this holds: never back; the proof does not exclude " +
			"it, but the mission's own flight does not show it, up to t = 20 s", "if no flight comes there, declare a fact", 0},
		{"", "property", "eventually back", "refuted", "does not hold: eventually back; the mission's own flight shows it",
			"change the plan", 0},
		{"", "always", "x le 60 [m]", "proved", "holds in every state: x le 60 [m]", "", 0},
		{"--from-anywhere", "always", "x le 15 [m]", "refuted", "does not hold in every state: x le 15 [m]", "find the first task", 0},
		{"--from-anywhere", "always", "x le 60 [m]", "refuted", "does not hold in every state: x le 60 [m]", "find the first task", 0},
		{"--from-anywhere", "property", "never back", "refuted", "does not hold: never back", "canopy trace", 0},
	} {
		args := append([]string{"check", file, "--json"}, strings.Fields(c.flag)...)
		stdout, _, status := canopy(args...)
		var found []object
		must(t, json.Unmarshal([]byte(stdout), &found))
		i := slices.IndexFunc(found, func(f object) bool {
			return f.Question == c.question && f.About == c.about && strings.Contains(f.Text, c.text)
		})
		if i < 0 || status != exitRefute {
			t.Errorf("%+v: status %d, %s", c, status, stdout)
			continue
		}
		f := found[i]
		if f.Verdict != c.verdict || !strings.Contains(f.Advice, c.next) || (f.At == nil) != (c.at == 0) ||
			f.At != nil && math.Abs(*f.At-c.at) > 1e-6 {
			t.Errorf("%+v: %+v", c, f)
		}
	}
}

// The flight shows that a rule does not lead to an earlier one, if the rules are to lead to a goal, and that the goal is
// not reached before the run ends.
func TestRulesAreFlown(t *testing.T) {
	files := stopping(`<ReactiveFallback><Condition name="there" on="x ge 10 [m]"/>
		<ReactiveSequence><Condition name="near" on="x lt 4 [m]" off="x ge 6 [m]"/><Action name="go" write="u := 1 [m/s]"/></ReactiveSequence>
		<Action name="back" write="u := -1 [m/s]"/></ReactiveFallback>`)
	const facts = "check:\n  facts: [x ge -50 and x le 50]\n"
	plain := files["m.yaml"] + facts
	for _, c := range []struct{ goal, question, text string }{
		{"", "regression", "cannot be concluded from the rules: rule 2, near -> go; its own condition may fail"},
		{"  goal: x ge 10 [m]\n", "regression", "rule 2, near -> go does not lead to an earlier rule's condition; the mission's own " +
			"flight shows it at t = 6 s"},
		{"  goal: x ge 10 [m]\n", "regression", "until then: rule 3, true -> back"},
		{"  goal: x ge 10 [m]\n", "reach", "go and back may take turns for ever; the mission's own flight shows it"},
	} {
		files["m.yaml"] = plain + c.goal
		if got := answers(t, filepath.Join(write(t, files), "m.yaml"), c.question); !strings.Contains(got, c.text) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// What no task changes takes the same course in every run from the declared start: the mission's own flight decides.
func TestWhatNoTaskChangesIsFlown(t *testing.T) {
	files := stopping(`<Action name="go" write="u := 1 [m/s]" done="x ge 5 [m]"/>`)
	files["v.yaml"] = `states:
  x: {unit: m, derivative: u, min: -1000, max: 1000}
  p: {initial: 1, derivative: "r / 1 [s]", min: -2, max: 2}
  r: {derivative: "-p / 1 [s]", min: -2, max: 2}
commands: {u: {unit: m/s}, w: {}}
`
	files["m.yaml"] += "check: {properties: [eventually (p le -0.9), eventually (p le -0.9 and x ge 2), always (p + r le 1.9)], goal: r ge 0.9}\n"
	file := filepath.Join(write(t, files), "m.yaml")
	const flown = "as in the mission's own flight, for no task changes what it reads"
	if got := answers(t, file, "property"); strings.Count(got, flown) != 2 || !strings.Contains(got, "not proved  property    not "+
		"concluded whether this holds: eventually (p le -0.9 and x ge 2)") {
		t.Error(got)
	}
	if got := answers(t, file, "reach"); !strings.Contains(got, "the goal is reached: r ge 0.9, "+flown) {
		t.Error(got)
	}
	if stdout, _, _ := canopy("check", file, "--from-anywhere"); strings.Contains(stdout, flown) {
		t.Error(stdout)
	}
}

// TestProofsFromRanges: what is proved of a mission holds for all starts that it declares, and what is refuted is violated
// from the value or from a corner of the ranges. The cart goes 5 m in the 10 s, at a speed that is a state without a change.
func TestProofsFromRanges(t *testing.T) {
	files := stopping(`<Action name="go" write="u := 1 [m/s]"/>`)
	files["v.yaml"] = `states:
  x: {unit: m, derivative: "u * k", min: -1000, max: 1000}
  k: {initial: 0.5, derivative: "0 [1/s]", min: 0, max: 1}
commands: {u: {unit: m/s, min: 0, max: 1}}
`
	plain := strings.Replace(files["m.yaml"], "horizon: ", "horizon: 10 # ", 1)
	for _, c := range []struct{ initial, property, verdict string }{
		{"", "always (x le 5.5)", "proved"},
		{"", "always (x le 4)", "REFUTED"},
		{"k: {value: 0.5, min: 0.2, max: 0.6}", "always (x le 6.1)", "proved"},
		{"k: {value: 0.5, min: 0.2, max: 0.6}", "always (x le 5.5)", "REFUTED"},
		{"k: {value: 0.5, min: 0.2, max: 0.6}", "always (x le 4)", "REFUTED"},
		{"k: {value: 0.5, min: 0.2, max: 0.6}", "always (k ge 0.2)", "proved"},
		{"k: {value: 0.5, min: 0.2, max: 0.6}", "always (k ge 0.3)", "REFUTED"},
		{"k: {value: 0.5, min: 0.2, max: 0.6}", "always (k lt 0.39 or k gt 0.41)", "not proved"},
		{"k: {value: 0.5, min: 0.2, max: 0.6}, x: {value: 0, min: -3, max: 1}", "always (x le 7.1)", "proved"},
		{"k: {value: 0.5, min: 0.2, max: 0.6}, x: {value: 0, min: -3, max: 1}", "always (x le 6.5)", "REFUTED"},
		{"x: -1", "always (x le 4.5)", "proved"},
	} {
		files["m.yaml"] = plain + "initial: {" + c.initial + "}\ncheck: {properties: [" + c.property + "]}\n"
		if got := answers(t, filepath.Join(write(t, files), "m.yaml"), "property"); !strings.HasPrefix(got, c.verdict) {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// The flight judges a goal that names conditions of the plan, and signals that have the name of a task.
func TestGoalOfConditionsIsFlown(t *testing.T) {
	files := stopping(`<ReactiveFallback><ReactiveSequence name="x"><Condition name="c" on="x ge 5 [m]"/>
		<Condition name="d" on="x ge 12 [m]"/></ReactiveSequence><Action name="a" write="u := 1 [m/s]"/></ReactiveFallback>`)
	files["m.yaml"] += "check: {goal: \"x ge 10 [m] and c\"}\n"
	got := answers(t, filepath.Join(write(t, files), "m.yaml"), "goal")
	if !strings.Contains(got, "does not succeed where its goal holds") || !strings.Contains(got, "shows it at t = 10 s") {
		t.Error(got)
	}
}
