package simulated

import (
	"errors"
	"strings"
	"testing"

	"canopy/executive"
	"canopy/internal/cart"
)

// TestUnsetEntriesAreNamed: an action that writes the value of an entry that is not written, or ends by it, stops the
// run with an error that names both.
func TestUnsetEntriesAreNamed(t *testing.T) {
	for _, does := range []string{`write="v := u"`, `done="elapsed gt u"`, `write="v := 1" failed="x gt u"`} {
		m, diags := cart.Read(`<Sequence><Script code="u := 1"/><UnsetBlackboard key="u"/><Action name="a" `+does+`/></Sequence>`, "")
		if m == nil {
			t.Fatal(diags)
		}
		_, _, err := fly(t, m)
		if !errors.Is(err, executive.ErrUnset) || !strings.Contains(err.Error(), "a reads u, to which nothing has been written") {
			t.Errorf("%s: %v", does, err)
		}
	}
}
