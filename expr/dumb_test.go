package expr

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// dumb executes scripts as BehaviorTree.CPP does, while it reads them: every value is a number or a text, and each
// level of precedence is one entry of a list. A relation with NaN holds as in expressions.
type dumb struct {
	tokens  []string
	entries map[string]any
}

var dumbTokens = regexp.MustCompile(`'[^']*'|0[xX][0-9a-fA-F]+|[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?|@?[A-Za-z_]\w*|:=|[-+*/]=|==|!=|<=|>=|&&|\|\||\.\.|.`)

// levels are the operators between arguments, from lowest to highest precedence.
var levels = []string{"||", "&&", "== != < > <= >=", "| ^", "&", "+ - ..", "* /"}

func execute(src string) map[string]any {
	d := &dumb{entries: map[string]any{}}
	for _, token := range dumbTokens.FindAllString(src, -1) {
		if strings.TrimSpace(token) != "" {
			d.tokens = append(d.tokens, token)
		}
	}
	d.tokens = append(d.tokens, "end", "end")
	for d.tokens[0] != "end" {
		if d.tokens[0] == ";" {
			d.next()
			continue
		}
		d.statement()
	}
	return d.entries
}

func (d *dumb) next() string {
	token := d.tokens[0]
	d.tokens = d.tokens[1:]
	return token
}

func (d *dumb) statement() any {
	name, sign := d.tokens[0], d.tokens[1]
	if !strings.HasSuffix(sign, "=") || strings.ContainsAny(sign, "!<>") || sign == "==" {
		return d.choice()
	}
	d.next()
	d.next()
	value := d.statement()
	if old := d.entries[name]; len(sign) == 2 && sign != ":=" {
		value = binary2(sign[:1], old, value)
	}
	d.entries[name] = value
	return value
}

func (d *dumb) choice() any {
	value := d.level(0)
	if d.tokens[0] != "?" {
		return value
	}
	d.next()
	yes := d.choice()
	d.next()
	no := d.choice()
	if value.(float64) != 0 {
		return yes
	}
	return no
}

func (d *dumb) level(i int) any {
	if i == len(levels) {
		return d.operand()
	}
	is := func() bool { return strings.Contains(" "+levels[i]+" ", " "+d.tokens[0]+" ") }
	left := d.level(i + 1)
	if levels[i] != levels[2] {
		for is() {
			sign := d.next()
			left = binary2(sign, left, d.level(i+1))
		}
		return left
	}
	if !is() {
		return left
	}
	holds := 1.0
	for is() {
		sign := d.next()
		right := d.level(i + 1)
		if !related(sign, left, right) {
			holds = 0
		}
		left = right
	}
	return holds
}

