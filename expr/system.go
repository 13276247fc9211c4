package expr

// System is the compiled equations of a system that moves in time, for code that writes them in another language. Its
// signals are the time, the states, the inputs, the outputs, the parameters, whether each event's condition held, and
// the bounds of the cells, in this order. It is immutable.
type System struct {
	Units                         []Unit       // of the parameters
	Limits                        [][2]float64 // of the parameters, in these units; they may be infinite
	Ranges                        [][2]float64 // of the states at the start; likewise
	Inputs                        int
	Initial, Derivatives, Outputs []*Code // initial values read parameters only
	Derive, All, Related          []int   // outputs that derivatives read, all, those that switches read; in their order
	Switches                      []Indicator
	Events                        []Event
	Cells                         []Cell
}

// Event sets states when a condition becomes true.
type Event struct {
	Condition *Code
	Resets    []Reset
}

// Reset gives a state a value.
type Reset struct {
	State int
	Value *Code
}
