package codegen

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/expr"
)

// dialect is how a language writes expressions and statements, as formats.
type dialect struct {
	calls                     map[string]string // functions; those that expressions replace by others are never called
	infinity, nan             string
	signal                    string // by its place among the signals
	first                     int    // the place of the first of them
	power, square, lookUp     string
	not, choose               string // a truth reversed, and as a number
	assign, jump, label, stop string
	early                     string // around stop, but at the end of a block
	branch, end, declare      string

	above, onPiece string // of what is held, which is not written in Lua
}

// inC is the dialect of C.
var inC = &dialect{
	calls: map[string]string{
		"abs": "fabs(%s)", "min": "canopy_min(%s, %s)", "max": "canopy_max(%s, %s)", "sqrt": "sqrt(%s)", "exp": "exp(%s)",
		"log": "log(%s)", "sin": "sin(%s)", "cos": "cos(%s)", "tan": "tan(%s)", "asin": "asin(%s)", "acos": "acos(%s)",
		"atan": "atan(%s)", "tanh": "tanh(%s)", "atan2": "atan2(%s, %s)", "sign": "canopy_sign(%s)", "floor": "floor(%s)",
		"mod": "canopy_mod(%s, %s)", "bitand": "canopy_bits('&', %s, %s)", "bitor": "canopy_bits('|', %s, %s)",
		"bitxor": "canopy_bits('^', %s, %s)", "bitnot": "canopy_not(%s)",
	},
	infinity: "INFINITY", nan: "NAN", signal: "s[%d]",
	power: "pow(%s, %s)", square: "canopy_square(%s)", lookUp: "canopy_look_up(&%s, %s, %s)",
	not: "!(%s)", choose: "(%s) ? 1.0 : 0.0",
	assign: "%s = %s;", jump: "goto l%d;", label: "l%d:", stop: "return %s;", early: "%s",
	branch: "if (%s) {", end: "}", declare: "double %s = 0.0;",
	above: "above[%d]", onPiece: "canopy_on_piece(&%s, %s, %s, s[%d], s[%d])",
}

// inLua is the dialect of Lua 5.3.
var inLua = &dialect{
	calls: map[string]string{
		"abs": "math.abs(%s)", "min": "min(%s, %s)", "max": "max(%s, %s)", "sqrt": "math.sqrt(%s)", "exp": "math.exp(%s)",
		"log": "math.log(%s)", "sin": "math.sin(%s)", "cos": "math.cos(%s)", "tan": "math.tan(%s)", "asin": "math.asin(%s)",
		"acos": "math.acos(%s)", "atan": "math.atan(%s)", "tanh": "tanh(%s)", "atan2": "math.atan(%s, %s)",
		"sign": "sign(%s)", "floor": "floor(%s)", "mod": "mod(%s, %s)", "bitand": "bits(both, %s, %s)",
		"bitor": "bits(either, %s, %s)", "bitxor": "bits(differ, %s, %s)", "bitnot": "(-(%s) - 1.0)",
	},
	infinity: "math.huge", nan: "nan", signal: "s[%d]", first: 1,
	power: "((%s) ^ (%s))", square: "square(%s)", lookUp: "look_up(%s, %s, %s)",
	not: "not (%s)", choose: "(%s) and 1.0 or 0.0",
	assign: "%s = %s", jump: "goto l%d", label: "::l%d::", stop: "return %s", early: "do %s end",
	branch: "if %s then", end: "end", declare: "local %s = 0.0",
}

// term is a part of an expression, with the strength of its operator.
type term struct {
	text  string
	binds int
}

const (
	sum = iota
	product
	atom
)

// in returns the term as an operand of an operator.
func (t term) in(binds int) string {
	if t.binds < binds {
		return "(" + t.text + ")"
	}
	return t.text
}

func infix(x term, operator string, y term, binds int) term {
	return term{x.in(binds) + " " + operator + " " + y.in(binds+1), binds}
}

// operand is what an operator combines the accumulator with.
type operand uint8

