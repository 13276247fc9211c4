package translate

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/diag"
)

// Limits of teleo-reactive programs.
const (
	mostDepth  = 100 // nested calls
	mostNested = 50  // levels of a condition or of arguments
)

// keywords cannot be names.
var keywords = []string{"and", "or", "not", "true", "else", "for", "in", "set", "depth", "run"}

// ReadTeleoReactive reads a teleo-reactive program; docs/translate.md has the format. The list holds all mistakes at
// once; if one of them is an error there is no program.
func ReadTeleoReactive(src *diag.Source) (*TeleoReactive, diag.List) {
	r := &programReader{finder: finder{src: src}, arity: map[string]int{},
		p: &TeleoReactive{Source: src, sets: map[string][]string{}, named: map[string]*procedure{}}}
	if r.readable("write rules: `name:` and below it lines `condition -> action`") {
		for at, line := range r.lines() {
			r.line(at, line)
		}
		r.check()
	}
	if r.list.HasErrors() {
		return nil, r.list.Sorted()
	}
	return r.p, r.list.Sorted()
}

// Bounds of the input.
const (
	maxLine     = 10_000    // bytes
	maxSearched = 1_000_000 // names of procedures that are compared with names of actions, which may be misspelt
)

// programReader reads a program line by line. In each line the first mistake in the spelling is reported.
type programReader struct {
	finder
	p        *TeleoReactive
	current  *procedure     // that rules belong to; nil: none yet
	arity    map[string]int // by the kind and the name of a term: how many arguments it has
	depthAt  int
	searched int    // names of procedures that were compared with names of actions
	words    []word // of the line; the last one is empty
	broken   bool   // the line has a mistake: its content is ignored
	unread   bool   // a line has a mistake: names that seem to be missing may be there
}

// word is a name or a sign.
type word struct {
	text string
	at   int
	name bool
}

func (r *programReader) line(at int, line string) {
	if len(line) > maxLine {
		r.fail(at, maxLine, "too-large", "", "the line has more than %d bytes", maxLine)
		r.unread = true
		return
	}
	r.broken = false
	r.words = append(r.split(at, line), word{at: at + len(line)})
	isRule := slices.ContainsFunc(r.words, func(w word) bool { return w.text == "->" })
	switch first := r.words[0]; {
	case r.broken:
	case isRule:
		r.rule()
	case first.text == "set":
		r.set()
	case first.text == "depth":
		r.depth()
	case first.text == "run":
		r.run()
	default:
		r.header()
	}
	r.unread = r.unread || r.broken
}

// stop reports a mistake in a line; the rest of the line is skipped.
func (r *programReader) stop(w word, code, hint, text string, args ...any) {
	if !r.broken {
		r.fail(w.at, len(w.text), code, hint, text, args...)
	}
	r.broken = true
	r.words = []word{{at: w.at}}
}

// split cuts a line into names and signs.
func (r *programReader) split(at int, line string) []word {
	var words []word
	for i := 0; i < len(line) && !r.broken; {
		rest := line[i:]
		c, size := utf8.DecodeRuneInString(rest)
		name := nameIn(rest)
		switch {
		case unicode.IsSpace(c):
			i += size
			continue
		case name != "":
			size = len(name)
		case strings.HasPrefix(rest, "->"):
			size = 2
		case !strings.ContainsRune("(),:=&|!", c):
			hint := ""
			if c == '→' || c == '~' {
				hint = `write "->"`
			}
			r.stop(word{text: rest[:size], at: at + i}, "syntax", hint, "%q has no meaning here", c)
		}
		words = append(words, word{rest[:size], at + i, name != ""})
		i += size
	}
	return words
}

// nameIn returns the name or number that a text begins with: letters, digits and _, and hyphens and dots between them.
func nameIn(s string) string {
	part := func(c rune) bool { return c == '_' || unicode.IsLetter(c) || unicode.IsDigit(c) }
	for i, c := range s {
		if part(c) {
			continue
		}
		if i > 0 && (c == '-' || c == '.') {
			if next, _ := utf8.DecodeRuneInString(s[i+1:]); part(next) {
				continue
			}
		}
		return s[:i]
	}
	return s
}

