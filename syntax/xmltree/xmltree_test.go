package xmltree

import "testing"

// TestComposedOutOfOrder: a mistake over parts that stand in another order than in the composed text has a length.
func TestComposedOutOfOrder(t *testing.T) {
	first, second := &Attribute{Value: "a", Raw: Span{10, 11}}, &Attribute{Value: "b", Raw: Span{2, 3}}
	c := Compose("on", "(%) > (%)", first, second)
	if at, n := c.Inside(0, len(c.Value)); at < 2 || n < 0 || at+n > 11 {
		t.Errorf("[%d, +%d) is outside of both parts", at, n)
	}
}
