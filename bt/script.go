package bt

import (
	"bufio"
	"fmt"
	"io"
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
	instants, list := parseScript(tree, src)
	if err := list.Err(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	err := trace(NewEngine(tree, nil, 0), src, instants, out)
	if flushed := out.Flush(); err == nil {
		err = flushed
	}
	return err
}

// scriptLine is one instant of a script.
type scriptLine struct {
	number int // in the source, from 1
	inputs []Input
}

func trace(e *Engine, src *diag.Source, script []scriptLine, out io.Writer) error {
	for i, line := range append([]scriptLine{{}}, script...) {
		instant, err := e.Settle(line.inputs)
		for _, c := range instant.Changes {
			fmt.Fprintf(out, "%d %s: %s -> %s\n", i, e.tree.Name(c.Task), c.From, c.To)
		}
		switch {
		case err != nil && i == 0:
			return fmt.Errorf("%s: at the start: %w", src.Name, err)
		case err != nil:
			return fmt.Errorf("%s:%d: %w", src.Name, line.number, err)
		}
	}
	return nil
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
	offset, number := 0, 0
	for text := range strings.Lines(src.Text) {
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

// verbs are the inputs' first words, with the kind of leaf they are for and the words that may follow its name.
var verbs = []struct {
	name   string
	kind   Kind
	values []string
	make   func(leaf Task, value string) Input
}{
	{"set", Condition, []string{"true", "false"}, func(t Task, v string) Input { return Set(t, v == "true") }},
	{"request", Action, []string{"accept", "success", "failure"},
		func(t Task, v string) Input { return Request(t, verdicts[v]) }},
	{"end", Action, []string{"success", "failure"}, func(t Task, v string) Input { return End(t, verdicts[v]) }},
	{"slow", Action, []string{"entry", "exit"}, nil}, // takes any number of its words
	{"entered", Action, nil, func(t Task, _ string) Input { return Entered(t) }},
	{"exited", Action, nil, func(t Task, _ string) Input { return Exited(t) }},
}

var verdicts = map[string]Status{"accept": Accept, "success": Success, "failure": Failure}

// input reads one input.
func (p *scriptParser) input(words []word) (Input, bool) {
	var names []string
	for _, verb := range verbs {
		names = append(names, verb.name)
		if verb.name != words[0].text {
			continue
		}
		leaf, values, ok := p.leaf(words, verb.kind, verb.make != nil && verb.values != nil)
		if !ok {
			return Input{}, false
		}
		known := true
		for _, value := range values {
			known = p.value(value, verb.values) && known
		}
		switch {
		case !known:
			return Input{}, false
		case verb.make == nil:
			return slowInput(leaf, values), true
		case verb.values == nil:
			return verb.make(leaf, ""), true
		case len(values) == 0:
			last := words[len(words)-1]
			p.report(last.end(), 0, "missing-word", fmt.Sprintf("%q needs one more word", verb.name), oneOf(verb.values))
			return Input{}, false
		case len(values) > 1:
			p.unexpected(values[1])
			return Input{}, false
		}
		return verb.make(leaf, values[0].text), true
	}
	hint := diag.DidYouMean(words[0].text, names)
	if hint == "" {
		hint = oneOf(names)
	}
	p.report(words[0].offset, len(words[0].text), "unknown-input", fmt.Sprintf("%q is not an input", words[0].text), hint)
	return Input{}, false
}

func slowInput(leaf Task, values []word) Input {
	var entryToo, exitToo bool
	for _, value := range values {
		entryToo = entryToo || value.text == "entry"
		exitToo = exitToo || value.text == "exit"
	}
	return Slow(leaf, entryToo, exitToo)
}

// leaf reads a leaf's name, which may hold blanks, behind the verb: the longest that the tree knows. It returns the
// words that follow.
func (p *scriptParser) leaf(words []word, kind Kind, hasValue bool) (Task, []word, bool) {
	if len(words) == 1 {
		p.report(words[0].end(), 0, "missing-word", fmt.Sprintf("%q needs the name of a leaf", words[0].text), "")
		return 0, nil, false
	}
	for end := len(words) - 1; end >= 1; end-- {
		name := p.src.Text[words[1].offset:words[end].end()]
		leaf, ok := p.tree.Find(name)
		if !ok {
			continue
		}
		if k := p.tree.Kind(leaf); k != kind {
			p.report(words[1].offset, len(name), "wrong-kind",
				fmt.Sprintf("%q is not of the kind %s but %s", name, kind, k),
				fmt.Sprintf("%q is for leaves of the kind %s", words[0].text, kind))
			return 0, nil, false
		}
		return leaf, words[end+1:], true
	}
	end := 1
	if hasValue {
		end = max(1, len(words)-2)
	}
	name := p.src.Text[words[1].offset:words[end].end()]
	p.report(words[1].offset, len(name), "unknown-leaf",
		fmt.Sprintf("the plan has no leaf %q", name), p.nearLeaf(name, kind))
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

// value checks a word against those that may stand there.
func (p *scriptParser) value(w word, values []string) bool {
	for _, v := range values {
		if v == w.text {
			return true
		}
	}
	if len(values) == 0 {
		p.unexpected(w)
		return false
	}
	p.report(w.offset, len(w.text), "unknown-word", fmt.Sprintf("%q cannot stand here", w.text), oneOf(values))
	return false
}

func (p *scriptParser) unexpected(w word) {
	p.report(w.offset, len(w.text), "unexpected-word", fmt.Sprintf("the input should end before %q", w.text),
		"inputs of one instant are separated by \";\"")
}

func (p *scriptParser) report(offset, length int, code, text, hint string) {
	p.list = append(p.list,
		diag.Diagnostic{Source: p.src, Offset: offset, Length: length, Code: code, Text: text, Hint: hint})
}

// oneOf lists the words of which one may be written.
func oneOf(words []string) string { return "write " + strings.Join(words, " or ") }
