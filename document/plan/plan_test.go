package plan

import (
	"flag"
	"fmt"
	"go/ast"
	goparser "go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the golden files")

func unit(s string) expr.Unit {
	u, err := expr.ParseUnit(s)
	if err != nil {
		panic(err)
	}
	return u
}

// signals is the vocabulary of the plans in testdata: the solar aircraft's.
var signals = Vocabulary{
	"t":           {Unit: unit("s")},
	"h":           {Unit: unit("m")},
	"climb_rate":  {Unit: unit("m/s")},
	"soc":         {Unit: expr.One},
	"P_solar":     {Unit: unit("W")},
	"h_hold":      {Unit: unit("m"), Slot: true, Hold: true},
	"CL_cmd":      {Unit: expr.One, Slot: true},
	"h_cmd":       {Unit: unit("m"), Slot: true},
	"payload":     {Unit: expr.One, Slot: true},
	"hold_north":  {Unit: unit("m"), Slot: true},
	"hold_east":   {Unit: unit("m"), Slot: true},
	"hold_radius": {Unit: unit("m"), Slot: true},
}

func source(t testing.TB, path string) *diag.Source {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return &diag.Source{Name: filepath.Base(path), Text: string(text)}
}

// beside opens the files beside one.
func beside(path string) Open {
	return func(name string) ([]byte, error) {
		text, err := os.ReadFile(filepath.Join(filepath.Dir(path), filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("%s does not exist", name)
		}
		return text, nil
	}
}

// golden compares a text with a file.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *rewrite {
		if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; got\n%s", path, got)
	}
}

func plans(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s: no plans (%v)", pattern, err)
	}
	return paths
}

// inFull describes a plan completely.
func inFull(p *Plan) string {
	var b strings.Builder
	for i := range p.Leaves {
		l := &p.Leaves[i]
		line, _ := diag.Diagnostic{Source: p.Source, Offset: l.Offset}.Position()
		fmt.Fprintf(&b, "%s: %s %s, line %d\n", p.Tree.Name(l.Task), p.Tree.Kind(l.Task), l.ID, line)
		for _, d := range l.Details() {
			fmt.Fprintf(&b, "    %s\n", d)
		}
	}
	return b.String()
}

// The plans of testdata/good are read into the tree and the leaves of their golden file, with its warnings; those of
// testdata/free without a vocabulary, with their entries and with what a run misses.
func TestGoodPlans(t *testing.T) {
	for _, path := range slices.Concat(plans(t, "testdata/good/*.xml"), plans(t, "testdata/free/*.xml"),
		[]string{"../../missions/solar-day.xml", "testdata/plain/foreign.xml"}) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			folder, known := "good", signals
			if dir := filepath.Base(filepath.Dir(path)); dir == "free" || dir == "plain" {
				folder, known = "free", nil
			}
			p, list := ReadFiles(source(t, path), known, beside(path))
			var b strings.Builder
			list.Write(&b, false)
			if p == nil {
				t.Fatal(b.String())
			}
			if err := Text(&b, p, nil); err != nil {
				t.Fatal(err)
			}
			b.WriteString("\n" + inFull(p))
			if known == nil {
				for i := range p.Entries {
					fmt.Fprintf(&b, "entry %s, free: %v\n", p.Entries[i].Name, p.Entries[i].Free)
				}
				p.Unexplained(nil).Write(&b, false)
			}
			golden(t, filepath.Join("testdata", folder, strings.TrimSuffix(filepath.Base(path), ".xml")+".txt"), b.String())
			for i, task := range p.Tree.Leaves() {
				if p.Leaves[i].Task != task {
					t.Errorf("leaf %d is of task %d, not %d", i, p.Leaves[i].Task, task)
				}
			}
		})
	}
}

// Each rewriting of the second pass makes of its plan in testdata/desugar the one of the golden file.
func TestDesugared(t *testing.T) {
	for _, path := range plans(t, "testdata/desugar/*.xml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			p, list := Read(source(t, path), nil)
			if p == nil {
				t.Fatal(list)
			}
			var b strings.Builder
			if err := Desugared(&b, p); err != nil {
				t.Fatal(err)
			}
			golden(t, strings.TrimSuffix(path, ".xml")+".txt", b.String())
		})
	}
}

// The plans of testdata/bad are refused with the messages of their golden file, all at once.
func TestBadPlans(t *testing.T) {
	for _, path := range plans(t, "testdata/bad/*.xml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			src := source(t, path)
			p, list := ReadFiles(src, signals, beside(path))
			if p != nil || !list.HasErrors() {
				t.Errorf("no error found")
			}
			checkPlaces(t, list)
			var b strings.Builder
			list.Write(&b, false)
			golden(t, strings.TrimSuffix(path, ".xml")+".txt", b.String())
		})
	}
}

func checkPlaces(t testing.TB, list diag.List) {
	t.Helper()
	for _, d := range list {
		if d.Offset < 0 || d.Length < 0 || d.Offset+d.Length > len(d.Source.Text) {
			t.Errorf("%v: [%d, +%d) is outside the file of %d bytes", d, d.Offset, d.Length, len(d.Source.Text))
		}
		if d.Text == "" || d.Code == "" {
			t.Errorf("%v: without text or code", d)
		}
	}
}

