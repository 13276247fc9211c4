package plan

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"canopy/diag"
)

// FuzzRead holds that any text gives either a plan or an error, with all places inside the file, and that plans can be
// drawn and written.
func FuzzRead(f *testing.F) {
	for _, path := range append(plans(f, "testdata/*/*.xml"), "../../missions/solar-day.xml") {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), true)
		f.Add(string(text), false)
	}
	f.Add(subtrees(6, 2), true)
	f.Fuzz(func(t *testing.T, text string, known bool) {
		if known {
			checkRead(t, text, signals)
		} else {
			checkRead(t, text, nil)
		}
	})
}

// checkRead reads a text and holds what FuzzRead promises.
func checkRead(t *testing.T, text string, vocabulary Vocabulary) {
	t.Helper()
	p, list := Read(&diag.Source{Name: "fuzz.xml", Text: text}, vocabulary)
	if (p == nil) != list.HasErrors() {
		t.Fatalf("plan %v, list %v", p, list)
	}
	checkPlaces(t, list)
	if p == nil || p.Tree.Len() > 1000 {
		return
	}
	checkWrite(t, p, vocabulary)
	var picture bytes.Buffer
	if err := errors.Join(Text(io.Discard, p, nil), DOT(io.Discard, p), SVG(&picture, p, nil)); err != nil {
		t.Fatal(err)
	}
	for decoder := xml.NewDecoder(&picture); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("the picture is no XML: %v", err)
		}
	}
}

// TestMutatedPlans does to plans what a hasty author does: leaves words out, writes them twice, puts them elsewhere.
func TestMutatedPlans(t *testing.T) {
	const rounds = 3000
	random := rand.New(rand.NewPCG(1, 2))
	word := regexp.MustCompile(`[A-Za-z_]+|[0-9.]+|\s+|.`)
	var pages [][]string
	var dictionary []string
	for _, path := range append(plans(t, "testdata/*/*.xml"), "../../missions/solar-day.xml") {
		page := word.FindAllString(source(t, path).Text, -1)
		pages = append(pages, page)
		dictionary = append(dictionary, page...)
	}
	accepted := 0
	for range rounds {
		page := slices.Clone(pages[random.IntN(len(pages))])
		for range random.IntN(4) {
			at := random.IntN(len(page) + 1)
			end := min(len(page), at+random.IntN(3))
			other := random.IntN(len(dictionary) - 3)
			page = slices.Replace(page, at, end, dictionary[other:other+random.IntN(3)]...)
		}
		text := strings.Join(page, "")
		vocabulary := signals
		if random.IntN(2) == 0 {
			vocabulary = nil
		}
		checkRead(t, text, vocabulary)
		if p, _ := Read(&diag.Source{Text: text}, vocabulary); p != nil {
			accepted++
		}
	}
	if accepted < rounds/20 {
		t.Errorf("only %d of %d plans were accepted: the mutations are too coarse", accepted, rounds)
	}
}
