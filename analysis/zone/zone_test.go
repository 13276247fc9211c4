package zone

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/canopy-uav/canopy/snapshot"
)

// history is the same as a zone, written in the times of its instants: each Pass is an instant, a clock reads the time
// since its start. A bound is one on the difference of two of these times. It is fulfilled by some times if no cycle
// of bounds has a negative sum (R. Bellman, On a Routing Problem, 1958).
type history struct {
	now    int
	start  map[int]int
	bounds []difference
}

// difference: time i - time j is at most this many of the parts of a nanosecond. A strict bound is one part less, and
// no cycle has as many bounds.
type difference struct{ i, j, parts int }

const parts = 1 << 12

func (h *history) restrict(clock int, is Relation, t float64) {
	from, p := h.start[clock], int(t*parts)
	switch is {
	case AtLeast:
		h.bounds = append(h.bounds, difference{from, h.now, -p})
	case After:
		h.bounds = append(h.bounds, difference{from, h.now, -p - 1})
	case AtMost:
		h.bounds = append(h.bounds, difference{h.now, from, p})
	case Before:
		h.bounds = append(h.bounds, difference{h.now, from, p - 1})
	}
}

func (h *history) pass() {
	h.now++
	h.bounds = append(h.bounds, difference{h.now - 1, h.now, -1})
}

func (h *history) possible() bool {
	at := make([]int, h.now+1)
	for range len(at) + 1 {
		changed := false
		for _, b := range h.bounds {
			if at[b.i] > at[b.j]+b.parts {
				at[b.i], changed = at[b.j]+b.parts, true
			}
		}
		if !changed {
			return true
		}
	}
	return false
}

// contains reports whether the zone has these readings.
func (z *Zone) contains(at map[int]float64) bool {
	n := len(z.clocks) + 1
	reading := []float64{0}
	for _, c := range z.clocks {
		reading = append(reading, at[int(c)])
	}
	for i, x := range reading {
		for j, y := range reading {
			if n == 1 || z.d[i*n+j] == unbounded {
				continue
			}
			t := float64(z.d[i*n+j] >> 1)
			if x-y > t || x-y == t && z.d[i*n+j]&1 == 0 {
				return false
			}
		}
	}
	return true
}

// TestZonesAreTheirHistories compares random sequences of operations with systems of bounds on their instants: the same
// relations are possible after each, and the same points, on a dense grid, are in the zone. The same relations, with
// times up to the maximum, are possible for a zone that is widened now and then; its bounds are finitely many.
func TestZonesAreTheirHistories(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 1))
	refused, inside, outside := 0, 0, 0
	for range 3000 {
		var z, wide Zone
		h := history{start: map[int]int{}}
		for range 30 {
			switch r.IntN(6) {
			case 0, 1:
				c := r.IntN(4)
				z.Start(c)
				wide.Start(c)
				h.start[c] = h.now
			case 2:
				c := r.IntN(4)
				z.Stop(c)
				wide.Stop(c)
				delete(h.start, c)
			case 3:
				z.Pass()
				wide.Pass()
				h.pass()
			default:
				if len(z.clocks) == 0 {
					continue
				}
				c, is, limit := int(z.clocks[r.IntN(len(z.clocks))]), Relation(r.IntN(4)), r.IntN(most+1)
				tried := h
				tried.bounds = append([]difference{}, h.bounds...)
				tried.restrict(c, is, float64(limit))
				allowed := z.Allows(c, is, Time(limit))
				if allowed != tried.possible() || allowed != z.Restrict(c, is, Time(limit)) ||
					allowed != wide.Restrict(c, is, Time(limit)) {
					t.Fatalf("relation %d of clock %d with %d: allowed %v", is, c, limit, allowed)
				}
				if !allowed {
					refused++
					continue
				}
				h = tried
			}
			checkClosed(t, &z)
			if r.IntN(2) == 0 {
				checkWidened(t, &wide)
			}
			if checkClosed(t, &wide); !wide.Includes(&z) {
				t.Fatal("a widened zone has lost readings")
			}
			for range 3 {
				tried, at := h, map[int]float64{}
				tried.bounds = append([]difference{}, h.bounds...)
				for c := range h.start {
					at[c] = float64(r.IntN(28)) / 4
					tried.restrict(c, AtLeast, at[c])
					tried.restrict(c, AtMost, at[c])
				}
				is := z.contains(at)
				if is != tried.possible() {
					t.Fatalf("%v in the zone: %v", at, is)
				}
				if is {
					inside++
				} else {
					outside++
				}
			}
		}
	}
	if refused < 1000 || inside < 1000 || outside < 1000 {
		t.Errorf("%d relations were refused, %d points inside, %d outside: too few", refused, inside, outside)
	}
}

