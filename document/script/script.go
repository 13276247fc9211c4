// Package script reads trace scripts, which play the leaves of a tree, and replays them with the tree engine.
package script

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// Print settles a tree for the first time and then once for each line of a script, and writes one line for each change
// of a status:
//
//	N NAME: From -> To
//
// N is the number of the script's line, counting only lines with inputs; 0 is the first settling. A script's line is
// one instant, `;` separates inputs, `#` starts a comment:
//
//	set C true|false                   a condition's truth value
//	request A accept|success|failure   the request of an action while it is not active
//	end A success|failure              an action's outcome, if it is active
//	slow A [entry] [exit]              exactly these procedures of A take time from now on
//	entered A, exited A                the running procedure is complete
//	elapsed T                          the running timer of a task has elapsed
//	wait L                             the loop L does not run its child again in this instant, but waits with it
//	again L                            the loop L, if it waits, runs its child again
//
// The ID of leaves names all of them, and a path one. If the first line begins with `start:`, its inputs are those with
// which the engine begins, before the first settling; it is not counted. Without it, conditions are false, actions ask
// to be activated, and procedures take no time.
//
// All bad input is found before anything runs and returned as a diag.List; nothing is written then. A tree that does
// not settle is an error that wraps [bt.ErrLoop], after the log so far.
// Otherwise the script is that of [Play].
func Print(p *plan.Plan, src *diag.Source, open PlanReader, w io.Writer) error {
	out := bufio.NewWriter(w)
	err := Play(p, src, open, log(out))
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	return err
}

// Pass receives the log of an instant, with its number and its tree. An instant at which the plan is exchanged has two:
// that of the old tree, then that of the new one. It is valid until the function returns.
type Pass func(n int, tree *bt.Tree, instant bt.Instant, written []Written)

// Written is a change of an entry in an instant, by a task or by the script.
type Written struct {
	After    int // so many of the instant's changes of statuses came before
	Entry    string
	From, To any // a float64, a bool or a string; nil: no value
}

// log returns a function that writes the changes of an instant.
func log(out io.Writer) Pass {
	return func(n int, tree *bt.Tree, instant bt.Instant, _ []Written) {
		for _, c := range instant.Changes {
			fmt.Fprintf(out, "%d %s: %s -> %s\n", n, diag.Visible(tree.Name(c.Task)), c.From, c.To)
		}
	}
}

// Names reports whether a script can name a task: not if the name holds ";", "#" or a line break, or has blanks at
// an end.
func Names(tree *bt.Tree, task bt.Task) bool {
	name := tree.Name(task)
	return !strings.ContainsAny(name, ";#\r\n") && strings.TrimSpace(name) == name
}

// Line is one instant of a script.
type Line struct {
	Number int // in the source, from 1
	Inputs []bt.Input
	late   []bt.Input // of tasks that only the plan before the last exchange has
	values []value    // of entries
	swap   *plan.Plan // the plan is exchanged for this one
}

// word is a word of a script with its place.
type word struct {
	text   string
	offset int
}

// end returns the offset after the word.
func (w word) end() int { return w.offset + len(w.text) }

// parser reads a script and collects its mistakes.
type parser struct {
	plan    *plan.Plan // nil: only the tree is known
	tree    *bt.Tree
	src     *diag.Source
	entries []plan.BlackboardEntry // that may be set
	open    PlanReader
	last    *plan.Plan // before the last exchange
	list    diag.List
	plans   map[string]*plan.Plan // that are named, by their paths; nil: it cannot take over
	text    int                   // bytes of their documents
	work    int                   // of the exchanges
	full    bool                  // they are too many

	lineCount int
}

// Start precedes the inputs with which the engine begins.
const Start = "start:"

// Parse returns the inputs with which a script begins, and its instants, or its mistakes.
func Parse(tree *bt.Tree, src *diag.Source) (start []bt.Input, lines []Line, mistakes diag.List) {
	p := &parser{tree: tree, src: src, plans: map[string]*plan.Plan{}}
	begin, lines := p.lines()
	return begin.Inputs, lines, p.list
}

// lines reads a script.
func (p *parser) lines() (start Line, lines []Line) {
	offset, number, first := p.src.Begin(), 0, true
	p.lineCount = 1 + strings.Count(p.src.Text, "\n")
	for text := range strings.Lines(p.src.Text[offset:]) {
		number++
		line, _, _ := strings.Cut(text, "#")
		inputs := strings.TrimLeft(line, " \t")
		switch rest, begins := strings.CutPrefix(inputs, Start); {
		case strings.TrimSpace(line) == "":
		case begins && first:
			start, first = p.instant(rest, offset+len(line)-len(rest)), false
		case begins:
			p.report(offset+len(line)-len(inputs), len(Start), "late-start", "a script has begun before this line",
				"only its first line may begin with \""+Start+"\"")
		case strings.Fields(line)[0] == swapVerb:
			lines, first = append(lines, Line{Number: number, swap: p.exchange(line, offset)}), false
		default:
			read := p.instant(line, offset)
			read.Number = number
			lines, first = append(lines, read), false
		}
		offset += len(text)
	}
	return start, lines
}

