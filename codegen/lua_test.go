package codegen

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
)

// lua returns the interpreter: lua5.3, or the one that CANOPY_LUA names, as one with numbers of 32 bits.
func lua(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("CANOPY_LUA"); path != "" {
		return path
	}
	path, err := exec.LookPath("lua5.3")
	if err != nil {
		t.Skip("lua5.3 is not installed")
	}
	return path
}

// luaDriver returns the command that runs trees in Lua.
func luaDriver(t *testing.T) []string {
	t.Helper()
	interpreter := lua(t)
	text := luaTree
	for _, name := range []string{"count", "driver"} {
		part, err := os.ReadFile("testdata/" + name + ".lua")
		if err != nil {
			t.Fatal(err)
		}
		text += string(part)
	}
	file := filepath.Join(t.TempDir(), "driver.lua")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{interpreter, file}
}

// short reports whether an interpreter has numbers of 32 bits.
func short(t *testing.T, interpreter string) bool {
	out, err := exec.Command(interpreter, "-e", "print(math.maxinteger)").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out)) == "2147483647"
}

var languageLua = &language{"Lua", func(in *bytes.Buffer, tree *bt.Tree) {
	w := newWriter("", "", tree, tree.Name)
	text := "local none = {}\n" + (&luaPrinter{names: w.keys()}).tree(w) + "return tree\n"
	fmt.Fprintf(in, "tree %d\n%s", strings.Count(text, "\n"), text)
}}

// TestRandomTreesInLua: so does the program in Lua.
func TestRandomTreesInLua(t *testing.T) {
	driver := luaDriver(t)
	for seed := range uint64(trees.Count(20_000, 1_000)) / 100 {
		s := script{language: languageLua}
		for k := range uint64(100) {
			s.random(t, 100*seed+k)
		}
		s.run(t, driver...)
	}
}

// TestInstructionsOfTrees: docs/deploy-lua.md has how many instructions it takes to settle random trees of 100 tasks after
// random inputs, with the hooks of this test.
func TestInstructionsOfTrees(t *testing.T) {
	driver := luaDriver(t)
	page, err := os.ReadFile("../docs/deploy-lua.md")
	if err != nil {
		t.Fatal(err)
	}
	var counts []int
	for seed := range uint64(100) {
		s := script{language: languageLua}
		r := rand.New(rand.NewPCG(53, seed))
		tree := trees.Compile(t, trees.Random(r, 100))
		s.tree(tree)
		s.play(r, tree)
		c := exec.Command(driver[0], driver[1], "count")
		c.Stdin = &s.in
		var most bytes.Buffer
		c.Stderr = &most
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
		n, err := strconv.Atoi(strings.TrimSpace(most.String()))
		if err != nil {
			t.Fatal(err)
		}
		counts = append(counts, n)
	}
	slices.Sort(counts)
	text := fmt.Sprintf("half of 100 random trees with about 100 tasks need at most %d instructions, all at most %d", counts[50], counts[99])
	if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), text) {
		t.Errorf("docs/deploy-lua.md lacks the words: %s", text)
	}
}