const (
	register operand = iota // on its left
	ofValue
	ofSignal
)

// infixes are the instructions that are operators.
var infixes = map[expr.Opcode]struct {
	operator string
	binds    int
	with     operand
}{
	expr.Add: {"+", sum, register}, expr.AddValue: {"+", sum, ofValue}, expr.AddSignal: {"+", sum, ofSignal},
	expr.Subtract: {"-", sum, register}, expr.SubtractSignal: {"-", sum, ofSignal},
	expr.Multiply: {"*", product, register}, expr.MultiplyValue: {"*", product, ofValue},
	expr.MultiplySignal: {"*", product, ofSignal}, expr.Divide: {"/", product, register},
	expr.DivideValue: {"/", product, ofValue}, expr.DivideSignal: {"/", product, ofSignal},
}

// constant returns a constant that has exactly this value.
func (d *dialect) constant(v float64) term {
	switch {
	case math.IsInf(v, 1):
		return term{d.infinity, atom}
	case math.IsInf(v, -1):
		return term{"-" + d.infinity, sum}
	case math.IsNaN(v):
		return term{d.nan, atom}
	}
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	if text[0] == '-' {
		return term{text, sum}
	}
	return term{text, atom}
}

// coder writes a program of package expr. Within a block it keeps the accumulator and the registers as terms; they
// are variables where blocks meet.
type coder struct {
	*dialect
	program []expr.Instruction
	terms
	tables  []*expr.Tabulated
	yes, no string // the values of a condition; "": it is a number
	a       *term
	r       map[uint8]term
	lines   []string
	labels  map[uint]bool
	last    string // the statement that returns what the last test says
}

// terms are how a program calls what expressions read.
type terms struct {
	place func(signal int) int              // among the signals s
	table func(t *expr.Tabulated) string    // the name
	level func(in *expr.Instruction) string // with what a signal is compared; nil: with the number
}

// body returns the statements of an expression as a function of the signals s: of a condition as a number 1 or 0, or as
// a truth. With held, it also is one of the sides above.
func (d *dialect) body(c *expr.Code, truth, held bool, of terms) string {
	w := &coder{dialect: d, terms: of, program: c.Program(held), tables: c.Tables(), r: map[uint8]term{},
		labels: map[uint]bool{}}
	switch {
	case truth:
		w.yes, w.no = "true", "false"
	case c.Type() == expr.Boolean:
		w.yes, w.no = "1.0", "0.0"
	}
	for i := range w.program {
		if t := w.program[i].Target; w.jumps(i) && t < uint(len(w.program)) {
			w.labels[t] = true
		}
	}
	for i := range w.program {
		if w.labels[uint(i)] {
			w.meet()
			w.lines = append(w.lines, fmt.Sprintf(w.label, i))
		}
		w.step(i)
	}
	if n := len(w.program); n == 0 || w.program[n-1].Op != expr.Jump && w.last == "" {
		w.lines = append(w.lines, w.leave(uint(len(w.program))))
	}
	return w.text()
}

// identifiers are the names in a program, variable that of the accumulator or a register.
var identifiers, variable = regexp.MustCompile(`[A-Za-z_]\w*`), regexp.MustCompile(`^(a|r\d+)$`)

// text returns the statements, without those that set a variable which nothing reads.
func (w *coder) text() string {
	var read map[string]bool
	sets := func(line string) (name, value string) {
		if name, value, is := strings.Cut(line, " = "); is && identifiers.FindString(name) == name {
			return name, value
		}
		return "", line
	}
	for before := -1; before != len(w.lines); {
		before, read = len(w.lines), map[string]bool{}
		for _, line := range w.lines {
			_, value := sets(line)
			for _, name := range identifiers.FindAllString(value, -1) {
				read[name] = true
			}
		}
		w.lines = slices.DeleteFunc(w.lines, func(line string) bool {
			name, _ := sets(line)
			return name != "" && !read[name]
		})
	}
	text := ""
	for _, name := range slices.Sorted(maps.Keys(read)) {
		if variable.MatchString(name) {
			text += "  " + fmt.Sprintf(w.declare, name) + "\n"
		}
	}
	for i, line := range w.lines {
		if strings.HasPrefix(line, "return ") && i < len(w.lines)-1 {
			line = fmt.Sprintf(w.early, line)
		}
		if !strings.HasSuffix(line, ":") {
			line = "  " + line
		}
		text += line + "\n"
	}
	return text
}