// Five mistakes of five kinds are found at once, with a vocabulary and without.
func TestFiveMistakesAtOnce(t *testing.T) {
	want := []string{codeChildren, codeNode, expr.CodeUnit, codeAttribute, codeNoTree}
	slices.Sort(want)
	for _, vocabulary := range []Vocabulary{signals, nil} {
		_, list := Read(source(t, "testdata/bad/five.xml"), vocabulary)
		var codes []string
		for _, d := range list {
			codes = append(codes, d.Code)
		}
		if slices.Sort(codes); !slices.Equal(codes, want) {
			t.Errorf("got %v, want %v", codes, want)
		}
	}
}

// The quotation of a message is at its place in the file, references included.
func TestPlaces(t *testing.T) {
	quoted := regexp.MustCompile(
		`^(?:unknown (?:signal|node|function|unit)|there is no tree|.* has no attribute(?: or port)?) "([^"]*)"`)
	for _, path := range plans(t, "testdata/bad/*.xml") {
		src := source(t, path)
		_, list := Read(src, signals)
		for _, d := range list {
			m := quoted.FindStringSubmatch(d.Text)
			if m == nil {
				continue
			}
			if got := src.Text[d.Offset : d.Offset+d.Length]; got != sameName && !strings.HasPrefix(strings.Trim(got, "{}"), m[1]) {
				t.Errorf("%v: the text at its place is %q", d, got)
			}
		}
	}
	const before, signal = `<root BTCPP_format="4"><BehaviorTree><Condition on='h &lt; 3 &#38;&#x26; `, "hh"
	text := before + signal + " &gt; 0'/></BehaviorTree></root>"
	_, list := Read(&diag.Source{Name: "x", Text: text}, signals)
	if len(list) != 1 || list[0].Offset != strings.Index(text, signal) || list[0].Length != len(signal) {
		t.Errorf("%v", list)
	}
}

// Without a vocabulary, names and units are not checked, and leaves need no attributes.
func TestWithoutVocabulary(t *testing.T) {
	const text = `<root BTCPP_format="4"><BehaviorTree ID="x"><Sequence>
		<Condition ID="a"/><Condition on="anything gt 3 [m]"/><Action ID="b" write="some := other"/>
		</Sequence></BehaviorTree></root>`
	p, list := Read(&diag.Source{Name: "x", Text: text}, nil)
	if len(list) > 0 || p == nil || len(p.Leaves) != 3 {
		t.Fatalf("%v", list)
	}
	_, list = Read(&diag.Source{Name: "x", Text: strings.Replace(text, "anything gt 3", "anything + 3", 1)}, nil)
	if len(list) != 1 || list[0].Code != expr.CodeType {
		t.Errorf("a number as a condition is found without a vocabulary, too: %v", list)
	}
}

// subtrees returns a plan of n trees that each include the next one twice.
func subtrees(n, uses int) string {
	var b strings.Builder
	b.WriteString(`<root BTCPP_format="4" main_tree_to_execute="t0">`)
	for i := range n {
		fmt.Fprintf(&b, `<BehaviorTree ID="t%d"><Sequence>%s</Sequence></BehaviorTree>`, i,
			strings.Repeat(fmt.Sprintf(`<SubTree ID="t%d"/>`, i+1), uses))
	}
	fmt.Fprintf(&b, `<BehaviorTree ID="t%d"><Condition on="soc gt 0"/></BehaviorTree></root>`, n)
	return b.String()
}

func TestExpansionIsBounded(t *testing.T) {
	for _, c := range []struct {
		text, code string
		tasks      int
	}{
		{subtrees(3, 3), "", 27 + 9 + 3 + 1},
		{subtrees(60, 2), xmltree.CodeTooLarge, 0},
		{subtrees(xmltree.MaxDepth+1, 1), xmltree.CodeTooDeep, 0},
		{strings.Repeat("<Sequence>", 3*xmltree.MaxDepth), xmltree.CodeTooDeep, 0},
	} {
		text := c.text
		if !strings.HasPrefix(text, "<root") {
			text = `<root BTCPP_format="4"><BehaviorTree>` + text
		}
		p, list := Read(&diag.Source{Name: "x", Text: text}, signals)
		switch {
		case c.code == "" && (p == nil || p.Tree.Len() != c.tasks):
			t.Errorf("%d tasks wanted: %v", c.tasks, list)
		case c.code != "" && (len(list) != 1 || list[0].Code != c.code):
			t.Errorf("%s wanted: %v", c.code, list)
		}
	}
}

