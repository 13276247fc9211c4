package oracle

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"canopy/analysis/verify"
	"canopy/bt"
	"canopy/diag"
	"canopy/document/script"
)

// answers collects what is wrong with the answers about one mission.
type answers struct {
	m      *Mission
	tree   *bt.Tree
	truth  Truth
	wrong  []string
	counts map[string]int
}

// judge compares one answer. bad is whether the fault was seen.
func (a *answers) judge(f *verify.Finding, bad Seen) {
	verdict := f.Verdict.String()
	if len(f.Unwatched()) > 0 {
		verdict = "undecided"
	}
	a.counts[f.Question+" "+verdict]++
	switch {
	case verdict == "proved" && bad.Settled:
		a.wrong = append(a.wrong, "false proved: "+f.Question+": "+f.Text)
	case verdict == "refuted" && !bad.Within && !a.truth.Unstable:
		a.wrong = append(a.wrong, "false refuted: "+f.Question+": "+f.Text)
	}
}

// replay replays the script of a finding: it must end in statuses that some flight has.
func (a *answers) replay(f *verify.Finding) {
	a.counts["scripts"]++
	tree := a.tree
	start, lines, list := script.Parse(tree, &diag.Source{Name: "script", Text: f.Script})
	if list.HasErrors() {
		a.wrong = append(a.wrong, "false script: "+f.Question+": "+fmt.Sprint(list))
		return
	}
	e := bt.NewEngine(tree, start, 0)
	_, err := e.Settle(nil)
	for _, l := range lines {
		if err == nil {
			_, err = e.Settle(l.Inputs)
		}
	}
	if end := Statuses(tree, e.Status); err != nil || !a.truth.Statuses[end] {
		a.wrong = append(a.wrong, fmt.Sprintf("false script: %s: %s: ends in statuses %s that no flight has (%v)\n%s", f.Question,
			f.Text, end, err, f.Script))
	}
}

// compared are the questions whose answers are compared here.
var compared = map[string]bool{"complete": true, "dead": true, "always": true, "conflict": true}

func (a *answers) compare(all []verify.Finding) {
	dead, pairs := map[bt.Task]bool{}, map[[2]bt.Task]bool{}
	open := map[string]bool{}
	always := 0
	for i := range all {
		f := &all[i]
		if f.Verdict == verify.Undecided || len(f.Unwatched()) > 0 {
			open[f.Question] = true
		}
		if compared[f.Question] && !a.truth.Unstable {
			if a.counts["answers"]++; open[f.Question] {
				a.counts["unknown"]++
			}
		}
		if f.Verdict == verify.Refuted && f.Script != "" && len(f.Unwatched()) == 0 && !a.truth.Unstable {
			a.replay(f)
		}
		switch f.Question {
		case "complete":
			a.judge(f, a.truth.Gap)
		case "always":
			a.judge(f, a.truth.Violated[always])
			always++
		case "dead":
			a.counts[f.Question+" "+f.Verdict.String()]++
			for _, t := range f.Tasks {
				if dead[t] = true; f.Verdict == verify.Refuted && len(f.Unwatched()) == 0 && a.truth.Entered[t] &&
					!a.truth.Unstable { // a run that does not settle is no state
					a.wrong = append(a.wrong, "false refuted: dead: "+f.Text)
				}
			}
		case "conflict":
			a.counts[f.Question+" "+f.Verdict.String()]++
			units := f.Units
			if units == nil && len(f.Tasks) == 2 {
				units = [][]bt.Task{f.Tasks}
			}
			for _, u := range units {
				pair := [2]bt.Task{min(u[0], u[1]), max(u[0], u[1])}
				if pairs[pair] = true; f.Verdict == verify.Refuted && len(f.Unwatched()) == 0 && !a.truth.Together[pair].Within {
					a.wrong = append(a.wrong, "false refuted: conflict: "+f.Text)
				}
			}
		}
	}
	if !open["dead"] {
		for t, entered := range a.truth.Entered {
			above := entered || !a.truth.Tree.Kind(bt.Task(t)).Acts()
			for p := bt.Task(t); p >= 0 && !above; p = a.truth.Tree.Parent(p) {
				above = dead[p]
			}
			if !above {
				a.wrong = append(a.wrong, "false proved: dead: "+a.truth.Tree.Name(bt.Task(t))+" is never active")
			}
		}
	}
	if !open["conflict"] {
		for pair, seen := range a.truth.Together {
			if seen.Rest && !pairs[pair] {
				a.wrong = append(a.wrong, fmt.Sprintf("false proved: conflict: %s and %s", a.truth.Tree.Name(pair[0]),
					a.truth.Tree.Name(pair[1])))
			}
		}
	}
}

// classes are the abilities that are compared one by one.
var classes = []struct {
	name  string
	shape Shape
}{
	{name: "plain", shape: Shape{Depth: 3, Facts: true}},
	{name: "hysteresis", shape: Shape{Depth: 3, Hysteresis: true, Facts: true}},
	{name: "memory", shape: Shape{Depth: 3, Memory: true, Hysteresis: true, Facts: true}},
	{name: "shared", shape: Shape{Depth: 3, Memory: true, Hysteresis: true, Shared: true}},
	{name: "timers", shape: Shape{Depth: 2, Memory: true, Timers: true}},
	{name: "procedures", shape: Shape{Depth: 2, Memory: true, Procedures: true}},
	{name: "computed", shape: Shape{Depth: 2, Memory: true, Computed: true}},
	{name: "slots", shape: Shape{Depth: 2, Slots: true}},
	{name: "remembering", shape: Shape{Depth: 2, Slots: true, Memory: true}},
	{name: "typed", shape: Shape{Depth: 2, Slots: true, Typed: true, Memory: true}},
	{name: "captured", shape: Shape{Depth: 2, Slots: true, Captured: true, Memory: true}},
	{name: "all", shape: All},
}

var missions = flag.Int("missions", 0, "number of random missions of each class; 0: as many as the tests need")

// TestAnswersAgreeWithTheWitness: no answer about a random mission is false.
func TestAnswersAgreeWithTheWitness(t *testing.T) {
	for _, class := range classes {
		t.Run(class.name, func(t *testing.T) {
			counts, wrong, smallest, cases := map[string]int{}, map[string]int{}, map[string]string{}, rounds(400)
			if *missions > 0 {
				cases = *missions
			}
			for seed := range uint64(cases) {
				m := Random(rand.New(rand.NewPCG(seed, 9)), class.shape)
				a := &answers{m: m, truth: m.Truth(500), counts: counts}
				read, diags := m.Read()
				if read == nil {
					t.Fatalf("%v\n%s", diags, m)
				}
				if !a.truth.Complete || a.truth.Entered == nil {
					counts["skipped"]++
					continue
				}
				a.tree = read.Plan.Tree
				a.compare(verify.Check(read.Subject()))
				for _, w := range a.wrong {
					kind := strings.Join(strings.SplitAfterN(w, ": ", 3)[:2], "")
					wrong[kind]++
					if text := w + "\n" + m.String(); smallest[kind] == "" || len(text) < len(smallest[kind]) {
						smallest[kind] = text
					}
				}
			}
			if unknown := counts["unknown"]; unknown*50 > counts["answers"] {
				t.Errorf("%d of %d answers are unknown", unknown, counts["answers"])
			}
			var lines []string
			for k, v := range counts {
				lines = append(lines, fmt.Sprintf("%s %d", k, v))
			}
			sort.Strings(lines)
			t.Log(lines)
			for kind, text := range smallest {
				t.Errorf("%d times in %d missions, the smallest:\n%s", wrong[kind], cases, text)
			}
		})
	}
}