// checkClosed reports bounds that follow from others but are not stated, and keys that differ for equal zones.
func checkClosed(t *testing.T, z *Zone) {
	t.Helper()
	var c Zone
	c.CopyFrom(z)
	if len(c.d) > 0 {
		c.close()
	}
	var loaded Zone
	if key := snapshot.Save(nil, z); !bytes.Equal(key, snapshot.Save(nil, &c)) || !c.Includes(z) || !z.Includes(&c) ||
		snapshot.Load(key, &loaded) != nil || !loaded.Includes(z) || !z.Includes(&loaded) {
		t.Fatalf("not closed: %v", z.d)
	}
}

// most is the greatest time with which clocks are compared.
const most = 5

// checkWidened widens a zone, and reports bounds that are not among finitely many.
func checkWidened(t *testing.T, z *Zone) {
	z.Widen(func(int) Time { return most })
	for _, b := range z.d {
		if n := bound(len(z.clocks)); b != unbounded && (b > 2*most*n+1 || b < -2*most*n) {
			t.Fatalf("a bound of %d after widening up to %d", b>>1, most)
		}
	}
}

// TestWidenedZones: a zone is in its widened one, which keeps what relations up to the maximum distinguish.
func TestWidenedZones(t *testing.T) {
	var z Zone
	z.Start(7)
	for range 10 {
		z.Start(2)
		z.Pass()
		z.Restrict(2, AtLeast, 1)
		z.Restrict(2, AtMost, 1)
	}
	var wide Zone
	wide.CopyFrom(&z)
	wide.Widen(func(int) Time { return most })
	if !wide.Includes(&z) || z.Includes(&wide) {
		t.Error("a widened zone must include the zone, and here more")
	}
	if wide.Allows(7, AtMost, most) {
		t.Error("clock 7 is above the maximum")
	}
	z.Stop(7)
	z.Stop(7)
	z.Stop(2)
	if len(z.Clocks()) != 0 || z.Runs(7) || !z.Includes(&Zone{}) {
		t.Error("no clock runs")
	}
}

// TestSeconds: whole numbers of nanoseconds are exact, others have neighbours.
func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		s            float64
		below, above Time
	}{
		{0, 0, 0}, {0.1, 100_000_000, 100_000_000}, {600, 600_000_000_000, 600_000_000_000}, {1e-10, 0, 1},
		{1.5e-9, 1, 2}, {1e12, Longest, Forever}, {math.Inf(1), Longest, Forever},
	} {
		if below, above := Seconds(c.s); below != c.below || above != c.above {
			t.Errorf("%g s: %d, %d", c.s, below, above)
		}
	}
}

// TestMisuse: impossible calls panic.
func TestMisuse(t *testing.T) {
	for name, f := range map[string]func(z *Zone){
		"clock":    func(z *Zone) { z.Restrict(1, AtMost, 3) },
		"negative": func(z *Zone) { z.Restrict(0, AtMost, -3) },
		"relation": func(z *Zone) { z.Restrict(0, 9, 3) },
		"seconds":  func(*Zone) { Seconds(math.NaN()) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error(name, "does not panic")
				}
			}()
			var z Zone
			z.Start(0)
			f(&z)
		}()
	}
}

func ExampleZone() {
	var z Zone
	z.Start(0) // a procedure of 3 ns
	z.Start(1) // a timer of 5 ns
	z.Pass()
	fmt.Println("the timer first:", z.Restrict(1, AtLeast, 5) && z.Restrict(0, Before, 3))
	// Output: the timer first: false
}
