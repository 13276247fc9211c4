package script

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/internal/btcpp"
)

// recorded has random plans with scripts, and the answers of BehaviorTree.CPP 4.10.0.
const recorded = "testdata/btcpp/random.txt"

// recording is a case of BehaviorTree.CPP: a document on one line, the inputs of its instants, and the answers to them.
type recording struct {
	document        string
	inputs, answers []string // the first inputs are those before the first settling, or empty
	row             string   // its beginning, in docs/btcpp.md: why Canopy's answers differ; empty: they do not
}

var (
	ownEntry = regexp.MustCompile(`^(u\d\.)*\w+$`) // of the plan's author
	ownLeaf  = regexp.MustCompile(`^a\d$`)
	useNames = regexp.MustCompile(`name="(u\d)"`)
)

// TestRandomPlansOfBehaviorTreeCpp replays the recorded cases. One that differs names the row of docs/btcpp.md that
// says why; -rewrite deletes those that are not needed any more.
func TestRandomPlansOfBehaviorTreeCpp(t *testing.T) {
	rows, err := os.ReadFile("../../docs/btcpp.md")
	if err != nil {
		t.Fatal(err)
	}
	cases, rewrite := readCases(t), flag.Lookup("rewrite").Value.String() == "true"
	if len(cases) < 2000 {
		t.Errorf("%d cases", len(cases))
	}
	for i := range cases {
		c := &cases[i]
		differs := c.compare()
		switch {
		case c.row == "" && differs != "":
			t.Errorf("%s\n%s", c.document, differs)
		case c.row != "" && differs == "" && rewrite:
			c.row = ""
		case c.row != "" && differs == "":
			t.Errorf("%s\nis the same: delete its row %q", c.document, c.row)
		case !strings.Contains(string(rows), "\n| "+c.row) && c.row != "":
			t.Errorf("docs/btcpp.md has no row %q", c.row)
		}
	}
	if rewrite {
		writeCases(t, recorded, cases)
	}
}

// TestBehaviorTreeCppPlays plays random plans in BehaviorTree.CPP, if it is installed, and prints how many have the
// same answers here. With the environment variable RECORD, it writes 2,000 cases to that file.
func TestBehaviorTreeCppPlays(t *testing.T) {
	program := btcpp.Program(t, "../../internal/btcpp/cpp", "play")
	seed, record := rand.Uint64()>>20, os.Getenv("RECORD")
	if record != "" {
		seed = 1
	}
	rows := map[string]string{}
	for _, c := range readCases(t) {
		rows[c.document] = c.row
	}
	var cases []recording
	same, all, shown := 0, 0, 0
	for ; all < 2000; seed += 500 {
		for _, c := range ask(t, program, seed, 500) {
			if last := c.answers[len(c.answers)-1]; last == "spins" || last[0] == '!' || all == 2000 {
				continue
			}
			differs := c.compare()
			if strings.HasPrefix(differs, "refused") {
				continue
			}
			if all++; differs == "" {
				same++
			} else if c.row = rows[c.document]; c.row == "" && shown < 20 {
				shown++
				t.Logf("%s\n%s", c.document, differs)
			}
			cases = append(cases, c)
		}
	}
	t.Logf("seeds up to %d: %d of %d cases have the same answers", seed, same, all)
	if same < all*98/100 {
		t.Errorf("too few are the same")
	}
	if record != "" {
		writeCases(t, record, cases)
	}
}

// TestBehaviorTreeCppPlaysConverted plays random plans and what is written for them in BehaviorTree.CPP, by 60 scripts
// each.
func TestBehaviorTreeCppPlaysConverted(t *testing.T) {
	program, seed := btcpp.Program(t, "../../internal/btcpp/cpp", "play"), rand.Uint64()>>20
	for range 20 {
		var documents, converted []string
		var scripts [][]string
		for range 5 {
			p := write(seed)
			text, list := plan.Plain(&diag.Source{Name: "plan.xml", Text: p.document()}, nil)
			if list.HasErrors() {
				t.Fatalf("%s: %v", p.document(), list)
			}
			for range 60 {
				a := &author{Rand: rand.New(rand.NewPCG(seed, uint64(len(scripts))))}
				documents, converted = append(documents, p.document()), append(converted, strings.ReplaceAll(text, "\n", " "))
				scripts = append(scripts, a.instants(p))
			}
			seed++
		}
		got := answersOf(t, program, converted, scripts)
		for i, want := range answersOf(t, program, documents, scripts) {
			if got[i] != want {
				t.Fatalf("%s\n%s\nis written as %s\n%s", documents[i], want, converted[i], got[i])
			}
		}
	}
}

