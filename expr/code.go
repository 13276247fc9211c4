package expr

import (
	"math"
	"slices"
)

// Opcode is the operation of an instruction.
type Opcode uint8

// The opcodes. A program computes in one accumulator, a. Registers, r, hold values for later use: the instructions that
// fetch a value first save the accumulator in a register.
const (
	Constant       Opcode = iota // r, a = a, Value
	Signal                       // r, a = a, the signal Index
	Above                        // r, a = a, whether the indicator Index is above
	Below                        // r, a = a, whether it is not
	Exchange                     // r, a = a, r
	AtLeast                      // r, a = a, whether the signal Index - Value >= 0
	LessThan                     // r, a = a, whether it is not
	AtMost                       // r, a = a, whether Value - the signal Index >= 0
	MoreThan                     // r, a = a, whether it is not
	AddValue                     // a = a + Value
	AddSignal                    // a = a + the signal Index
	SubtractSignal               // a = a - the signal Index
	MultiplyValue                // a = a * Value
	MultiplySignal               // a = a * the signal Index
	DivideValue                  // a = a / Value
	DivideSignal                 // a = a / the signal Index
	Add                          // a = r + a
	Subtract                     // a = r - a
	Multiply                     // a = r * a
	Divide                       // a = r / a
	Negate                       // a = -a
	Square                       // a = a * a
	NonNegative                  // a = a >= 0
	Negative                     // a = not a >= 0
	Equal                        // a = r == a
	Not                          // a = not a
	Jump                         // continue at the instruction Index
	JumpIf                       // continue there if a holds
	JumpUnless                   // continue there if a does not hold
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
	Args  int  // number of arguments: the accumulator, or the register and the accumulator
	Of    Type // type of the arguments
	Gives Type // type of the result
	one   func(float64) float64
	two   func(a, b float64) float64
}

// operations is the table of the opcodes. The interpreter implements those without a function itself.
var operations = [opcodes]Operation{
	Constant:       {Name: "constant"},
	Signal:         {Name: "signal"},
	Above:          {Name: "above", Gives: Boolean},
	Below:          {Name: "below", Gives: Boolean},
	AtLeast:        {Name: "at-least", Gives: Boolean},
	LessThan:       {Name: "less-than", Gives: Boolean},
	AtMost:         {Name: "at-most", Gives: Boolean},
	MoreThan:       {Name: "more-than", Gives: Boolean},
	Exchange:       {Name: "exchange", Args: 2},
	AddValue:       {Name: "add-value", Args: 1},
	AddSignal:      {Name: "add-signal", Args: 1},
	SubtractSignal: {Name: "subtract-signal", Args: 1},
	MultiplyValue:  {Name: "multiply-value", Args: 1},
	MultiplySignal: {Name: "multiply-signal", Args: 1},
	DivideValue:    {Name: "divide-value", Args: 1},
	DivideSignal:   {Name: "divide-signal", Args: 1},
	Add:            {Name: "add", Args: 2},
	Subtract:       {Name: "subtract", Args: 2},
	Multiply:       {Name: "multiply", Args: 2},
	Divide:         {Name: "divide", Args: 2},
	Negate:         {Name: "negate", Args: 1},
	Square:         {Name: "square", Args: 1},
	NonNegative:    {Name: "non-negative", Args: 1, Gives: Boolean},
	Negative:       {Name: "negative", Args: 1, Gives: Boolean},
	Equal:          {Name: "equal", Args: 2, Of: Integer, Gives: Boolean},
	Not:            {Name: "not", Args: 1, Of: Boolean, Gives: Boolean},
	Jump:           {Name: "jump"},
	JumpIf:         {Name: "jump-if", Args: 1, Of: Boolean, Gives: Boolean},
	JumpUnless:     {Name: "jump-unless", Args: 1, Of: Boolean, Gives: Boolean},
	Power:          {Name: "power", Args: 2, two: math.Pow},
	Abs:            {Name: "abs", Args: 1, one: math.Abs},
	Min:            {Name: "min", Args: 2, two: math.Min},
	Max:            {Name: "max", Args: 2, two: math.Max},
	Sqrt:           {Name: "sqrt", Args: 1, one: math.Sqrt},
	Exp:            {Name: "exp", Args: 1, one: math.Exp},
	Log:            {Name: "log", Args: 1, one: math.Log},
	Sin:            {Name: "sin", Args: 1, one: math.Sin},
	Cos:            {Name: "cos", Args: 1, one: math.Cos},
	Tan:            {Name: "tan", Args: 1, one: math.Tan},
	Asin:           {Name: "asin", Args: 1, one: math.Asin},
	Acos:           {Name: "acos", Args: 1, one: math.Acos},
	Atan:           {Name: "atan", Args: 1, one: math.Atan},
	Tanh:           {Name: "tanh", Args: 1, one: math.Tanh},
	Atan2:          {Name: "atan2", Args: 2, two: math.Atan2},
}

// Operation returns the description of an opcode.
func (o Opcode) Operation() Operation { return operations[o] }

func (o Opcode) String() string { return operations[o].Name }

// Instruction is one step of a program.
type Instruction struct {
	Op       Opcode
	Register uint8
	Index    uint32  // of a signal, an indicator or an instruction
	Value    float64 // of a constant
}

