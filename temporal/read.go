package temporal

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"canopy/diag"
	"canopy/expr"
)

// maxTokens bounds the length of a property, and so its depth.
const maxTokens = 1000

// Read reads a property. Names used as conditions must be among the tasks; signals must be in the scope, a nil scope
// accepts all. It returns all mistakes with their positions in the text, and no property if there are any.
//
//	property = [ "after" unary [ "before" unary ] "," ] formula
//	formula  = either [ "->" formula ]
//	either   = both { "or" both }
//	both     = order { "and" order }
//	order    = unary [ ( "until" | "before" ) unary ]
//	unary    = "not" unary | prefix unary | "never" "both" "(" property "," property ")" | "(" property ")" | condition
//	prefix   = "always" | "eventually" | "never" | "within" duration | "for" duration
//
// A condition is an expression of the language of package expr without and, or and not outside of parentheses, which
// mean the same here. A prefix applies to one unary; before an operator, the whole needs parentheses.
func Read(text string, tasks []string, scope expr.Scope) (*Property, []*expr.Error) {
	r := &reader{text: text, tasks: tasks, scope: scope}
	if r.lex(); len(r.tokens) > maxTokens {
		r.lost(r.tokens[maxTokens], "the property is too long", "declare its parts as separate properties")
		return nil, r.mistakes
	}
	f := r.property()
	if t := r.peek(); t.kind != end {
		r.lost(t, "nothing may follow here", "")
	}
	if len(r.mistakes) > 0 {
		slices.SortStableFunc(r.mistakes, func(a, b *expr.Error) int { return a.Offset - b.Offset })
		return nil, r.mistakes
	}
	return &Property{text, f}, nil
}

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	end   tokenKind = iota
	word            // a name, a word of the language or an operator
	digit           // a number
	unit            // in brackets
	mark            // ( ) , ->
	other           // any other text of conditions
)

type token struct {
	kind    tokenKind
	text    string
	at, end int
}

func (t token) is(text string) bool { return (t.kind == word || t.kind == mark) && t.text == text }

// reader is a recursive-descent parser.
type reader struct {
	text     string
	tasks    []string
	scope    expr.Scope
	tokens   []token
	next     int
	astray   bool // there was a mistake of structure
	mistakes []*expr.Error
}

// lex splits the text into tokens; mistakes inside a condition are left to the parser of expressions.
func (r *reader) lex() {
	s := r.text
	for at := 0; at < len(s); {
		rest := s[at:]
		c, size := utf8.DecodeRuneInString(rest)
		if unicode.IsSpace(c) {
			at += size
			continue
		}
		kind := other
		run := func(in func(c rune) bool) int {
			if i := strings.IndexFunc(rest, func(c rune) bool { return !in(c) }); i >= 0 {
				return i
			}
			return len(rest)
		}
		inWord := func(c rune) bool { return c == '_' || c == '.' || unicode.IsLetter(c) || unicode.IsDigit(c) }
		switch {
		case c == '_' || unicode.IsLetter(c):
			kind, size = word, run(inWord)
		case '0' <= c && c <= '9' || c == '.':
			kind, size = digit, run(inWord)
			if strings.HasSuffix(strings.ToLower(rest[:size]), "e") && size+1 < len(rest) &&
				strings.ContainsRune("+-", rune(rest[size])) && '0' <= rest[size+1] && rest[size+1] <= '9' {
				size++
				rest = rest[size:]
				size += run(inWord)
			}
		case c == '[' || c == '{':
			kind, size = unit, len(rest)
			closing := map[rune]string{'[': "]", '{': "}"}[c]
			if i := strings.Index(rest, closing); i >= 0 {
				size = i + 1
			}
			if c == '{' {
				kind = other
			}
		case strings.HasPrefix(rest, "->"):
			kind, size = mark, 2
		case c == '(' || c == ')' || c == ',':
			kind = mark
		}
		r.tokens = append(r.tokens, token{kind, s[at : at+size], at, at + size})
		at += size
	}
}

