package bt

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"canopy/diag"
)

// Trace settles a tree for the first time and then once for each line of a script, and writes one line for each change
// of a status:
//
//	N NAME: From -> To
//
// N is the number of the script's line among those that are not blank without their comment, 0 the first settling. A
// script's line is one instant, `;` separates inputs, `#` starts a comment:
//
//	set C true|false                   a condition's truth value
//	request A accept|success|failure   what an action says while it is not active
//	end A success|failure              an action's outcome
//	slow A [entry] [exit]              exactly these procedures of A take time from now on
//	entered A, exited A                the running procedure is complete
//
// All bad input is found before anything runs and returned as a diag.List; nothing is written then. A tree that does
// not settle is an error that wraps ErrLoop, after the log so far.
func Trace(tree *Tree, src *diag.Source, w io.Writer) error {
	out := bufio.NewWriter(w)
	err := Replay(tree, src, log(tree, out))
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	return err
}

// log returns a function that writes the changes of an instant.
func log(tree *Tree, out io.Writer) func(n int, instant Instant) {
	return func(n int, instant Instant) {
		for _, c := range instant.Changes {
			fmt.Fprintf(out, "%d %s: %s -> %s\n", n, tree.Name(c.Task), c.From, c.To)
		}
	}
}

// Replay runs a script as Trace does and passes each instant on with its number; the instant is valid until the
// function returns. The errors are those of Trace.
func Replay(tree *Tree, src *diag.Source, pass func(n int, instant Instant)) error {
	script, list := parseScript(tree, src)
	if err := list.Err(); err != nil {
		return err
	}
	return replay(NewEngine(tree, nil, 0), src, script, pass)
}

func replay(e *Engine, src *diag.Source, script []scriptLine, pass func(n int, instant Instant)) error {
	for i, line := range append([]scriptLine{{}}, script...) {
		instant, err := e.Settle(line.inputs)
		pass(i, instant)
		switch {
		case err != nil && i == 0:
			return fmt.Errorf("%s: at the start: %w", src.Name, err)
		case err != nil:
			return fmt.Errorf("%s:%d: %w", src.Name, line.number, err)
		}
	}
	return nil
}

// Scriptable reports whether a script can name a task: not if the name holds ";", "#" or a line break, or has blanks at
// an end.
func (t *Tree) Scriptable(task Task) bool {
	name := t.Name(task)
	return !strings.ContainsAny(name, ";#\r\n") && strings.TrimSpace(name) == name
}

// scriptLine is one instant of a script.
type scriptLine struct {
	number int // in the source, from 1
	inputs []Input
}

// word is a word of a script with its place.
type word struct {
	text   string
	offset int
}

// end returns the offset behind the word.
func (w word) end() int { return w.offset + len(w.text) }

// scriptParser reads a script and collects all that is wrong with it.
type scriptParser struct {
	tree *Tree
	src  *diag.Source
	list diag.List
}

// parseScript returns a script's instants, or what is wrong with it.
func parseScript(tree *Tree, src *diag.Source) ([]scriptLine, diag.List) {
	p := &scriptParser{tree: tree, src: src}
	var script []scriptLine
	offset, number := src.Begin(), 0
	for text := range strings.Lines(src.Text[offset:]) {
		number++
		line, _, _ := strings.Cut(text, "#")
		if strings.TrimSpace(line) != "" {
			script = append(script, scriptLine{number: number, inputs: p.instant(line, offset)})
		}
		offset += len(text)
	}
	return script, p.list
}

// instant reads the inputs of a line that begins at an offset.
func (p *scriptParser) instant(line string, offset int) []Input {
	var inputs []Input
	for part := range strings.SplitSeq(line, ";") {
		if words := splitWords(part, offset); len(words) > 0 {
			if in, ok := p.input(words); ok {
				inputs = append(inputs, in)
			}
		}
		offset += len(part) + 1
	}
	return inputs
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
	kind        Kind     // of the leaf whose name follows
	words       []string // that may follow the name
	least, most int      // so many of them
	input       func(leaf Task, words []string) Input
}

