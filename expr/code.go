package expr

import (
	"math"
	"slices"
)

// Opcode is the operation of an instruction.
type Opcode uint8

// The opcodes. A program computes in one accumulator, a. Registers, r, hold values for later use: the instructions that
// fetch a value first save the accumulator in a register. A test jumps to Target if what it compares holds or, with
// Unless, if it does not. A condition is true if its program ends one instruction beyond the last.
const (
	Constant       Opcode = iota // r, a = a, Value
	Signal                       // r, a = a, the signal Index
	SignalTimes                  // r, a = a, the signal Index * Value
	SignalSquare                 // r, a = a, the square of the signal Index
	Save                         // r = a
	Exchange                     // r, a = a, r
	AddValue                     // a = a + Value
	AddSignal                    // a = a + the signal Index
	Add                          // a = r + a
	SubtractSignal               // a = a - the signal Index
	Subtract                     // a = r - a
	MultiplyValue                // a = a * Value
	MultiplySignal               // a = a * the signal Index
	Multiply                     // a = r * a
	DivideValue                  // a = a / Value
	DivideSignal                 // a = a / the signal Index
	Divide                       // a = r / a
	Negate                       // a = -a
	Square                       // a = a * a
	Power                        // a = r ^ a
	Call                         // a = the function Index of a
	CallTwo                      // a = the function Index of r and a
	Lookup                       // a = the table Index at a; with a Target, on the piece that begins at that signal
	LookupTwo                    // a = the table Index at r and a; likewise, the second piece is at the signal Value
	NonNegative                  // test: a >= 0
	Equal                        // test: r == a
	Above                        // test: the indicator Index is above
	AtLeast                      // test: the signal Index - Value >= 0
	AtMost                       // test: Value - the signal Index >= 0
	SignalIs                     // test: the signal Index == Value
	Jump                         // test: always
	opcodes                      // their number
)

func (o Opcode) String() string {
	return [opcodes]string{"constant", "signal", "signal-times", "signal-square", "save", "exchange", "add-value",
		"add-signal", "add", "subtract-signal", "subtract", "multiply-value", "multiply-signal", "multiply", "divide-value",
		"divide-signal", "divide", "negate", "square", "power", "call", "call-two", "look-up", "look-up-two",
		"non-negative", "equal", "above", "at-least", "at-most", "signal-is", "jump"}[o]
}

// Instruction is one step of a program. Its size is a power of 2: the interpreter finds its parts faster.
type Instruction struct {
	Op       Opcode
	Register uint8
	Unless   bool    // of a test
	Index    uint    // of a signal, an indicator or a function
	Target   uint    // of a jump or a test
	Value    float64 // of a constant
}

// Functions returns the names of the functions by the index of a call, for code that interprets programs.
func Functions() []string {
	names := make([]string, len(functions))
	for i, f := range functions {
		names[i] = f.name
	}
	return names
}

// Function returns the name of the function that a call applies.
func (in *Instruction) Function() string { return functions[in.Index].name }

// Apply returns the value of a call: of Call for x, of CallTwo for x and y.
func (in *Instruction) Apply(x, y float64) float64 {
	if in.Op == Call {
		return functions[in.Index].one(x)
	}
	return functions[in.Index].two(x, y)
}

// lookUp returns the value of a table.
func (in *Instruction) lookUp(t *Tabulated, x, y float64, signals []float64) float64 {
	if in.Target == 0 {
		return t.Value(x, y)
	}
	return t.at(x, y, signals[in.Target], signals[uint(in.Value)])
}

// next returns the place of the instruction after a test: i, or its target.
func (in *Instruction) next(i uint, holds bool) uint {
	if holds != in.Unless {
		return in.Target
	}
	return i
}

// holds reports whether a test that needs no accumulator holds.
func (in *Instruction) holds(signals []float64, above []bool) bool {
	switch { // in the order of their frequency
	case in.Op == Above:
		return above[in.Index]
	case in.Op == AtLeast:
		return signals[in.Index]-in.Value >= 0
	case in.Op == AtMost:
		return in.Value-signals[in.Index] >= 0
	case in.Op == SignalIs:
		return signals[in.Index] == in.Value
	}
	return true
}

// Code is a compiled expression. It is immutable, may be shared by goroutines and allocates nothing when it runs.
//
// Its inputs are the signals' values by slot, and above, the side g >= 0 of each of the compiler's indicators.
// Relations follow these frozen sides, so that there is no jump within a step of an integrator. If above is nil,
// relations are evaluated directly from the signals.
type Code struct {
	kind           Type
	fixed          bool // the number is always value
	value          float64
	frozen, direct []Instruction
	indicators     []int
	reads          []int
	discrete       []int
	cells          []int
	tables         []*Tabulated
}

// registers is the number of registers that a program may use. A tree of MaxParts nodes needs no more, because the
// argument that needs more registers is computed first (Sethi and Ullman, "The generation of optimal code for
// arithmetic expressions", J. ACM 17, 1970).
const registers = 16

