package codegen

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/canopy-uav/canopy/analysis/reaction"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	text "github.com/canopy-uav/canopy/document/script"
	"github.com/canopy-uav/canopy/explore"
	"github.com/canopy-uav/canopy/internal/trees"
)

// warnings are the flags with which the programs compile without a message.
var warnings = []string{"-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror", "-pedantic", "-Iruntime"}

// compile compiles sources, and returns the program.
func compile(t *testing.T, compiler string, flags []string, sources ...string) string {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skip(compiler + " is not installed")
	}
	out := filepath.Join(t.TempDir(), "program")
	args := slices.Concat(warnings, flags, sources, []string{"-o", out})
	if text, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", compiler, strings.Join(args, " "), err, text)
	}
	return out
}

// script is what the driver of a language reads, and what it must write.
type script struct {
	in, want bytes.Buffer
	language *language
}

// language is a language of programs: how the driver reads a tree, and how to run it.
type language struct {
	name string
	tree func(in *bytes.Buffer, tree *bt.Tree)
}

func (s *script) tree(tree *bt.Tree) { s.language.tree(&s.in, tree) }

var languageC = &language{"C", func(in *bytes.Buffer, tree *bt.Tree) {
	t := tablesOf(tree)
	var kids []bt.Task
	for _, n := range t.nodes {
		kids = append(kids, n.children...)
	}
	first := 0
	fmt.Fprintln(in, "tree", len(t.nodes), len(kids), len(t.states), len(t.lasting), len(tree.Shared()))
	bits := map[string]int{"ACTS": 1, "MEMORY": 2, "PROMPT": 4, "PROMPTS": 8, "REVISED": 16, "QUICK": 32, "LENIENT": 64,
		"KEEPS": 128}
	for _, n := range t.nodes {
		flags := 0
		for _, f := range n.flags {
			flags += bits[f]
		}
		if n.parent < 0 {
			n.parent = 65535
		}
		fmt.Fprintln(in, int(n.family)-1, flags, int(n.over), int(n.verdict[0]), int(n.verdict[1]), int(n.verdict[2]),
			n.parent, first, len(n.children), n.counts.Enough, n.counts.TooMany, n.counts.Quorum, n.shared, n.states, n.limit,
			n.msec)
		first += len(n.children)
	}
	fmt.Fprintln(in, strings.Trim(fmt.Sprint(kids), "[]"))
	for _, r := range t.states {
		fmt.Fprint(in, r.Child, " ", int(r.Says), " ", r.After, " ", number(r.Whole))
		for _, m := range r.On {
			fmt.Fprint(in, " ", int(m.Says), " ", m.To, " ", m.Then, " ", m.Step, " ", number(m.Again))
		}
		fmt.Fprintln(in)
	}
	for _, l := range t.lasting {
		fmt.Fprintln(in, l[0], l[1])
	}
}}

func (s *script) inputs(inputs []bt.Input) {
	for _, in := range inputs {
		words := strings.Fields(in.Text("x"))
		fmt.Fprint(&s.in, words[0], " ", in.Task())
		switch words[0] {
		case "set":
			fmt.Fprint(&s.in, " ", number(words[2] == "true"))
		case "request", "end":
			fmt.Fprint(&s.in, " ", slices.Index([]string{"success", "failure", "accept"}, words[2]))
		case "slow":
			fmt.Fprint(&s.in, " ", number(slices.Contains(words[2:], "entry")))
			fmt.Fprint(&s.in, " ", number(slices.Contains(words[2:], "exit")))
		}
		fmt.Fprintln(&s.in)
	}
}

