package executive

import (
	"math"

	"canopy/expr"
)

// Answers is what a world tells an executive about its signals and clocks. [Numbers] answers by numbers. Other worlds
// may answer anything that a run could: analyses do.
type Answers interface {
	// Truth evaluates a condition with the committed sides of the indicators and with the discrete signals as of the last
	// Refresh.
	Truth(c *expr.Code) bool
	// Value evaluates an expression at the current instant, with the current inputs and all relations from the signals.
	Value(c *expr.Code) float64
	// Signal evaluates a signal at the current instant, with the current inputs.
	Signal(place int) float64
	// Refresh evaluates all signals at the current instant: discrete ones may have been written.
	Refresh()
	// Start starts a clock, that of a leaf's procedure or of a timer, for a length [s]. It returns the time at which the
	// clock is over, for Over; ok is false if there is no such length.
	Start(clock int, length float64) (due float64, ok bool)
	// Stop stops a clock.
	Stop(clock int)
	// Over reports whether a clock is over that was started with this answer, +Inf if its procedure has no length.
	Over(clock int, due float64) bool
}

// Numbers answers for a world that has a time and a signal vector.
type Numbers struct {
	of      Numeric
	signals []float64
	above   []bool
}

// Numeric is a world with a time and a signal vector.
type Numeric interface {
	T() float64
	// Signals evaluates the signal vector at the current instant, with the current inputs. The slice stays the same.
	Signals() []float64
	Discrete() (u []float64, above []bool)
}

// NewNumbers returns the answers of a world.
func NewNumbers(w Numeric) Numbers {
	_, above := w.Discrete()
	return Numbers{w, w.Signals(), above}
}

// Truth implements Answers.
func (n *Numbers) Truth(c *expr.Code) bool { return c.Bool(n.signals, n.above) }

// Value implements Answers.
func (n *Numbers) Value(c *expr.Code) float64 { return c.Value(n.of.Signals(), nil) }

// Signal implements Answers.
func (n *Numbers) Signal(place int) float64 { return n.of.Signals()[place] }

// Refresh implements Answers.
func (n *Numbers) Refresh() { n.of.Signals() }

// Start implements Answers. A length that is negative or NaN is none; the clock is then over at once.
func (n *Numbers) Start(_ int, length float64) (due float64, ok bool) {
	if math.IsNaN(length) || length < 0 {
		return n.of.T(), false
	}
	return n.of.T() + length, true
}

// Stop implements Answers.
func (n *Numbers) Stop(int) {}

// Over implements Answers.
func (n *Numbers) Over(_ int, due float64) bool { return n.of.T() >= due }
