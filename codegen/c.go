// Package codegen writes a plan's tree as a program for a flight controller.
//
// The law of the tree is written once for each language, in runtime: full sweeps over constant tables. What a plan adds
// are the tables, from the rows of package bt, so that a new kind needs no change here.
package codegen

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/canopy-uav/canopy/bt"
)

//go:embed runtime/canopy.h
var header string

//go:embed runtime/canopy.c
var source string

//go:embed runtime/canopy_functions.h
var functions string

//go:embed runtime/canopy_program.h
var programHeader string

//go:embed runtime/canopy_program.c
var programSource string

//go:embed runtime/canopy.hpp
var wrapper string

// File is a file of a program.
type File struct{ Name, Text string }

// C returns the program of a tree in C99: the engine, canopy.h and canopy.c, with canopy.hpp for C++17, and the tables,
// in two files with the given name, or one like it if C cannot have that. Comments say from what they were made, and
// what is to be known about each task. A tree has at most 65,534 tasks. With a program, its expressions are translated,
// too, for canopy_program.h and canopy_program.c.
func C(name, made string, tree *bt.Tree, about func(bt.Task) string, p *Program) ([]File, error) {
	w := newWriter(fileName(name), made, tree, about)
	if p == nil {
		return w.files(fileName(name), nil)
	}
	return w.files(fileName(name), newProgram(p, w))
}

// files returns the files of C, with the program of the tree, if it has one.
func (w *writer) files(name string, g *program) ([]File, error) {
	if most := math.MaxUint16 - 1; max(w.tree.Len(), len(w.states)) > most {
		return nil, fmt.Errorf("the tree has %d tasks, and %d states of automata; C supports at most %d", w.tree.Len(),
			len(w.states), most)
	}
	files := []File{{"canopy.h", header}, {"canopy.c", source}, {"canopy.hpp", wrapper}}
	engine, declarations, definitions := "canopy.h", "", ""
	if g != nil {
		engine, declarations, definitions = "canopy_program.h", g.declarations(), g.definitions()
		files = append(files, File{"canopy_functions.h", functions}, File{"canopy_program.h", programHeader},
			File{"canopy_program.c", programSource})
	}
	return append(files, File{name + ".h", w.header(engine, declarations)},
		File{name + ".c", w.source(name, definitions)}), nil
}

// fileName returns a name of files that C can include, and that are not those of the engine.
func fileName(name string) string {
	if strings.EqualFold(name, "canopy") || strings.ContainsAny(name, "\"\\\n\r") {
		name = identifier(name) + "_plan"
	}
	return name
}

// tables are the constant tables of a tree.
type tables struct {
	nodes   []node
	states  []bt.StateRow
	lasting [][2]bt.Task // a condition, and the task until whose end it lasts
}

// node is a task of them.
type node struct {
	family  bt.Family
	flags   []string
	over    bt.Status
	verdict [3]bt.Status
	parent  bt.Task // -1: none
	children
	counts bt.Counts
	shared int
	states int
	limit  int32
	msec   int
}

func tablesOf(tree *bt.Tree) tables {
	var t tables
	first := map[*bt.Automaton]int{}
	shared := map[bt.Task]int{}
	for i, guards := range tree.Shared() {
		for _, g := range guards {
			shared[g] = i + 1
		}
	}
	for i := range tree.Len() {
		task := bt.Task(i)
		kind := tree.Kind(task)
		children := tree.Children(task)
		n := node{family: kind.Family(), parent: tree.Parent(task), children: children, shared: shared[task]}
		flag := func(is bool, name string) {
			if is {
				n.flags = append(n.flags, name)
			}
		}
		prompts := false
		for _, c := range children {
			prompts = prompts || tree.Prompt(c)
		}
		flag(kind.Acts(), "ACTS")
		flag(kind.Memory(), "MEMORY")
		flag(tree.Prompt(task), "PROMPT")
		flag(prompts, "PROMPTS")
		flag(tree.Revised(task), "REVISED")
		flag(tree.Quick(task), "QUICK")
		switch n.family {
		case bt.Leaf:
		case bt.Chain:
			n.over = kind.Over()
			for k := range n.verdict {
				n.verdict[k] = kind.Verdict(bt.Status(k))
			}
		case bt.Count:
			n.counts = tree.Counts(task)
			flag(n.counts.Lenient, "LENIENT")
		case bt.Script:
			a, limit := tree.Automaton(task)
			rows, keeps := a.Rows()
			flag(keeps, "KEEPS")
			if _, known := first[a]; !known {
				first[a] = len(t.states)
				t.states = append(t.states, rows...)
			}
			n.states, n.limit = first[a], limit
			for k, p := range kind.Params() {
				if p.Type == bt.Duration {
					n.msec = tree.Params(task)[k]
				}
			}
		default:
			panic("codegen: a task of an unknown family")
		}
		t.nodes = append(t.nodes, n)
		for _, c := range tree.LastUntil(task) {
			t.lasting = append(t.lasting, [2]bt.Task{c, task})
		}
	}
	return t
}