// docs/plans-limits.md explains every code that Read can report, and no other.
func TestDocumentedCodes(t *testing.T) {
	page, err := os.ReadFile("../../docs/plans-limits.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented []string
	row := regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| (?:error|warning) \\|")
	for _, m := range row.FindAllStringSubmatch(string(page), -1) {
		documented = append(documented, m[1])
	}
	codes := slices.Concat(constants(t, "diagnostics.go"), constants(t, "../preprocess/preprocess.go"), constants(t, "../../syntax/xmltree/parse.go"),
		constants(t, "../../expr/expr.go"))
	slices.Sort(codes)
	slices.Sort(documented)
	if !slices.Equal(codes, documented) {
		t.Errorf("in the source:\n%s\nin docs/plans-limits.md:\n%s", strings.Join(codes, "\n"), strings.Join(documented, "\n"))
	}
}

// constants returns the values of a file's string constants that are named after codes.
func constants(t *testing.T, path string) []string {
	t.Helper()
	file, err := goparser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var values []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if ok && len(spec.Values) == 1 && strings.HasPrefix(strings.ToLower(spec.Names[0].Name), "code") {
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok {
				value, _ := strconv.Unquote(literal.Value)
				values = append(values, value)
			}
		}
		return true
	})
	return values
}

// Every code of this package is shown by a plan in testdata or by a test here.
func TestEveryCodeIsShown(t *testing.T) {
	var shown strings.Builder
	for _, path := range append(plans(t, "testdata/*/*.txt"), "plan_test.go") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		shown.Write(text)
	}
	for _, code := range append(constants(t, "diagnostics.go"), constants(t, "../preprocess/preprocess.go")...) {
		if !strings.Contains(shown.String(), "["+code+"]") {
			t.Errorf("no golden file shows %s", code)
		}
	}
}

func TestText(t *testing.T) {
	p, list := Read(source(t, "../../missions/solar-day.xml"), signals)
	if p == nil {
		t.Fatal(list)
	}
	statuses := make([]bt.Status, p.Tree.Len())
	for i := range statuses {
		statuses[i] = bt.Status(i % 8)
	}
	var b strings.Builder
	if err := Text(&b, p, statuses); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/drawings/tree-statuses.txt", b.String())
}

// A plan is a view on its document: a task's element is edited there, and the rest is preserved.
func TestEditPlan(t *testing.T) {
	src := source(t, "../../missions/solar-day.xml")
	p, list := Read(src, signals)
	if p == nil {
		t.Fatal(list)
	}
	task := bt.Task(0)
	for p.Label(task) != "climb" {
		task++
	}
	e := p.Element(task)
	if line, file := p.Place(task); line != p.Document.Line(e.At) || file != "" {
		t.Errorf("line %d of %q, not %d", line, file, p.Document.Line(e.At))
	}
	text, err := p.Document.Apply(p.Document.Set(e, "name", "rise"))
	if err != nil || text != strings.Replace(src.Text, `name="climb"`, `name="rise"`, 1) {
		t.Errorf("%v\n%s", err, text)
	}
	edited, list := Read(&diag.Source{Name: "edited.xml", Text: text}, signals)
	if edited == nil || edited.Label(task) != "rise" {
		t.Errorf("%v", list)
	}
}

// A condition without an expression reads the Boolean signal of its ID, without an ID that of its name.
func TestConditionsReadBooleanSignals(t *testing.T) {
	read := func(leaf string) (*Plan, diag.List) {
		return Read(&diag.Source{Name: "p.xml", Text: `<root BTCPP_format="4"><BehaviorTree ID="main">` + leaf +
			`</BehaviorTree></root>`}, Vocabulary{"door_open": {Type: expr.Boolean}, "h": {Unit: unit("m")}})
	}
	for _, leaf := range []string{`<Condition ID="door_open"/>`, `<Condition ID="door_open" name="a"/>`,
		`<Condition name="door_open"/>`} {
		p, found := read(leaf)
		if len(found) > 0 || p.Leaves[0].On.String() != "door_open" {
			t.Errorf("%s: %v", leaf, found)
		}
	}
	for _, leaf := range []string{`<Condition ID="h"/>`, `<Condition ID="other" name="door_open"/>`} {
		p, found := read(leaf)
		if len(found) > 0 {
			t.Fatalf("%s: %v", leaf, found)
		}
		if list := p.Unexplained(nil); len(list) != 1 || list[0].Code != codeFree {
			t.Errorf("%s: %v", leaf, list)
		}
	}
	if _, found := read(`<Condition name="door_open" off="door_open"/>`); len(found) != 1 || found[0].Code != codeNoCondition {
		t.Error(found)
	}
}

// The place of a task in an included file is that in the file.
func TestPlaceInIncludedFile(t *testing.T) {
	p, list := ReadFiles(&diag.Source{Name: "main.xml", Text: `<root BTCPP_format="4" main_tree_to_execute="a">
<include path="part.xml"/>
<BehaviorTree ID="a"><Sequence><SubTree ID="b"/><Here/></Sequence></BehaviorTree></root>`}, nil,
		func(string) ([]byte, error) {
			return []byte("<root BTCPP_format=\"4\">\n\n\n<BehaviorTree ID=\"b\">\n<There/></BehaviorTree></root>"), nil
		})
	if p == nil {
		t.Fatal(list)
	}
	for i, want := range []string{"5 part.xml", "3 "} {
		line, file := p.Place(p.Leaves[i].Task)
		if got := fmt.Sprint(line, " ", file); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}
