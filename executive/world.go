package executive

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/snapshot"
)

// World is the system that an executive controls. [Numbers] answers for worlds in which all values are numbers. Those
// of analyses may answer anything that a run could.
type World interface {
	Values
	Clocks
}

// Values are the inputs and signals of a world.
type Values interface {
	// Discrete returns the inputs (Program.Initial at the start) and the committed sides of the indicators, to be read.
	// Both slices stay the same. Only the executive changes inputs.
	Discrete() (u []float64, above []bool)
	// Set sets an input to a number.
	Set(input int, number float64)
	// Capture sets an input to the value of an expression at the current instant, with the current inputs and all
	// relations from the signals.
	Capture(input int, c *expr.Code)
	// Keep sets an input to the value of a signal at the current instant, with the current inputs.
	Keep(input, signal int)
	// Copy sets an input to the value of another one.
	Copy(input, from int)
	// Truth evaluates a condition with the committed sides of the indicators and with the discrete signals: those as of
	// the last Refresh of a Sampler.
	Truth(c *expr.Code) bool
}

// Clocks are the time of a world, and its clocks: those of the leaves' procedures and the timers.
type Clocks interface {
	// T returns the time [s].
	T() float64
	// Start starts a clock for a length [s]: the value of an expression or, if that is nil, a number. It returns the time
	// at which the clock is over, for Over. If there is no such length, ok is false, and the result is the length.
	Start(clock int, c *expr.Code, number float64) (due float64, ok bool)
	// Stop stops a clock.
	Stop(clock int)
	// Over reports whether a clock is over that was started with this answer, +Inf if its procedure has no length.
	Over(clock int, due float64) bool
}

// Sampler is a World that evaluates its signals when it is told.
type Sampler interface {
	// Refresh evaluates all signals at the current instant: discrete ones may have been written.
	Refresh()
}

// Starter is a World that is told that the entry procedure of a leaf starts, before what follows it in the log.
type Starter interface {
	Starts(leaf int)
}

// Situated is a world that keeps more than its discrete inputs and sides within an instant: Situation saves the rest.
// Renewed reports whether an action of which this is not shown has assigned something new.
type Situated interface {
	Situation(c *snapshot.Codec)
	Renewed() bool
}

// Watcher is a World whose signals change by themselves: the executive tells it which changes matter.
type Watcher interface {
	// Watch sets what happens when the side of an indicator changes. At the start all are Kept.
	Watch(indicator int, a Attention)
	// Look brings the sides of indicators that rest up to date.
	Look(indicators []int)
	// Restart begins the next stretch of an integration as after a discontinuity.
	Restart()
}

// Attention is what a world does about the side of an indicator.
type Attention uint8

// The attentions.
const (
	Kept    Attention = iota // the side is brought up to date at each instant
	Watched                  // its changes are events
	Idle                     // the side is not kept; Truth and Look bring it up to date
)

// Numbers answers for a world that has a time and a signal vector.
type Numbers struct {
	of      Numeric
	signals []float64
	above   []bool
	now     moment   // the last instant at which a clock has started
	due     []moment // by clock: when it is over, as last started
}

// moment is a time t = from + ns/1e9 [s], rounded. Whole nanoseconds add up exactly, whatever the time from which they
// are counted: 0.7 s and 0.1 s are 0.8 s, as in a proof.
type moment struct {
	t, from float64
	ns      int64
}

// after returns the moment a length [s] after another one.
func (m moment) after(length float64) moment {
	ns := math.Round(length * 1e9)
	if ns/1e9 != length || ns+float64(m.ns) > 1<<53 {
		return moment{t: m.t + length, from: m.t + length}
	}
	m.ns += int64(ns)
	m.t = max(m.t, m.from+float64(m.ns)/1e9)
	return m
}

// Numeric is a world with a time and a signal vector.
type Numeric interface {
	T() float64
	// Signals evaluates the signal vector at the current instant, with the current inputs. The slice stays the same.
	Signals() []float64
	Discrete() (u []float64, above []bool)
	Set(input int, number float64)
}

// NewNumbers returns the answers of a world.
func NewNumbers(w Numeric) Numbers {
	_, above := w.Discrete()
	return Numbers{of: w, signals: w.Signals(), above: above}
}

// Capture implements Values.
func (n *Numbers) Capture(input int, c *expr.Code) { n.of.Set(input, c.Value(n.of.Signals(), nil)) }

// Keep implements Values.
func (n *Numbers) Keep(input, signal int) { n.of.Set(input, n.of.Signals()[signal]) }

// Copy implements Values.
func (n *Numbers) Copy(input, from int) {
	u, _ := n.of.Discrete()
	n.of.Set(input, u[from])
}

// Truth implements Values.
func (n *Numbers) Truth(c *expr.Code) bool { return c.Bool(n.signals, n.above) }

// Refresh implements Sampler.
func (n *Numbers) Refresh() { n.of.Signals() }

// present returns the present as a moment: that at which some clock is over, else one of its own.
func (n *Numbers) present() moment {
	if t := n.of.T(); n.now.t != t {
		n.now = moment{t: t, from: t}
		if i := slices.IndexFunc(n.due, func(m moment) bool { return m.t == t }); i >= 0 {
			n.now = n.due[i]
		}
	}
	return n.now
}

// Follow takes over the time of another world, which continues in this one.
func (n *Numbers) Follow(o *Numbers) { n.now, n.due = o.now, slices.Clone(o.due) }

// State saves or restores what is known of clocks.
func (n *Numbers) State(c *snapshot.Codec) {
	moment := func(c *snapshot.Codec, m *moment) { snapshot.Vars(c, &m.t, &m.from, &m.ns) }
	moment(c, &n.now)
	snapshot.List(c, &n.due, moment)
}

// Start implements Clocks. A length that is negative or NaN is none.
func (n *Numbers) Start(clock int, c *expr.Code, length float64) (due float64, ok bool) {
	if c != nil {
		length = c.Value(n.of.Signals(), nil)
	}
	if math.IsNaN(length) || length < 0 {
		return length, false
	}
	m := n.present().after(length)
	if more := clock + 1 - len(n.due); more > 0 {
		n.due = append(n.due, make([]moment, more)...)
	}
	n.due[clock] = m
	return m.t, true
}

// Stop implements Clocks.
func (n *Numbers) Stop(int) {}

// Over implements Clocks.
func (n *Numbers) Over(_ int, due float64) bool { return n.of.T() >= due }
