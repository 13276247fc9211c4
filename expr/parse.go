package expr

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bounds of an expression, so that no text can exhaust the stack or the registers of a program. Operators in sequence
// on one level, as in a sum, do not count as nested.
const (
	maxDepth = 500   // levels of parentheses, prefixes, powers and calls
	MaxParts = 10000 // nodes of the tree
)

var (
	tooLarge = fmt.Sprintf("the expression has more than %d parts", MaxParts)
	tooDeep  = fmt.Sprintf("the expression is nested more than %d levels deep", maxDepth)
)

// Parse reads one expression. The error is an *Error at the first place where the text is not valid.
func Parse(src string) (*Expr, error) { return ParseFor(src, AnyUnit) }

// ParseFor is Parse for an expression that gives a quantity with a unit. If that is a time, it may be a span such as
// 12h30m; the m of a span is a minute.
func ParseFor(src string, unit Unit) (*Expr, error) {
	p := NewParser(src)
	e, err := p.Expression(unit)
	if err == nil {
		err = p.End()
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// ParseStatement reads conditions joined by "->". The error is an *Error at the first place that is not valid.
func ParseStatement(src string) ([]*Expr, error) {
	p := NewParser(src)
	var parts []*Expr
	for more := true; more; more = p.Accept("->") {
		e, err := p.Expression(AnyUnit)
		if err == nil && !p.Peek().Is("->") {
			err = p.End()
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, e)
	}
	return parts, nil
}

// Parser reads a text that contains expressions, token by token and each token once. It is an operator-precedence
// parser (Pratt 1973). A language around expressions, such as that of assignments, takes its own tokens by Next and
// Accept and the expressions between them by Expression, which stops before a token that cannot continue one.
type Parser struct {
	lexer lexer
	token Token   // the next one, not yet consumed
	ahead []Token // those behind it that were looked at
	last  int     // end of the last one consumed
	open  int     // parentheses that were opened and not closed
}

// newScript returns a parser of a text in the notation of BehaviorTree.CPP.
func newScript(src string) *Parser {
	p := &Parser{lexer: lexer{src: src, marks: []string{";"}, script: true}}
	p.token = p.lexer.next()
	return p
}

// NewParser returns a parser of a text. The marks are words and signs of the language around the expressions: they stop
// an expression, and a mark in braces is a name.
func NewParser(src string, marks ...string) *Parser {
	p := &Parser{lexer: lexer{src: src, marks: marks}}
	p.token = p.lexer.next()
	return p
}

// Peek returns the next token.
func (p *Parser) Peek() Token { return p.token }

// Ahead returns the token n places after the next one.
func (p *Parser) Ahead(n int) Token {
	for len(p.ahead) < n {
		p.ahead = append(p.ahead, p.lexer.next())
	}
	if n == 0 {
		return p.token
	}
	return p.ahead[n-1]
}

// Next consumes and returns the next token.
func (p *Parser) Next() Token {
	t := p.token
	switch p.last = t.End; {
	case t.Is("("):
		p.open++
	case t.Is(")"):
		p.open--
	}
	if len(p.ahead) > 0 {
		p.token, p.ahead = p.ahead[0], p.ahead[1:]
	} else {
		p.token = p.lexer.next()
	}
	return t
}

// Open returns the number of parentheses that are open before the next token.
func (p *Parser) Open() int { return p.open }

// Accept consumes the next token if it is the given sign, reserved word or mark.
func (p *Parser) Accept(text string) bool {
	is := p.token.Is(text)
	if is {
		p.Next()
	}
	return is
}

// Expression reads an expression for a quantity with a unit, as ParseFor does.
func (p *Parser) Expression(unit Unit) (*Expr, *Error) {
	switch t := p.token; {
	case t.Stops():
		return nil, fail(p.last, t.At, "an expression is missing", "")
	case !unit.any && unit.Same(Second):
		if e, err := p.time(); e != nil || err != nil {
			return e, err
		}
	}
	return p.tree(0)
}

// time reads a clock time, or a span or a number of seconds, as in 7.5 s, that is the whole expression; nil if there is
// none.
func (p *Parser) time() (*Expr, *Error) {
	t, next := p.token, p.Ahead(1)
	if e, err := p.clock(); e != nil || err != nil {
		return e, err
	}
	if t.kind == tokenNumber && t.unit.any && next.IsName() && p.Ahead(2).Stops() {
		if seconds := spanSeconds(t.Text + next.Text); !math.IsNaN(seconds) {
			p.Next()
			t.End = p.Next().End
			return timeOf(t, seconds)
		}
	}
	if t.kind == tokenSpan && next.Stops() {
		return p.span()
	}
	return nil, nil
}

// clock reads a clock time; nil if there is none.
func (p *Parser) clock() (*Expr, *Error) {
	t := p.token
	match := clockTime.FindStringSubmatch(p.lexer.src[t.At:])
	if match == nil {
		return nil, nil
	}
	t.Text, t.End = match[0], t.At+len(match[0])
	p.lexer.at, p.ahead = t.End, nil
	p.token = p.lexer.next()
	p.last = t.End
	return timeOf(t, clockSeconds(match))
}

// Relation reads an expression that ends before an "and", "or" or "->" outside of parentheses.
func (p *Parser) Relation() (*Expr, *Error) { return p.tree(bindRelation) }

// Duration reads a constant time [s]: a number, with its unit if it has one, or a span.
func (p *Parser) Duration() (seconds float64, err *Error) {
	e, err := p.clock()
	switch {
	case e != nil || err != nil:
	case p.token.kind == tokenNumber:
		e, err = p.tree(bindPrimary)
	case p.token.kind == tokenSpan:
		e, err = p.span()
	default:
		err = p.token.Unexpected("a duration")
	}
	if err != nil {
		return 0, err
	}
	return e.duration()
}

// End reports a token that continues neither an expression nor the language around it.
func (p *Parser) End() *Error {
	if p.token.Stops() {
		return nil
	}
	return p.token.Unexpected("an operator or the end")
}

// span reads a span.
func (p *Parser) span() (*Expr, *Error) {
	t := p.Next()
	return timeOf(t, t.value)
}

// timeOf returns a token's time; NaN if it is wrong.
func timeOf(t Token, seconds float64) (*Expr, *Error) {
	if math.IsNaN(seconds) {
		return nil, fail(t.At, t.End, fmt.Sprintf("%q is not a duration", t.Text), TimeForms)
	}
	return &Expr{leaf(Node{op: OpNumber, value: seconds, unit: Second}, t)}, nil
}

func (p *Parser) tree(least int) (*Expr, *Error) {
	n, err := p.expression(least, 0)
	if err != nil {
		return nil, err
	}
	return &Expr{n}, nil
}

func fail(at, end int, text, hint string) *Error {
	return &Error{Offset: at, Length: end - at, Code: CodeSyntax, Text: text, Hint: hint}
}

// Unexpected reports a token where something else is wanted.
func (t Token) Unexpected(wanted string) *Error {
	switch {
	case t.err != nil:
		return t.err
	case t.Stops():
		return fail(t.At, t.At, "the expression ends where "+wanted+" is expected", "")
	}
	return fail(t.At, t.End, fmt.Sprintf("found %q where %s is expected", t.Text, wanted), misspelling(t.Text))
}

// misspelling returns the hint for a word or sign of another language.
func misspelling(text string) string {
	switch text {
	case "**":
		return `write "^" for powers`
	case "=<", "=>":
		return fmt.Sprintf("did you mean %q?", strings.Trim(text, "=")+"=")
	case "->":
		return `"->" is valid between conditions of statements only`
	case ":=":
		return `":=" is valid in assignments only`
	case "=":
		return `write "==" to compare`
	case "[":
		return "a unit can follow a number only; a signal has its declared unit"
	}
	return ""
}

// expect consumes the given sign.
func (p *Parser) expect(text string) *Error {
	if !p.Accept(text) {
		return p.token.Unexpected(strconv.Quote(text))
	}
	return nil
}

// make returns a node with the given arguments that begins at the given offset and ends with the last token consumed.
func (p *Parser) make(n Node, at int, args ...*Node) (*Node, *Error) {
	n.at, n.end, n.args = at, p.last, args
	if n.complete(); n.parts > MaxParts {
		return nil, fail(at, p.last, tooLarge, "")
	}
	return &n, nil
}

// leaf returns a node without arguments.
func leaf(n Node, t Token) *Node {
	n.at, n.end = t.At, t.End
	return n.complete()
}

// binary is an operator written between its arguments.
type binary struct {
	op   Op
	name string // of the function that an operator on bits is
	bind int
}

// infix lists the operators written between their arguments.
var infix = func() map[string]binary {
	list := map[string]binary{"|": {OpCall, "bitor", bindEither}, "&": {OpCall, "bitand", bindBits}}
	for sign, o := range map[string]Op{
		"or": OpOr, "||": OpOr, "and": OpAnd, "&&": OpAnd,
		"==": OpEqual, "=": OpEqual, "!=": OpNotEqual, "<>": OpNotEqual,
		"<": OpLess, "lt": OpLess, "<=": OpLessEqual, "le": OpLessEqual,
		">": OpGreater, "gt": OpGreater, ">=": OpGreaterEqual, "ge": OpGreaterEqual,
		"+": OpAdd, "-": OpSubtract, "*": OpMultiply, "/": OpDivide, "^": OpPower,
	} {
		list[sign] = binary{op: o, bind: operators[o].Bind}
	}
	return list
}()

// infixOfScripts lists the operators that have another meaning in scripts; one without a binding power has none.
var infixOfScripts = map[string]binary{
	"^": {OpCall, "bitxor", bindEither}, "..": {op: OpAdd, bind: bindSum}, "=": {}, "<>": {},
}

// infix returns the operator that the next token is between arguments.
func (p *Parser) infix() (o binary, ok bool) {
	if p.token.kind != tokenSign {
		return binary{}, false
	}
	if o, ok = infixOfScripts[p.token.Text]; ok && p.lexer.script {
		return o, o.bind > 0
	}
	o, ok = infix[p.token.Text]
	return o, ok
}

// expression reads operands joined by operators that bind at least as tightly as required. A chain of relations holds
// if each of them does.
func (p *Parser) expression(least, level int) (*Node, *Error) {
	left, err := p.operand(level + 1)
	var compared *Node // the right side of the relation before
	for err == nil {
		o, ok := p.infix()
		if !ok || o.bind < least {
			break
		}
		sign, tighter := p.Next(), o.bind+1
		if o.op == OpPower {
			tighter = bindNegative // right-associative, and a sign may follow
		}
		var right *Node
		if right, err = p.expression(tighter, level+1); err != nil {
			break
		}
		n := Node{op: o.op, name: o.name}
		if o.op.equality() || sign.Text == ".." {
			n.sign, n.spelled = sign.At, sign.Text
		}
		switch {
		case o.bind != bindRelation:
			left, err = p.make(n, left.at, left, right)
			continue
		case compared == nil:
			left, err = p.make(n, left.at, left, right)
		default:
			var next *Node
			if next, err = p.make(n, compared.at, compared, right); err == nil {
				left, err = p.make(Node{op: OpAnd}, left.at, left, next)
			}
		}
		compared = right
	}
	if err == nil && least == 0 && p.Accept("?") {
		return p.choice(left, level)
	}
	return left, err
}

// choice reads the rest of "condition ? a : b".
func (p *Parser) choice(condition *Node, level int) (*Node, *Error) {
	yes, err := p.expression(0, level+1)
	if err != nil {
		return nil, err
	}
	if err = p.expect(":"); err != nil {
		return nil, err
	}
	no, err := p.expression(0, level+1)
	if err != nil {
		return nil, err
	}
	return p.make(Node{op: OpIf, name: "if"}, condition.at, condition, yes, no)
}

// words are the reserved words and signs that begin an operand.
var words = map[string]Node{
	"true": {op: OpTruth, value: 1}, "false": {op: OpTruth}, "pi": {op: OpPi},
	"if": {op: OpIf, name: "if"}, "-": {op: OpNegative}, "not": {op: OpNot}, "!": {op: OpNot},
	"~": {op: OpCall, name: "bitnot"},
}

// operand reads a primary or a prefix operator with its operand.
func (p *Parser) operand(level int) (*Node, *Error) {
	t := p.token
	if level > maxDepth {
		return nil, fail(t.At, t.End, tooDeep, "")
	}
	n, known := words[t.Text]
	switch known = known && t.kind == tokenSign; {
	case t.kind == tokenNumber:
		n = Node{op: OpNumber, value: t.value, unit: t.unit}
	case t.kind == tokenText:
		n = Node{op: OpText, name: t.Text}
	case t.kind == tokenName && p.Ahead(1).Is("("):
		n = Node{op: OpCall, name: t.Text}
	case t.kind == tokenName:
		n = Node{op: OpName, name: t.Text}
	case t.Is("("):
		return p.group(level)
	case !known:
		return nil, t.Unexpected("a value")
	}
	p.Next()
	bind := operators[n.op].Bind
	if t.Is("~") || t.Is("!") && p.lexer.script {
		bind = bindNegative
	}
	switch {
	case bind > 0:
		arg, err := p.expression(bind, level)
		if err != nil {
			return nil, err
		}
		return p.make(n, t.At, arg)
	case n.op == OpIf, n.op == OpCall:
		return p.call(n, t.At, level)
	}
	return leaf(n, t), nil
}

// group reads an expression in parentheses. Its span includes them.
func (p *Parser) group(level int) (*Node, *Error) {
	at := p.Next().At
	n, err := p.expression(0, level)
	if err == nil {
		err = p.expect(")")
	}
	if err != nil {
		return nil, err
	}
	inner := *n
	inner.at, inner.end = at, p.last
	return &inner, nil
}

// call reads the arguments of a function.
func (p *Parser) call(n Node, at, level int) (*Node, *Error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var args []*Node
	for !p.Accept(")") {
		if len(args) > 0 && !p.Accept(",") {
			return nil, p.token.Unexpected(`"," or ")"`)
		}
		a, err := p.expression(0, level)
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	return p.make(n, at, n.joinImplied(args, p.last)...)
}
