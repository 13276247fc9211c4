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

// calls are the functions of expressions in C. Those that expressions replace by others are never called.
var calls = map[string]string{
	"abs": "fabs(%s)", "min": "canopy_min(%s, %s)", "max": "canopy_max(%s, %s)", "sqrt": "sqrt(%s)", "exp": "exp(%s)",
	"log": "log(%s)", "sin": "sin(%s)", "cos": "cos(%s)", "tan": "tan(%s)", "asin": "asin(%s)", "acos": "acos(%s)",
	"atan": "atan(%s)", "tanh": "tanh(%s)", "atan2": "atan2(%s, %s)", "sign": "canopy_sign(%s)", "floor": "floor(%s)",
	"mod": "canopy_mod(%s, %s)", "bitand": "canopy_bits('&', %s, %s)", "bitor": "canopy_bits('|', %s, %s)",
	"bitxor": "canopy_bits('^', %s, %s)", "bitnot": "canopy_not(%s)",
}

// term is a part of an expression in C, with the strength of its operator.
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

// infixes are the instructions that are operators in C.
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

// constant returns a constant of C that has exactly this value.
func constant(v float64) term {
	switch {
	case math.IsInf(v, 1):
		return term{"INFINITY", atom}
	case math.IsInf(v, -1):
		return term{"-INFINITY", sum}
	case math.IsNaN(v):
		return term{"NAN", atom}
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

// coder writes a program of package expr in C. Within a block it keeps the accumulator and the registers as terms; they
// are variables where blocks meet.
type coder struct {
	program []expr.Instruction
	place   func(signal int) int
	table   func(i int) string                // the name of a table
	level   func(in *expr.Instruction) string // what a signal is compared with, instead of a number; nil, "": the number
	yes, no string                            // the values of a condition; "": it is a number
	a       *term
	r       map[uint8]term
	lines   []string
	labels  map[uint]bool
	last    string // the statement that returns what the last test says
}

// body returns the statements of an expression as a function of the signals s, with these places there and these names
// of tables: of a condition as a number 1 or 0, or as a truth. With held, it also is one of the sides above. level has what
// signals are compared with instead of numbers.
func body(c *expr.Code, truth, held bool, place func(signal int) int, table func(t *expr.Tabulated) string,
	level func(in *expr.Instruction) string) string {
	w := &coder{program: c.Program(held), place: place, level: level, r: map[uint8]term{}, labels: map[uint]bool{},
		table: func(i int) string { return table(c.Tables()[i]) }}
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
			w.lines = append(w.lines, fmt.Sprintf("l%d:", i))
		}
		w.step(i)
	}
	if n := len(w.program); n == 0 || w.program[n-1].Op != expr.Jump && w.last == "" {
		w.lines = append(w.lines, w.leave(uint(len(w.program))))
	}
	return w.text()
}

// word is a name in C, variable that of the accumulator or a register.
var word, variable = regexp.MustCompile(`[A-Za-z_]\w*`), regexp.MustCompile(`^(a|r\d+)$`)

// text returns the statements, without those that set a variable which nothing reads.
func (w *coder) text() string {
	var read map[string]bool
	sets := func(line string) (name, value string) {
		if name, value, is := strings.Cut(line, " = "); is && word.FindString(name) == name {
			return name, value
		}
		return "", line
	}
	for before := -1; before != len(w.lines); {
		before, read = len(w.lines), map[string]bool{}
		for _, line := range w.lines {
			_, value := sets(line)
			for _, name := range word.FindAllString(value, -1) {
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
			text += "  double " + name + " = 0.0;\n"
		}
	}
	for _, line := range w.lines {
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
		w.lines = append(w.lines, "a = "+w.a.text+";")
	}
	w.a = nil
}

// keep makes variables of the registers. None of their terms contains a variable of another register that is not one
// yet: each is what the accumulator was, and registers are read only to set that.
func (w *coder) keep() {
	for i := range uint8(16) {
		if t, ok := w.r[i]; ok {
			name := fmt.Sprintf("r%d", i)
			w.lines = append(w.lines, name+" = "+t.text+";")
			delete(w.r, i)
		}
	}
}

// leave returns the statement that goes on at an instruction, or ends there.
func (w *coder) leave(to uint) string {
	switch end := uint(len(w.program)); {
	case to < end:
		return fmt.Sprintf("goto l%d;", to)
	case to > end:
		return "return " + w.yes + ";"
	case w.no != "":
		return "return " + w.no + ";"
	}
	return "return " + w.acc().text + ";"
}

// step writes an instruction.
func (w *coder) step(i int) {
	in := &w.program[i]
	signal := func() term { return term{fmt.Sprintf("s[%d]", w.place(int(in.Index))), atom} }
	value := constant(in.Value)
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
		w.set(term{"canopy_square(" + w.acc().text + ")", atom})
	case expr.Power:
		w.set(term{"pow(" + w.register(in.Register).text + ", " + w.acc().text + ")", atom})
	case expr.Call:
		w.set(term{fmt.Sprintf(calls[in.Function()], w.acc().text), atom})
	case expr.CallTwo:
		w.set(term{fmt.Sprintf(calls[in.Function()], w.register(in.Register).text, w.acc().text), atom})
	case expr.NonNegative:
		w.test(i, w.acc().text+" >= 0.0")
	case expr.Equal:
		w.test(i, w.register(in.Register).text+" == "+w.acc().text)
	case expr.Above:
		w.meet() // what is tested may be negated, or turned, after it
		w.test(i, fmt.Sprintf("above[%d]", in.Index))
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
		w.lookUp(in, w.acc().text, "0.0")
	case expr.LookupTwo:
		w.lookUp(in, w.register(in.Register).text, w.acc().text)
	default:
		panic("codegen: an opcode that does not exist")
	}
}

// compared returns what an instruction compares a signal with.
func (w *coder) compared(in *expr.Instruction) term {
	if w.level != nil {
		if text := w.level(in); text != "" {
			return term{text, atom}
		}
	}
	return constant(in.Value)
}

// lookUp writes the value of a table or, if it is held, of a piece of it.
func (w *coder) lookUp(in *expr.Instruction, x, y string) {
	name, bounds := "look_up", ""
	if in.Target != 0 {
		name, bounds = "on_piece", fmt.Sprintf(", s[%d], s[%d]", w.place(int(in.Target)), w.place(int(in.Value)))
	}
	w.set(term{fmt.Sprintf("canopy_%s(&%s, %s, %s%s)", name, w.table(int(in.Index)), x, y, bounds), atom})
}

// test writes a jump. Nothing reads the accumulator after it.
func (w *coder) test(i int, text string) {
	in := &w.program[i]
	w.keep()
	if in.Unless {
		text = "!(" + text + ")"
	}
	if end := len(w.program); i == end-1 && in.Target > uint(end) {
		w.last = "return " + text + ";"
		if w.yes != "true" {
			w.last = "return (" + text + ") ? 1.0 : 0.0;"
		}
		w.lines, w.a = append(w.lines, w.last), nil
		return
	}
	w.lines = append(w.lines, "if ("+text+") {", "  "+w.leave(in.Target), "}")
	w.a = nil
}

// tableText returns a table in C, with this name.
func tableText(name string, t *expr.Tabulated) string {
	var b strings.Builder
	write := func(part string, values []float64) string {
		list(&b, "double", name+"_"+part, len(values), func(i int) string { return constant(values[i]).text })
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