// instant writes what must happen: a procedure starts at the change of its leaf's status.
func (s *script) instant(i bt.Instant, tree *bt.Tree, err error) {
	for _, c := range i.Changes {
		fmt.Fprintf(&s.want, "%d: %d -> %d (%d)\n", c.Task, c.From, c.To, c.Iteration)
		if tree.Kind(c.Task).Acts() && (c.To == bt.Activating || c.To == bt.Deactivating) {
			fmt.Fprintf(&s.want, "%d: %s\n", c.Task, map[bool]string{false: "entry", true: "exit"}[c.To == bt.Deactivating])
		}
	}
	if err != nil {
		fmt.Fprintln(&s.want, "loop")
	}
	for _, c := range i.Timings {
		fmt.Fprintf(&s.want, "%d: the timer %s\n", c.Task, map[bool]string{false: "stops", true: "starts"}[c.Start])
	}
}

func (s *script) state(e *bt.Engine) {
	fmt.Fprintln(&s.in, "state")
	for i := range e.Tree().Len() {
		t := bt.Task(i)
		text := fmt.Sprint(int(e.Status(t)))
		if e.Active(t) {
			text += "a"
		}
		if result, held := e.Held(t); held {
			text += map[bool]string{false: "h", true: "p"}[e.Pinned(t)] + fmt.Sprint(int(result))
		}
		fmt.Fprint(&s.want, text, " ")
	}
	fmt.Fprintln(&s.want)
}

// random adds a random tree and what happens to it.
func (s *script) random(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(44, seed))
	tree := randomTree(t, r, seed)
	s.tree(tree)
	s.play(r, tree)
}

func randomTree(t *testing.T, r *rand.Rand, seed uint64) *bt.Tree {
	size := 1 + r.IntN(20)
	if seed%100 == 99 {
		size = 200
	}
	root := trees.Random(r, size)
	if seed%4 == 1 {
		root = trees.Guarded(r, root)
	}
	if seed%10 == 7 {
		trees.Zero(r, root)
	}
	tree := trees.Compile(t, root)
	until := map[bt.Task][]bt.Task{}
	for _, l := range tree.Leaves() {
		if seed%3 == 0 && tree.Kind(l) == bt.Condition && r.IntN(2) == 0 {
			until[l] = append(until[l], bt.Task(r.IntN(tree.Len())))
		}
	}
	return tree.Lasting(until)
}

// play adds what happens to a tree that has begun.
func (s *script) play(r *rand.Rand, tree *bt.Tree) {
	limit := bt.DefaultLimit
	if len(tree.Shared()) == 0 && r.IntN(10) == 0 { // the one that is proved, and an iteration that changes nothing
		none := explore.Budget{States: 1, Over: func(int) string { return "the structure suffices" }}
		limit = 1 + max(2, reaction.Explore(tree, reaction.Stubs(tree), none).Bound.Iterations)
	}
	var inputs []bt.Input
	for range r.IntN(4) {
		inputs = append(inputs, trees.Input(r, tree, nil))
	}
	s.inputs(inputs)
	fmt.Fprintln(&s.in, "judge")
	e := bt.NewEngine(tree, inputs, 0)
	s.state(e)
	for range 12 {
		inputs = inputs[:0]
		for range r.IntN(1 + min(3, tree.Len()/3)) {
			inputs = append(inputs, trees.Input(r, tree, e.Status))
		}
		s.inputs(inputs)
		fmt.Fprintln(&s.in, "settle", limit)
		instant, err := e.Settle(inputs)
		s.instant(instant, tree, err)
		s.state(e)
		if r.IntN(20) == 0 {
			fmt.Fprintln(&s.in, "halt")
			s.instant(e.Halt(), tree, nil)
			s.state(e)
		}
	}
}

// run runs the script with a program and its arguments, and compares.
func (s *script) run(t *testing.T, program ...string) {
	t.Helper()
	c := exec.Command(program[0], program[1:]...)
	c.Stdin = &s.in
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	got, want := strings.Split(string(out), "\n"), strings.Split(s.want.String(), "\n")
	for i := range want {
		if i >= len(got) || got[i] != want[i] {
			t.Fatalf("line %d:\n%s\nthe engine:\n%s", i, strings.Join(got[max(0, i-5):min(len(got), i+3)], "\n"),
				strings.Join(want[max(0, i-5):min(len(want), i+3)], "\n"))
		}
	}
}

