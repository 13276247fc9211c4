package expr

import (
	"fmt"
	"strings"
)

// Bounds of an expression, so that no text can exhaust the stack or the registers of a program. Operators in sequence
// on one level, as in a sum, do not count as nested.
const (
	maxDepth = 500   // levels of parentheses, prefixes, powers and calls
	MaxParts = 10000 // nodes of the tree
)

var tooLarge = fmt.Sprintf("the expression has more than %d parts", MaxParts)

// Parse reads one expression. The error is an *Error at the first place where the text is not valid.
func Parse(src string) (*Expr, error) {
	n, err := parse(src)
	if err != nil {
		return nil, err
	}
	return &Expr{n}, nil
}

// ParseStatement reads conditions joined by "->". The error is an *Error at the first place that is not valid.
func ParseStatement(src string) ([]*Expr, error) {
	p := parser{lexer: lexer{src: src}}
	var parts []*Expr
	for more := true; more; more = p.token.is("->") {
		n, err := p.whole()
		if err == nil && p.token.kind != tokenEnd && !p.token.is("->") {
			err = p.token.unexpected("an operator or the end")
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, &Expr{n})
	}
	return parts, nil
}

func parse(src string) (*Node, *Error) {
	p := parser{lexer: lexer{src: src}}
	n, err := p.whole()
	if err == nil && p.token.kind != tokenEnd {
		err = p.token.unexpected("an operator or the end")
	}
	return n, err
}

// whole reads an expression that begins with the next token.
func (p *parser) whole() (*Node, *Error) {
	from := p.lexer.at
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.token.kind == tokenEnd {
		return nil, fail(from, len(p.lexer.src), "an expression is missing", "")
	}
	return p.expression(0, 0)
}

// parser is an operator-precedence parser (Pratt 1973) with one token of lookahead.
type parser struct {
	lexer lexer
	token token // the next one, not yet consumed
	last  int   // end of the last one consumed
}

func fail(at, end int, text, hint string) *Error {
	return &Error{Offset: at, Length: end - at, Code: CodeSyntax, Text: text, Hint: hint}
}

// next consumes a token.
func (p *parser) next() (err *Error) {
	p.last = p.token.end
	p.token, err = p.lexer.next()
	return err
}

// unexpected reports a token that is not the expected one.
func (t token) unexpected(wanted string) *Error {
	if t.kind == tokenEnd {
		return fail(t.at, t.at, "the expression ends where "+wanted+" is expected", "")
	}
	return fail(t.at, t.end, fmt.Sprintf("found %q where %s is expected", t.text, wanted), misspelling(t.text))
}

// misspelling returns the hint for a word or sign of another language.
func misspelling(text string) string {
	switch text {
	case "**":
		return `write "^" for powers`
	case "=<", "=>":
		return fmt.Sprintf("did you mean %q?", strings.Trim(text, "=")+"=")
	case "&", "|":
		return `write "and" or "or"`
	case "->":
		return `"->" is valid between conditions of statements only`
	case ":=":
		return `":=" is valid in assignments only`
	case "[":
		return "a unit can follow a number only; a signal has its declared unit"
	}
	return ""
}

// expect consumes the given sign.
func (p *parser) expect(text string) *Error {
	if !p.token.is(text) {
		return p.token.unexpected(fmt.Sprintf("%q", text))
	}
	return p.next()
}

// make returns a node with the given arguments that begins at the given offset and ends with the last token consumed.
func (p *parser) make(n Node, at int, args ...*Node) (*Node, *Error) {
	n.at, n.end, n.args = at, p.last, args
	if n.complete(); n.parts > MaxParts {
		return nil, fail(at, p.last, tooLarge, "")
	}
	return &n, nil
}

// leaf returns a node without arguments.
func leaf(n Node, t token) (*Node, *Error) {
	n.at, n.end = t.at, t.end
	return n.complete(), nil
}

func tooDeep(at, end int) *Error {
	return fail(at, end, fmt.Sprintf("the expression is nested more than %d levels deep", maxDepth), "")
}

// infix lists the operators written between their arguments.
var infix = map[string]Op{
	"or": OpOr, "||": OpOr, "and": OpAnd, "&&": OpAnd,
	"==": OpEqual, "=": OpEqual, "!=": OpNotEqual, "<>": OpNotEqual,
	"<": OpLess, "lt": OpLess, "<=": OpLessEqual, "le": OpLessEqual,
	">": OpGreater, "gt": OpGreater, ">=": OpGreaterEqual, "ge": OpGreaterEqual,
	"+": OpAdd, "-": OpSubtract, "*": OpMultiply, "/": OpDivide, "^": OpPower,
}

// expression reads operands joined by operators that bind at least as tightly as required.
func (p *parser) expression(least, level int) (*Node, *Error) {
	left, err := p.operand(level + 1)
	for compared := false; err == nil && p.token.kind == tokenSign; {
		sign := p.token
		o, ok := infix[sign.text]
		bind := operators[o].Bind
		if !ok || bind < least {
			break
		}
		if err = p.next(); err != nil {
			break
		}
		tighter := bind + 1
		if o == OpPower {
			tighter = bindNegative // right-associative, and a sign may follow
		}
		var right *Node
		if right, err = p.expression(tighter, level+1); err != nil {
			break
		}
		if compared && bind == bindRelation {
			return nil, fail(sign.at, sign.end, "relations do not chain",
				fmt.Sprintf("write %q", fmt.Sprintf("%v and %v %s %v", left, left.args[1], sign.text, right)))
		}
		compared = bind == bindRelation
		n := Node{op: o}
		if o.equality() {
			n.sign, n.spelled = sign.at, sign.text
		}
		left, err = p.make(n, left.at, left, right)
	}
	if err != nil {
		return nil, err
	}
	return left, nil
}

