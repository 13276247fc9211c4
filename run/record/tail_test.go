package record

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A log in progress with its tail has all that was recorded, at any time; with a tail of another time, no more and
// nothing else.
func TestTailHasTheRest(t *testing.T) {
	h := small()
	rapid.Check(t, func(random *rapid.T) {
		var f files
		w, err := NewWriter(h, f.destinations())
		must(t, err)
		var now Tail
		n, old := 0, []byte(nil)
		for range rapid.IntRange(1, 8).Draw(random, "times") {
			for range rapid.IntRange(0, 12).Draw(random, "records") {
				must(t, w.Sample(float64(n), []float64{float64(n), third, 0}))
				must(t, w.Event(Event{T: float64(n), Kind: "test", Text: strings.Repeat("x", 999*(n%20))}))
				n++
			}
			fresh := now.Follow(w)
			if again := now.Follow(w); again || fresh && len(w.mcap.pending()) == 0 {
				random.Fatalf("fresh: %v, again: %v", fresh, again)
			}
			size := int64(f.mcap.Len())
			for _, tail := range [][]byte{now.Bytes(), old, nil, {1}} {
				log, err := read(Joined(bytes.NewReader(f.mcap.Bytes()), size, tail))
				if err != nil || log.Damage != nil || len(log.Events) > n {
					random.Fatalf("%v, %v, %d of %d", err, log.Damage, len(log.Events), n)
				}
				if bytes.Equal(tail, now.Bytes()) && (len(log.T) != n || len(log.Events) != n) {
					random.Fatalf("%d samples and %d events of %d", len(log.T), len(log.Events), n)
				}
				for i, v := range log.Signal("h") {
					if v != float64(i) {
						random.Fatalf("sample %d is %g", i, v)
					}
				}
			}
			old = now.Bytes()
		}
	})
}