func (r *reader) peek() token {
	if r.next < len(r.tokens) {
		return r.tokens[r.next]
	}
	return token{at: len(r.text), end: len(r.text)}
}

// accept takes the next token if it is the given word or mark.
func (r *reader) accept(text string) bool {
	if r.peek().is(text) {
		r.next++
		return true
	}
	return false
}

func (r *reader) report(t token, text, hint string) {
	r.mistakes = append(r.mistakes, &expr.Error{Offset: t.at, Length: t.end - t.at, Code: expr.CodeSyntax, Text: text,
		Hint: hint})
}

// lost reports a mistake of structure. The rest of the text is not checked: its meaning is unclear.
func (r *reader) lost(t token, text, hint string) {
	if !r.astray {
		r.report(t, text, hint)
	}
	r.astray, r.next = true, len(r.tokens)
}

// expect takes a required mark.
func (r *reader) expect(text, what string) {
	if !r.accept(text) {
		r.lost(r.peek(), fmt.Sprintf("%q is expected %s", text, what), "")
	}
}

func (r *reader) property() *Formula {
	if !r.accept("after") {
		return r.formula()
	}
	from, _ := r.unary()
	if !r.accept("before") {
		r.expect(",", "after the condition of after")
		return always(implies(from, r.formula()))
	}
	to, _ := r.unary()
	r.expect(",", "after the conditions of after and before")
	at := r.peek()
	body := r.formula()
	if body.Op != Weak || !plain(body.Args[0]) || !plain(from) || !plain(to) || !at.is("always") && !at.is("never") {
		r.lost(at, "between two conditions only always and never are possible",
			"as in `after critical before surplus, never climb`; all three are conditions without temporal operators")
		return body
	}
	return always(implies(join(And, from, join(Not, to)), join(Weak, body.Args[0], to)))
}

// plain reports whether a formula has no temporal operators.
func plain(f *Formula) bool {
	return f.Op <= Or && !slices.ContainsFunc(f.Args, func(a *Formula) bool { return !plain(a) })
}

func (r *reader) formula() *Formula {
	left, loose := r.either()
	if r.operator("->", loose) {
		return implies(left, r.formula())
	}
	return left
}

// operator takes an operator. The formula on its left must not be loose.
func (r *reader) operator(text string, loose bool) bool {
	t := r.peek()
	if !r.accept(text) {
		return false
	}
	if loose {
		r.lost(t, fmt.Sprintf("it is not clear what %q joins", text),
			"put parentheses around the argument of always, eventually, never, within or for, or around everything to the left")
	}
	return true
}

// either, both, order and unary also return whether the formula is loose: it ends with the argument of a prefix.
func (r *reader) either() (*Formula, bool) {
	left, loose := r.both()
	for r.operator("or", loose) {
		var right *Formula
		right, loose = r.both()
		left = join(Or, left, right)
	}
	return left, loose
}

func (r *reader) both() (*Formula, bool) {
	left, loose := r.order()
	for r.operator("and", loose) {
		var right *Formula
		right, loose = r.order()
		left = join(And, left, right)
	}
	return left, loose
}

func (r *reader) order() (*Formula, bool) {
	left, loose := r.unary()
	switch {
	case r.operator("until", loose):
		right, loose := r.unary()
		return join(Until, left, right), loose
	case r.operator("before", loose):
		right, loose := r.unary()
		return join(Weak, join(Not, right), left), loose
	}
	return left, loose
}

