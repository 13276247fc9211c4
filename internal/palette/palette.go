// Package palette defines the colours of pictures, the same as in the report: colours of Okabe and Ito (2008), which
// colour-blind readers can distinguish, darkened where a thin line on white needs it.
package palette

import (
	"fmt"
	"strconv"
)

// The colours as #rrggbb: of statuses, and of other things in the order of the report's curves.
const (
	Muted   = "#666b73"
	Success = "#009e73"
	Failure = "#d55e00"
	Accept  = "#8a9099"
	Change  = "#a87400"
	Running = "#0072b2"
	Green   = "#00805d"
	Purple  = "#a3488a"
	Amber   = "#a87400"
	Blue    = "#0072b2"
)

// Tint returns a colour mixed with white; share is the colour's part, from 0 to 1. It panics if the colour is invalid.
func Tint(colour string, share float64) string {
	rgb, err := strconv.ParseUint(colour[1:], 16, 24)
	if err != nil {
		panic("palette: not a colour")
	}
	mix := func(shift int) int { return int(255.5 - share*float64(255-int(rgb>>shift&255))) }
	return fmt.Sprintf("#%02x%02x%02x", mix(16), mix(8), mix(0))
}