var verbs = []verb{
	{"set", Condition, []string{"true", "false"}, 1, 1,
		func(t Task, words []string) Input { return Set(t, words[0] == "true") }},
	{"request", Action, []string{"accept", "success", "failure"}, 1, 1,
		func(t Task, words []string) Input { return Request(t, verdicts[words[0]]) }},
	{"end", Action, []string{"success", "failure"}, 1, 1,
		func(t Task, words []string) Input { return End(t, verdicts[words[0]]) }},
	{"slow", Action, []string{"entry", "exit"}, 0, 2,
		func(t Task, words []string) Input {
			return Slow(t, slices.Contains(words, "entry"), slices.Contains(words, "exit"))
		}},
	{"entered", Action, nil, 0, 0, func(t Task, _ []string) Input { return Entered(t) }},
	{"exited", Action, nil, 0, 0, func(t Task, _ []string) Input { return Exited(t) }},
}

var verdicts = map[string]Status{"accept": Accept, "success": Success, "failure": Failure}

// input reads one input.
func (p *scriptParser) input(words []word) (in Input, ok bool) {
	first := words[0]
	i := slices.IndexFunc(verbs, func(v verb) bool { return v.name == first.text })
	if i < 0 {
		p.unknownVerb(first)
		return in, false
	}
	v := &verbs[i]
	leaf, rest, ok := p.leaf(words, v)
	if !ok {
		return in, false
	}
	var texts []string
	for i, w := range rest {
		switch {
		case i >= v.most:
			p.report(w.offset, len(w.text), "unexpected-word", fmt.Sprintf("the input should end before %q", w.text),
				"inputs of one instant are separated by \";\"")
			return in, false
		case !slices.Contains(v.words, w.text):
			p.report(w.offset, len(w.text), "unknown-word", fmt.Sprintf("%q cannot stand here", w.text), oneOf(v.words))
			ok = false
		}
		texts = append(texts, w.text)
	}
	if len(rest) < v.least {
		p.report(words[len(words)-1].end(), 0, "missing-word", fmt.Sprintf("%q needs one more word", v.name), oneOf(v.words))
		ok = false
	}
	if !ok {
		return in, false
	}
	return v.input(leaf, texts), true
}

func (p *scriptParser) unknownVerb(w word) {
	var names []string
	for _, v := range verbs {
		names = append(names, v.name)
	}
	hint := diag.DidYouMean(w.text, names)
	if hint == "" {
		hint = oneOf(names)
	}
	p.report(w.offset, len(w.text), "unknown-input", fmt.Sprintf("%q is not an input", w.text), hint)
}

// leaf reads a leaf's name, which may hold blanks, behind the verb: the longest that the tree knows. It returns the
// words that follow.
func (p *scriptParser) leaf(words []word, v *verb) (leaf Task, rest []word, ok bool) {
	if len(words) == 1 {
		p.report(words[0].end(), 0, "missing-word", fmt.Sprintf("%q needs the name of a leaf", v.name), "")
		return 0, nil, false
	}
	text := func(last int) string { return p.src.Text[words[1].offset:words[last].end()] }
	for last := len(words) - 1; last >= 1; last-- {
		leaf, ok = p.tree.Find(text(last))
		if !ok {
			continue
		}
		if k := p.tree.Kind(leaf); k != v.kind {
			p.report(words[1].offset, len(text(last)), "wrong-kind",
				fmt.Sprintf("%q is not of the kind %s but %s", text(last), v.kind, k),
				fmt.Sprintf("%q is for leaves of the kind %s", v.name, v.kind))
			return 0, nil, false
		}
		return leaf, words[last+1:], true
	}
	name := text(max(1, len(words)-1-v.least))
	p.report(words[1].offset, len(name), "unknown-leaf", fmt.Sprintf("the plan has no leaf %q", name), "")
	p.list[len(p.list)-1].Suggest = func() string { return p.nearLeaf(name, v.kind) }
	return 0, nil, false
}

// nearLeaf returns the hint for an unknown leaf: the paths that end in the name, else the nearest name.
func (p *scriptParser) nearLeaf(name string, kind Kind) string {
	var names, paths []string
	for _, leaf := range p.tree.Leaves() {
		if p.tree.Kind(leaf) != kind {
			continue
		}
		names = append(names, p.tree.Name(leaf))
		if strings.HasSuffix(p.tree.Name(leaf), "/"+name) {
			paths = append(paths, p.tree.Name(leaf))
		}
	}
	if len(paths) > 0 {
		return "the name is not unique: " + oneOf(paths)
	}
	return diag.DidYouMean(name, names)
}

func (p *scriptParser) report(offset, length int, code, text, hint string) {
	p.list = append(p.list,
		diag.Diagnostic{Source: p.src, Offset: offset, Length: length, Code: code, Text: text, Hint: hint})
}

// oneOf lists the words of which one may be written.
func oneOf(words []string) string { return "write " + strings.Join(words, " or ") }
