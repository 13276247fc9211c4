package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run/control"
)

// The check of an uploaded plan has a limit of its own. What it does not decide is said; what it refutes is refused.
func TestUploadsAreChecked(t *testing.T) {
	const name = "../../missions/circuit-plane.yaml"
	_, m, err := readPlan(name, os.Stderr)
	must(t, err)
	j := checked(t.Context(), m, 1e-9)
	all := fmt.Sprintf("complete: not concluded within 1e-9 s, nor were the %d questions", len(verify.Questions())-1)
	if len(j.Refuted) > 0 || len(j.Open) != 1 || !strings.HasPrefix(j.Open[0], all) {
		t.Errorf("without time: %+v", j)
	}
	if text := answered(&control.Response{Progress: control.Staged, Open: j.Open}); !strings.Contains(text,
		"not proved: complete: not concluded") {
		t.Errorf("told: %s", text)
	}
	for body, want := range map[string]string{"<hold/>": "", "<take_off/>": "complete: refuted: no action"} {
		next, list := m.WithPlan(&diag.Source{Name: "next.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="a">
			<include path="library:plane"/><BehaviorTree ID="a">` + body + `</BehaviorTree></root>`})
		if next == nil {
			t.Fatal(list)
		}
		j := checked(t.Context(), next, control.MostLimit)
		if text := strings.Join(j.Refuted, "; "); (text == "") != (want == "") || !strings.HasPrefix(text, want) ||
			len(j.Open) > 0 {
			t.Errorf("%s: %+v", body, j)
		}
	}
	for limit, want := range map[string]string{"0": "not a time above 0", "1h": "--check-limit is at most 600 s"} {
		_, stderr, status := canopy("upload", "next.xml", "--to", "nowhere", "--check-limit", limit)
		if status != exitInput || !strings.Contains(stderr, want) {
			t.Errorf("a limit of %s: %d, %s", limit, status, stderr)
		}
	}
}

// TestShippedPlansCanBeUploaded: a plan that includes a library, as one document, fits the mission that flies it: of the
// library it needs no more than it uses.
func TestShippedPlansCanBeUploaded(t *testing.T) {
	for _, name := range []string{"circuit-plane", "patrol-copter", "solar-day"} {
		m, err := readMission(filepath.Join("..", "..", "missions", name+".yaml"), nil, io.Discard)
		must(t, err)
		next, list := m.WithPlan(&diag.Source{Name: "next.xml", Text: m.Plan.Source.Text})
		if next == nil || next.Plan.Source.Text != m.Plan.Source.Text {
			t.Errorf("%s: %v", name, list)
		}
	}
}
