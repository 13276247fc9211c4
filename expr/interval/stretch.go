package interval

import "github.com/canopy-uav/canopy/expr"

// Stretch is a stretch of time over which signals that compiled code reads and gives are enclosed. Each is enclosed
// when it is first asked for. It is for one goroutine.
type Stretch struct {
	source func(signal int) (code *expr.Code, known Jet)
	above  []bool
	jets   []Jet
	last   []int // by signal: the number of the stretch in which it was enclosed
	number int
}

// NewStretch returns a stretch for a number of signals. The source of a signal is the code whose value it is or, if
// that is nil, a jet.
func NewStretch(signals int, source func(signal int) (code *expr.Code, known Jet)) *Stretch {
	return &Stretch{source: source, jets: make([]Jet, signals), last: make([]int, signals)}
}

// Begin begins another stretch, with the sides that are frozen during it. The last signals are the memory of cells.
func (s *Stretch) Begin(above []bool, memory []float64) {
	s.above = above
	s.number++
	for i, v := range memory {
		at := len(s.jets) - len(memory) + i
		s.jets[at], s.last[at] = Steady(v), s.number
	}
}

// Signal returns the jet of a signal.
func (s *Stretch) Signal(i int) Jet {
	if s.last[i] != s.number {
		s.last[i] = s.number
		code, jet := s.source(i)
		if code != nil {
			jet = s.Value(code)
		}
		s.jets[i] = jet
	}
	return s.jets[i]
}

// Value returns the jet of the value of code that follows the frozen sides.
func (s *Stretch) Value(c *expr.Code) Jet {
	for _, i := range c.Reads() {
		s.Signal(i)
	}
	return Enclose(c, s.jets, s.above)
}
