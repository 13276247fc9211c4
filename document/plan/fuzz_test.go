package plan

import (
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// FuzzRead holds that any text gives either a plan or an error, with all places inside the file, and that plans can be
// drawn as text and written.
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
	f.Add(`<root BTCPP_format="4" main_tree_to_execute="m"><include path="library:plane"/><BehaviorTree ID="m">
<SubTree ID="survey" polygon="0, 0; 0, 300; 200, 300; 90, 9e1" spacing="40 [m]" heading="30 [deg]" to_h="50" to_speed="{v}"/>
</BehaviorTree></root>`, false)
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
	src := &diag.Source{Name: "fuzz.xml", Text: text}
	p, list := ReadFiles(src, vocabulary, fewFiles)
	checkConversions(t, src, p)
	if (p == nil) != list.HasErrors() {
		t.Fatalf("plan %v, list %v", p, list)
	}
	checkPlaces(t, list)
	if p == nil || p.Tree.Len() > 1000 {
		return
	}
	checkWrite(t, p, vocabulary)
	if err := Text(io.Discard, p, nil); err != nil {
		t.Fatal(err)
	}
}

// fewFiles opens the files that the plans of the tests include, each one with some other content.
func fewFiles(name string) ([]byte, error) {
	switch path.Base(name) {
	case "old.xml", "loop.xml":
		return []byte(`<root><include path="climb.xml"/><BehaviorTree ID="old"><SequenceStar><Near/></SequenceStar></BehaviorTree></root>`), nil
	case "climb.xml":
		return []byte(`<root BTCPP_format="4"><include path="old.xml"/><BehaviorTree ID="climb"><Fly to="{to}"/></BehaviorTree></root>`), nil
	}
	return nil, fs.ErrNotExist
}

// checkConversions holds that any text is converted or refused, and that what is written for a plan is one.
func checkConversions(t *testing.T, src *diag.Source, p *Plan) {
	t.Helper()
	plain, list := Plain(src, fewFiles)
	checkPlaces(t, list)
	if p != nil {
		if _, list := Read(&diag.Source{Name: "plain.xml", Text: plain}, nil); list.HasErrors() {
			t.Fatalf("%v\n%s", list, plain)
		}
	}
	modern, list := preprocess.Modern(src)
	checkPlaces(t, list)
	if doc, list := xmltree.Parse(src); !list.HasErrors() && doc.Root != nil {
		if again, _ := preprocess.Modern(&diag.Source{Text: modern}); again != modern {
			t.Fatalf("%s\nbecame\n%s", modern, again)
		}
	}
}

// TestMutatedPlans does to plans what a hasty author does: leaves words out, writes them twice, puts them elsewhere.
func TestMutatedPlans(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 800
	}
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
		if p, _ := ReadFiles(&diag.Source{Text: text}, vocabulary, fewFiles); p != nil {
			accepted++
		}
	}
	if accepted < rounds/20 {
		t.Errorf("only %d of %d plans were accepted: the mutations are too coarse", accepted, rounds)
	}
}
