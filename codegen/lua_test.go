package codegen

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// lua returns the interpreter: lua5.3, or the one that CANOPY_LUA names, as one with numbers of 32 bits.
func lua(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("CANOPY_LUA"); path != "" {
		return path
	}
	path, err := exec.LookPath("lua5.3")
	if err != nil {
		t.Skip("lua5.3 is not installed")
	}
	return path
}

// luaDriver returns the command that runs trees in Lua.
func luaDriver(t *testing.T) []string { return together(t, luaTree, "count", "driver") }

// together returns the command that runs the runtime and files of testdata as one.
func together(t *testing.T, text string, names ...string) []string {
	t.Helper()
	interpreter := lua(t)
	for _, name := range names {
		part, err := os.ReadFile("testdata/" + name + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		text += string(part)
	}
	file := filepath.Join(t.TempDir(), "driver.lua")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{interpreter, file}
}

// short reports whether an interpreter has numbers of 32 bits.
func short(t *testing.T, interpreter string) bool {
	out, err := exec.Command(interpreter, "-e", "print(math.maxinteger)").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)) == "2147483647"
}

var languageLua = &language{"Lua", func(in *bytes.Buffer, tree *bt.Tree) {
	w := newWriter("", "", tree, tree.Name)
	text := "local none = {}\n" + (&luaPrinter{names: w.keys()}).tree(w) + "return tree\n"
	fmt.Fprintf(in, "tree %d\n%s", strings.Count(text, "\n"), text)
}}

// TestRandomTreesInLua: so does the program in Lua.
func TestRandomTreesInLua(t *testing.T) {
	driver := luaDriver(t)
	for seed := range uint64(trees.Count(20_000, 1_000)) / 100 {
		s := script{language: languageLua}
		for k := range uint64(100) {
			s.random(t, 100*seed+k)
		}
		s.run(t, driver...)
	}
}

// TestInstructionsOfTrees: docs/deploy-lua.md has how many instructions it takes to settle random trees of 100 tasks after
// random inputs, with the hooks of this test.
func TestInstructionsOfTrees(t *testing.T) {
	if os.Getenv("CANOPY_LUA") != "" {
		t.Skip("the page is about lua5.3")
	}
	driver := luaDriver(t)
	page, err := os.ReadFile("../docs/deploy-lua.md")
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	for seed := range uint64(100) {
		s := script{language: languageLua}
		r := rand.New(rand.NewPCG(53, seed))
		tree := trees.Compile(t, trees.Random(r, 100))
		s.tree(tree)
		s.play(r, tree)
		c := exec.Command(driver[0], driver[1], "count")
		c.Stdin = &s.in
		var most bytes.Buffer
		c.Stderr = &most
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(most.String()))
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, n)
	}
	slices.Sort(counts)
	text := fmt.Sprintf("half of 100 random trees with about 100 tasks need at most %d instructions, all at most %d",
		(counts[50]+99)/100*100, (counts[99]+99)/100*100)
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), text) {
		t.Errorf("docs/deploy-lua.md lacks the words: %s", text)
	}
}

// answering plays the part of canopy_leaves.lua with the engine: leaves that answer what they are told to.
type answering struct {
	*bt.Engine
	judges, polls, requests, outcomes map[bt.Task]bt.Status
	due                               map[bt.Task]int
	want                              *bytes.Buffer
}

// asked returns what is new of timers and leaves.
func (a *answering) asked(tree *bt.Tree, now int) (in []bt.Input) {
	for i := range tree.Len() {
		task := bt.Task(i)
		if at, runs := a.due[task]; runs && now >= at {
			in = append(in, bt.Elapsed(task))
			delete(a.due, task)
		}
	}
	for _, leaf := range tree.Leaves() {
		acts := tree.Kind(leaf).Acts()
		engaged := a.Engine != nil && (a.Status(leaf) == bt.Activating || a.Status(leaf) == bt.Running)
		switch is := a.polls[leaf]; {
		case !engaged && a.judges[leaf] != a.requests[leaf]:
			a.requests[leaf] = a.judges[leaf]
			if acts {
				in = append(in, bt.Request(leaf, a.judges[leaf]))
			} else {
				in = append(in, bt.Set(leaf, a.judges[leaf] == bt.Success))
			}
		case engaged && is != bt.Running && is != a.outcomes[leaf]:
			a.outcomes[leaf] = is
			in = append(in, bt.End(leaf, is))
		}
	}
	return in
}

