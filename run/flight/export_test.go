package flight

import "math"

// Age returns how old the value of a signal is [s], and whether it is known.
func (f *Flight) Age(signal int) (age float64, known bool) {
	w := f.world()
	tr := &w.tracks[signal]
	return w.t - tr.stamp, tr.known && !math.IsInf(tr.stamp, 0)
}
