package yamldoc

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
)

// Values come as they are written, and each mistake at its place: line, column counted in characters, and the marked text.
func TestReader(t *testing.T) {
	const text = `größe: "12 [m]"
list: [1, two, 'ü > x +']
on: perhaps
gone: 7
again: {a: 1, a: 2}
speed: 3 [km]
alias: &size 5
same: *size
`
	r := NewReader(&diag.Source{Name: "test.yaml", Text: text})
	root := r.Parse("")
	if root == nil {
		t.Fatal(r.Diags)
	}
	metre, _ := expr.ParseUnit("m")
	second, _ := expr.ParseUnit("s")
	var numbers []float64
	r.Fields(root, "the test", Keys{
		"größe": func(n *Node) { numbers = append(numbers, r.Number(n, metre, "größe")) },
		"list": func(n *Node) {
			r.Sequence(n, "list", func(n *Node) {
				if text[n.Offset-1] == '\'' {
					r.Expression(n, expr.Variable{Type: expr.Boolean, Unit: expr.AnyUnit}, nil)
				} else {
					numbers = append(numbers, r.Number(n, metre, "an entry"))
				}
			})
		},
		"on":    func(n *Node) { r.Boolean(n, "on") },
		"again": func(n *Node) { r.Mapping(n, "again", func(_, _ *Node) {}) },
		"speed": func(n *Node) { r.Number(n, second, "speed") },
		"alias": func(n *Node) { r.Text(n, "alias") },
		"same":  func(n *Node) { numbers = append(numbers, r.Number(n, metre, "same")) },
	})
	if want := []float64{12, 1, 0, 5}; !slices.Equal(numbers, want) {
		t.Errorf("numbers %v, want %v", numbers, want)
	}
	var got []string
	for _, d := range r.Diags.Sorted() {
		line, column := d.Position()
		got = append(got, fmt.Sprintf("%d:%d %s %q", line, column, d.Code, text[d.Offset:d.Offset+d.Length]))
	}
	want := []string{
		`2:11 not-a-number "two"`,
		`2:24 syntax ""`,
		`3:5 wrong-type "perhaps"`,
		`4:1 unknown-key "gone"`,
		`5:15 duplicate-name "a"`,
		`6:8 unit-mismatch "3 [km]"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("mistakes\n%q, want\n%q", got, want)
	}
}

// The places of a hundred thousand values on one line are counted once: from the start of the line for each, that would
// take minutes.
func TestLongLine(t *testing.T) {
	text := "first: &a ü\nlist: [" + strings.Repeat("ü, ", 100_000) + "ü, *a]\nlast: [*a, 7]\n"
	r := NewReader(&diag.Source{Name: "test.yaml", Text: text})
	root := r.Parse("")
	if root == nil {
		t.Fatal(r.Diags)
	}
	list := root.Entry("list").Items
	for i, n := range list[:100_001] {
		if want := strings.Index(text, "[") + 1 + i*len("ü, "); n.Offset != want {
			t.Fatalf("value %d is at %d, want %d", i, n.Offset, want)
		}
	}
	if n := root.Entry("last").Items[1]; text[n.Offset] != '7' {
		t.Errorf("the last value is at %d", n.Offset)
	}
}

// A file that is not a document is reported once and has no root.
func TestNoDocument(t *testing.T) {
	for text, want := range map[string]string{
		"":                "1:1 empty-file",
		"# comment\n":     "1:1 empty-file",
		"a: 1\nb: c: d\n": "2:1 yaml-syntax",
		"\n<root/>":       "1:1 yaml-syntax",
	} {
		r := NewReader(&diag.Source{Name: "test.yaml", Text: text})
		if root := r.Parse("write something"); root != nil || len(r.Diags) != 1 {
			t.Fatalf("%q: root %v, %v", text, root, r.Diags)
		}
		line, column := r.Diags[0].Position()
		if got := fmt.Sprintf("%d:%d %s", line, column, r.Diags[0].Code); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// A time is a number of seconds, a literal with its unit, a span or a clock time; another quantity is no span.
func TestDurations(t *testing.T) {
	const text = "[90, 90 q, 90s, 12h30m, '2 [d]', 1:00, 30m12h, soon]"
	r := NewReader(&diag.Source{Name: "test.yaml", Text: text})
	metre, _ := expr.ParseUnit("m")
	var got []float64
	r.Sequence(r.Parse(""), "times", func(n *Node) { got = append(got, r.Number(n, expr.Second, "a time")) })
	r.Number(&Node{Value: "3m", Line: 1}, metre, "a length")
	if want := []float64{90, 0, 90, 45000, 172800, 3600, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if len(r.Diags) != 4 {
		t.Error(r.Diags)
	}
	for _, d := range r.Diags {
		if d.Code != "not-a-number" {
			t.Error(d)
		}
	}
}
