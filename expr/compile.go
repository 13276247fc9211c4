package expr

// Compiler turns expressions into code. Relations that ask the same of the signals share one Indicator, in whatever
// expressions they stand.
type Compiler struct {
	slot       func(name string) (index int, ok bool)
	indicators []Indicator
	numbers    map[string]int // of the indicators, by the text of their difference
}

// NewCompiler returns a compiler that finds the values of signals by the given function: the index of a name.
func NewCompiler(slot func(name string) (index int, ok bool)) *Compiler {
	return &Compiler{slot: slot, numbers: map[string]int{}}
}

// Indicators returns all distinct indicators of the expressions compiled so far. Their order is that of compilation;
// an index once given stays.
func (c *Compiler) Indicators() []Indicator { return c.indicators }

// Indicator is the difference g of the sides of a relation.
type Indicator struct {
	Text string // the relation, as first written
	g    realFunc
}

// Value returns g. It is NaN if a side of the relation is.
func (i Indicator) Value(signals []float64) float64 { return i.g(signals, nil) }

// Code is a compiled expression. It is immutable and may be shared by goroutines.
type Code struct {
	real       realFunc
	boolean    boolFunc
	indicators []int
	reads      []int
}

type (
	realFunc func(signals []float64, above []bool) float64
	boolFunc func(signals []float64, above []bool) bool
)

// Real returns the number.
func (f *Code) Real(signals []float64, above []bool) float64 { return f.real(signals, above) }

// Bool returns the condition.
func (f *Code) Bool(signals []float64, above []bool) bool { return f.boolean(signals, above) }

// Indicators returns the indicators that the code depends on.
func (f *Code) Indicators() []int { return f.indicators }

// Reads returns the slots that the code reads.
func (f *Code) Reads() []int { return f.reads }

// Compile returns the expression's code.
func (c *Compiler) Compile(e *Expr) *Code { return &Code{} }