// instant reads the inputs of a line that begins at an offset.
func (p *parser) instant(line string, offset int) (read Line) {
	for part := range strings.SplitSeq(line, ";") {
		if words := splitWords(part, offset); len(words) > 0 {
			if v, ok := p.value(words); ok {
				read.values = append(read.values, v)
			} else if in, late := p.either(words); late {
				read.late = append(read.late, in...)
			} else {
				read.Inputs = append(read.Inputs, in...)
			}
		}
		offset += len(part) + 1
	}
	return read
}

func splitWords(text string, offset int) []word {
	var words []word
	at := 0
	for _, field := range strings.Fields(text) {
		at += strings.Index(text[at:], field)
		words = append(words, word{field, offset + at})
		at += len(field)
	}
	return words
}

// verb is the first word of an input.
type verb struct {
	name        string
	takes       func(bt.Kind) bool // of the task whose name follows
	words       []string           // allowed after the name
	least, most int                // their number
	input       func(task bt.Task, words []string) bt.Input
}

var verbs = []verb{
	{"set", bt.Kind.Judged, []string{"true", "false"}, 1, 1,
		func(t bt.Task, words []string) bt.Input { return bt.Set(t, words[0] == "true") }},
	{"request", bt.Kind.Acts, []string{"accept", "success", "failure"}, 1, 1,
		func(t bt.Task, words []string) bt.Input { return bt.Request(t, verdicts[words[0]]) }},
	{"end", bt.Kind.Acts, []string{"success", "failure"}, 1, 1,
		func(t bt.Task, words []string) bt.Input { return bt.End(t, verdicts[words[0]]) }},
	{"slow", bt.Kind.Acts, []string{"entry", "exit"}, 0, 2,
		func(t bt.Task, words []string) bt.Input {
			return bt.Slow(t, slices.Contains(words, "entry"), slices.Contains(words, "exit"))
		}},
	{"entered", bt.Kind.Acts, nil, 0, 0, func(t bt.Task, _ []string) bt.Input { return bt.Entered(t) }},
	{"exited", bt.Kind.Acts, nil, 0, 0, func(t bt.Task, _ []string) bt.Input { return bt.Exited(t) }},
	{"elapsed", bt.Kind.Timer, nil, 0, 0, func(t bt.Task, _ []string) bt.Input { return bt.Elapsed(t) }},
	{"wait", bt.Kind.Repeats, nil, 0, 0, func(t bt.Task, _ []string) bt.Input { return bt.Wait(t) }},
	{"again", bt.Kind.Repeats, nil, 0, 0, func(t bt.Task, _ []string) bt.Input { return bt.Again(t) }},
}

var verdicts = map[string]bt.Status{"accept": bt.Accept, "success": bt.Success, "failure": bt.Failure}

// input reads an input of the tasks that it names; none if it is wrong.
func (p *parser) input(words []word) (in []bt.Input) {
	first := words[0]
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == first.text })
	if i < 0 {
		p.unknownVerb(first)
		return nil
	}
	v := &verbs[i]
	tasks, rest := p.tasks(words, v)
	if len(tasks) == 0 {
		return nil
	}
	var texts []string
	ok := true
	for i, w := range rest {
		switch {
		case i >= v.most:
			p.report(w.offset, len(w.text), "unexpected-word", fmt.Sprintf("the input should end before %q", w.text),
				"inputs of one instant are separated by \";\"")
			return nil
		case !slices.Contains(v.words, w.text):
			p.report(w.offset, len(w.text), "unknown-word", fmt.Sprintf("%q is not allowed here", w.text), oneOf(v.words))
			ok = false
		}
		texts = append(texts, w.text)
	}
	if len(rest) < v.least {
		p.report(words[len(words)-1].end(), 0, "missing-word", fmt.Sprintf("%q needs one more word", v.name), oneOf(v.words))
		ok = false
	}
	for _, t := range tasks {
		if ok {
			in = append(in, v.input(t, texts))
		}
	}
	return in
}

func (p *parser) unknownVerb(w word) {
	var names []string
	for _, v := range verbs {
		names = append(names, v.name)
	}
	names = append(names, swapVerb)
	hint := diag.DidYouMean(w.text, names)
	if hint == "" {
		hint = oneOf(names)
	}
	p.report(w.offset, len(w.text), "unknown-input", fmt.Sprintf("%q is not an input", w.text), hint)
}

