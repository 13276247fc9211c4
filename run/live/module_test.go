package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// page returns docs/go.md, and the folder of the repository.
func page(t *testing.T) (text, root string) {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, "docs", "go.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), root
}

// call runs a command without network and outside of any workspace, and returns its output.
func call(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=readonly", "GOWORK=")
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// smallest is the first example as a program.
const smallest = `package main

import (
	"context"
	"fmt"

	"github.com/canopy-uav/canopy/run/live"
)

func main() {
	x := live.New("greet.xml", "<root BTCPP_format=\"4\"><BehaviorTree ID=\"main\"><greet/></BehaviorTree></root>")
	x.Action("greet", live.Action{Start: func(a live.Activation) {
		fmt.Println("Hello!")
		a.Succeed()
	}})
	fmt.Println(x.Run(context.Background()))
}
`

// TestOutsideModule builds and runs a program in a module of its own, offline, as docs/go.md describes: with a
// replacement, and in a workspace.
func TestOutsideModule(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: builds two programs")
	}
	text, root := page(t)
	mod := regexp.MustCompile("(?s)```\n(module .*?)```").FindStringSubmatch(text)
	if mod == nil || !strings.Contains(mod[1], "replace github.com/canopy-uav/canopy => ../canopy\n") {
		t.Fatal("docs/go.md has no go.mod")
	}
	const want = "Hello!\n<nil>\n"
	dir := t.TempDir()
	write(t, dir, map[string]string{"main.go": smallest, "go.mod": strings.Replace(mod[1], "../canopy", root, 1)})
	if got := call(t, dir, "go", "run", "."); got != want {
		t.Errorf("with a replacement: %q", got)
	}
	if !strings.Contains(text, "`go work init . ../canopy`") {
		t.Error("docs/go.md has no workspace")
	}
	dir = t.TempDir()
	write(t, dir, map[string]string{"main.go": smallest, "go.mod": "module example.org/drone\n\ngo 1.26.0\n"})
	call(t, dir, "go", "work", "init", ".", root)
	if got := call(t, dir, "go", "run", "."); got != want {
		t.Errorf("in a workspace: %q", got)
	}
}

// TestExamples: there is each example that docs/go.md names.
func TestExamples(t *testing.T) {
	text, _ := page(t)
	files, err := filepath.Glob("example*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(b)
	}
	named := regexp.MustCompile("`(Example\\w*)`").FindAllStringSubmatch(text, -1)
	for _, m := range named {
		if !strings.Contains(all.String(), "func "+m[1]+"() {") {
			t.Errorf("there is no %s", m[1])
		}
	}
	if len(named) < 2 {
		t.Error("docs/go.md names few examples")
	}
}