// settle settles an instant, and writes what the program in Lua writes.
func (a *answering) settle(tree *bt.Tree, in []bt.Input, now int) error {
	i, err := a.Settle(in)
	a.follow(tree, i, now)
	return err
}

func (a *answering) follow(tree *bt.Tree, i bt.Instant, now int) {
	for _, c := range i.Changes {
		fmt.Fprintf(a.want, "%d\t%s\t%s\n", c.Task, c.From, c.To)
		if tree.Kind(c.Task).Acts() && (c.To == bt.Activating || c.To == bt.Deactivating) {
			a.outcomes[c.Task] = bt.Accept
			fmt.Fprintf(a.want, "%d\t%s\n", c.Task, map[bool]string{true: "start", false: "stop"}[c.To == bt.Activating])
		}
	}
	for _, timing := range i.Timings {
		delete(a.due, timing.Task)
		for k, p := range tree.Kind(timing.Task).Params() {
			if timing.Start && p.Type == bt.Duration {
				a.due[timing.Task] = now + tree.Params(timing.Task)[k]
			}
		}
	}
}

// TestLeavesInLua: a tree whose leaves are functions in Lua makes the status changes of the engine, starts and stops its
// actions, and knows the time of its next timer.
func TestLeavesInLua(t *testing.T) {
	command := together(t, luaTree+luaLeaves, "leaves")
	var s script
	steps := 0
	for seed := range uint64(trees.Count(2_000, 200)) {
		r := rand.New(rand.NewPCG(54, seed))
		tree := trees.Compile(t, trees.Random(r, 1+r.IntN(20)))
		languageLua.tree(&s.in, tree)
		a := &answering{judges: map[bt.Task]bt.Status{}, polls: map[bt.Task]bt.Status{}, requests: map[bt.Task]bt.Status{},
			outcomes: map[bt.Task]bt.Status{}, due: map[bt.Task]int{}, want: &s.want}
		for _, leaf := range tree.Leaves() {
			a.requests[leaf], a.outcomes[leaf] = bt.Failure, bt.Accept
			if tree.Kind(leaf).Acts() {
				a.requests[leaf] = bt.Accept
			}
		}
		now := 0
		var in []bt.Input // also what was told when no more rounds were left
		for step := range 15 {
			fmt.Fprint(&s.in, "step ", now)
			for _, leaf := range tree.Leaves() {
				a.judges[leaf] = []bt.Status{bt.Success, bt.Failure}[r.IntN(2)]
				if tree.Kind(leaf).Acts() && r.IntN(3) > 0 {
					a.judges[leaf] = bt.Accept
				}
				a.polls[leaf] = []bt.Status{bt.Running, bt.Running, bt.Success, bt.Failure}[r.IntN(4)]
				fmt.Fprint(&s.in, " ", a.judges[leaf], " ", a.polls[leaf])
			}
			fmt.Fprintln(&s.in)
			in = append(in, a.asked(tree, now)...)
			if step == 0 {
				a.Engine = bt.NewEngine(tree, in, 0)
				in = nil
			}
			goes, fault := step == 0 || len(in) > 0, ""
			for round := 0; (goes || round == 0) && fault == ""; round++ {
				if round == 50 {
					fault = "unsettled"
					continue
				}
				err := a.settle(tree, in, now)
				in = nil
				if err != nil {
					fault = "unsettled"
					continue
				}
				in = a.asked(tree, now)
				goes = len(in) > 0
			}
			next := ""
			for _, at := range a.due {
				if n, err := strconv.Atoi(next); err != nil || at < n {
					next = strconv.Itoa(at)
				}
			}
			fmt.Fprintf(&s.want, "step\t%s\t%s\n", fault, next)
			now += 1 + r.IntN(1500)
			steps++
		}
	}
	if n := strings.Count(s.want.String(), "start\n"); n < steps/10 {
		t.Errorf("actions start only %d times in %d steps", n, steps)
	}
	s.run(t, command...)
}

