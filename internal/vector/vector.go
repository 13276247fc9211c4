// Package vector compares lists of numbers, several at once where the processor can do that.
package vector

// Within reports whether every number of x is at least the one of low and at most the one of high in its place. One
// that is not a number is not. The three have the same length.
func Within(x, low, high []float64) bool {
	n := len(x)
	low, high = low[:n], high[:n]
	first := withinFirst(x, low, high)
	if first < 0 {
		return false
	}
	for i, v := range x[first:] {
		if !(low[first+i] <= v && v <= high[first+i]) {
			return false
		}
	}
	return true
}