// take returns the next word and advances to the one after it.
func (r *programReader) take() word {
	w := r.words[0]
	if len(r.words) > 1 {
		r.words = r.words[1:]
	}
	return w
}

// next takes the next word if it is the given one.
func (r *programReader) next(texts ...string) bool {
	if !slices.Contains(texts, r.words[0].text) {
		return false
	}
	r.take()
	return true
}

func (r *programReader) wrong(wanted string) {
	w := r.words[0]
	if w.text == "" {
		r.stop(w, "syntax", "", "the line ends where %s is expected", wanted)
		return
	}
	r.stop(w, "syntax", "", "found %q where %s is expected", w.text, wanted)
}

func (r *programReader) expect(sign string) {
	if !r.next(sign) {
		r.wrong(strconv.Quote(sign))
	}
}

func (r *programReader) finish() {
	if r.words[0].text != "" {
		r.wrong("the end of the line")
	}
}

// name reads a name.
func (r *programReader) name(what string) word {
	w := r.words[0]
	switch {
	case !w.name:
		r.wrong(what)
	case slices.Contains(keywords, w.text):
		r.stop(w, "reserved-name", "choose another name", "%q cannot be %s", w.text, what)
	}
	return r.take()
}

// names reads names that are separated by commas.
func (r *programReader) names(what string) []string {
	var names []string
	for {
		w := r.name(what)
		if slices.Contains(names, w.text) {
			r.stop(w, "duplicate-name", "", "%q occurs twice", w.text)
		}
		names = append(names, w.text)
		if !r.next(",") {
			return names
		}
	}
}

func (r *programReader) set() {
	r.take()
	w := r.name("the name of a set")
	r.expect("=")
	members := r.names("a constant")
	r.finish()
	if _, known := r.p.sets[w.text]; known {
		r.stop(w, "duplicate-name", "", "there is already a set %q", w.text)
	}
	if !r.broken {
		r.p.sets[w.text] = members
	}
}

func (r *programReader) depth() {
	first, w := r.take(), r.take()
	n, err := strconv.Atoi(w.text)
	if err != nil || n < 1 || n > mostDepth {
		r.stop(w, "out-of-range", "write a whole number from 1 to "+strconv.Itoa(mostDepth),
			"the depth is the maximum number of nested calls")
	}
	r.finish()
	if r.p.depth > 0 {
		r.stop(first, "duplicate-name", "", "`depth` is given twice")
	}
	if !r.broken {
		r.p.depth, r.depthAt = n, first.at
	}
}

func (r *programReader) run() {
	first := r.take()
	call := r.term()
	r.finish()
	if r.p.run != nil {
		r.stop(first, "duplicate-name", "", "`run` is given twice")
	}
	if !r.broken {
		r.p.run = call
	}
}

func (r *programReader) header() {
	q := &procedure{}
	r.current = q // rules below a wrong header belong to it
	w := r.name("the name of a procedure, or a rule `condition -> action`,")
	q.name, q.at = w.text, w.at
	if r.next("(") {
		q.parameters = r.names("a parameter")
		r.expect(")")
	}
	r.expect(":")
	r.finish()
	if r.p.named[w.text] != nil {
		r.stop(w, "duplicate-name", "", "there is already a procedure %q", w.text)
	}
	if !r.broken {
		r.p.procedures = append(r.p.procedures, q)
		r.p.named[q.name] = q
	}
}

