package simulated

import (
	"context"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// left returns the result of a plan and the entries of its main tree, or the first mistake.
func left(trees string) (string, error) {
	files := cart.Files{"m/test.yaml": strings.Replace(cart.Head, "100", "1", 1),
		"m/plan.xml": `<root BTCPP_format="4" main_tree_to_execute="main">` + trees + `</root>`}
	m, diags := mission.Read("m/test.yaml", files.Open, model.Offers(cart.Vehicle), nil)
	if diags.HasErrors() {
		return "", diags.Err()
	}
	r, err := New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		return "", err
	}
	p := &player{brief: true, header: r.Header()}
	r.Attach(p)
	err = r.Fly(context.Background(), nil)
	if err != nil {
		return "", err
	}
	results := map[string]string{"succeeded": "SUCCESS", "failed": "FAILURE", "skipped": "SKIPPED"}
	entries := []string{}
	for i, s := range p.header.Signals {
		value := strconv.FormatFloat(p.last[i], 'g', 15, 64)
		switch {
		case slices.Contains([]string{"x", "T", "nearly", "push", "v", "gear"}, s.Name), strings.Contains(s.Name, "."):
			continue
		case math.IsNaN(p.last[i]):
			value = "unset"
		case s.Type == "text":
			value = "'" + s.Values[int(p.last[i])] + "'"
		}
		entries = append(entries, s.Name+" = "+value)
	}
	slices.Sort(entries)
	return strings.Join(append([]string{results[fmt.Sprint(r.Summary().Plan)]}, entries...), ", "), nil
}

// TestBlackboardsOfBehaviorTreeCpp: plans with scripts, postconditions and stubs have the result and leave the entries
// that they have in BehaviorTree.CPP 4.10.0, which made the answers, except those about scopes. An entry without a value is as one that does not
// exist.
func TestBlackboardsOfBehaviorTreeCpp(t *testing.T) {
	t.Run("scripts", func(t *testing.T) {
		others := map[string]string{ // part of a plan, and the answer or mistake here
			`<SetBlackboard value="5"`:    "SUCCESS, a = 5, b = 1", // there, a literal is a text
			`<SetBlackboard value="{zz}"`: "zz",                    // there, it fails
		}
		compareBlackboards(t, "testdata/btcpp/blackboards.txt", 150, others)
	})
	t.Run("postconditions", func(t *testing.T) {
		compareBlackboards(t, "testdata/btcpp/postconditions.txt", 85, map[string]string{
			`_onFailure="zz = 1"`: `no script creates the entry "zz"`}) // there, it is never executed
	})
	t.Run("scopes", func(t *testing.T) { compareBlackboards(t, "testdata/btcpp/scopes.txt", 140, nil) })
	t.Run("loops", func(t *testing.T) {
		compareBlackboards(t, "testdata/btcpp/loops.txt", 130, map[string]string{
			// There, the queue must stay, may not be that of SetBlackboard, and the two ports have types in conflict.
			`<UnsetBlackboard key="q"/></Sequence></LoopInt>`:     "SUCCESS, e = 1, k = 3, s = 123",
			`<SetBlackboard value="1;2;3" output_key="q"/><Loop`:  "SUCCESS, e = 1, k = 3, q = '1;2;3', s = 123",
			`<SetBlackboard value="{p}" output_key="q"/><LoopInt`: "SUCCESS, e = 1, k = 2, p = '1;2', q = '1;2', s = 12",
			`</LoopBool><LoopInt`:                                 "SUCCESS, e = 1, k = 0, q = '1;0', s = 1010",
			`value="{w}" if_empty="SKIPPED">`:                     "SUCCESS, e = 1, k = 3, s = 54, w = 5", // there, the inner one stays RUNNING
			`<UnsetBlackboard key="k"/>`:                          "SUCCESS, e = 1, s = 0",                // there, WasEntryUpdated misses it
			`<Switch2`:                                            "SUCCESS, e = 1, k = 3, s = 219"})      // there, an int is no text
	})
}

// compareBlackboards compares the answers of a file with at least some plans.
func compareBlackboards(t *testing.T, name string, least int, others map[string]string) {
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	unset := regexp.MustCompile(`, \w+ = unset`)
	count := 0
	for line := range strings.Lines(string(data)) {
		trees, want, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		got, err := left(trees)
		if want = strings.TrimPrefix(unset.ReplaceAllString(want, ""), "RUNNING"); err != nil { // a plan without an end
			got = "error"
		}
		for part, other := range others {
			if strings.Contains(trees, part) {
				if want = other; err != nil && strings.Contains(err.Error(), other) {
					got = other
				}
			}
		}
		if count++; unset.ReplaceAllString(got, "") != want {
			t.Errorf("%s\n%s, %v; there: %s", trees, got, err, want)
		}
	}
	if count < least {
		t.Errorf("only %d plans", count)
	}
}

// TestScriptsNameValuesOfEnumerations: a value of an enumeration in a script is no entry, and a signal that a script
// names keeps its type where other tasks write it.
func TestScriptsNameValuesOfEnumerations(t *testing.T) {
	head := cart.Head + "signals:\n  mode: {type: enumeration, values: [off, home], default: off, hold: true}\n"
	files := cart.Files{"m/test.yaml": head, "m/plan.xml": `<root BTCPP_format="4"><BehaviorTree ID="main"><Sequence>
		<Script code="n := 1"/><ScriptCondition code="mode == off"/><Action name="a" done="true" entry="mode := home"/>
		<ScriptCondition code="mode == home"/></Sequence></BehaviorTree></root>`}
	m, diags := mission.Read("m/test.yaml", files.Open, model.Offers(cart.Vehicle), nil)
	if m == nil || len(diags) > 0 {
		t.Fatal(diags)
	}
	if len(m.Plan.Entries) != 1 {
		t.Errorf("entries %v", m.Plan.Entries)
	}
}
