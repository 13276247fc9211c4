package temporal

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
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
// mean the same here and have the same other notations: &&, || and !. A prefix applies to one unary; before an
// operator, the whole needs parentheses.
func Read(text string, tasks expr.Tasks, scope expr.Scope) (*Property, []*expr.Error) {
	r := &reader{Parser: expr.NewParser(text, marks...), tasks: tasks, scope: scope}
	for n := 0; !r.Ahead(n).IsEnd(); n++ {
		if n == maxTokens {
			r.lost(r.Ahead(n), "the property is too long", "declare its parts as separate properties")
			return nil, r.mistakes
		}
	}
	f := r.property()
	if t := r.Peek(); !t.IsEnd() {
		r.lost(t, "nothing may follow here", "")
	}
	if list := r.foreign(text); len(r.mistakes) > 0 && len(list) > 0 {
		r.mistakes = list // the others follow from these
	}
	if len(r.mistakes) > 0 {
		slices.SortStableFunc(r.mistakes, func(a, b *expr.Error) int { return a.Offset - b.Offset })
		return nil, r.mistakes
	}
	return &Property{text, f}, nil
}

// marks are the words and signs that end a condition.
var marks = append([]string{"->"}, words...)

// reader is a recursive-descent parser around that of expressions.
type reader struct {
	*expr.Parser
	tasks    expr.Tasks
	scope    expr.Scope
	astray   bool // there was a mistake of structure
	mistakes []*expr.Error
}

// lost reports a mistake of structure. The rest of the text is not checked: its meaning is unclear.
func (r *reader) lost(t expr.Token, text, hint string) {
	if !r.astray {
		r.mistakes = append(r.mistakes, &expr.Error{Offset: t.At, Length: t.End - t.At, Code: expr.CodeSyntax, Text: text,
			Hint: hint})
	}
	r.astray = true
	r.skip(func(expr.Token) bool { return false })
}

// skip consumes the tokens up to the end, or to one that stops.
func (r *reader) skip(stops func(t expr.Token) bool) {
	for !r.Peek().IsEnd() && !stops(r.Peek()) {
		r.Next()
	}
}

// expect takes a required mark.
func (r *reader) expect(text, what string) {
	if !r.Accept(text) {
		r.lost(r.Peek(), fmt.Sprintf("%q is expected %s", text, what), "")
	}
}