func (r *programReader) rule() {
	if r.current == nil {
		r.current = &procedure{}
		r.fail(r.words[0].at, 0, "no-procedure", "write `name:` above the rules", "the rule belongs to no procedure")
	}
	var next rule
	next.when = r.disjunction(0)
	r.expect("->")
	next.act = r.term()
	if r.next("for") {
		w := r.name("a variable")
		r.expect("in")
		s := r.name("the name of a set")
		next.variable, next.set, next.setAt = w.text, s.text, s.at
		if slices.Contains(r.current.parameters, w.text) {
			r.stop(w, "duplicate-name", "", "%q is already a parameter", w.text)
		}
	}
	r.finish()
	if !r.broken {
		r.current.rules = append(r.current.rules, next)
	}
}

// disjunction reads a condition: the operands of `or`, then of `and`, then of `not`.
func (r *programReader) disjunction(level int) *condition {
	return r.joined(opOr, []string{"or", "|"}, func() *condition {
		return r.joined(opAnd, []string{"and", "&"}, func() *condition { return r.negation(level) })
	})
}

func (r *programReader) joined(op conditionOp, signs []string, part func() *condition) *condition {
	first := r.words[0]
	parts := []*condition{part()}
	for r.next(signs...) {
		r.alone(first, parts[len(parts)-1])
		first = r.words[0]
		parts = append(parts, part())
	}
	if len(parts) == 1 {
		return parts[0]
	}
	r.alone(first, parts[len(parts)-1])
	return &condition{op: op, parts: parts}
}

// alone reports a part of a condition that always holds.
func (r *programReader) alone(w word, part *condition) {
	if part.op == opAlways {
		r.stop(w, "syntax", "omit it", "`else` and `true` cannot be combined with other conditions")
	}
}

func (r *programReader) negation(level int) *condition {
	w := r.words[0]
	switch {
	case level > mostNested:
		r.stop(w, "too-deep", "", "the condition is nested more than %d levels deep", mostNested)
	case r.next("not", "!"):
		first := r.words[0]
		c := r.negation(level + 1)
		r.alone(first, c)
		return &condition{op: opNot, parts: []*condition{c}}
	case r.next("("):
		c := r.disjunction(level + 1)
		r.expect(")")
		return c
	case r.next("else", "true"):
		return &condition{op: opAlways}
	default:
		return &condition{op: opAtom, atom: r.term()}
	}
	return &condition{op: opAlways}
}

// term reads a name with its arguments.
func (r *programReader) term() *term { return r.nestedTerm("a name", 0) }

func (r *programReader) nestedTerm(what string, level int) *term {
	w := r.name(what)
	t := &term{name: w.text, at: w.at}
	if level > mostNested {
		r.stop(w, "too-deep", "", "arguments are nested more than %d levels deep", mostNested)
	}
	if r.broken || !r.next("(") {
		return t
	}
	for {
		t.args = append(t.args, r.nestedTerm("an argument", level+1))
		if !r.next(",") {
			break
		}
	}
	r.expect(")")
	return t
}

// check checks the program as a whole.
func (r *programReader) check() {
	for _, q := range r.p.procedures {
		r.checkRules(q)
	}
	if len(r.p.procedures) == 0 {
		if !r.list.HasErrors() {
			r.fail(0, 0, "no-procedure", "write `name:` and rules below it", "the program has no procedure")
		}
		return
	}
	first := r.p.procedures[0]
	switch {
	case r.p.run != nil:
		r.call(r.p.run)
		if r.p.named[r.p.run.name] == nil && !r.unread {
			r.fail(r.p.run.at, len(r.p.run.name), "unknown-procedure", diag.DidYouMean(r.p.run.name, r.procedures()),
				"there is no procedure %q", r.p.run.name)
		}
	case r.unread:
	case len(first.parameters) > 0:
		r.fail(first.at, len(first.name), "missing-run", "add a line such as `run "+first.name+"(...)`",
			"the program does not give the values with which it runs")
	default:
		r.p.run = &term{name: first.name, at: first.at}
	}
	if !r.unread && r.p.run != nil {
		r.recursion()
	}
}

func (r *programReader) procedures() []string {
	var names []string
	for _, q := range r.p.procedures {
		names = append(names, q.name)
	}
	return names
}

