package plan

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/internal/btcpp"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// foreignElement reports whether an element is a control or decorator of another program.
func foreignElement(e *xmltree.Element, word string) bool {
	_, known := bt.ParseKind(word)
	for range e.Elements() {
		return !known
	}
	return false
}

// loadedNames returns the names of a plan's nodes as BehaviorTree.CPP has them, the first one first; false if it has
// more of them, below controls of other programs.
func loadedNames(p *Plan) (names []string, all bool) {
	all = true
	var visit func(task bt.Task)
	visit = func(task bt.Task) {
		e := p.Element(task)
		if e.Parent == nil { // a case of a switch
			return
		}
		kind, made := p.Tree.Kind(task), p.Label(task) != cmp.Or(valueOf(e.Find("name")), valueOf(e.Find("ID")), e.Name)
		switch word := cmp.Or(valueOf(e.Find("ID")), e.Name); {
		case made && (strings.HasSuffix(p.Label(task), ".again") || strings.HasSuffix(p.Label(task), ".run")):
			// the copy of a task, or the control that a decorator is made of
		case made && foreignElement(e, word): // a task that a node of another program is made of
		case !kind.Attributed() || e.Name == kind.String() || word == kind.String():
			names = append(names, p.Label(task))
		}
		for range e.Elements() {
			all = all && p.Tree.Kind(task).Family() != bt.Leaf
		}
		for _, c := range p.Tree.Children(task) {
			visit(c)
		}
	}
	visit(p.Tree.Root())
	return names, all
}

// unloadable says, by a part of its message, why BehaviorTree.CPP loads neither a plan nor what is written for it.
var unloadable = map[string]string{
	"parameters.xml": "the port [wait] was initially created with type [int]", // 250, which Delay reads as unsigned
}

// What is written for BehaviorTree.CPP is loaded by it as the same tree: shipped plans, plans of this package, random
// ones, and one that includes a manifest.
func TestBehaviorTreeCppLoads(t *testing.T) {
	load, dir := btcpp.Program(t, "../../internal/btcpp/cpp", "load"), t.TempDir()
	want := map[string]*Plan{}
	var files []string
	add := func(src *diag.Source, open Open) {
		p, found := ReadFiles(src, nil, open)
		text, list := Plain(src, open)
		if p == nil || list.HasErrors() || strings.Contains(found.Error(), "there is no tree") {
			return // a plan with mistakes, a library, a plan that needs another file
		}
		if strings.Contains(list.Error(), "BehaviorTree.CPP does not load the plan") {
			return
		}
		file := filepath.Join(dir, fmt.Sprintf("%d-%s", len(files), filepath.Base(src.Name)))
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		files, want[file] = append(files, file), p
	}
	for _, pattern := range []string{"../../missions/*.xml", "../../examples/*/*.xml", "testdata/good/*.xml", "testdata/plain/*.xml"} {
		for _, path := range plans(t, pattern) {
			add(source(t, path), beside(path))
		}
	}
	shipped := len(files)
	if shipped < 25 {
		t.Errorf("only %d plans", shipped)
	}
	add(&diag.Source{Name: "blackboard.xml", Text: blackboardPlan}, nil)
	manifest := Manifest(signals, nil)
	add(&diag.Source{Name: "manifest.xml", Text: `<root BTCPP_format="4"><include path="nodes.xml"/><BehaviorTree ID="a">
		<Sequence><above_h limit="3 [m]"/><write_h_cmd value="4 [m]"/></Sequence></BehaviorTree></root>`},
		func(string) ([]byte, error) { return []byte(manifest), nil })
	r := rand.New(rand.NewPCG(7, 8))
	for range 300 {
		add(&diag.Source{Name: "random.xml", Text: randomPlan(r)}, nil)
	}
	var out []byte
	for _, run := range []struct {
		ticks string
		files []string
	}{{"20", files[:shipped]}, {"0", files[shipped:]}} {
		text, err := exec.Command(load, slices.Insert(slices.Clone(run.files), 0, run.ticks)...).CombinedOutput()
		if err != nil {
			t.Log(err) // the plans that are not loaded follow
		}
		out = append(out, text...)
	}
	got := map[string][]string{}
	file, results, messages := "", map[string]int{}, []string{}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\n")
		switch word, rest, _ := strings.Cut(strings.TrimLeft(line, " "), " "); {
		case want[line] != nil:
			file, got[line] = line, nil
		case word == "=":
			results[rest]++
		case word == "!":
			messages = append(messages, rest)
			t.Log(rest)
		case line[0] == ' ' && word != elementSubTree: // other lines are what BehaviorTree.CPP says of ports
			got[file] = append(got[file], rest)
		}
	}
	for _, file := range files {
		names, all := loadedNames(want[file])
		_, base, _ := strings.Cut(filepath.Base(file), "-")
		switch nodes, ok := got[file]; {
		case !ok && unloadable[base] != "":
			if !slices.ContainsFunc(messages, func(m string) bool {
				return strings.HasPrefix(m, file) && strings.Contains(m, unloadable[base])
			}) {
				t.Errorf("%s is not loaded for another reason", base)
			}
		case !ok:
			t.Errorf("%s is not loaded", filepath.Base(file))
		case all && !slices.Equal(nodes, names):
			t.Errorf("%s is loaded as\n%q, not as\n%q", filepath.Base(file), nodes, names)
		}
	}
	t.Logf("BehaviorTree.CPP loads %d plans, %d of them from the repository; results: %v", len(got), shipped, results)
}
