package bt

import "math/bits"

// worklist is a set of tasks from which the least or the greatest is taken: a tree of 64-bit words in which a bit tells
// that the word below it is not zero. Its cost grows with the logarithm to base 64 of the tree's size.
type worklist struct {
	levels [][]uint64 // levels[0] has a bit for each task, the last level is a single word
}

func newWorklist(n int) worklist {
	var w worklist
	for {
		n = (n + 63) / 64
		w.levels = append(w.levels, make([]uint64, n))
		if n <= 1 {
			return w
		}
	}
}

func (w *worklist) copyFrom(o *worklist) {
	for i, level := range o.levels {
		copy(w.levels[i], level)
	}
}

func (w *worklist) empty() bool { return w.levels[len(w.levels)-1][0] == 0 }

func (w *worklist) add(t Task) {
	i := uint32(t)
	for _, level := range w.levels {
		word := level[i/64]
		level[i/64] = word | 1<<(i%64)
		if word != 0 {
			return
		}
		i /= 64
	}
}

// popMin takes the least task out of a set that is not empty.
func (w *worklist) popMin() Task {
	i := uint32(0)
	for l := len(w.levels) - 1; l >= 0; l-- {
		i = i*64 + uint32(bits.TrailingZeros64(w.levels[l][i]))
	}
	w.remove(i)
	return Task(i)
}

// popMax takes the greatest task out of a set that is not empty.
func (w *worklist) popMax() Task {
	i := uint32(0)
	for l := len(w.levels) - 1; l >= 0; l-- {
		i = i*64 + uint32(63-bits.LeadingZeros64(w.levels[l][i]))
	}
	w.remove(i)
	return Task(i)
}

func (w *worklist) remove(i uint32) {
	for _, level := range w.levels {
		word := level[i/64] &^ (1 << (i % 64))
		level[i/64] = word
		if word != 0 {
			return
		}
		i /= 64
	}
}