// checkRules checks the rules of a procedure.
func (r *programReader) checkRules(q *procedure) {
	r.reserved(q.at, q.name)
	if q.name == nothing {
		r.fail(q.at, len(q.name), "reserved-name", "choose another name", "%q is the action that does nothing", q.name)
	}
	if len(q.rules) == 0 && !r.unread {
		r.fail(q.at, len(q.name), "no-rules", "write a line `condition -> action` below it",
			"the procedure %q has no rules", q.name)
	}
	for i := range q.rules {
		next := &q.rules[i]
		r.checkCondition(next.when)
		r.call(next.act)
		if _, known := r.p.sets[next.set]; next.variable != "" && !known && !r.unread {
			sets := slices.Sorted(maps.Keys(r.p.sets))
			r.fail(next.setAt, len(next.set), "unknown-set", diag.DidYouMean(next.set, sets), "there is no set %q", next.set)
		}
		if i > 0 && q.rules[i-1].when.op == opAlways {
			r.warn(next.act.at, len(next.act.name), "unreachable-rule", "put it above the rule that always holds",
				"this is never reached: the rule before it always holds")
		}
	}
}

func (r *programReader) checkCondition(c *condition) {
	if c.op == opAtom {
		r.args("condition", c.atom)
		r.reserved(c.atom.at, c.atom.name)
	}
	for _, part := range c.parts {
		r.checkCondition(part)
	}
}

// call checks an action or a call.
func (r *programReader) call(t *term) {
	q := r.p.named[t.name]
	if q == nil {
		r.args("action", t)
		r.reserved(t.at, t.name)
		if r.searched += len(r.p.procedures); r.searched > maxSearched {
			return
		}
		if near := diag.Nearest(t.name, r.procedures()); near != "" && t != r.p.run {
			r.warn(t.at, len(t.name), "unknown-procedure", "did you mean "+strconv.Quote(near)+"?",
				"%q is an action: there is no procedure of that name", t.name)
		}
		return
	}
	if len(t.args) != len(q.parameters) {
		r.fail(t.at, len(t.name), "wrong-arguments", "", "the number of parameters of %s is %d, of arguments %d",
			t.name, len(q.parameters), len(t.args))
	}
}

// args reports a name that has another number of arguments elsewhere.
func (r *programReader) args(kind string, t *term) {
	n, known := r.arity[kind+" "+t.name]
	if !known {
		r.arity[kind+" "+t.name] = len(t.args)
	} else if n != len(t.args) {
		r.fail(t.at, len(t.name), "wrong-arguments", "", "the number of arguments of %s %s is %d elsewhere, here it is %d",
			kind, t.name, n, len(t.args))
	}
}

// recursion reports procedures that call themselves when no depth is given, a depth that is not needed, and procedures
// that are never called.
func (r *programReader) recursion() {
	const open, done = 1, 2
	state := map[*procedure]int{}
	cyclic := false
	var visit func(t *term)
	visit = func(t *term) {
		q := r.p.named[t.name]
		switch {
		case q == nil:
		case state[q] == 0:
			state[q] = open
			for i := range q.rules {
				visit(q.rules[i].act)
			}
			state[q] = done
		case state[q] == open:
			if !cyclic && r.p.depth == 0 {
				r.fail(t.at, len(t.name), "missing-depth", "add a line such as `depth 4`: deeper calls do nothing",
					"%q calls itself, so the program must limit the depth", t.name)
			}
			cyclic = true
		}
	}
	visit(r.p.run)
	if !cyclic && r.p.depth > 0 {
		r.warn(r.depthAt, len("depth"), "unused-depth", "omit it", "no procedure calls itself")
		r.p.depth = 0
	}
	for _, q := range r.p.procedures {
		if state[q] == 0 {
			r.warn(q.at, len(q.name), "unused-procedure", "", "the procedure %q is never called", q.name)
		}
	}
}
