package script

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/internal/trees"
)

// scriptTree has names with blanks, paths and each kind of leaf.
const scriptTree = `ReactiveFallback root
  ReactiveSequence s
    Condition c
    Action a
  ReactiveSequence t
    Condition c
    Action fly home
`

func compiledOutline(t testing.TB, text string) *bt.Tree {
	root, err := trees.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return trees.Compile(t, root)
}

// printTree runs a script on a tree without a blackboard.
func printTree(tree *bt.Tree, src *diag.Source, w io.Writer) error {
	return Print(&plan.Plan{Tree: tree}, src, nil, w)
}

// FuzzPrint checks that a script is either run or refused, that what is refused writes nothing and has its place in the
// script, and that the log follows the status cycle. Golden scripts are seeds as well.
func FuzzPrint(f *testing.F) {
	f.Add("set root/s/c true; end a success # comment\n\nslow fly home entry exit\nentered fly home;exited fly home\n")
	files, err := filepath.Glob("../../bt/testdata/trace*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	tree := compiledOutline(f, scriptTree)
	f.Fuzz(func(t *testing.T, text string) {
		var out strings.Builder
		src := &diag.Source{Name: "script", Text: text}
		err := printTree(tree, src, &out)
		var list diag.List
		if errors.As(err, &list) {
			if out.Len() > 0 {
				t.Errorf("wrote %q", out.String())
			}
			for _, d := range list {
				if d.Offset < 0 || d.Offset+d.Length > len(text) || strings.ContainsAny(text[d.Offset:d.Offset+d.Length], "\n;") {
					t.Errorf("%v stands at %d+%d", d, d.Offset, d.Length)
				}
			}
			_ = list.Error()
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		statuses := map[string]string{}
		for line := range strings.Lines(out.String()) {
			name, step, _ := strings.Cut(strings.TrimSpace(line[strings.IndexByte(line, ' '):]), ": ")
			from, to, _ := strings.Cut(step, " -> ")
			if last, ok := statuses[name]; ok && last != from {
				t.Errorf("%s was %s: %s", name, last, line)
			}
			statuses[name] = to
		}
	})
}

// failing is a writer that fails.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestTraceWriteFails(t *testing.T) {
	err := printTree(compiledOutline(t, scriptTree), &diag.Source{Text: "set root/s/c true"}, failing{})
	if !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

// TestTraceLoop cuts instants short, as no tree is known that does not settle: the log so far is written, and the error
// tells the line.
func TestTraceLoop(t *testing.T) {
	tree := compiledOutline(t, "ReactiveSequence r\n  Condition c\n  Action a\n")
	src := &diag.Source{Name: "x.txt", Text: "# comment\n\nset c true\nset c false\n"}
	_, script := (&parser{tree: tree, src: src}).lines()
	var out strings.Builder
	first := &stage{plan: &plan.Plan{Tree: tree}, actor: stubs{bt.NewEngine(tree, nil, 1)}}
	err := replay(first, src, script, log(&out), nil)
	if text := fmt.Sprint(err); !errors.Is(err, bt.ErrLoop) || !strings.HasPrefix(text, "x.txt:3: ") ||
		!strings.HasSuffix(text, "c, r") {
		t.Error(err)
	}
	if want := "1 c: Failure -> Success\n1 r: Failure -> Accept\n"; out.String() != want {
		t.Errorf("log %q, want %q", out.String(), want)
	}
}

// A script may begin with a byte order mark, which is no part of its first word, and end its lines as Windows does.
func TestTraceByteOrderMark(t *testing.T) {
	tree := compiledOutline(t, "Condition c\n")
	var out strings.Builder
	if err := printTree(tree, &diag.Source{Text: "\ufeffset c true\r\nset c false\r\n"}, &out); err != nil {
		t.Fatal(err)
	}
	if want := "1 c: Failure -> Success\n2 c: Success -> Failure\n"; out.String() != want {
		t.Errorf("log %q, want %q", out.String(), want)
	}
	err := printTree(tree, &diag.Source{Name: "x", Text: "\ufeffset d true\r\nsett c\r\n"}, &out)
	if text := fmt.Sprint(err); !strings.HasPrefix(text, "x:1:5: ") || !strings.Contains(text, "\nx:2:1: ") {
		t.Error(text)
	}
}

// Names is right about each name: a line of a script finds the leaf.
func TestNames(t *testing.T) {
	for _, name := range []string{"c", "two words", "two  blanks", "set true", "entry", "äöü/x", "", " a", "a ", "a;b", "a#b", "#", "a\nb"} {
		root := &bt.Node{Kind: bt.Inverter, Children: []*bt.Node{{Kind: bt.Condition, Name: name}}}
		tree := trees.Compile(t, root)
		leaf := tree.Leaves()[0]
		var out strings.Builder
		err := printTree(tree, &diag.Source{Name: "script", Text: "set " + tree.Name(leaf) + " true\n"}, &out)
		found := err == nil && strings.Contains(out.String(), "1 "+tree.Name(leaf)+": Failure -> Success\n")
		if found != Names(tree, leaf) {
			t.Errorf("%q: scriptable %t, but %v, %s", name, Names(tree, leaf), err, out.String())
		}
	}
}