// ask plays the plans of some seeds in BehaviorTree.CPP; of those that last at most two instants one in four.
func ask(t *testing.T, program string, seed uint64, count int) (cases []recording) {
	plays, documents, scripts := make([]*play, count), make([]string, count), make([][]string, count)
	for i := range plays {
		plays[i] = write(seed + uint64(i))
		documents[i], scripts[i] = plays[i].document(), plays[i].script
	}
	blocks := answersOf(t, program, documents, scripts)
	for i, block := range blocks {
		c := recording{document: documents[i]}
		for line := range strings.SplitSeq(block, "\n") {
			if answer, ok := strings.CutPrefix(line, "= "); ok {
				c.answers = append(c.answers, answer)
				continue
			}
			line = strings.TrimPrefix(line, "> ")
			if len(c.inputs) == 0 && !strings.HasPrefix(line, Start) {
				c.inputs = append(c.inputs, "")
			}
			c.inputs = append(c.inputs, line)
		}
		if len(c.answers) > 2 || (seed+uint64(i))%4 == 0 {
			cases = append(cases, c)
		}
	}
	return cases
}

// answersOf returns what the program prints for each document with its script.
func answersOf(t *testing.T, program string, documents []string, scripts [][]string) []string {
	var b strings.Builder
	for i, document := range documents {
		fmt.Fprintln(&b, document)
		for _, line := range scripts[i] {
			fmt.Fprintln(&b, ">", line)
		}
		fmt.Fprintln(&b)
	}
	file := filepath.Join(t.TempDir(), "cases.txt")
	if err := os.WriteFile(file, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(program, file).Output()
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSuffix(string(out), "\n\n"), "\n\n")
	if len(blocks) != len(documents) {
		t.Fatalf("%d answers", len(blocks))
	}
	return blocks
}

const header = `# Random plans with ports, scopes and scripts, and what BehaviorTree.CPP 4.10.0 does with them;
# those in which it spins or throws an exception are left out. Written by RECORD=FILE make btcpp
# (TestBehaviorTreeCppPlays, from seed 1).
#
# A case has a line for each tree, the main one first, without the elements around it and with short end tags. Then
# "differs:" and the beginning of a row of docs/btcpp.md, if Canopy's answers are others. Then a line for each instant,
# "INPUTS| ANSWER": the inputs of a script of canopy trace, and what internal/btcpp/cpp/play.cpp answers.
`

const (
	head      = `<root BTCPP_format="4" main_tree_to_execute="main"><BehaviorTree ID="main">`
	rowPrefix = "differs: "
)

var (
	leaf      = regexp.MustCompile(`<(Condition|Action) ID="([ac]\d)"`)
	shortLeaf = regexp.MustCompile(`<([ac])(\d)\b`)
	treeStart = regexp.MustCompile(`</BehaviorTree><BehaviorTree ID="(\w+)">`)
	endTag    = regexp.MustCompile(`</\w+>`)
	tag       = regexp.MustCompile(`<(/?)(\w*)(?: [^"<]*"[^"]*")*(/?)>`)
)

func (c *recording) String() string {
	text := strings.TrimSuffix(strings.TrimPrefix(c.document, head), "</BehaviorTree></root>")
	text = leaf.ReplaceAllString(treeStart.ReplaceAllString(text, "\n$1 "), "<$2")
	lines := []string{endTag.ReplaceAllString(text, "</>")}
	if c.row != "" {
		lines = append(lines, rowPrefix+c.row)
	}
	for i, answer := range c.answers {
		inputs := ""
		if i < len(c.inputs) {
			inputs = c.inputs[i]
		}
		lines = append(lines, inputs+"| "+answer)
	}
	return strings.Join(lines, "\n") + "\n"
}

