package xmltree

import (
	"fmt"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"

	"pgregory.net/rapid"
)

func whole(t testing.TB, text string) *Document {
	t.Helper()
	d, list := Parse(&diag.Source{Name: "x.xml", Text: text})
	if !d.Whole {
		t.Fatalf("%v\n%s", list, text)
	}
	return d
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nested", "<a><b>\n<c  x='1'\ty=\"&lt;\" ></c></b></a>", "<a><b>\n  <c x='1' y=\"&lt;\"/>\n</b></a>\n"},
		{"lines", "<?xml version='1.0'?><a>\n\n\n<b/><!-- 1 -->\n\n\n\n <!-- 2\n   3 --><c\n   x='1' y='2'\n/>\n\n</a>\n\n",
			"<?xml version='1.0'?>\n<a>\n\n  <b/> <!-- 1 -->\n\n  <!-- 2\n   3 -->\n  <c\n      x='1' y='2'/>\n\n</a>\n"},
		{"attributes", "<a><b x='1'\ny='2' z='3'\n  u='4'/></a>", "<a><b x='1'\n   y='2' z='3'\n   u='4'/></a>\n"},
		{"one line", "<a> <b/> <c/> </a>", "<a><b/><c/></a>\n"},
		{"text", "<a>\n   <p>one\n two <b/></p>\n<p> </p>\n</a>", "<a>\n  <p>one\n two <b/></p>\n  <p/>\n</a>\n"},
		{"data", "<a>\n<![CDATA[ x ]]></a>", "<a>\n<![CDATA[ x ]]></a>\n"},
		{"line ends", "\ufeff<a>\r\n<b/>\r\n</a>", "\ufeff<a>\r\n  <b/>\r\n</a>\r\n"},
	} {
		got := whole(t, c.text).Canonical()
		if got != c.want {
			t.Errorf("%s:\n%q, want\n%q", c.name, got, c.want)
		}
		if again := whole(t, got).Canonical(); again != got {
			t.Errorf("%s: then\n%q", c.name, again)
		}
	}
}

// essence describes what a document says: all but blanks between its parts.
func essence(d *Document) string {
	var b strings.Builder
	var visit func(nodes []Node)
	visit = func(nodes []Node) {
		for _, n := range nodes {
			switch {
			case n.Kind == Tags:
				fmt.Fprintf(&b, "<%s", n.Element.Name)
				for _, a := range n.Element.Attributes {
					fmt.Fprintf(&b, " %s=%q", a.Name, a.Value)
				}
				b.WriteString(">")
				visit(n.Element.Content)
				b.WriteString("</>")
			case !d.Blank(n):
				fmt.Fprintf(&b, "%d%q", n.Kind, d.text(n.Span))
			}
		}
	}
	visit(d.Content)
	return b.String()
}

// The canonical layout of random documents preserves their content, and is its own canonical layout.
func TestCanonicalPreserves(t *testing.T) {
	blanks := rapid.SampledFrom([]string{"", "", " ", "\n", "\n\n", "\n\n\n\t", "  \n   "})
	var content func(t *rapid.T, depth int) string
	content = func(t *rapid.T, depth int) string {
		var b strings.Builder
		for range rapid.IntRange(0, 3).Draw(t, "children") {
			b.WriteString(blanks.Draw(t, "blanks"))
			switch rapid.IntRange(0, 6).Draw(t, "child") {
			case 0:
				b.WriteString("<!-- c\n d -->")
			case 1:
				b.WriteString("text")
			case 2:
				b.WriteString("<![CDATA[<x>]]>")
			default:
				fmt.Fprintf(&b, "<e%sa='1'%sb=\"&quot;'\"", rapid.SampledFrom([]string{" ", "\n  "}).Draw(t, "gap"),
					rapid.SampledFrom([]string{" ", "\n"}).Draw(t, "gap"))
				if depth == 0 {
					b.WriteString(blanks.Draw(t, "blanks") + "/>")
				} else {
					b.WriteString(">" + content(t, depth-1) + "</e >")
				}
			}
		}
		return b.String() + blanks.Draw(t, "blanks")
	}
	rapid.Check(t, func(rt *rapid.T) {
		d := whole(t, "<root>"+content(rt, 3)+"</root>")
		text := d.Canonical()
		again := whole(t, text)
		if essence(again) != essence(d) || again.Canonical() != text {
			rt.Fatalf("%q\nbecame %q\nthen %q", d.Source.Text, text, again.Canonical())
		}
	})
}
