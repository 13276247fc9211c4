package studio

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/canopy-uav/canopy/editor/planedit"

	"pgregory.net/rapid"
)

// edited returns the documents of a mission.
func edited(b *bench) []document {
	b.Helper()
	var list []document
	if _, answer := b.ask(http.MethodGet, "/api/documents", nil); json.Unmarshal([]byte(answer), &list) != nil {
		b.Fatal(answer)
	}
	return list
}

// Places in a text are those of the same text in UTF-16.
func TestUnits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.SampledFrom([]rune("aé€😀\n"))).Draw(t, "text")
		in := units(text)
		for at := range len(text) + 1 {
			if want := len(utf16.Encode([]rune(strings.ToValidUTF8(text[:at], "")))); in(at) != want {
				t.Fatalf("byte %d of %q is unit %d, not %d", at, text, in(at), want)
			}
		}
	})
}

// A plan that is not saved is changed by edits whose places are those of browsers, and the boxes have theirs.
func TestChange(t *testing.T) {
	b := newBench(t)
	name := edited(b)[0].Name
	text := strings.Replace(planText, "<BehaviorTree", "<!-- 😀 -->\n<BehaviorTree", 1)
	try := func(text string) trial {
		var found trial
		if _, answer := b.ask(http.MethodPost, "/api/try", request{document: document{Name: name, Text: text}}); json.Unmarshal([]byte(answer), &found) != nil {
			t.Fatal(answer)
		}
		return found
	}
	boxes := try(text).Boxes
	code := utf16.Encode([]rune(text))
	for _, x := range boxes {
		if got := string(utf16.Decode(code[x.At:])); !strings.HasPrefix(got, "<"+x.Element) || x.From > x.At || x.To <= x.At {
			t.Errorf("%+v is at %.20q", x, got)
		}
	}
	sink := slices.IndexFunc(boxes, func(x box) bool { return x.Label == "sink" })
	change := func(op planedit.Op) (int, string) {
		return b.ask(http.MethodPost, "/api/change", request{document: document{Name: name, Text: text}, Op: op})
	}
	_, answer := change(planedit.Op{Do: "wrap", Task: sink, Element: "Inverter"})
	var c changed
	if err := json.Unmarshal([]byte(answer), &c); err != nil || len(c.Edits) != 1 || c.Select != sink {
		t.Fatal(answer, err)
	}
	e := c.Edits[0]
	now := string(utf16.Decode(code[:e.At])) + e.New + string(utf16.Decode(code[e.End:]))
	after := try(now)
	if len(after.Boxes) != len(boxes)+1 || after.Boxes[sink].Label != "Inverter" || after.Boxes[sink+1].Label != "sink" || len(after.Problems) > 0 {
		t.Errorf("%s\n%+v", now, after)
	}
	if _, answer := change(planedit.Op{Do: "extract", Task: sink, Name: "Down"}); !strings.Contains(answer, `\u003cBehaviorTree ID=\"Down\"\u003e`) {
		t.Error(answer)
	}
	if status, answer := change(planedit.Op{Do: "delete"}); status != http.StatusUnprocessableEntity || !strings.Contains(answer, "one root element") {
		t.Error(status, answer)
	}
	text = "<root>"
	if status, answer := change(planedit.Op{Do: "delete"}); status != http.StatusUnprocessableEntity || !strings.Contains(answer, "well-formed") ||
		len(try(text).Boxes) > 0 {
		t.Error(status, answer)
	}
	text = planText
	if _, answer := b.ask(http.MethodPost, "/api/palette", request{document: document{Name: name, Text: text}}); !strings.Contains(answer, `"element":"Sequence"`) {
		t.Error(answer)
	}
}

// Edits of several documents are judged together.
func TestSeveralEdits(t *testing.T) {
	b := newBench(t)
	list := edited(b)
	plan := list[0]
	plan.Text = strings.NewReplacer("x ge", "z ge", "x le", "z le").Replace(planText)
	vehicle := list[slices.IndexFunc(list, func(d document) bool { return strings.Contains(d.Name, "vehicle") })]
	with := map[string]string{vehicle.Name: strings.Replace(vehicle.Text, "x:", "z:", 1)}
	for _, texts := range []map[string]string{nil, with} {
		var found trial
		_, answer := b.ask(http.MethodPost, "/api/try", request{document: plan, Texts: texts})
		if err := json.Unmarshal([]byte(answer), &found); err != nil || (len(found.Problems) == 0) != (texts != nil) {
			t.Errorf("with %v: %s", texts, answer)
		}
	}
	for _, path := range []string{"/api/try", "/api/change", "/api/palette"} {
		if status, _ := b.ask(http.MethodPost, path, request{document: plan, Texts: map[string]string{"../x": ""}}); status != http.StatusNotFound {
			t.Errorf("%s with a file outside: %d", path, status)
		}
	}
}