// TestRandomTrees: the program in C makes the same status changes as the engine, in the same order and iterations,
// whatever compiler and optimisation it comes from.
func TestRandomTrees(t *testing.T) {
	programs := []string{compile(t, "gcc", []string{"-O2"}, "runtime/canopy.c", "testdata/driver.c"),
		compile(t, "gcc", []string{"-O0"}, "runtime/canopy.c", "testdata/driver.c")}
	if _, err := exec.LookPath("clang"); err == nil {
		for _, flag := range []string{"-O2", "-O0"} {
			programs = append(programs, compile(t, "clang", []string{flag}, "runtime/canopy.c", "testdata/driver.c"))
		}
	}
	for _, time := range []string{"float -DCANOPY_SECOND=1", "int64_t -DCANOPY_SECOND=1000000000"} {
		flags := strings.Fields("-O2 -DCANOPY_TIME=" + time)
		programs = append(programs, compile(t, "gcc", flags, "runtime/canopy.c", "testdata/driver.c"))
	}
	for seed := range uint64(trees.Count(100_000, 3_000)) / 100 {
		s := script{language: languageC}
		for k := range uint64(100) {
			s.random(t, 100*seed+k)
		}
		s.run(t, programs[seed%uint64(len(programs))])
	}
}

// TestCortexM: so it does on a Cortex-M3, which qemu emulates.
func TestCortexM(t *testing.T) {
	qemu, err := exec.LookPath("qemu-system-arm")
	if err != nil {
		t.Skip("qemu-system-arm is not installed")
	}
	flags := []string{"-mcpu=cortex-m3", "-mthumb", "-O2", "--specs=rdimon.specs", "-T",
		"testdata/cortex-m/mps2-an385.ld", "testdata/cortex-m/startup.c"}
	program := compile(t, "arm-none-eabi-gcc", flags, "runtime/canopy.c", "testdata/driver.c")
	s := script{language: languageC}
	for seed := range uint64(trees.Count(2_000, 100)) {
		s.random(t, seed)
	}
	s.run(t, qemu, "-M", "mps2-an385", "-nographic", "-monitor", "none", "-serial", "none", "-semihosting-config",
		"enable=on,target=native", "-kernel", program)
}

// oddNames are names of tasks that no language has.
var oddNames = []string{"", "*/", "/*", "a|b", "<b>\r", "\"??/\\", "\x00\n", "über", "tasks", "TASKS", "9", "int", "a b", "a_b", "?\\?/", "end",
	"]]--[["}

// rename gives all tasks odd names.
func rename(r *rand.Rand, d *bt.Node) {
	d.Name = oddNames[r.IntN(len(oddNames))]
	for _, c := range d.Children {
		rename(r, c)
	}
}

