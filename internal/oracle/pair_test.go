package oracle

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"testing"

	"canopy/analysis/verify"
)

// unwritable are postconditions whose first child is no script: attributes of plans do not give any. One such pair in
// 100, a Post of an action and a condition in either order, is found to differ although no flight shows it.
var unwritable = regexp.MustCompile(`<(Post|OnSuccess|OnFailure)( [^>]*)?>\s*<[^S]`)

// TestComparisonsAgreeWithTheWitness: two missions are found to do the same exactly if all flights show that.
func TestComparisonsAgreeWithTheWitness(t *testing.T) {
	for n, class := range classes {
		t.Run(class.name, func(t *testing.T) {
			counts, wrong, smallest := map[string]int{}, 0, ""
			cases, limit := effort(400, 300)
			for seed := range uint64(cases) {
				old := Random(rand.New(rand.NewPCG(seed, uint64(41+100*n))), class.shape)
				k := &maker{Rand: rand.New(rand.NewPCG(seed, uint64(43+100*n))), Shape: class.shape}
				k.m = Random(rand.New(rand.NewPCG(seed, uint64(41+100*n))), class.shape)
				if !k.variant() || unwritable.MatchString(old.String()) || unwritable.MatchString(k.m.String()) {
					continue
				}
				for _, m := range []*Mission{old, k.m} {
					m.Always, m.Facts, m.Goal, m.Written = nil, nil, nil, nil // statements may name what is gone, and facts do not matter
				}
				same, ok := together(old, k.m, limit)
				a, _ := old.Read()
				b, diags := k.m.Read()
				if b == nil {
					t.Fatalf("%v\n%s", diags, k.m)
				}
				c := verify.ComparePlans(a.Subject(), b.Subject(), func() bool { return true })
				counts[fmt.Sprintf("%s, same %t, decided %t", c.Verdict, same, ok)]++
				switch {
				case c.Verdict == verify.Undecided || len(c.Mismatches) > 0 && c.Steps == nil:
				case same && !ok: // nothing is known
				case c.Verdict == verify.Proved != same:
					wrong++
					text := fmt.Sprintf("%s, in flights the same: %t %v\n%s\n%s", c.Text, same, c.Steps, old, k.m)
					if smallest == "" || len(text) < len(smallest) {
						smallest = text
					}
				}
			}
			t.Log(counts)
			if wrong > 0 {
				t.Errorf("%d of %d are wrong, the smallest: %s", wrong, cases, smallest)
			}
		})
	}
}