// operand reads a primary or a prefix operator with its operand.
func (p *parser) operand(level int) (*Node, *Error) {
	t := p.token
	if level > maxDepth {
		return nil, tooDeep(t.at, t.end)
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	switch {
	case t.kind == tokenNumber:
		return leaf(Node{op: OpNumber, value: t.value, unit: t.unit}, t)
	case t.kind == tokenText:
		return leaf(Node{op: OpText, name: t.text}, t)
	case t.kind == tokenName && p.token.is("("):
		return p.call(OpCall, t, level)
	case t.kind == tokenName:
		return leaf(Node{op: OpName, name: t.text}, t)
	case t.is("true"):
		return leaf(Node{op: OpTruth, value: 1}, t)
	case t.is("false"):
		return leaf(Node{op: OpTruth}, t)
	case t.is("pi"):
		return leaf(Node{op: OpPi}, t)
	case t.is("if"):
		return p.call(OpIf, t, level)
	case t.is("-"):
		return p.prefix(OpNegative, t, level)
	case t.is("not"), t.is("!"):
		return p.prefix(OpNot, t, level)
	case t.is("("):
		n, err := p.expression(0, level)
		if err == nil {
			err = p.expect(")")
		}
		if err != nil {
			return nil, err
		}
		inner := *n // the span of a group includes its parentheses
		inner.at, inner.end = t.at, p.last
		return &inner, nil
	}
	return nil, t.unexpected("a value")
}

func (p *parser) prefix(o Op, t token, level int) (*Node, *Error) {
	arg, err := p.expression(operators[o].Bind, level)
	if err != nil {
		return nil, err
	}
	return p.make(Node{op: o}, t.at, arg)
}

// call reads the arguments of a function.
func (p *parser) call(o Op, name token, level int) (*Node, *Error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	var args []*Node
	for !p.token.is(")") {
		if len(args) > 0 {
			if !p.token.is(",") {
				return nil, p.token.unexpected(`"," or ")"`)
			}
			if err := p.next(); err != nil {
				return nil, err
			}
		}
		a, err := p.expression(0, level)
		if err != nil {
			return nil, err
		}
		args = append(args, a)
	}
	if err := p.next(); err != nil {
		return nil, err
	}
	return p.make(Node{op: o, name: name.text}, name.at, args...)
}

// Assignment is one "name := value" of a list.
type Assignment struct {
	Target         string
	Offset, Length int // of the target, in the list's text
	Value          *Expr
	ValueOffset    int // of the value's own text in the list's text; to be added to the offsets of its errors
}

// ParseAssignments reads a list of assignments such as "CL_cmd := 0.95; h_cmd := 13000 [m]", which may be empty or end
// with a semicolon. It returns all valid assignments, and one error for each invalid assignment and for each name that
// is assigned again.
func ParseAssignments(src string) ([]Assignment, []*Error) {
	var list []Assignment
	var errs []*Error
	assigned := map[string]bool{}
	for start := 0; start <= len(src); {
		end := start + assignmentSize(src[start:])
		if strings.TrimSpace(src[start:end]) != "" {
			a, err := parseAssignment(src[start:end])
			if err == nil && assigned[a.Target] {
				err = &Error{Offset: a.Offset, Length: a.Length, Code: CodeDuplicate,
					Text: fmt.Sprintf("%q is assigned twice", a.Target)}
			}
			if err != nil {
				err.Offset += start
				errs = append(errs, err)
			} else {
				a.Offset += start
				a.ValueOffset += start
				assigned[a.Target] = true
				list = append(list, a)
				assigned[a.Target] = true
			}
		}
		start = end + 1
	}
	return list, errs
}

// assignmentSize returns where the first assignment of a list ends: at a semicolon outside any quoted text.
func assignmentSize(src string) int {
	var quote rune
	for i, r := range src {
		switch {
		case quote != 0:
			if r == quote {
				quote = 0
			}
		case r == '"', r == '\'':
			quote = r
		case r == ';':
			return i
		}
	}
	return len(src)
}

func parseAssignment(src string) (Assignment, *Error) {
	p := parser{lexer: lexer{src: src}}
	if err := p.next(); err != nil {
		return Assignment{}, err
	}
	target := p.token
	if target.kind != tokenName {
		err := p.token.unexpected("the name of a signal")
		err.Hint = `an assignment is written "name := value"`
		return Assignment{}, err
	}
	if err := p.next(); err != nil {
		return Assignment{}, err
	}
	if !p.token.is(":=") {
		err := p.token.unexpected(`":="`)
		if p.token.is("=") {
			err.Hint = fmt.Sprintf("write %q", target.text+" := ...")
		}
		return Assignment{}, err
	}
	at := p.token.end
	value, err := parse(src[at:])
	if err != nil {
		err.Offset += at
		return Assignment{}, err
	}
	return Assignment{target.text, target.at, target.end - target.at, &Expr{value}, at}, nil
}
