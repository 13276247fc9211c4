// Package region samples how a plan over a vehicle goes on from the initial states in a box, and summarises it as the
// regions, bounds and properties of Colledanchise and Ögren, "How Behavior Trees Generalize the Teleo-Reactive Paradigm
// and And-Or-Trees", 2016, section V and appendix.
//
// A [Question] is asked at single initial states, one simulation each. A [Grid] asks it over a box and refines where
// the answers change. All of it is evidence by sampling, never a proof.
package region

import "canopy/document/mission"

// Class is one of the few answers that a question has. Zero is: not asked.
type Class uint8

// The answers of [Trial]: the regions of Definition 7, the Running region divided by what becomes of it.
const (
	Success   Class = 1 + iota // S: the task returns success at once
	Failure                    // F: the task returns failure at once
	Attracted                  // R': running, and then success without failure before it
	Failing                    // running, and then failure
	Late                       // running until the time limit
	Broken                     // the run failed, or the model describes nothing where it went
)

// The answers of [Regression]: what the execution of the action of the first rule that holds leads to.
const (
	Goal     Class = 1 + iota // the first rule holds
	Gap                       // no rule holds
	Strongly                  // to an earlier rule's condition, without violating its own (Definition 4)
	Weakly                    // to an earlier rule's condition, after violating its own (Definition 1 only)
	Astray                    // to no earlier rule's condition until the time limit, or the action ended before
	Lost                      // the run failed, or the model describes nothing where it went
)

// Sample is the answer at one initial state.
type Sample struct {
	Class Class
	Time  float64 // simulated time at which what the class says happened [s]
	Text  string  // why, if the run failed
}

// Question is what is asked at every initial state. Its answer depends on nothing else, and it may be asked by several
// goroutines at once.
type Question interface {
	// Name says what is asked about.
	Name() string
	// Classes returns the texts of the answers from the first.
	Classes() []string
	// Sample answers for a value of each of the two states.
	Sample(x, y float64) Sample
}

// Space is where questions are asked: two of the vehicle's states span it, all others start as the mission says or at
// fixed values.
type Space struct {
	Axes  [2]Axis
	Fixed []Fixed
	Until float64 // simulated time after which a run is given up [s]
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
