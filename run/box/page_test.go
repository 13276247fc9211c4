package box

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/foxglove/mcap/go/mcap"
)

// TestPage: docs/blackbox.md describes every kind of record, every channel, the first bytes and the limit.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/blackbox.md")
	must(t, err)
	page := string(text)
	for k := range 256 {
		name := Kind(k).String()
		if has := strings.Contains(page, fmt.Sprintf("| %d | %s |", k, name)); name != "" && !has {
			t.Errorf("the page has no row of kind %d, %s", k, name)
		}
	}
	if !strings.Contains(page, fmt.Sprintf("`% x`", Magic)) || DefaultLimit != 1<<30 {
		t.Error("the page has other first bytes, or another limit")
	}
	file, _ := climb(t)
	r, err := mcap.NewReader(bytes.NewReader(file))
	must(t, err)
	info, err := r.Info()
	must(t, err)
	for _, c := range info.Channels {
		switch c.Topic {
		case "/run", "/signals", "/status", "/events", "/summary":
			continue
		}
		if !strings.Contains(page, "| `"+c.Topic+"` |") {
			t.Errorf("the page has no row of the channel %s", c.Topic)
		}
		name := info.Schemas[c.SchemaID].Name
		if strings.HasPrefix(name, "foxglove.") && !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page does not name the schema %s", name)
		}
	}
}
