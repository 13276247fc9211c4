package expr

import (
	"math"
	"slices"
)

// Opcode is what an instruction does.
type Opcode uint8

// The opcodes. An instruction has the registers A and B as its arguments, as far as it takes any, and leaves its value in
// the register To.
const (
	Constant       Opcode = iota // Value
	Signal                       // the signal Index
	AddValue                     // A + Value
	AddSignal                    // A + the signal Index
	SubtractSignal               // A - the signal Index
	MultiplyValue                // A * Value
	MultiplySignal               // A * the signal Index
	Add                          // A + B
	Subtract                     // A - B
	Multiply                     // A * B
	Divide                       // A / B
	Negate                       // -A
	Square                       // A * A
	Above                        // whether the indicator Index is above
	Below                        // whether it is not
	NonNegative                  // A >= 0
	Equal                        // A == B
	Not                          // not A
	Jump                         // go on at the instruction Index
	JumpIf                       // go on there if A holds
	JumpUnless                   // go on there if A does not hold
	Power
	Abs
	Min
	Max
	Sqrt
	Exp
	Log
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Tanh
	Atan2
	opcodes // their number
)

// Operation describes an opcode.
type Operation struct {
	Name  string
	Args  int  // registers that it takes
	Of    Type // their type
	Gives Type // the type of its value; of a jump, which has none, that of its argument
	one   func(float64) float64
	two   func(a, b float64) float64
}

// operations is the table of the opcodes. The interpreter knows those without a function by itself.
var operations = [opcodes]Operation{
	Constant: {Name: "constant"}, Signal: {Name: "signal"},
	AddValue: {Name: "add-value", Args: 1}, AddSignal: {Name: "add-signal", Args: 1},
	SubtractSignal: {Name: "subtract-signal", Args: 1},
	MultiplyValue:  {Name: "multiply-value", Args: 1}, MultiplySignal: {Name: "multiply-signal", Args: 1},
	Add: {Name: "add", Args: 2}, Subtract: {Name: "subtract", Args: 2}, Multiply: {Name: "multiply", Args: 2},
	Divide: {Name: "divide", Args: 2}, Negate: {Name: "negate", Args: 1}, Square: {Name: "square", Args: 1},
	Above: {Name: "above", Gives: Boolean}, Below: {Name: "below", Gives: Boolean},
	NonNegative: {Name: "non-negative", Args: 1, Gives: Boolean},
	Equal:       {Name: "equal", Args: 2, Of: Integer, Gives: Boolean},
	Not:         {Name: "not", Args: 1, Of: Boolean, Gives: Boolean},
	Jump:        {Name: "jump"},
	JumpIf:      {Name: "jump-if", Args: 1, Of: Boolean, Gives: Boolean},
	JumpUnless:  {Name: "jump-unless", Args: 1, Of: Boolean, Gives: Boolean},
	Power:       {Name: "power", Args: 2, two: math.Pow},
	Abs:         {Name: "abs", Args: 1, one: math.Abs},
	Min:         {Name: "min", Args: 2, two: math.Min},
	Max:         {Name: "max", Args: 2, two: math.Max},
	Sqrt:        {Name: "sqrt", Args: 1, one: math.Sqrt},
	Exp:         {Name: "exp", Args: 1, one: math.Exp},
	Log:         {Name: "log", Args: 1, one: math.Log},
	Sin:         {Name: "sin", Args: 1, one: math.Sin},
	Cos:         {Name: "cos", Args: 1, one: math.Cos},
	Tan:         {Name: "tan", Args: 1, one: math.Tan},
	Asin:        {Name: "asin", Args: 1, one: math.Asin},
	Acos:        {Name: "acos", Args: 1, one: math.Acos},
	Atan:        {Name: "atan", Args: 1, one: math.Atan},
	Tanh:        {Name: "tanh", Args: 1, one: math.Tanh},
	Atan2:       {Name: "atan2", Args: 2, two: math.Atan2},
}

// Operation returns the description of an opcode.
func (o Opcode) Operation() Operation { return operations[o] }

func (o Opcode) String() string { return operations[o].Name }

