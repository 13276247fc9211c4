package vector

// withinFirst compares the first numbers and returns how many; -1 if one is not within its bounds.
func withinFirst(x, low, high []float64) int {
	n := len(x) &^ 7
	switch {
	case n == 0 || !AVX2:
		return 0
	case !withinAVX2(&x[0], &low[0], &high[0], n):
		return -1
	}
	return n
}

// withinAVX2 is Within for n numbers, a multiple of eight.
//
//go:noescape
func withinAVX2(x, low, high *float64, n int) bool