// tasks reads a name, which may hold blanks, behind the verb: the longest that the tree knows. It returns the tasks and
// the words that follow.
func (p *parser) tasks(words []word, v *verb) (tasks []bt.Task, rest []word) {
	if len(words) == 1 {
		p.report(words[0].end(), 0, "missing-word", fmt.Sprintf("%q needs the name of a %s", v.name, v.noun()), "")
		return nil, nil
	}
	text := func(last int) string { return p.src.Text[words[1].offset:words[last].end()] }
	for last := len(words) - 1; last >= 1; last-- {
		tasks := p.named(text(last), v)
		switch {
		case len(tasks) == 0:
			continue
		case len(tasks) > 1 && !p.oneType(tasks):
			p.ambiguous(words[1].offset, text(last), tasks)
			return nil, nil
		case !v.takes(p.tree.Kind(tasks[0])):
			p.wrongKind(words[1].offset, text(last), p.tree.Kind(tasks[0]), v)
			return nil, nil
		}
		return tasks, words[last+1:]
	}
	name := text(max(1, len(words)-1-v.least))
	p.report(words[1].offset, len(name), "unknown-"+v.noun(), fmt.Sprintf("the plan has no %s %q", v.noun(), name), "")
	p.list[len(p.list)-1].Suggest = func() string { return p.near(name, v) }
	return nil, nil
}

// named returns the tasks that a name means, of several only those that the verb takes: the leaves of that type, if the
// name means no other task, else the tasks with that name or path.
func (p *parser) named(name string, v *verb) []bt.Task {
	taken := func(tasks []bt.Task) []bt.Task {
		return slices.DeleteFunc(tasks, func(t bt.Task) bool { return len(tasks) > 1 && !v.takes(p.tree.Kind(t)) })
	}
	tasks, same := taken(p.tree.Resolve(name)), taken(typed(p.plan, name))
	if slices.ContainsFunc(tasks, func(t bt.Task) bool { return !slices.Contains(same, t) }) {
		return tasks
	}
	return same
}

// typed returns the leaves of a type that a plan's author has named.
func typed(p *plan.Plan, id string) (leaves []bt.Task) {
	if p != nil {
		for i := range p.Leaves {
			if l := &p.Leaves[i]; l.ID == id && p.Tree.Kind(l.Task).String() != id {
				leaves = append(leaves, l.Task)
			}
		}
	}
	return leaves
}

// oneType reports whether tasks are leaves of one type.
func (p *parser) oneType(tasks []bt.Task) bool {
	if p.plan == nil {
		return false
	}
	i := slices.IndexFunc(p.plan.Leaves, func(l plan.Leaf) bool { return l.Task == tasks[0] })
	if i < 0 {
		return false
	}
	same := typed(p.plan, p.plan.Leaves[i].ID)
	return !slices.ContainsFunc(tasks, func(t bt.Task) bool { return !slices.Contains(same, t) })
}

// Name returns how a script names one task: by its path if its name is also the type of other leaves.
func Name(p *plan.Plan, t bt.Task) string {
	name := p.Tree.Name(t)
	if same := typed(p, name); len(same) > 1 {
		return p.Tree.Name(0) + "/" + name
	}
	return name
}

// noun returns what the verb takes.
func (v *verb) noun() string {
	if slices.ContainsFunc(bt.Kinds(), func(k bt.Kind) bool { return k.Family() == bt.Leaf && v.takes(k) }) {
		return "leaf"
	}
	return "task"
}

// wrongKind reports a task of a kind for which the verb is not.
func (p *parser) wrongKind(offset int, name string, k bt.Kind, v *verb) {
	var kinds []string
	for _, other := range bt.Kinds() {
		if v.takes(other) {
			kinds = append(kinds, other.String())
		}
	}
	wanted := strings.Join(kinds, ", ")
	p.report(offset, len(name), "wrong-kind", fmt.Sprintf("%q is of the kind %s", name, k),
		fmt.Sprintf("%q is for %s of the kind %s", v.name,
			map[string]string{"leaf": "leaves", "task": "tasks"}[v.noun()], wanted))
}

// ambiguous reports a name that several tasks have.
func (p *parser) ambiguous(offset int, name string, tasks []bt.Task) {
	p.report(offset, len(name), "ambiguous-task", fmt.Sprintf("%d tasks are called %q", len(tasks), name),
		diag.OneOf("write one of ", p.tree.Names(tasks)))
}

// near returns the nearest name of a task that a verb takes.
func (p *parser) near(name string, v *verb) string {
	var names []string
	for task := range bt.Task(p.tree.Len()) {
		if v.takes(p.tree.Kind(task)) {
			names = append(names, p.tree.Name(task))
		}
	}
	return diag.Near(name, func() []string { return names })()
}

func (p *parser) report(offset, length int, code, text, hint string) {
	p.list = append(p.list,
		diag.Diagnostic{Source: p.src, Offset: offset, Length: length, Code: code, Text: text, Hint: hint})
}

// oneOf lists the allowed words.
func oneOf(words []string) string {
	last := len(words) - 1
	return "write " + strings.TrimPrefix(strings.Join(words[:last], ", ")+" or "+words[last], " or ")
}