// TestKinds: the runtimes know every family and every status, and do what the engine does with every kind.
func TestKinds(t *testing.T) {
	scripts := map[*language]*script{languageC: {language: languageC}, languageLua: {language: languageLua}}
	for _, k := range bt.Kinds() {
		family := k.Family().String()
		for _, part := range []string{"function decide." + family, "decide." + family + " ="} {
			if strings.Contains(luaTree, part) {
				family = ""
			}
		}
		if family != "" || !strings.Contains(luaTree, "function pass."+k.Family().String()) ||
			!strings.Contains(header, "CANOPY_"+strings.ToUpper(k.Family().String())) {
			t.Errorf("a runtime lacks the family %s", k.Family())
		}
		for seed := range uint64(20) {
			for _, s := range scripts {
				r := rand.New(rand.NewPCG(55, seed))
				d := &bt.Node{Kind: k}
				if k.Family() != bt.Leaf && !k.Childless() {
					for range trees.Width(r, k, 3) {
						d.Children = append(d.Children, trees.Random(r, 1))
					}
				}
				d.Params = trees.Params(r, k, len(d.Children))
				root := &bt.Node{Kind: bt.Sequence, Children: []*bt.Node{d, trees.Random(r, 1)}}
				tree, err := bt.Compile(root)
				if err != nil {
					t.Fatalf("%s: %v", k, err)
				}
				s.tree(tree)
				s.play(r, tree)
			}
		}
	}
	for status := bt.Success; status <= bt.Dropped; status++ {
		if !strings.Contains(luaTree, status.String()+" = ") || !strings.Contains(header, "CANOPY_"+strings.ToUpper(status.String())) {
			t.Errorf("a runtime lacks the status %s", status)
		}
	}
	t.Run("C", func(t *testing.T) {
		scripts[languageC].run(t, compile(t, "gcc", nil, "runtime/canopy.c", "testdata/driver.c"))
	})
	t.Run("Lua", func(t *testing.T) { scripts[languageLua].run(t, luaDriver(t)...) })
}

// TestBindings: what the scripts connect are signals, sources, slots and modes of the contracts.
func TestBindings(t *testing.T) {
	if len(autopilots) != len(contract.Contracts()) {
		t.Error("a contract has no autopilot")
	}
	names, from := map[string]bool{}, map[string]bool{}
	for _, c := range contract.Contracts() {
		for _, s := range c.Signals {
			names[s.Name], from[s.Source.String()] = true, true
		}
		for name := range ordered {
			if c.Slot(name) < 0 {
				t.Errorf("%s has no slot %s", c.Name, name)
			}
		}
		modes := c.Signals[c.Signal("mode")].Values
		pilot := autopilots[c.Name]
		if modes[pilot.guided] != "guided" {
			t.Errorf("%s: %s", c.Name, modes[pilot.guided])
		}
		for i := 1; i < len(modes); i++ {
			if back := pilot.modes[pilot.numbers[i]]; modes[back] != modes[i] && modes[i] != "loiter" {
				t.Errorf("%s: the mode %s is commanded, and seen as %s", c.Name, modes[i], modes[back])
			}
		}
	}
	for name, b := range bindings {
		if _, ok := sources[b.source]; !ok || !names[name] {
			t.Errorf("no contract has the signal %s, or it has the source %s", name, b.source)
		}
	}
	for name := range sources {
		if !from[name] {
			t.Errorf("no contract has the source %s", name)
		}
	}
}

// TestScriptsLoad: Lua reads what is written, whatever the names are, and the script stops where a leaf is not connected.
func TestScriptsLoad(t *testing.T) {
	interpreter := lua(t)
	for seed := range uint64(trees.Count(60, 10)) {
		r := rand.New(rand.NewPCG(56, seed))
		root := trees.Random(r, 1+r.IntN(60))
		rename(r, root)
		tree := trees.Compile(t, root)
		name := []string{"plan", "canopy", "a-b", "9", "end", "a\"b\\"}[seed%6]
		module, script, err := Lua(name, oddNames[r.IntN(len(oddNames))], tree, tree.Name, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "modules"), 0o700); err != nil {
			t.Fatal(err)
		}
		save(t, dir, []File{module, script})
		c := exec.Command(interpreter, "-e", "package.path = 'modules/?.lua'\nfunction millis() return 0 end", script.Name)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, out, script.Text)
		}
		c = exec.Command(interpreter, "-e", "package.path = 'modules/?.lua'\nlocal now = {toint = function() return 0 end}\n"+
			"setmetatable(now, {__sub = function() return now end})\nfunction millis() return now end\n"+
			"local update = dofile('"+script.Name+"')\nprint(select(2, pcall(update)))\nprint(select(2, pcall(update)))")
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "not connected: ") &&
			slices.ContainsFunc(tree.Leaves(), func(l bt.Task) bool { return tree.Kind(l) == bt.Condition }) {
			t.Fatalf("%v\n%s\n%s", err, out, script.Text)
		}
	}
}
