package bt

import (
	"math/bits"
	"slices"

	"github.com/canopy-uav/canopy/snapshot"
)

// none means no task.
const none Task = -1

// worklist is a set of tasks from which the first or the last is taken. One task, often the only one, is kept aside.
// The others are bits in a tree of 64-bit words, where a bit is set if the word below it is not zero. The cost per task
// grows with the base-64 logarithm of the tree's size.
//
// A task may be both aside and among the others. It is then taken twice; the second visit finds nothing to do.
type worklist struct {
	aside  Task
	top    uint64
	levels [][]uint64 // levels[0] has a bit for each task; none if top has
}

func newWorklist(n int) worklist {
	w := worklist{aside: none}
	for n > 64 {
		n = (n + 63) / 64
		w.levels = append(w.levels, make([]uint64, n))
	}
	return w
}

func (w *worklist) copyFrom(o *worklist) {
	w.aside, w.top = o.aside, o.top
	for i, level := range o.levels {
		copy(w.levels[i], level)
	}
}

// state passes the set, a subset of n tasks, to the codec.
func (w *worklist) state(c *snapshot.Codec, n int) {
	snapshot.Within(c, &w.aside, none, Task(n-1))
	snapshot.Int(c, &w.top)
	for _, level := range w.levels {
		snapshot.Each(c, level, snapshot.Int)
	}
	if c.Loading() && !w.sound(n) {
		c.Fail(snapshot.ErrMismatch)
	}
}

// sound reports whether all bits belong to n tasks and each bit of a higher level matches the word below it.
func (w *worklist) sound(n int) bool {
	if len(w.levels) == 0 {
		return w.top>>n == 0
	}
	above := append(slices.Clone(w.levels), []uint64{w.top})
	for l, words := range above {
		if rest := n % 64; rest != 0 && words[len(words)-1]>>rest != 0 {
			return false
		}
		for i, word := range words {
			if l+1 < len(above) && (word != 0) != (above[l+1][i/64]>>(i%64)&1 != 0) {
				return false
			}
		}
		n = len(words)
	}
	return true
}

func (w *worklist) empty() bool { return w.aside < 0 && w.top == 0 }

func (w *worklist) clear() {
	w.aside, w.top = none, 0
	for _, level := range w.levels {
		clear(level)
	}
}

func (w *worklist) add(t Task) {
	if w.aside < 0 {
		w.aside = t
	} else if w.aside != t {
		w.addBit(t)
	}
}

func (w *worklist) addBit(t Task) {
	i := uint(t)
	for _, level := range w.levels {
		word := level[i/64]
		level[i/64] = word | 1<<(i%64)
		if word != 0 {
			return
		}
		i /= 64
	}
	w.top |= 1 << i
}

// popMin takes the first task, none if the set is empty.
func (w *worklist) popMin() Task {
	t := w.aside
	if w.top != 0 {
		return w.popMinBit()
	}
	w.aside = none
	return t
}

// popMax takes the last task, none if the set is empty.
func (w *worklist) popMax() Task {
	t := w.aside
	if w.top != 0 {
		return w.popMaxBit()
	}
	w.aside = none
	return t
}

func (w *worklist) popMinBit() Task {
	i := uint(bits.TrailingZeros64(w.top))
	for l := len(w.levels) - 1; l >= 0; l-- {
		i = i*64 + uint(bits.TrailingZeros64(w.levels[l][i]))
	}
	if t := w.aside; t >= 0 && t < Task(i) {
		w.aside = none
		return t
	}
	w.removeBit(i)
	return Task(i)
}

func (w *worklist) popMaxBit() Task {
	i := uint(63 - bits.LeadingZeros64(w.top))
	for l := len(w.levels) - 1; l >= 0; l-- {
		i = i*64 + uint(63-bits.LeadingZeros64(w.levels[l][i]))
	}
	if t := w.aside; t > Task(i) {
		w.aside = none
		return t
	}
	w.removeBit(i)
	return Task(i)
}

func (w *worklist) removeBit(i uint) {
	for _, level := range w.levels {
		word := level[i/64] &^ (1 << (i % 64))
		level[i/64] = word
		if word != 0 {
			return
		}
		i /= 64
	}
	w.top &^= 1 << i
}