func (w *coder) jumps(i int) bool {
	switch w.program[i].Op {
	case expr.NonNegative, expr.Equal, expr.Above, expr.AtLeast, expr.AtMost, expr.SignalIs, expr.Jump:
		return true
	}
	return false
}

// acc returns the accumulator.
func (w *coder) acc() term {
	if w.a == nil {
		return term{"a", atom}
	}
	return *w.a
}

func (w *coder) set(t term) { w.a = &t }

// register returns a register, which nothing reads again.
func (w *coder) register(i uint8) term {
	if t, ok := w.r[i]; ok {
		delete(w.r, i)
		return t
	}
	return term{fmt.Sprintf("r%d", i), atom}
}

// read reports whether an instruction reads a register.
func (w *coder) read(i uint8) bool {
	for _, in := range w.program {
		switch in.Op {
		case expr.Exchange, expr.Power, expr.CallTwo, expr.LookupTwo, expr.Equal:
		default:
			if f, ok := infixes[in.Op]; !ok || f.with != register {
				continue
			}
		}
		if in.Register == i {
			return true
		}
	}
	return false
}

// fetch sets the accumulator and saves what it was.
func (w *coder) fetch(i uint8, t term) {
	if w.read(i) {
		w.r[i] = w.acc()
	}
	w.set(t)
}

// meet makes variables of all terms.
func (w *coder) meet() {
	w.keep()
	if w.a != nil && w.a.text != "a" {
		w.lines = append(w.lines, fmt.Sprintf(w.assign, "a", w.a.text))
	}
	w.a = nil
}

// keep makes variables of the registers. None of their terms contains a variable of another register that is not one
// yet: each is what the accumulator was, and registers are read only to set that.
func (w *coder) keep() {
	for i := range uint8(16) {
		if t, ok := w.r[i]; ok {
			name := fmt.Sprintf("r%d", i)
			w.lines = append(w.lines, fmt.Sprintf(w.assign, name, t.text))
			delete(w.r, i)
		}
	}
}

// leave returns the statement that goes on at an instruction, or ends there.
func (w *coder) leave(to uint) string {
	switch end := uint(len(w.program)); {
	case to < end:
		return fmt.Sprintf(w.jump, to)
	case to > end:
		return fmt.Sprintf(w.stop, w.yes)
	case w.no != "":
		return fmt.Sprintf(w.stop, w.no)
	}
	return fmt.Sprintf(w.stop, w.acc().text)
}