// Instruction is one step of a program.
type Instruction struct {
	Op       Opcode
	To, A, B uint8   // registers
	Index    int32   // of a signal, an indicator or an instruction
	Value    float64 // of a constant
}

// registers is the number of registers that a program may use. A tree of maxParts nodes needs no more, for the part of
// an operation that needs more registers is computed first (Sethi and Ullman, "The generation of optimal code for
// arithmetic expressions", J. ACM 17, 1970).
const registers = 16

// run is the interpreter. The value of a program is in register 0 at its end; of a condition it is 1 or 0.
func run(program []Instruction, signals []float64, above []bool) float64 {
	var r [registers]float64
	for i := 0; i < len(program); i++ {
		in := &program[i]
		a, b := r[in.A%registers], r[in.B%registers]
		v := 0.0
		switch in.Op {
		case Constant:
			v = in.Value
		case Signal:
			v = signals[in.Index]
		case AddValue:
			v = a + in.Value
		case AddSignal:
			v = a + signals[in.Index]
		case SubtractSignal:
			v = a - signals[in.Index]
		case MultiplyValue:
			v = a * in.Value
		case MultiplySignal:
			v = a * signals[in.Index]
		case Add:
			v = a + b
		case Subtract:
			v = a - b
		case Multiply:
			v = a * b
		case Divide:
			v = a / b
		case Negate:
			v = -a
		case Square:
			v = a * a
		case Above:
			if above[in.Index] {
				v = 1
			}
		case Below:
			if !above[in.Index] {
				v = 1
			}
		case NonNegative:
			if a >= 0 {
				v = 1
			}
		case Equal:
			if a == b {
				v = 1
			}
		case Not:
			if a == 0 {
				v = 1
			}
		case Jump:
			i = int(in.Index) - 1
			continue
		case JumpIf:
			if a != 0 {
				i = int(in.Index) - 1
			}
			continue
		case JumpUnless:
			if a == 0 {
				i = int(in.Index) - 1
			}
			continue
		default:
			if f := &operations[in.Op]; f.one != nil {
				v = f.one(a)
			} else {
				v = f.two(a, b)
			}
		}
		r[in.To%registers] = v
	}
	return r[0]
}

// Code is a compiled expression. It is immutable, may be shared by goroutines and allocates nothing when it runs.
//
// It is given the signals' values by slot, and above, the side g >= 0 of each of the compiler's indicators: relations
// follow these frozen sides, so that an integrator sees no jump within a step. If above is nil, relations are judged
// directly from the signals.
type Code struct {
	boolean        bool
	frozen, direct []Instruction
	indicators     []int
	reads          []int
}

// Real returns the value of a number, an enumeration or a text.
func (c *Code) Real(signals []float64, above []bool) float64 {
	if c.boolean {
		panic("expr: Real of a condition")
	}
	return c.Value(signals, above)
}

// Bool returns the value of a condition.
func (c *Code) Bool(signals []float64, above []bool) bool {
	if !c.boolean {
		panic("expr: Bool of a number")
	}
	return c.Value(signals, above) != 0
}

// Value returns the value of any expression as it stands among the signals.
func (c *Code) Value(signals []float64, above []bool) float64 {
	program := c.frozen
	if above == nil {
		program = c.direct
	}
	if len(program) == 1 { // a constant or a signal needs no interpreter
		switch in := &program[0]; in.Op {
		case Constant:
			return in.Value
		case Signal:
			return signals[in.Index]
		}
	}
	return run(program, signals, above)
}

// Program returns the instructions: those that follow frozen sides, or those that judge relations from the signals.
func (c *Code) Program(frozen bool) []Instruction {
	if frozen {
		return slices.Clone(c.frozen)
	}
	return slices.Clone(c.direct)
}

// Indicators returns the indicators that the code's relations have, also those inside an if, in ascending order.
func (c *Code) Indicators() []int { return slices.Clone(c.indicators) }

// Reads returns the slots of the signals that the code reads, directly or through its relations, in ascending order.
func (c *Code) Reads() []int { return slices.Clone(c.reads) }
