package studio

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/script"

	"pgregory.net/rapid"
)

// prove lets a proof of the mission have some findings.
func (b *bench) prove(found ...verify.Finding) {
	m, _, _, _ := b.read(nil, nil)
	b.Check = func() (func(context.Context) Proof, error) {
		return func(context.Context) Proof { return Proof{Mission: m, Found: found} }, nil
	}
	b.must("/api/check", map[string]bool{"stop": false})
	b.proof.serving.Wait()
}

// A finding is flown from the start from which its flight shows it, of the mission as it was proved.
func TestFindingsAreFlown(t *testing.T) {
	b := newBench(t)
	b.write("lift.yaml", missionText+"initial: {x: {value: 5, min: 2, max: 8}}\n")
	b.prove(verify.Finding{Flight: true}, verify.Finding{Flight: true, Start: "initial: {x: 2}"},
		verify.Finding{Flight: true, Start: "initial: {x: 8}"}, verify.Finding{}, verify.Finding{Flight: true, Start: "initial: {x: 9}"})
	b.write("plan.xml", strings.Replace(planText, "x ge 10", "x ge 9", 1))
	for n, due := range []float64{5, 8, 2} {
		b.must("/api/fly", map[string]any{"do": "go", "finding": n, "breakpoints": []Breakpoint{{Task: "sink", Status: "Running"}}})
		if _, at := b.paused(); at < due-1e-6 || at > due+1e-6 {
			t.Errorf("finding %d: x is 10 at %v, not at %v", n, at, due)
		}
		b.must("/api/wish", Wish{Do: "stop"})
		<-b.flight.done
	}
	for n, says := range map[int]string{-1: "no such finding", 3: "no flight", 4: "no such finding", 5: "no such finding"} {
		status, answer := b.ask(http.MethodPost, "/api/fly", map[string]any{"do": "go", "finding": n})
		if status < 400 || !strings.Contains(answer, says) {
			t.Errorf("finding %d: %d %s", n, status, answer)
		}
	}
}

// lane is a lane of the data of a run.
type lane struct {
	Task int
	T, S []int
}

// The steps of a finding's path have the statuses that canopy trace prints.
func TestPathsAreReplayed(t *testing.T) {
	b := newBench(t)
	rapid.Check(t, func(random *rapid.T) {
		text := &strings.Builder{}
		text.WriteString("\n")
		if rapid.Bool().Draw(random, "starts") {
			text.WriteString("start: set high true\n")
		}
		for range rapid.IntRange(0, 8).Draw(random, "lines") {
			text.WriteString(rapid.SampledFrom([]string{"# x in [1, 2]\n", "set high true\n", "set high false\n",
				"end sink failure; set high false\n", "request climb failure\n", "\n"}).Draw(random, "line"))
		}
		b.prove(verify.Finding{Script: text.String()}, verify.Finding{})
		_, answer := b.ask(http.MethodGet, "/api/path?n=0", nil)
		var found struct {
			Run struct {
				Statuses []string
				Lanes    []lane
			}
			Steps []step
			Error string
		}
		if err := json.Unmarshal([]byte(answer), &found); err != nil || found.Error != "" {
			random.Fatal(err, answer)
		}
		m, _, _, _ := b.read(nil, nil)
		start, lines, _ := script.Parse(m.Plan.Tree, &diag.Source{Text: text.String()})
		e := bt.NewEngine(m.Plan.Tree, start, 0)
		want := func() (list string) {
			for t := range m.Plan.Tree.Len() {
				list += fmt.Sprintln(m.Plan.Tree.Name(bt.Task(t)), e.Status(bt.Task(t)))
			}
			return list
		}
		if _, err := e.Settle(nil); err != nil {
			random.Fatal(err)
		}
		settled := []string{want()}
		for _, line := range lines {
			if _, err := e.Settle(line.Inputs); err != nil {
				random.Fatal(err)
			}
			settled = append(settled, want())
		}
		comments, last := 0, 0
		for _, s := range found.Steps {
			if s.Text != "" {
				comments++
			}
			got := ""
			for _, lane := range slices.SortedFunc(slices.Values(found.Run.Lanes), func(a, b lane) int { return a.Task - b.Task }) {
				status := -1
				for i, at := range lane.T {
					if at <= s.At {
						status = lane.S[i]
					}
				}
				got += fmt.Sprintln(m.Plan.Tree.Name(bt.Task(lane.Task)), found.Run.Statuses[status])
			}
			if s.At < last || s.At > last+1 || got != settled[s.At] {
				random.Fatalf("%s: step %+v after instant %d:\n%s, want\n%s", text.String(), s, last, got, settled[s.At])
			}
			last = s.At
		}
		if last != len(lines) || comments != strings.Count(text.String(), "#") {
			random.Fatalf("%s: the steps are %+v", text.String(), found.Steps)
		}
		if status, _ := b.ask(http.MethodGet, "/api/path?n=1", nil); status != http.StatusNotFound {
			random.Fatalf("a finding without a path: %d", status)
		}
	})
}
