package expr

import (
	"math"
	"strconv"
	"strings"
)

// Plain returns the expression in the script language of BehaviorTree.CPP: signs as operators, numbers in coherent SI
// units without their unit, every operation in parentheses. That language has no powers, functions, names with dots and
// texts with both quotation marks: ok is false if the expression needs one.
func (e *Expr) Plain() (text string, ok bool) {
	p := plainWriter{ok: true}
	p.write(e.root, true)
	return p.String(), p.ok
}

type plainWriter struct {
	strings.Builder
	ok bool
}

// plainSigns are the operators that have another text in scripts.
var plainSigns = map[Op]string{OpOr: "||", OpAnd: "&&", OpNot: "!"}

func (p *plainWriter) write(n *Node, outer bool) {
	o, isOperator := operators[n.op]
	if (isOperator || n.op == OpIf) && !outer {
		p.WriteByte('(')
		defer p.WriteByte(')')
	}
	sign := o.Text
	if plain, ok := plainSigns[n.op]; ok {
		sign = plain
	}
	switch {
	case n.op == OpNumber:
		p.WriteString(strconv.FormatFloat(n.SI(), 'f', -1, 64))
	case n.op == OpPi:
		p.WriteString(strconv.FormatFloat(math.Pi, 'f', -1, 64))
	case n.op == OpTruth:
		p.WriteString(strconv.FormatBool(n.value != 0))
	case n.op == OpName:
		p.ok = p.ok && !strings.ContainsAny(n.name, "./[ ")
		p.WriteString(n.name)
	case n.op == OpText:
		p.ok = p.ok && !strings.Contains(n.name, "'")
		p.WriteString("'" + n.name + "'")
	case n.op == OpIf:
		p.write(n.args[0], false)
		p.WriteString(" ? ")
		p.write(n.args[1], false)
		p.WriteString(" : ")
		p.write(n.args[2], false)
	case n.op == OpCall, n.op == OpPower:
		p.ok = false
	case o.Args == 1:
		p.WriteString(sign)
		p.write(n.args[0], false)
	default:
		p.write(n.args[0], false)
		p.WriteString(" " + sign + " ")
		p.write(n.args[1], false)
	}
}
