package script

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/internal/golden"
)

func readPlan(t *testing.T, trees string) (*plan.Plan, diag.List) {
	t.Helper()
	src := &diag.Source{Name: "plan.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="main">` + trees + `</root>`}
	return plan.Read(src, nil)
}

// TestGolden runs golden scripts of plans whose entries determine what leaves do.
func TestGolden(t *testing.T) {
	golden.Run(t, func() golden.Machine {
		var p *plan.Plan
		others := map[string]*plan.Plan{}
		open := func(path string) (*plan.Plan, diag.List) {
			if others[path] == nil {
				return nil, diag.List{{Source: &diag.Source{Name: path}, Code: "file", Text: "there is no such file"}}
			}
			return others[path], nil
		}
		return func(t *testing.T, d golden.Directive) string {
			var b strings.Builder
			switch d.Name {
			case "plan", "other":
				read, list := readPlan(t, `<BehaviorTree ID="main">`+d.Input+`</BehaviorTree>`)
				if read == nil {
					t.Fatal(list)
				}
				if d.Name == "plan" {
					p = read
				} else {
					others[d.Value("name")] = read
				}
			case "trace":
				if err := Print(p, &diag.Source{Name: "script", Text: d.Input}, open, &b); err != nil {
					fmt.Fprintf(&b, "error:\n%v\n", err)
				}
			default:
				t.Fatalf("%s: unknown directive %s", d.At, d.Name)
			}
			return b.String()
		}
	}, "testdata/*.txt")
}

// TestTracesAsBehaviorTreeCpp: a plan of scripts alone has the result here that it has in BehaviorTree.CPP.
func TestTracesAsBehaviorTreeCpp(t *testing.T) {
	data, err := os.ReadFile("../../run/simulated/testdata/btcpp/blackboards.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(data)) {
		trees, want, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		want, _, _ = strings.Cut(want, ",")
		p, _ := readPlan(t, trees)
		clock := func(l plan.Leaf) bool { return l.Start != "" }
		if p == nil || len(p.FreeEntries(nil)) > 0 || len(p.Tree.Timers()) > 0 || slices.ContainsFunc(p.Leaves, clock) {
			continue // `run` refuses it, or time must pass
		}
		got := "waits"
		err := Play(p, &diag.Source{Name: "script"}, nil, func(_ int, _ *bt.Tree, instant bt.Instant, _ []Written) {
			for _, c := range instant.Changes {
				if c.Task != p.Tree.Root() {
					continue
				}
				switch c.To {
				case bt.Finished, bt.Success:
					got = "SUCCESS"
				case bt.Aborted, bt.Failure:
					got = "FAILURE"
				}
			}
		})
		if err != nil {
			got = "error"
		}
		if count++; got != want {
			t.Errorf("%s\n%s, want %s (%v)", trees, got, want, err)
		}
	}
	if count < 100 {
		t.Errorf("%d plans", count)
	}
}

// TestLoopOfScripts: scripts that never end are an error that names them, after a bounded log: a short one if a state
// occurs again.
func TestLoopOfScripts(t *testing.T) {
	for _, test := range []struct {
		code string
		most int
	}{{"n += 1", executive.MaxSettlings}, {"n := 1 - n", 300}} {
		p, list := readPlan(t, `<BehaviorTree ID="main"><Sequence><Script code="n := 0"/><KeepRunningUntilFailure>
			<Script name="again" code="`+test.code+`"/></KeepRunningUntilFailure></Sequence></BehaviorTree>`)
		if p == nil {
			t.Fatal(list)
		}
		var out strings.Builder
		err := Print(p, &diag.Source{Name: "x.txt"}, nil, &out)
		if !errors.Is(err, executive.ErrUnsettled) || !strings.HasSuffix(err.Error(), "keep changing: again") ||
			strings.Count(out.String(), "\n") > 8*test.most {
			t.Errorf("%s: %v", test.code, err)
		}
	}
}
