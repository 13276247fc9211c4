package plan

import (
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Read reads a plan document that includes no others, as [ReadFiles] does.
func Read(src *diag.Source, signals Vocabulary) (*Plan, diag.List) {
	return ReadFiles(src, signals, nil)
}

// ReadWithin is Read for a plan that with its subtrees has at most a number of tasks: one that has more is not
// expanded. The expressions that name ports have at most 20 parts for each of these tasks.
func ReadWithin(src *diag.Source, signals Vocabulary, tasks int) (*Plan, diag.List) {
	return reading{signals: signals, limits: limits{tasks, min(maxParts, 20*tasks)}}.plan(src)
}

// ReadFiles reads a plan document with those that it includes. The list holds all mistakes at once; if one of them is
// an error there is no plan. Without a vocabulary (nil), neither names nor units of signals are checked. The source of
// the plan is one document of format 4 without includes, whose places are those in the files.
func ReadFiles(src *diag.Source, signals Vocabulary, open Open) (*Plan, diag.List) {
	return reading{signals: signals, open: open, limits: widest}.plan(src)
}

// ReadFlown reads a plan that a mission has flown, without the mission: functions that are not of the language are the
// mission's tables.
func ReadFlown(src *diag.Source) (*Plan, diag.List) {
	return reading{tables: true, limits: widest}.plan(src)
}

// widest are the limits of a plan that is a file of its author's.
var widest = limits{maxTasks, maxParts}

// reading is how a plan is read.
type reading struct {
	signals Vocabulary // nil: neither names nor units are known
	open    Open       // nil: no other files are read
	limits
	code   map[string]Code // of a program, by ID; nil: there is none
	usedAs expr.Scope      // entries by their use
	tables bool            // calls of unknown functions are accepted
	exact  bool            // each node of a description is the task that it names

	observe func(e *xmltree.Element, attributes []string) // is told what an element may have; nil: nobody asks
}

// plan reads a plan, and returns it if there are no errors.
func (o reading) plan(src *diag.Source) (*Plan, diag.List) {
	d, p := o.passes(src)
	if d.untyped && o.signals != nil { // the expressions that use such entries give them their types
		plain := o
		plain.signals = nil
		if _, used := plain.passes(src); used != nil {
			o.usedAs = used.usages()
			d, p = o.passes(src)
		}
	}
	list := d.found.Sorted()
	if list.HasErrors() {
		p = nil
	}
	return p, list
}

// passes reads a plan in three passes, each of which continues after the mistakes of the one before:
//
//	parse    the text into trees of typed nodes, as they are written: parse.go, node.go, classify.go, model.go,
//	         values.go, access.go
//	desugar  each node into tasks of the kinds: desugar.go and a file for each rewriting; subtrees in the place of their
//	         uses: includes.go, scope.go, counts.go
//	compile  the entries of the blackboard with their types: board.go, queue.go; the leaves with their expressions:
//	         environment.go, leaf.go; the tree: compile.go
//
// Each node has the element in the author's text to which it belongs, so that every mistake has its place. The plan is
// nil if there are errors.
func (o reading) passes(src *diag.Source) (*document, *Plan) {
	d := parse(src, o)
	desugar(d)
	used := d.includes()
	c := newCompiler(d)
	c.checkParts()
	if d.main == nil || d.main.root == nil {
		return d, nil
	}
	if d.complete && !d.astray {
		d.warnUnused(used)
	}
	if !d.fits(used[d.main], o.mostTasks) {
		return d, nil
	}
	if main := inline(d); main != nil {
		return d, c.compile(main)
	}
	return d, nil
}