func (d *dumb) operand() any {
	token := d.next()
	switch {
	case token == "(":
		value := d.choice()
		d.next()
		return value
	case token == "-":
		return -d.operand().(float64)
	case token == "~":
		return float64(^int64(d.operand().(float64)))
	case token == "!":
		return truth(d.operand().(float64) == 0)
	case token == "true", token == "false":
		return truth(token == "true")
	case token[0] == '\'':
		return token[1 : len(token)-1]
	case colours[token] > 0:
		return colours[token]
	case strings.HasPrefix(strings.ToLower(token), "0x"):
		n, _ := strconv.ParseInt(token[2:], 16, 64)
		return float64(n)
	}
	if x, err := strconv.ParseFloat(token, 64); err == nil {
		return x
	}
	return d.entries[token]
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func binary2(sign string, a, b any) any {
	if s, ok := a.(string); ok {
		return s + fmt.Sprint(b)
	}
	if s, ok := b.(string); ok {
		return fmt.Sprint(a) + s
	}
	x, y := a.(float64), b.(float64)
	switch sign {
	case "||":
		return truth(x != 0 || y != 0)
	case "&&":
		return truth(x != 0 && y != 0)
	case "|":
		return float64(int64(x) | int64(y))
	case "^":
		return float64(int64(x) ^ int64(y))
	case "&":
		return float64(int64(x) & int64(y))
	case "+":
		return x + y
	case "-":
		return x - y
	case "*":
		return x * y
	case "/":
		return x / y
	}
	panic(sign)
}

func related(sign string, a, b any) bool {
	s, isText := a.(string)
	if other, both := b.(string); isText && both {
		return (s == other) == (sign == "==")
	}
	x, y := value(a), value(b)
	equal := math.Abs(x-y) <= 1.0/(1<<23)
	return map[string]bool{"==": equal, "!=": !equal, "<": !(x >= y), ">": !(x <= y), "<=": x <= y, ">=": x >= y}[sign]
}

// value returns the number that a value is.
func value(a any) float64 {
	switch a := a.(type) {
	case float64:
		return a
	case string:
		if a == "true" || a == "false" {
			return truth(a == "true")
		}
		if x, err := strconv.ParseFloat(a, 64); err == nil {
			return x
		}
	}
	panic("no number")
}

// drawn returns a random script. Its entries n and m are integers, x and y reals, f and g truth values, s a text.
func drawn(t *rapid.T) string {
	one := func(list ...string) string { return rapid.SampledFrom(list).Draw(t, "of") }
	var number, integer, condition func(depth int) string
	part := func(of func(int) string, depth int) string { return of(depth - 1) }
	kind := func(depth, leaves, all int) int {
		if depth <= 0 {
			all = leaves
		}
		return rapid.IntRange(0, all-1).Draw(t, "kind")
	}
	number = func(d int) string {
		switch kind(d, 3, 8) {
		case 0:
			return one("0", "1", "3", "0x1F", "2.5", "0.25", "1e1", "RED", "BLUE")
		case 1:
			return one("n", "m")
		case 2:
			return one("x", "y", "-x", "- 2")
		case 3, 4:
			return part(number, d) + one(" + ", " - ", "*", " / ") + part(number, d)
		case 5:
			return "(" + part(number, d) + ")"
		case 6:
			return "(" + part(condition, d) + " ? " + part(number, d) + " : " + part(number, d) + ")"
		}
		return "(" + part(integer, d) + ")"
	}
	integer = func(d int) string {
		switch kind(d, 2, 6) {
		case 0:
			return one("1", "6", "12", "GREEN", "0xA")
		case 1:
			return one("n", "m", "~n")
		case 2, 3, 4:
			return part(integer, d) + one(" & ", " | ", "^", " + ", " - ") + part(integer, d)
		}
		return "(" + part(integer, d) + ")"
	}
	condition = func(d int) string {
		switch kind(d, 3, 7) {
		case 0:
			return one("true", "false", "f", "g", "!f", "n", "!x", "s == 'a'", "s != 'b'", "'b' == s", "g == 1", "f != g")
		case 1:
			return number(0) + one(" < ", "<=", "> ", " >= ", "==", " != ") + number(0)
		case 2:
			return number(0) + one("<", " <= ", "==") + number(0) + one("<", "==", " >= ", "!=") + number(0)
		case 3, 4:
			return part(condition, d) + one(" && ", "||") + part(condition, d)
		case 5:
			return one("!", "") + "(" + part(condition, d) + ")"
		}
		return part(number, d) + one(" < ", ">=") + part(number, d)
	}
	b := "n := 3; m := " + one("0", "5") + "; x := " + one("0.5", "2.0") + "; y := -1.5; f := true; g := false; s := 'a'"
	for range rapid.IntRange(1, 5).Draw(t, "statements") {
		switch kind(1, 0, 6) {
		case 0:
			b += ";" + one("x", "y") + one(" += ", "-=", " *= ", " = ", " /= ") + number(2)
		case 1:
			b += "; " + one("f", "g") + one(" = ", ":=") + condition(2)
		case 2:
			b += "; " + one("n", "m") + one(" = ", " += ", ":=") + integer(2)
		case 3:
			b += "; s := " + condition(2) + " ? 'a' : 'b'"
		case 4:
			b += "; x := y = " + number(2)
		default:
			b += "; p := q = " + condition(3) + " ? 1 : 2.5"
			b = strings.Replace(b, "q = ", "q := ", 1)
		}
	}
	return b
}

// TestScriptsAgreeWithDumbEvaluator compares random scripts with an evaluator that has no tree and no types.
func TestScriptsAgreeWithDumbEvaluator(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		src := drawn(t)
		got, err := executed(src)
		if err != nil {
			if refused++; !strings.Contains(err.Error(), "may be a fraction") && !strings.Contains(err.Error(), "parts") {
				t.Fatalf("%s: %v", src, err)
			}
			return
		}
		want := map[string]string{}
		for name, value := range execute(src) {
			if want[name] = fmt.Sprintf("'%v'", value); name != "s" {
				want[name] = strconv.FormatFloat(value.(float64), 'g', 15, 64)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s: %v, the dumb evaluator %v", src, got, want)
		}
	})
	if refused > 1000 {
		t.Errorf("%d scripts refused", refused)
	}
}