// registers is the number of registers that a program may use. A tree of MaxParts nodes needs no more, because the
// argument that needs more registers is computed first (Sethi and Ullman, "The generation of optimal code for
// arithmetic expressions", J. ACM 17, 1970).
const registers = 16

// run is the interpreter. It returns the accumulator at the end of the program; for a condition, 1 or 0.
func run(program []Instruction, signals []float64, above []bool) float64 {
	var r [registers]float64
	a := 0.0
	for i := uint(0); i < uint(len(program)); i++ {
		in := &program[i]
		switch in.Op {
		case Constant:
			r[in.Register%registers], a = a, in.Value
		case Signal:
			r[in.Register%registers], a = a, signals[in.Index]
		case Above:
			r[in.Register%registers], a = a, truth(above[in.Index])
		case Below:
			r[in.Register%registers], a = a, truth(!above[in.Index])
		case AtLeast:
			r[in.Register%registers], a = a, truth(signals[in.Index]-in.Value >= 0)
		case LessThan:
			r[in.Register%registers], a = a, truth(!(signals[in.Index]-in.Value >= 0))
		case AtMost:
			r[in.Register%registers], a = a, truth(in.Value-signals[in.Index] >= 0)
		case MoreThan:
			r[in.Register%registers], a = a, truth(!(in.Value-signals[in.Index] >= 0))
		case Exchange:
			r[in.Register%registers], a = a, r[in.Register%registers]
		case AddValue:
			a += in.Value
		case AddSignal:
			a += signals[in.Index]
		case SubtractSignal:
			a -= signals[in.Index]
		case MultiplyValue:
			a *= in.Value
		case MultiplySignal:
			a *= signals[in.Index]
		case DivideValue:
			a /= in.Value
		case DivideSignal:
			a /= signals[in.Index]
		case Add:
			a += r[in.Register%registers]
		case Subtract:
			a = r[in.Register%registers] - a
		case Multiply:
			a *= r[in.Register%registers]
		case Divide:
			a = r[in.Register%registers] / a
		case Negate:
			a = -a
		case Square:
			a *= a
		case NonNegative:
			a = truth(a >= 0)
		case Negative:
			a = truth(!(a >= 0))
		case Equal:
			a = truth(r[in.Register%registers] == a)
		case Not:
			a = 1 - a
		case Jump:
			i = uint(in.Index) - 1
		case JumpIf:
			if a != 0 {
				i = uint(in.Index) - 1
			}
		case JumpUnless:
			if a == 0 {
				i = uint(in.Index) - 1
			}
		default:
			if f := &operations[in.Op]; f.one != nil {
				a = f.one(a)
			} else {
				a = f.two(r[in.Register%registers], a)
			}
		}
	}
	return a
}

// truth returns a condition as a number: 1 or 0.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Code is a compiled expression. It is immutable, may be shared by goroutines and allocates nothing when it runs.
//
// Its inputs are the signals' values by slot, and above, the side g >= 0 of each of the compiler's indicators.
// Relations follow these frozen sides, so that there is no jump within a step of an integrator. If above is nil,
// relations are evaluated directly from the signals.
type Code struct {
	boolean        bool
	fixed          bool // the number is always value
	value          float64
	frozen, direct []Instruction
	indicators     []int
	reads          []int
	discrete       []int
}

// Real returns the value of a number, an enumeration or a text.
func (c *Code) Real(signals []float64, above []bool) float64 {
	if c.fixed {
		return c.value
	}
	return c.number(signals, above)
}

func (c *Code) number(signals []float64, above []bool) float64 {
	if c.boolean {
		panic("expr: Real of a condition")
	}
	return c.evaluate(signals, above)
}

// Bool returns the value of a condition.
func (c *Code) Bool(signals []float64, above []bool) bool {
	if !c.boolean {
		panic("expr: Bool of a number")
	}
	return c.evaluate(signals, above) != 0
}

// Value returns the value of any expression as stored among the signals.
func (c *Code) Value(signals []float64, above []bool) float64 {
	if c.fixed {
		return c.value
	}
	return c.evaluate(signals, above)
}

func (c *Code) evaluate(signals []float64, above []bool) float64 {
	program := c.frozen
	if above == nil {
		program = c.direct
	}
	if len(program) == 1 && program[0].Op == Signal { // by far the most frequent after constants
		return signals[program[0].Index]
	}
	return run(program, signals, above)
}

// Program returns the instructions: those that follow frozen sides, or those that evaluate relations from the signals.
func (c *Code) Program(frozen bool) []Instruction {
	if frozen {
		return slices.Clone(c.frozen)
	}
	return slices.Clone(c.direct)
}

// Indicators returns the indicators of the code's relations, including those inside an if, in ascending order.
func (c *Code) Indicators() []int { return slices.Clone(c.indicators) }

// Reads returns the slots of the signals that the code reads, directly or through its relations, in ascending order.
func (c *Code) Reads() []int { return slices.Clone(c.reads) }

// Discrete returns the slots of the discrete signals among those of Reads.
func (c *Code) Discrete() []int { return slices.Clone(c.discrete) }
