// Package contract lists what the vehicles of a class have in common: the signals that a plan may read and the slots
// that it may write, with units, types and texts. A simulated vehicle and an autopilot of one class offer the same
// lists, so that one plan runs on either.
package contract

import "slices"

// Contract is the interface of a class of vehicles. It never changes.
type Contract struct {
	Name, Text string
	Signals    []Signal
	Slots      []Slot
	Payload    int    // the place of the first slot of the payload; all behind it are of the payload, too
	Library    string // the actions of the class: a plan document with models and trees
}

// Types of signals and slots, as in missions.
const (
	Real        = "real"
	Boolean     = "boolean"
	Enumeration = "enumeration"
)

// Signal is a value that a vehicle of the class has at any time.
type Signal struct {
	Name   string
	Unit   string // coherent SI; "1" for pure numbers and for discrete types
	Text   string
	Type   string
	Values []string // of an enumeration; the value of the signal is the index
	Source Source
}

// Slot is a part of the state that a plan wants of the vehicle. It keeps its value until a task writes another one.
// While it has its default, nothing is commanded.
type Slot struct {
	Name    string
	Unit    string
	Text    string
	Type    string
	Values  []string // of an enumeration; the value of the slot is the index
	Default float64
	Min     float64 // least value that can be commanded
	Max     float64 // largest one
}

// Source is a part of the telemetry. Signals of one source become unknown together.
type Source uint8

// The sources. What comes from the computer that flies the plan is of source Clock: it is always known.
const (
	Clock Source = iota
	Position
	Attitude
	Air
	Battery
	Wind
	GPS
	Mode
	Landed
	Health
	Fence
	Home
	Servo
	Relay
	Gripper
	Camera
	Mount
	sources
)

var sourceNames = [sources]string{"clock", "position", "attitude", "air", "battery", "wind", "gps", "mode", "landed",
	"health", "fence", "home", "servo", "relay", "gripper", "camera", "mount"}

// String returns the name of the source, one word.
func (s Source) String() string { return sourceNames[s] }

// Signal returns the place of a signal among the signals of the contract; -1: there is none.
func (c *Contract) Signal(name string) int {
	return slices.IndexFunc(c.Signals, func(s Signal) bool { return s.Name == name })
}

// Slot returns the place of a slot among the slots of the contract; -1: there is none.
func (c *Contract) Slot(name string) int {
	return slices.IndexFunc(c.Slots, func(s Slot) bool { return s.Name == name })
}

// Contracts returns all contracts.
func Contracts() []*Contract { return []*Contract{Plane, Copter} }
