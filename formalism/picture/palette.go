package picture

import (
	"fmt"
	"strconv"
)

// The colours as #rrggbb, the same as in the report: colours of Okabe and Ito (2008), which colour-blind readers can
// distinguish, darkened where a thin line on white needs it.
const (
	muted  = "#666b73"
	line   = "#8a9099"
	green  = "#00805d"
	purple = "#a3488a"
	amber  = "#a87400"
	blue   = "#0072b2"
)

// tint returns a colour mixed with white; share is the colour's part, from 0 to 1. It panics if the colour is invalid.
func tint(colour string, share float64) string {
	rgb, err := strconv.ParseUint(colour[1:], 16, 24)
	if err != nil {
		panic("picture: not a colour")
	}
	mix := func(shift int) int { return int(255.5 - share*float64(255-int(rgb>>shift&255))) }
	return fmt.Sprintf("#%02x%02x%02x", mix(16), mix(8), mix(0))
}
