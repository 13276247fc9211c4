package plan

import (
	"os"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
)

// TestTypesOfPorts: literals and entries of ports with types are refused as BehaviorTree.CPP does.
func TestTypesOfPorts(t *testing.T) {
	others := map[string]bool{ // what is different here: whether it loads
		`y="abc"/>`: false, // there the leaf fails when it runs
		`<SubTree ID="s" y="5"/></BehaviorTree><BehaviorTree ID="s"><Double`: true, // there a whole number is no double
	}
	data, err := os.ReadFile("testdata/btcpp/ports.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, models, _ := strings.Cut(source(t, "testdata/bad/port-types.xml").Text, "</BehaviorTree>\n")
	count := 0
	for line := range strings.Lines(string(data)) {
		trees, answer, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		loads := answer == "loads"
		for part, other := range others {
			if strings.Contains(trees, part) {
				loads = other
			}
		}
		text := `<root BTCPP_format="4" main_tree_to_execute="main">` + trees + models
		if p, list := Read(&diag.Source{Name: "p.xml", Text: text}, nil); (p != nil) != loads {
			t.Errorf("%s\n%s; %v", trees, answer, list)
		}
		count++
	}
	if count < 60 {
		t.Errorf("only %d plans", count)
	}
}
