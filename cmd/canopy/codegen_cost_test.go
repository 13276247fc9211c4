package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/codegen"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/internal/btcpp"
)

// guarded is a plan with so many pairs of a condition and an action, of which the last action runs until the first
// condition holds.
func guarded(pairs int) string {
	branches := `<ReactiveSequence><Condition ID="on"/><Action ID="act"/></ReactiveSequence>` +
		strings.Repeat(`<ReactiveSequence><Condition ID="off"/><Action ID="act"/></ReactiveSequence>`, pairs-1)
	branches = regexp.MustCompile(`<(Condition|Action) ID="(\w+)"/>`).ReplaceAllString(branches, `<$2/>`)
	return `<root BTCPP_format="4"><BehaviorTree ID="main"><ReactiveFallback>` + branches +
		`<act/></ReactiveFallback></BehaviorTree><TreeNodesModel><Condition ID="on"/><Condition ID="off"/><Action ID="act"/>` +
		`</TreeNodesModel></root>`
}

func treeOf(t testing.TB, text string) *bt.Tree {
	p, list := plan.Read(&diag.Source{Name: "plan.xml", Text: text}, plan.Vocabulary{})
	if p == nil {
		t.Fatal(list)
	}
	return p.Tree
}

// instructions returns those of one event: a program repeats it as often as its last argument says.
func instructions(t *testing.T, args ...string) float64 {
	t.Helper()
	count := func(n int) float64 {
		c := exec.Command("valgrind", append([]string{"--tool=callgrind", "--callgrind-out-file=/dev/null"}, args...)...)
		c.Args[len(c.Args)-1] = fmt.Sprintf(c.Args[len(c.Args)-1], n)
		c.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
		out, err := c.CombinedOutput()
		m := regexp.MustCompile(`Collected : (\d+)`).FindSubmatch(out)
		if err != nil || m == nil {
			t.Fatalf("%v\n%s", err, out)
		}
		v, _ := strconv.ParseFloat(string(m[1]), 64)
		return v
	}
	return (count(3000) - count(1000)) / 2000
}

// BenchmarkEvent repeats the event in the tree engine.
func BenchmarkEvent(b *testing.B) {
	for _, pairs := range []int{3, 33, 333} {
		tree := treeOf(b, guarded(pairs))
		b.Run(strconv.Itoa(tree.Len()), func(b *testing.B) {
			on, _ := tree.Find("on")
			e := bt.NewEngine(tree, nil, 0)
			for i := range b.N {
				if _, err := e.Settle([]bt.Input{bt.Set(on, i%2 == 1)}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestCostOfAnEvent: docs/deploy.md has the instructions of an event in C, in the tree engine and in BehaviorTree.CPP.
func TestCostOfAnEvent(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: instructions are not counted")
	}
	gcc, err := exec.LookPath("gcc")
	if _, no := exec.LookPath("valgrind"); err != nil || no != nil {
		t.Skip("gcc or valgrind is not installed")
	}
	page, err := os.ReadFile("../../docs/deploy.md")
	must(t, err)
	self, err := os.Executable()
	must(t, err)
	driver, err := filepath.Abs("../../codegen/testdata/cost.c")
	must(t, err)
	var peer string
	t.Run("peer", func(t *testing.T) { peer = btcpp.Program(t, "../../internal/btcpp/cpp", "cost") })
	for _, pairs := range []int{3, 33, 333} {
		dir, text := t.TempDir(), guarded(pairs)
		tree := treeOf(t, text)
		list, err := codegen.C("cost", "", tree, tree.Name, nil)
		must(t, err)
		for _, f := range append(list, codegen.File{Name: "plan.xml", Text: text}) {
			must(t, os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600))
		}
		c := exec.Command(gcc, "-std=c99", "-O2", `-DHEADER="cost.h"`, "-DTREE=cost_tree", "-DTASKS=COST_TASKS", "-DON=COST_ON",
			"-I.", "canopy.c", "cost.c", driver, "-o", "cost")
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		row := []float64{float64(tree.Len()), instructions(t, filepath.Join(dir, "cost"), "%d"), instructions(t, self, "-test.run=^$",
			fmt.Sprintf("-test.bench=Event/%d$", tree.Len()), "-test.benchtime=%dx")}
		if peer != "" {
			row = append(row, instructions(t, peer, filepath.Join(dir, "plan.xml"), "%d"))
		}
		t.Logf("%.0f", row)
		m := regexp.MustCompile(fmt.Sprintf(`(?m)^\| %d \| ([0-9,]+) \| ([0-9,]+) \| ([0-9,]+) \|$`, tree.Len())).FindSubmatch(page)
		if m == nil {
			t.Error("docs/deploy.md has no such row")
			continue
		}
		for i, is := range row[1:] {
			if stated, _ := strconv.ParseFloat(strings.ReplaceAll(string(m[i+1]), ",", ""), 64); math.Abs(stated-is) > 0.1*is {
				t.Errorf("%d tasks, column %d: %.0f instructions, not %.0f", tree.Len(), i+1, is, stated)
			}
		}
	}
}
