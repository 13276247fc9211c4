package codegen

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/internal/trees"
)

// lua returns the interpreter.
func lua(t *testing.T) string {
	t.Helper()
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
	driver, err := os.ReadFile("testdata/driver.lua")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "driver.lua")
	if err := os.WriteFile(file, []byte(luaTree+string(driver)), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{interpreter, file}
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
