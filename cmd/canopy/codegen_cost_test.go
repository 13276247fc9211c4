package main

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// instructions returns those of one event: a program repeats it n times, and 3 n times, as its last argument says.
func instructions(t *testing.T, n int, args ...string) float64 {
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
	return (count(3*n) - count(n)) / float64(2*n)
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
	compiled := func(dir string, args ...string) string {
		c := exec.Command(gcc, slices.Concat([]string{"-std=c99", "-O2", "-I.", driver, "-o", "cost"}, args, []string{"-lm"})...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return filepath.Join(dir, "cost")
	}
	compare := func(t *testing.T, what string, is float64, stated []byte) {
		v, _ := strconv.ParseFloat(strings.ReplaceAll(string(stated), ",", ""), 64)
		if t.Logf("%s: %.0f", what, is); math.Abs(v-is) > 0.1*is {
			t.Errorf("%s takes %.0f instructions, not %.0f", what, is, v)
		}
	}
	stated := func(t *testing.T, tasks, column int) []byte {
		t.Helper()
		m := regexp.MustCompile(fmt.Sprintf(`(?m)^\| %d \| ([0-9,]+) \| ([0-9,]+) \| ([0-9,]+) \|$`, tasks)).FindSubmatch(page)
		if m == nil {
			t.Fatalf("docs/deploy.md has no row of %d tasks", tasks)
		}
		return m[column]
	}
	for _, pairs := range []int{3, 33, 333} {
		dir, tree := t.TempDir(), treeOf(t, guarded(pairs))
		list, err := codegen.C("cost", "", tree, tree.Name, nil)
		must(t, err)
		for _, f := range list {
			must(t, os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600))
		}
		program := compiled(dir, `-DHEADER="cost.h"`, "-DTREE=cost_tree", "-DTASKS=COST_TASKS", "-DON=COST_ON", "canopy.c", "cost.c")
		compare(t, fmt.Sprintf("%d tasks in C", tree.Len()), instructions(t, 100, program, "%d"), stated(t, tree.Len(), 1))
		compare(t, fmt.Sprintf("%d tasks in Go", tree.Len()), instructions(t, 2000, self, "-test.run=^$",
			fmt.Sprintf("-test.bench=Event/%d$", tree.Len()), "-test.benchtime=%dx"), stated(t, tree.Len(), 2))
	}
	t.Run("BehaviorTree.CPP", func(t *testing.T) {
		peer := btcpp.Program(t, "../../internal/btcpp/cpp", "cost")
		for _, pairs := range []int{3, 33, 333} {
			file := filepath.Join(t.TempDir(), "plan.xml")
			must(t, os.WriteFile(file, []byte(guarded(pairs)), 0o600))
			tasks := 3*pairs + 2
			compare(t, fmt.Sprintf("%d tasks in BehaviorTree.CPP", tasks), instructions(t, 100, peer, file, "%d"),
				stated(t, tasks, 3))
		}
	})
	dir := t.TempDir()
	if _, stderr, status := canopy("export", "c", "../../missions/solar-day.yaml", "--out", dir); status != exitOK {
		t.Fatal(stderr)
	}
	m := regexp.MustCompile(`condition changes takes ([0-9,]+) instructions, one\s+without\s+news ([0-9,]+)`).FindSubmatch(page)
	for i, low := range []string{"0.2", "0.999"} {
		program := compiled(dir, `-DHEADER="solar-day.h"`, "-DPLAN=solar_day", "-DBEGIN=solar_day_begin",
			"-DINPUT=SOLAR_DAY_IN_SOC", "-DHIGH=0.999", "-DLOW="+low, "canopy.c", "canopy_program.c", "solar-day.c")
		if is := instructions(t, 100, program, "%d"); m == nil {
			t.Errorf("docs/deploy.md does not state what a step takes: %.0f", is)
		} else {
			compare(t, "a step of the solar day", is, m[i+1])
		}
	}
}