func (r *reader) unary() (f *Formula, loose bool) {
	t := r.peek()
	switch {
	case r.accept("not"):
		f, loose = r.unary()
		return join(Not, f), loose
	case r.accept("always"):
		f, _ = r.unary()
		return always(f), true
	case r.accept("eventually"):
		f, _ = r.unary()
		return eventually(f), true
	case r.accept("never"):
		if !r.accept("both") {
			f, _ = r.unary()
			return always(join(Not, f)), true
		}
		r.expect("(", "after never both")
		f = r.property()
		r.expect(",", "between the properties of never both")
		g := r.property()
		r.expect(")", "after the properties of never both")
		return always(join(Not, join(And, f, g))), true
	case r.accept("within"):
		d := r.duration()
		f, _ = r.unary()
		return timed(Within, d, f), true
	case r.accept("for"):
		d := r.duration()
		f, _ = r.unary()
		return timed(For, d, f), true
	case t.is("(") && r.temporalGroup():
		r.next++
		f = r.property()
		r.expect(")", "here")
		return f, false
	}
	return r.condition(), false
}

// temporalGroup reports whether the parentheses that open here contain words of the temporal language.
func (r *reader) temporalGroup() bool {
	depth := 0
	for _, t := range r.tokens[r.next:] {
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			if depth--; depth == 0 {
				return false
			}
		case t.is("->"), t.kind == word && slices.Contains(words, t.text):
			return true
		}
	}
	return false
}

// duration reads a number of seconds.
func (r *reader) duration() float64 {
	t := r.peek()
	r.next++
	if t.kind != digit {
		r.lost(t, "a duration is expected", "as in `within 600`, `for 10 [min]` or `within 12h30m`")
		return 0
	}
	end := t.end
	switch u := r.peek(); u.kind {
	case unit:
		r.next++
		end = u.end
	case word:
		if timed, err := expr.ParseUnit(u.text); err == nil && timed.Same(expr.Second) {
			r.lost(u, fmt.Sprintf("the unit %s needs brackets, or no blank before it", u.text),
				fmt.Sprintf("write `%s [%s]` or `%[1]s%[2]s`", t.text, u.text))
			return 0
		}
	}
	seconds, err := expr.Duration(r.text[t.at:end])
	if m := (*expr.Error)(nil); errors.As(err, &m) {
		m.Offset += t.at
		r.mistakes = append(r.mistakes, m)
	}
	return seconds
}

// expression parses and checks a part of the text; nil if it has mistakes.
func (r *reader) expression(from, to int) *expr.Expr {
	report := func(m *expr.Error) {
		c := *m
		c.Offset += from
		r.mistakes = append(r.mistakes, &c)
	}
	before := len(r.mistakes)
	e, err := expr.Parse(r.text[from:to])
	if err != nil {
		if m, ok := err.(*expr.Error); ok {
			report(m)
		}
		return nil
	}
	suggest := func() []string { return slices.Concat(r.tasks, words) }
	for _, m := range e.CheckTasks(r.tasks, r.scope, suggest) {
		called, _, found := strings.Cut(r.text[from+m.Offset:from+m.Offset+m.Length], "(")
		if other := m.In(nil, 0); found && m.Code == expr.CodeFunction {
			m.Suggest = func() string { return cmp.Or(diag.DidYouMean(strings.TrimSpace(called), words), other.Advice()) }
		}
		report(m)
	}
	if len(r.mistakes) > before {
		return nil
	}
	return e
}

// condition takes the text up to the next word, operator or mark outside of parentheses that ends a condition.
func (r *reader) condition() *Formula {
	from, to, depth := r.peek(), 0, 0
	for ; r.next < len(r.tokens); r.next++ {
		t := r.tokens[r.next]
		if depth == 0 && (t.is(")") || t.is(",") || t.is("->") || t.is("and") || t.is("or") || t.is("not") ||
			t.kind == word && slices.Contains(words, t.text)) {
			break
		}
		switch {
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		}
		to = t.end
	}
	if to == 0 {
		r.lost(from, "a condition is expected", "")
		return truth("false")
	}
	if e := r.expression(from.at, to); e != nil {
		return condition(e)
	}
	return truth("false")
}