// Names are completed and changed in all documents as they are edited, at the places of browsers.
func TestNames(t *testing.T) {
	b := newBench(t)
	list := edited(b)
	plan := list[0]
	plan.Text = "<!-- 😀 -->" + planText
	at := len(utf16.Encode([]rune(plan.Text[:strings.Index(plan.Text, `on="x`)+len(`on="x`)])))
	_, answer := b.ask(http.MethodPost, "/api/complete", request{document: plan, At: at})
	var proposed []proposal
	if err := json.Unmarshal([]byte(answer), &proposed); err != nil {
		t.Fatal(answer, err)
	}
	if i := slices.IndexFunc(proposed, func(p proposal) bool { return p.New == "x" }); i < 0 || proposed[i].At != at-1 || proposed[i].End != at {
		t.Errorf("at %d: %s", at, answer)
	}
	_, answer = b.ask(http.MethodPost, "/api/rename", request{document: plan, At: at, New: "height"})
	var changes map[string][]edit
	if err := json.Unmarshal([]byte(answer), &changes); err != nil {
		t.Fatal(answer, err)
	}
	texts := map[string]string{}
	for _, d := range append(list[1:], plan) {
		code, text, from := utf16.Encode([]rune(d.Text)), "", 0
		edits := changes[d.Name]
		slices.SortFunc(edits, func(a, b edit) int { return a.At - b.At })
		for _, e := range edits {
			text += string(utf16.Decode(code[from:e.At])) + e.New
			from = e.End
		}
		texts[d.Name] = text + string(utf16.Decode(code[from:]))
	}
	if got := texts[plan.Name]; got != strings.NewReplacer(`"x ge`, `"height ge`, `"x le`, `"height le`).Replace(plan.Text) {
		t.Errorf("the plan is\n%s", got)
	}
	if _, _, found, _ := b.read(nil, texts); found.HasErrors() || len(changes) != 2 {
		t.Errorf("%v, %v", found, texts)
	}
	for name, why := range map[string]string{"": "no new one", "u": "have a mistake", "a\nb": "cannot contain"} {
		if status, answer := b.ask(http.MethodPost, "/api/rename", request{document: plan, At: at, New: name}); status != http.StatusUnprocessableEntity ||
			!strings.Contains(answer, why) {
			t.Errorf("the name %q: %d %s", name, status, answer)
		}
	}
}

// A document is shown as the last commit has it, whatever it is now, and else why there is none.
func TestCommitted(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	b := newBench(t)
	plan := edited(b)[0]
	ask := func() (h head) {
		if _, answer := b.ask(http.MethodPost, "/api/head", request{document: plan}); json.Unmarshal([]byte(answer), &h) != nil {
			t.Fatal(answer)
		}
		return h
	}
	git := func(words ...string) {
		t.Helper()
		words = append([]string{"-C", filepath.Dir(b.mission), "-c", "user.name=a", "-c", "user.email=a@b"}, words...)
		if out, err := exec.Command("git", words...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(filepath.Dir(b.mission)))
	if h := ask(); h.Text != "" || !strings.Contains(h.Why, "not a git repository") {
		t.Errorf("without a repository: %+v", h)
	}
	git("init", "-q")
	if h := ask(); !strings.Contains(h.Why, "no last commit") {
		t.Errorf("without a commit: %+v", h)
	}
	git("add", "plan.xml")
	git("commit", "-qm", "x")
	b.write("plan.xml", "<root/>")
	if h := ask(); h.Text != planText || h.Why != "" {
		t.Errorf("%+v", h)
	}
	t.Setenv("PATH", t.TempDir())
	if h := ask(); !strings.Contains(h.Why, "no program git") {
		t.Errorf("without git: %+v", h)
	}
}