func (r *reader) property() *Formula {
	if !r.Accept("after") {
		return r.formula()
	}
	from, _ := r.unary()
	if !r.Accept("before") {
		r.expect(",", "after the condition of after")
		return always(implies(from, r.formula()))
	}
	to, _ := r.unary()
	r.expect(",", "after the conditions of after and before")
	at := r.Peek()
	body := r.formula()
	if body.Op != Weak || !plain(body.Args[0]) || !plain(from) || !plain(to) || !at.Is("always") && !at.Is("never") {
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
	if r.operator(loose, "->") {
		return implies(left, r.formula())
	}
	return left
}

// operator takes an operator, in one of its notations. The formula on its left must not be loose.
func (r *reader) operator(loose bool, notations ...string) bool {
	t := r.Peek()
	if !slices.ContainsFunc(notations, r.Accept) {
		return false
	}
	if loose {
		r.lost(t, fmt.Sprintf("it is not clear what %q joins", t.Text),
			"put parentheses around the argument of always, eventually, never, within or for, or around everything to the left")
	}
	return true
}

// either, both, order and unary also return whether the formula is loose: it ends with the argument of a prefix.
func (r *reader) either() (*Formula, bool) { return r.chain(Or, r.both, "or", "||") }

func (r *reader) both() (*Formula, bool) { return r.chain(And, r.order, "and", "&&") }

// chain reads arguments joined by one operation, from the left.
func (r *reader) chain(op Op, argument func() (*Formula, bool), notations ...string) (*Formula, bool) {
	left, loose := argument()
	for r.operator(loose, notations...) {
		var right *Formula
		right, loose = argument()
		left = join(op, left, right)
	}
	return left, loose
}

func (r *reader) order() (*Formula, bool) {
	left, loose := r.unary()
	switch {
	case r.operator(loose, "until"):
		right, loose := r.unary()
		return join(Until, left, right), loose
	case r.operator(loose, "before"):
		right, loose := r.unary()
		return join(Weak, join(Not, right), left), loose
	}
	return left, loose
}

func (r *reader) unary() (f *Formula, loose bool) {
	t := r.Peek()
	switch {
	case r.Accept("not"), r.Accept("!"):
		f, loose = r.unary()
		return join(Not, f), loose
	case r.Accept("always"):
		f, _ = r.unary()
		return always(f), true
	case r.Accept("eventually"):
		f, _ = r.unary()
		return eventually(f), true
	case r.Accept("never"):
		if !r.Accept("both") {
			f, _ = r.unary()
			return always(join(Not, f)), true
		}
		r.expect("(", "after never both")
		f = r.property()
		r.expect(",", "between the properties of never both")
		g := r.property()
		r.expect(")", "after the properties of never both")
		return always(join(Not, join(And, f, g))), true
	case r.Accept("within"):
		d := r.duration()
		f, _ = r.unary()
		return timed(Within, d, f), true
	case r.Accept("for"):
		d := r.duration()
		f, _ = r.unary()
		return timed(For, d, f), true
	case t.Is("(") && r.temporalGroup():
		r.Next()
		f = r.property()
		r.expect(")", "here")
		return f, false
	}
	return r.condition(), false
}

// temporalGroup reports whether the parentheses that open here contain words of the temporal language.
func (r *reader) temporalGroup() bool {
	for n, depth := 0, 0; ; n++ {
		switch t := r.Ahead(n); {
		case t.Stops():
			return !t.IsEnd()
		case t.Is("("):
			depth++
		case t.Is(")"):
			if depth--; depth == 0 {
				return false
			}
		}
	}
}

// duration reads a number of seconds.
func (r *reader) duration() float64 {
	t := r.Peek()
	seconds, err := r.Duration()
	switch u := r.Peek(); {
	case err != nil && u == t:
		r.lost(t, "a duration is expected", expr.TimeForms)
	case err != nil:
		r.mistakes = append(r.mistakes, err)
	default:
		if unit, err := expr.ParseUnit(u.Text); err == nil && u.IsName() && unit.Same(expr.Second) {
			r.lost(u, fmt.Sprintf("the unit %s needs brackets, or no blank before it", u.Text),
				fmt.Sprintf("write `%s [%s]` or `%[1]s%[2]s`", t.Text, u.Text))
		}
	}
	return seconds
}

// ends reports whether a token ends a condition outside of its parentheses.
func ends(t expr.Token) bool {
	return t.Stops() || slices.ContainsFunc([]string{")", ",", "and", "&&", "or", "||", "not"}, t.Is)
}

// condition reads an expression up to the next word, operator or mark outside of its parentheses that ends a condition.
func (r *reader) condition() *Formula {
	from, open := r.Peek(), r.Open()
	if ends(from) {
		r.lost(from, "a condition is expected", "")
		return condition(expr.False)
	}
	e, err := r.Relation()
	if err == nil && !ends(r.Peek()) {
		err = r.End()
	}
	if err != nil {
		r.mistakes = append(r.mistakes, err)
		r.skip(func(t expr.Token) bool { return r.Open() <= open && ends(t) })
		return condition(expr.False)
	}
	e, mistakes := e.CheckTasks(r.tasks, r.scope, words...)
	for _, m := range mistakes {
		if other := *m; m.Code == expr.CodeFunction { // it may be a word before parentheses
			m.Suggest = func() string { return cmp.Or(diag.DidYouMean(m.Node.Name(), words), other.In(nil, 0).Advice()) }
		}
		r.mistakes = append(r.mistakes, m)
	}
	return condition(e)
}