// TestTables: the tables that are written compile, and are those of the tree, whatever its names are.
func TestTables(t *testing.T) {
	for seed := range uint64(trees.Count(60, 3)) {
		r := rand.New(rand.NewPCG(45, seed))
		root := trees.Random(r, 1+r.IntN(60))
		rename(r, root)
		tree := trees.Compile(t, root)
		name := []string{"plan", "canopy", "a-b", "9", "int", "Canopy", "a\"b\\"}[seed%7]
		list, err := C(name, oddNames[r.IntN(len(oddNames))], tree, tree.Name, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, rows, _ := strings.Cut(Readme(name, oddNames[r.IntN(len(oddNames))], tree, tree.Name, nil, Settling{}).Text, "|---|---|---|---|\n")
		if cells := strings.Count(rows, "|") - strings.Count(rows, `\|`); strings.Count(rows, "\n") != tree.Len() || cells != 5*tree.Len() {
			t.Errorf("the page has these rows:\n%s", rows)
		}
		dir := t.TempDir()
		save(t, dir, list)
		name = strings.TrimSuffix(list[len(list)-1].Name, ".c")
		flags := []string{"-I" + dir, "-DTREE=" + prefixOf(name) + "_tree", "-DHEADER=\"" + name + ".h\""}
		program := compile(t, "gcc", flags,
			filepath.Join(dir, "canopy.c"), filepath.Join(dir, name+".c"), "testdata/driver.c")
		var s script
		s.play(r, tree)
		s.run(t, program)
	}
}

// TestGolden: the program in each language answers the golden scripts as the engine, as far as these are about one
// tree.
func TestGolden(t *testing.T) {
	t.Run("C", func(t *testing.T) {
		golden(t, languageC, compile(t, "gcc", []string{"-O1", "-g", "-fsanitize=address,undefined",
			"-fno-sanitize-recover=all"}, "runtime/canopy.c", "testdata/driver.c"))
	})
	t.Run("Lua", func(t *testing.T) { golden(t, languageLua, luaDriver(t)...) })
}

func golden(t *testing.T, language *language, program ...string) {
	instants := 0
	datadriven.Walk(t, "../bt/testdata", func(t *testing.T, path string) {
		if filepath.Ext(path) != ".txt" {
			return
		}
		s := script{language: language}
		var tree *bt.Tree
		var e *bt.Engine
		begun, limit := false, 0
		begin := func(start []bt.Input) {
			s.tree(tree)
			s.inputs(start)
			fmt.Fprintln(&s.in, "judge")
			e, begun = bt.NewEngine(tree, start, limit), false
			s.state(e)
		}
		read := func(input string) (start []bt.Input, lines []text.Line) {
			start, lines, _ = text.Parse(tree, &diag.Source{Name: "script", Text: input}) // none if it is refused
			return start, lines
		}
		follow := func(lines []text.Line) {
			if !begun {
				lines = append([]text.Line{{}}, lines...)
			}
			begun = true
			for _, line := range lines {
				instants++
				s.inputs(line.Inputs)
				fmt.Fprintln(&s.in, "settle", limit)
				instant, err := e.Settle(line.Inputs)
				s.instant(instant, tree, err)
				s.state(e)
			}
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "plan":
				root, err := trees.Parse(d.Input)
				if err != nil {
					t.Fatal(err)
				}
				if tree, err = bt.Compile(root); err != nil {
					return d.Expected
				}
				var until string
				limit = bt.DefaultLimit
				for _, a := range d.CmdArgs {
					if a.Key == "until" {
						until = a.Vals[0]
					} else if a.Key == "limit" {
						limit, _ = strconv.Atoi(a.Vals[0])
					}
				}
				if condition, task, ok := strings.Cut(until, ":"); ok {
					lasts, _ := tree.Find(condition)
					end, _ := tree.Find(task)
					tree = tree.Lasting(map[bt.Task][]bt.Task{lasts: {end}})
				}
				begin(nil)
			case "run":
				_, lines := read(d.Input)
				follow(lines)
			case "trace": // from the start
				start, lines := read(d.Input)
				begin(start)
				follow(lines)
			case "case":
				outline, lines, _ := strings.Cut(d.Input+"\n", "\n>")
				root, err := trees.Parse(outline)
				if err != nil {
					t.Fatal(err)
				}
				tree, limit = trees.Compile(t, root), bt.DefaultLimit
				begin(nil)
				_, instants := read(strings.ReplaceAll(lines, "\n>", "\n"))
				follow(instants)
			case "halt":
				fmt.Fprintln(&s.in, "halt")
				s.instant(e.Halt(), tree, nil)
				s.state(e)
			case "exchange", "copy", "tick": // from here on, it is about something else
				s.run(t, program...)
				t.SkipNow()
			}
			return d.Expected
		})
		s.run(t, program...)
	})
	if instants < 3000 {
		t.Errorf("only %d instants", instants)
	}
}

