//go:build !amd64

package vector

// withinFirst compares no numbers.
func withinFirst(x, low, high []float64) int { return 0 }