// run interprets the program from the place i on. It returns the accumulator and the place at which the program ends.
// Calls are outside the loop over the other instructions, so that the loop keeps its variables in registers.
func (c *Code) run(signals []float64, above []bool, i uint) (a float64, end uint) {
	program := c.Program(above != nil)
	var r [registers]float64
	for {
	steps:
		for {
			if i >= uint(len(program)) {
				return a, i
			}
			in := &program[i]
			switch i++; in.Op {
			case Constant:
				r[in.Register%registers], a = a, in.Value
			case Signal:
				r[in.Register%registers], a = a, signals[in.Index]
			case SignalTimes:
				r[in.Register%registers], a = a, signals[in.Index]*in.Value
			case SignalSquare:
				r[in.Register%registers], a = a, signals[in.Index]*signals[in.Index]
			case Save:
				r[in.Register%registers] = a
			case Exchange:
				r[in.Register%registers], a = a, r[in.Register%registers]
			case AddValue:
				a += in.Value
			case AddSignal:
				a += signals[in.Index]
			case Add:
				a += r[in.Register%registers]
			case SubtractSignal:
				a -= signals[in.Index]
			case Subtract:
				a = r[in.Register%registers] - a
			case MultiplyValue:
				a *= in.Value
			case MultiplySignal:
				a *= signals[in.Index]
			case Multiply:
				a *= r[in.Register%registers]
			case DivideValue:
				a /= in.Value
			case DivideSignal:
				a /= signals[in.Index]
			case Divide:
				a = r[in.Register%registers] / a
			case Negate:
				a = -a
			case Square:
				a *= a
			case NonNegative:
				i = in.next(i, a >= 0)
			case Equal:
				i = in.next(i, r[in.Register%registers] == a)
			case Above, AtLeast, AtMost, SignalIs, Jump:
				i = in.next(i, in.holds(signals, above))
			default:
				break steps
			}
		}
		switch in := &program[i-1]; in.Op {
		case Power:
			a = math.Pow(r[in.Register%registers], a)
		case Call:
			a = functions[in.Index].one(a)
		case CallTwo:
			a = functions[in.Index].two(r[in.Register%registers], a)
		case Lookup:
			a = in.lookUp(c.tables[in.Index], a, 0, signals)
		case LookupTwo:
			a = in.lookUp(c.tables[in.Index], r[in.Register%registers], a, signals)
		default:
			panic("expr: an opcode that does not exist")
		}
	}
}

// Type returns the type of the value.
func (c *Code) Type() Type { return c.kind }

// Fixed reports whether the code is a number that depends on nothing.
func (c *Code) Fixed() bool { return c.fixed }

// Real returns the value of a number, an enumeration or a text.
func (c *Code) Real(signals []float64, above []bool) float64 {
	if c.fixed {
		return c.value
	}
	return c.number(signals, above)
}

func (c *Code) number(signals []float64, above []bool) float64 {
	if c.kind == Boolean {
		panic("expr: Real of a condition")
	}
	if p := c.Program(above != nil); len(p) == 1 && p[0].Op == Signal { // by far the most frequent after constants
		return signals[p[0].Index]
	}
	value, _ := c.run(signals, above, 0)
	return value
}

// Bool returns the value of a condition.
func (c *Code) Bool(signals []float64, above []bool) bool {
	program := c.Program(above != nil)
	i := uint(0)
	for i < uint(len(program)) { // most conditions are tests only, and need no registers
		in := &program[i]
		if in.Op < Above {
			_, i = c.run(signals, above, i)
			break
		}
		i = in.next(i+1, in.holds(signals, above))
	}
	if i > uint(len(program)) {
		return true
	}
	if c.kind != Boolean {
		panic("expr: Bool of a number")
	}
	return false
}

// Value returns the value of any expression as stored among the signals: that of a condition is 1 or 0.
func (c *Code) Value(signals []float64, above []bool) float64 {
	if c.fixed {
		return c.value
	}
	return c.any(signals, above)
}

func (c *Code) any(signals []float64, above []bool) float64 {
	switch {
	case c.kind != Boolean:
		return c.number(signals, above)
	case c.Bool(signals, above):
		return 1
	}
	return 0
}

// Program returns the instructions: those that follow frozen sides, or those that evaluate relations from the signals.
// The caller must not change them.
func (c *Code) Program(frozen bool) []Instruction {
	if frozen {
		return c.frozen
	}
	return c.direct
}

// Indicators returns the indicators of the code's relations, including those inside an if, in ascending order. The
// caller must not change them.
func (c *Code) Indicators() []int { return slices.Clip(c.indicators) }

// Reads returns the slots of the signals that the code reads, directly or through its relations, in ascending order.
// The caller must not change them.
func (c *Code) Reads() []int { return slices.Clip(c.reads) }

// Discrete returns the slots of the discrete signals among those of Reads. The caller must not change them.
func (c *Code) Discrete() []int { return slices.Clip(c.discrete) }

// Tables returns the tables that look-ups name by index. The caller must not change them.
func (c *Code) Tables() []*Tabulated { return slices.Clip(c.tables) }