// TestCompiles: the engine compiles without a warning for each kind of time, optimisation and target, and the wrapper
// as C++17.
func TestCompiles(t *testing.T) {
	object := filepath.Join(t.TempDir(), "canopy.o")
	for _, compiler := range []string{"gcc", "clang"} {
		path, err := exec.LookPath(compiler)
		if err != nil {
			t.Log(compiler + " is not installed")
			continue
		}
		for _, flags := range [][]string{{"-O0"}, {"-O2"}, {"-O2", "-ffreestanding"},
			{"-DCANOPY_TIME=float", "-DCANOPY_SECOND=1"}, {"-DCANOPY_TIME=int64_t", "-DCANOPY_SECOND=1000000"}} {
			for _, source := range []string{"runtime/canopy.c", "runtime/canopy_program.c"} {
				args := slices.Concat(warnings, flags, []string{"-c", source, "-o", object})
				if text, err := exec.Command(path, args...).CombinedOutput(); err != nil {
					t.Errorf("%s %s: %v\n%s", compiler, strings.Join(args, " "), err, text)
				}
			}
		}
	}
	path, err := exec.LookPath("g++")
	if err != nil {
		t.Skip("g++ is not installed")
	}
	args := slices.Concat([]string{"-std=c++17", "-x", "c++", "-c", "runtime/canopy.hpp", "-o", object}, warnings[1:])
	if text, err := exec.Command(path, args...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestLeavesInCpp runs examples/28-cpp: its page has what it prints.
func TestLeavesInCpp(t *testing.T) {
	if _, err := exec.LookPath("g++"); err != nil {
		t.Skip("g++ is not installed")
	}
	data, err := os.ReadFile("../examples/28-cpp/patrol.xml")
	if err != nil {
		t.Fatal(err)
	}
	p, list := plan.Read(&diag.Source{Name: "patrol.xml", Text: string(data)}, plan.Vocabulary{})
	if p == nil {
		t.Fatal(list)
	}
	dir := t.TempDir()
	files, err := C("patrol", "", p.Tree, p.Tree.Name, nil)
	if err != nil {
		t.Fatal(err)
	}
	save(t, dir, files)
	for _, name := range []string{"canopy", "patrol"} {
		args := []string{"-std=c99", "-c", filepath.Join(dir, name+".c"), "-o", filepath.Join(dir, name+".o")}
		if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	program := filepath.Join(dir, "patrol")
	args := slices.Concat([]string{"-std=c++17", "-I" + dir}, warnings[1:], []string{"../examples/28-cpp/main.cpp",
		filepath.Join(dir, "canopy.o"), filepath.Join(dir, "patrol.o"), "-o", program})
	if text, err := exec.Command("g++", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	printed, err := exec.Command(program).Output()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../examples/28-cpp/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, _ := strings.Cut(string(page), "```console\n")
	shown, _, _ = strings.Cut(shown, "```")
	if shown == "" || !strings.Contains(string(printed), shown) {
		t.Errorf("printed is\n%s", printed)
	}
}

func save(t *testing.T, dir string, list []File) {
	t.Helper()
	for _, f := range list {
		if err := os.WriteFile(filepath.Join(dir, f.Name), []byte(f.Text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMISRA: the rules of MISRA C:2012 that the engine does not follow are those that docs/deploy.md explains.
func TestMISRA(t *testing.T) {
	cppcheck, err := exec.LookPath("cppcheck")
	if err != nil {
		t.Skip("cppcheck is not installed")
	}
	page, err := os.ReadFile("../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| rule | why it is not followed |")
	table, _, _ = strings.Cut(table, "\n\n")
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\| ([0-9., ]+) \|`).FindAllStringSubmatch(table, -1) {
		for rule := range strings.SplitSeq(m[1], ", ") {
			listed[rule] = true
		}
	}
	c := exec.Command(cppcheck, "--addon=misra", "--std=c99", "--quiet", "--template={id} {file}:{line}",
		"--suppress=missingIncludeSystem", "canopy.c", "canopy_program.c")
	c.Dir = "runtime"
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		rule, place, _ := strings.Cut(strings.TrimPrefix(line, "misra-c2012-"), " ")
		if found[rule] = true; !listed[rule] {
			t.Errorf("rule %s at %s", rule, strings.TrimSpace(place))
		}
	}
	for rule := range listed {
		if !found[rule] {
			t.Errorf("rule %s is followed", rule)
		}
	}
}