// step writes an instruction.
func (w *coder) step(i int) {
	in := &w.program[i]
	signal := func() term { return term{fmt.Sprintf(w.signal, w.first+w.place(int(in.Index))), atom} }
	value := w.constant(in.Value)
	if f, ok := infixes[in.Op]; ok {
		x, y := w.acc(), value
		switch f.with {
		case register:
			x, y = w.register(in.Register), x
		case ofSignal:
			y = signal()
		}
		w.set(infix(x, f.operator, y, f.binds))
		return
	}
	switch in.Op {
	case expr.Constant:
		w.fetch(in.Register, value)
	case expr.Signal:
		w.fetch(in.Register, signal())
	case expr.SignalTimes:
		w.fetch(in.Register, infix(signal(), "*", value, product))
	case expr.SignalSquare:
		w.fetch(in.Register, infix(signal(), "*", signal(), product))
	case expr.Save:
		w.fetch(in.Register, w.acc())
	case expr.Exchange:
		x := w.register(in.Register)
		w.r[in.Register] = w.acc()
		w.set(x)
	case expr.Negate:
		w.set(term{"-" + w.acc().in(atom), sum})
	case expr.Square:
		w.set(term{fmt.Sprintf(w.square, w.acc().text), atom})
	case expr.Power:
		w.set(term{fmt.Sprintf(w.power, w.register(in.Register).text, w.acc().text), atom})
	case expr.Call:
		w.set(term{fmt.Sprintf(w.calls[in.Function()], w.acc().text), atom})
	case expr.CallTwo:
		w.set(term{fmt.Sprintf(w.calls[in.Function()], w.register(in.Register).text, w.acc().text), atom})
	case expr.NonNegative:
		w.test(i, w.acc().text+" >= 0.0")
	case expr.Equal:
		w.test(i, w.register(in.Register).text+" == "+w.acc().text)
	case expr.Above:
		w.meet() // what is tested may be negated, or turned, after it
		w.test(i, fmt.Sprintf(w.above, in.Index))
	case expr.AtLeast:
		w.test(i, infix(signal(), "-", w.compared(in), sum).text+" >= 0.0")
	case expr.AtMost:
		w.test(i, infix(w.compared(in), "-", signal(), sum).text+" >= 0.0")
	case expr.SignalIs:
		w.test(i, signal().text+" == "+value.text)
	case expr.Jump:
		if in.Target < uint(len(w.program)) {
			w.meet()
		}
		w.lines = append(w.lines, w.leave(in.Target))
		w.a, w.r = nil, map[uint8]term{}
	case expr.Lookup:
		w.tabulated(in, w.acc().text, "0.0")
	case expr.LookupTwo:
		w.tabulated(in, w.register(in.Register).text, w.acc().text)
	default:
		panic("codegen: an opcode that does not exist")
	}
}

// compared returns what an instruction compares a signal with.
func (w *coder) compared(in *expr.Instruction) term {
	if w.level != nil {
		return term{w.level(in), atom}
	}
	return w.constant(in.Value)
}

// tabulated writes the value of a table or, if it is held, of a piece of it.
func (w *coder) tabulated(in *expr.Instruction, x, y string) {
	text := fmt.Sprintf(w.lookUp, w.table(w.tables[in.Index]), x, y)
	if in.Target != 0 {
		text = fmt.Sprintf(w.onPiece, w.table(w.tables[in.Index]), x, y, w.place(int(in.Target)), w.place(int(in.Value)))
	}
	w.set(term{text, atom})
}

// test writes a jump. Nothing reads the accumulator after it.
func (w *coder) test(i int, text string) {
	in := &w.program[i]
	w.keep()
	if in.Unless {
		text = fmt.Sprintf(w.not, text)
	}
	if end := len(w.program); i == end-1 && in.Target > uint(end) {
		if w.yes != "true" {
			text = fmt.Sprintf(w.choose, text)
		}
		w.last = fmt.Sprintf(w.stop, text)
		w.lines, w.a = append(w.lines, w.last), nil
		return
	}
	w.lines = append(w.lines, fmt.Sprintf(w.branch, text), "  "+w.leave(in.Target), w.end)
	w.a = nil
}

// tableText returns a table in C, with this name.
func tableText(name string, t *expr.Tabulated) string {
	var b strings.Builder
	write := func(part string, values []float64) string {
		define(&b, "double", name+"_"+part, len(values), func(i int) string { return inC.constant(values[i]).text })
		return name + "_" + part
	}
	x, y, ny := write("x", t.Axes[0].Points), "NULL", 0
	if len(t.Axes) == 2 {
		y, ny = write("y", t.Axes[1].Points), len(t.Axes[1].Points)
	}
	fmt.Fprintf(&b, "\nstatic const canopy_table %s = {%s, %s, %s, %d, %d, %t};\n", name, x, y, write("values", t.Values),
		len(t.Axes[0].Points), ny, t.Clamp)
	return b.String()
}