func writeCases(t *testing.T, file string, cases []recording) {
	text := []string{header}
	for i := range cases {
		text = append(text, cases[i].String())
	}
	if err := os.WriteFile(file, []byte(strings.Join(text, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
}

// readCases reads the recorded cases.
func readCases(t *testing.T) (cases []recording) {
	data, err := os.ReadFile(recorded)
	if err != nil {
		t.Fatal(err)
	}
	for block := range strings.SplitSeq(strings.TrimSpace(string(data)), "\n\n") {
		var c recording
		for line := range strings.SplitSeq(block, "\n") {
			inputs, answer, instant := strings.Cut(line, "| ")
			row, differs := strings.CutPrefix(line, rowPrefix)
			switch {
			case line[0] == '#':
			case line[0] == '<':
				c.document = head + expand(line) + "</BehaviorTree>"
			case strings.HasPrefix(line[1:], " <"):
				c.document += `<BehaviorTree ID="` + line[:1] + `">` + expand(line[2:]) + "</BehaviorTree>"
			case differs:
				c.row = row
			case instant:
				c.inputs, c.answers = append(c.inputs, inputs), append(c.answers, answer)
			}
		}
		if c.document += "</root>"; len(c.answers) > 0 {
			cases = append(cases, c)
		}
	}
	return cases
}

// expand undoes what a recorded case abbreviates.
func expand(line string) string {
	var open []string
	line = shortLeaf.ReplaceAllStringFunc(line, func(s string) string {
		return map[byte]string{'a': "<Action", 'c': "<Condition"}[s[1]] + ` ID="` + s[1:] + `"`
	})
	return tag.ReplaceAllStringFunc(line, func(s string) string {
		switch m := tag.FindStringSubmatch(s); {
		case m[1] != "":
			name := open[len(open)-1]
			open = open[:len(open)-1]
			return "</" + name + ">"
		case m[3] == "":
			open = append(open, m[2])
		}
		return s
	})
}

// compare plays a case here and returns the first instant with another answer; empty: there is none.
func (c *recording) compare() string {
	answers, err := c.play()
	if answers == nil {
		return fmt.Sprint("refused: ", err)
	}
	for i, want := range c.answers {
		got := fmt.Sprint("! ", err)
		if i < len(answers) {
			got = answers[i]
		}
		if got != want {
			return fmt.Sprintf("after %q: %s, BehaviorTree.CPP: %s", c.inputs[:min(i+1, len(c.inputs))], got, want)
		}
	}
	return ""
}

// play returns the answers to a case here.
func (c *recording) play() (answers []string, err error) {
	p, list := plan.Read(&diag.Source{Name: "plan.xml", Text: c.document}, nil)
	if p == nil {
		return nil, list.Err()
	}
	src := &diag.Source{Name: "script", Text: strings.Join(c.inputs, "\n")}
	names, statuses := actions(p, c.document), map[bt.Task]bt.Status{}
	err = Play(p, src, nil, func(_ int, tree *bt.Tree, instant bt.Instant, written []Written) {
		begun, result := map[bt.Task]bool{}, ""
		for _, c := range instant.Changes {
			statuses[c.Task] = c.To
			begun[c.Task] = begun[c.Task] || c.To == bt.Activating
			if c.Task == tree.Root() && c.To.Ended() {
				result = strings.ToUpper(c.To.Judgement().String())
			}
		}
		var words []string
		for task, name := range names {
			if statuses[task] == bt.Running && result == "" {
				words = append(words, name+map[bool]string{true: "*"}[begun[task]])
			}
		}
		if slices.Sort(words); words == nil {
			words = []string{cmp.Or(result, "waits")}
		}
		answers = append(answers, strings.Join(append(words, changes(written)...), " "))
	})
	return answers, err
}

// changes returns the author's entries that have other values after an instant than before.
func changes(written []Written) (words []string) {
	before, after := map[string]string{}, map[string]string{}
	for _, w := range written {
		if _, known := before[w.Entry]; !known {
			before[w.Entry] = shown(w.From)
		}
		after[w.Entry] = shown(w.To)
	}
	for name, value := range after {
		if value != before[name] && ownEntry.MatchString(name) {
			words = append(words, name+"="+value)
		}
	}
	slices.Sort(words)
	return words
}

// shown writes a value; a text that is a number is written as one.
func shown(value any) string {
	switch v := value.(type) {
	case nil:
		return "unset"
	case bool:
		return map[bool]string{false: "0", true: "1"}[v]
	case string:
		number, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return "'" + v + "'"
		}
		value = number
	}
	return strconv.FormatFloat(value.(float64)+0, 'g', 12, 64) // 0, not -0
}

// actions returns the actions of a plan by their names in scripts: the ID, after the uses of subtrees if it is not
// unique.
func actions(p *plan.Plan, document string) map[bt.Task]string {
	uses := []string{""}
	for range 3 {
		for _, use := range useNames.FindAllStringSubmatch(document, -1) {
			for _, before := range slices.Clone(uses) {
				if !strings.Contains(before, use[1]) {
					uses = append(uses, before+use[1]+"/")
				}
			}
		}
	}
	names := map[bt.Task]string{}
	for _, task := range p.Tree.Leaves() {
		id := p.Label(task)
		for _, path := range uses {
			if found := p.Tree.Resolve(path + id); ownLeaf.MatchString(id) && len(found) == 1 && found[0] == task {
				if names[task] == "" || names[task] != id && len(path) > len(names[task]) {
					names[task] = path + id
				}
			}
		}
	}
	return names
}
