package expr

import (
	"fmt"
	"slices"
)

// Assignment is one "name := value" of a list or a script.
type Assignment struct {
	Target         string // empty for a statement of a script that assigns nothing
	Offset, Length int    // of the target, in the list's text
	Value          *Expr  // of "n += 1": n + 1
	Creates        bool   // the sign is ":=", which in a script creates the target if it does not exist
}

// ParseAssignments reads a list of assignments such as "CL_cmd := 0.95; h_cmd := 13000 [m]", which may be empty or end
// with a semicolon. It returns all valid assignments, and one error for each invalid assignment and for each name that
// is assigned again.
func ParseAssignments(src string) (list []Assignment, errs []*Error) {
	assigned := map[string]bool{}
	NewParser(src, ";").each(func(p *Parser) *Error {
		a, err := p.assignment()
		switch {
		case err != nil:
			return err
		case assigned[a.Target]:
			return &Error{Offset: a.Offset, Length: a.Length, Code: CodeDuplicate,
				Text: fmt.Sprintf("%q is assigned twice", a.Target)}
		}
		list = append(list, a)
		assigned[a.Target] = true
		return nil
	}, &errs)
	return list, errs
}

// each reads the parts of a text that semicolons separate. After an error it continues with the next part.
func (p *Parser) each(part func(*Parser) *Error, errs *[]*Error) {
	for !p.Peek().IsEnd() {
		if p.Accept(";") {
			continue
		}
		if err := part(p); err != nil {
			*errs = append(*errs, err)
			for !p.Peek().Stops() {
				p.Next()
			}
		}
	}
}

func (p *Parser) assignment() (Assignment, *Error) {
	target := p.Peek()
	if !target.IsName() {
		err := target.Unexpected("the name of a signal")
		if target.kind != tokenWrong {
			err.Hint = `an assignment is written "name := value"`
		}
		return Assignment{}, err
	}
	p.Next()
	if err := p.expect(":="); err != nil {
		if p.Peek().Is("=") {
			err.Hint = fmt.Sprintf("write %q", target.Text+" := ...")
		}
		return Assignment{}, err
	}
	value, err := p.Expression(AnyUnit)
	if err == nil {
		err = p.End()
	}
	return Assignment{target.Text, target.At, target.End - target.At, value, true}, err
}

// assigning lists the signs of the assignments of scripts, with the operator of each that also reads its target.
var assigning = map[string]Op{
	":=": OpName, "=": OpName, "+=": OpAdd, "-=": OpSubtract, "*=": OpMultiply, "/=": OpDivide,
}

// ParseScript reads a script of BehaviorTree.CPP: statements that are executed one after the other, separated by
// semicolons. A target may be assigned again; "a := b := 1" is two statements, the inner one first. It returns all
// valid statements, and one error for each invalid one. The notation of expressions is that of ParseScriptCondition.
func ParseScript(src string) (list []Assignment, errs []*Error) {
	newScript(src).each(func(p *Parser) *Error {
		first := len(list)
		_, err := p.statement(&list, 0)
		if err == nil {
			if err = p.End(); err != nil && p.Peek().IsName() {
				err.Hint = `separate statements by ";"`
			}
		}
		if err != nil {
			list = list[:first]
		}
		return err
	}, &errs)
	return list, errs
}

// statement appends the assignments of a statement to a list, and returns what stands for its value.
func (p *Parser) statement(list *[]Assignment, level int) (value *Expr, err *Error) {
	target, sign := p.Peek(), p.Ahead(1)
	o, assigns := assigning[sign.Text]
	assigns = assigns && sign.kind == tokenSign && target.IsName()
	switch {
	case level > maxDepth:
		return nil, fail(target.At, target.End, tooDeep, "")
	case !assigns:
		if value, err = p.Expression(AnyUnit); err == nil && level == 0 {
			at, end := value.root.Span()
			*list = append(*list, Assignment{Offset: at, Length: end - at, Value: value})
		}
		return value, err
	}
	p.Next()
	p.Next()
	if value, err = p.statement(list, level+1); err != nil {
		return nil, err
	}
	name := leaf(Node{op: OpName, name: target.Text}, target)
	if o != OpName {
		if value.root, err = p.make(Node{op: o}, target.At, name, value.root); err != nil {
			return nil, err
		}
	}
	*list = append(*list, Assignment{target.Text, target.At, target.End - target.At, value, sign.Text == ":="})
	return &Expr{name}, nil
}

// ParseScriptCondition reads one expression in the notation of BehaviorTree.CPP. It is that of Parse, except that "^"
// is the exclusive or of two integers, "..", like "+", joins texts, "!" binds as tightly as the sign of a number, and
// names may begin with "@". The error is an *Error at the first place where the text is not valid.
func ParseScriptCondition(src string) (*Expr, error) {
	p := newScript(src)
	e, err := p.Expression(AnyUnit)
	if err == nil {
		err = p.End()
	}
	if err == nil && !p.Peek().IsEnd() {
		err = fail(p.token.At, p.token.End, "a condition is one expression", "")
	}
	if err != nil {
		return nil, err
	}
	return e, nil
}

// Joins reports whether the value is a text that is joined from parts of which one is no literal.
func (e *Expr) Joins() bool { return e.root.joins() }

func (n *Node) joins() bool {
	return n.op == OpAdd && (n.spelled != "" ||
		slices.ContainsFunc(n.args, func(a *Node) bool { return a.op == OpText || a.joins() }))
}
