package plan

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"canopy/diag"
)

// FuzzRead holds that any text gives either a plan or an error, with all places inside the file; that the places of
// attributes are true, compared with the values that encoding/xml reads; and that plans can be drawn.
func FuzzRead(f *testing.F) {
	for _, path := range append(plans(f, "testdata/*/*.xml"), "../missions/solar-day.xml") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), true)
		f.Add(string(text), false)
	}
	f.Add(subtrees(6, 2), true)
	f.Fuzz(func(t *testing.T, text string, known bool) {
		vocabulary := signals
		if !known {
			vocabulary = nil
		}
		src := &diag.Source{Name: "fuzz.xml", Text: text}
		p, list := Read(src, vocabulary)
		if (p == nil) != list.HasErrors() {
			t.Fatalf("plan %v, list %v", p, list)
		}
		checkPlaces(t, list)
		checkAgainstDecoder(t, text)
		if p == nil || p.Tree.Len() > 1000 {
			return
		}
		var picture bytes.Buffer
		if err := errors.Join(Text(io.Discard, p, nil), DOT(io.Discard, p), SVG(&picture, p, nil)); err != nil {
			t.Fatal(err)
		}
		for decoder := xml.NewDecoder(&picture); ; {
			if _, err := decoder.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("the picture is no XML: %v", err)
			}
		}
	})
}

// checkAgainstDecoder compares the elements of well-formed XML with those of encoding/xml, and every value with the
// bytes at its places.
func checkAgainstDecoder(t *testing.T, text string) {
	t.Helper()
	r := &reader{source: &diag.Source{Text: text}, reported: map[diag.Diagnostic]bool{}}
	root := r.parse()
	if r.broken || root == nil {
		return
	}
	var want, got []string
	decoder := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(text, "\ufeff")))
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil }
	for {
		token, err := decoder.RawToken()
		if err != nil {
			break
		}
		if e, ok := token.(xml.StartElement); ok {
			want = append(want, e.Name.Local)
			for _, a := range e.Attr {
				want = append(want, a.Value)
			}
		}
	}
	var collect func(e *element)
	collect = func(e *element) {
		_, local, found := strings.Cut(e.name, ":")
		if !found || local == "" || strings.HasPrefix(e.name, ":") {
			local = e.name
		}
		got = append(got, local)
		for _, a := range e.attributes {
			got = append(got, a.value)
			for i := range len(a.value) {
				if at := a.place(i); at < a.at || at >= a.end || a.places == nil && text[at] != a.value[i] {
					t.Fatalf("byte %d of %q is not at %d", i, a.value, at)
				}
			}
			if a.place(len(a.value)) != a.end {
				t.Fatalf("the end of %q is not at %d", a.value, a.end)
			}
		}
		for _, c := range e.children {
			collect(c)
		}
	}
	collect(root)
	if !slices.Equal(got, want) {
		t.Fatalf("elements and values %q, encoding/xml has %q", got, want)
	}
}
