// Package region samples the runs of a plan on a vehicle from the initial states in a box, and summarises them as the
// regions, bounds and properties of Colledanchise and Ögren, "How Behavior Trees Generalize the Teleo-Reactive Paradigm
// and And-Or-Trees", 2016, section V and appendix.
//
// A [Question] is answered at single initial states, by one simulation each. A [Grid] samples it over a box and refines
// where the answers change. The result is evidence from samples, never a proof.
package region

import "github.com/canopy-uav/canopy/document/mission"

// Class is an answer to a question; zero if there is none yet.
type Class uint8

// The answers of [Trial]: the regions of Definition 7, with the Running region divided by the later result.
const (
	Success   Class = 1 + iota // S: the task returns success at once
	Failure                    // F: the task returns failure at once
	Attracted                  // R': running, and then success without failure before it
	Failing                    // running, and then failure
	Late                       // running until the time limit
	Broken                     // the run failed or left the range of the model
	Passed                     // the task is skipped, at once or later: neither success nor failure
)

// The answers of [Regression]: where the action of the first rule that holds leads.
const (
	Goal     Class = 1 + iota // the first rule holds
	Gap                       // no rule holds
	Strongly                  // to an earlier rule's condition, without violating its own (Definition 4)
	Weakly                    // to an earlier rule's condition, after violating its own (Definition 1 only)
	Astray                    // to no earlier rule's condition until the time limit, or the action ended before
	Lost                      // the run failed or left the range of the model
)

// Sample is the answer at one initial state.
type Sample struct {
	Class Class
	Time  float64 // simulated time of the event that decided the class [s]
	Text  string  // if the run failed: the reason
}

// Question is answered at every initial state. The answer depends on nothing else. Several goroutines may sample it at
// once.
type Question interface {
	// Name returns the name of the task or rules.
	Name() string
	// Classes returns the texts of the answers from the first.
	Classes() []string
	// Sample returns the answer for the values of the two states.
	Sample(x, y float64) Sample
}

// Space is the space of initial states: two of the vehicle's states span it, all others start at the mission's or at
// fixed values.
type Space struct {
	Axes  [2]Axis
	Fixed []Fixed
	Until float64 // simulated time at which each run ends [s]
}

// Axis is a range of initial values of a state.
type Axis struct {
	State       int // of the vehicle
	Name, Unit  string
	Least, Most float64
}

// holds reports whether a value lies in the range.
func (a Axis) holds(v float64) bool { return a.Least <= v && v <= a.Most }

// Fixed is a state that starts at one value.
type Fixed struct {
	State int
	Value float64
}

// at returns the value at i of n equal steps.
func (a Axis) at(i, n int) float64 {
	if i == n {
		return a.Most
	}
	return a.Least + (a.Most-a.Least)*float64(i)/float64(n)
}

// start returns the mission from an initial state.
func (s *Space) start(m *mission.Mission, x, y float64, record []string, interval float64) *mission.Mission {
	states, values := []int{s.Axes[0].State, s.Axes[1].State}, []float64{x, y}
	for _, f := range s.Fixed {
		states, values = append(states, f.State), append(values, f.Value)
	}
	return m.From(states, values, record, interval)
}
