package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// Commands that read a plan without a main tree say so, and take the name of one.
func TestTreeOfAPlan(t *testing.T) {
	dir := write(t, map[string]string{"p.xml": `<root BTCPP_format="4"><BehaviorTree ID="a"><Fly/></BehaviorTree>` +
		`<BehaviorTree ID="b"><SubTree ID="c"/></BehaviorTree><BehaviorTree ID="c"><Land/></BehaviorTree></root>`})
	p := filepath.Join(dir, "p.xml")
	for _, command := range []string{"show", "check", "convert", "reaction", "manifest"} {
		if _, stderr, status := canopy(command, p); status != exitInput || !strings.Contains(stderr, `write main_tree_to_execute="a" or "b"`) ||
			!strings.Contains(stderr, "--tree") {
			t.Errorf("%s: %d\n%s", command, status, stderr)
		}
		stdout, stderr, status := canopy(command, "--tree", "b", p)
		if status == exitInput || !strings.Contains(stdout+stderr, "Land") {
			t.Errorf("%s --tree b: %d\n%s%s", command, status, stdout, stderr)
		}
		if _, stderr, status := canopy(command, "--tree", "d", p); status != exitInput || !strings.Contains(stderr, `no tree "d"`) {
			t.Errorf("%s --tree d: %d\n%s", command, status, stderr)
		}
	}
}
