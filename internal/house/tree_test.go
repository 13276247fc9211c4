package house

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// file is one text file of the repository.
type file struct {
	path string // from the repository's root, with slashes
	text string
}

// foreign are the files that others wrote, which the rules about our own text leave out.
var foreign = []string{"LICENSE", "go.sum"}

// readTree returns every text file of the repository whose name ends in one of the suffixes (none: every name), in the
// order of their paths. It walks the tree instead of asking git, so that it also works on an unpacked archive; what
// .gitignore names is left out.
func readTree(t *testing.T, suffixes ...string) []file {
	t.Helper()
	root := filepath.Join("..", "..")
	ignore, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	ignored := strings.Fields(string(ignore))
	var files []file
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if entry.IsDir() {
			if rel == ".git" || isIgnored(rel+"/", ignored) {
				return fs.SkipDir
			}
			return nil
		}
		if rel == ".git" { // a file in a linked work tree
			return nil
		}
		if isIgnored(rel, ignored) || !hasSuffix(rel, suffixes) {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) < 0 {
			files = append(files, file{rel, string(text)})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatalf("no file with one of the endings %v", suffixes)
	}
	return files
}

// readFile returns the text of one file of the repository.
func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// exists reports whether the repository has a file or folder of this name.
func exists(name string) bool {
	_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(name)))
	return err == nil
}

// isIgnored supports the three patterns of our .gitignore: "*.ext", "folder/" anywhere and "/folder/" at the root.
func isIgnored(name string, patterns []string) bool {
	for _, p := range patterns {
		rooted, isRooted := strings.CutPrefix(p, "/")
		switch {
		case isRooted:
			if name == rooted {
				return true
			}
		case strings.HasSuffix(p, "/"):
			if strings.HasSuffix("/"+name, "/"+p) {
				return true
			}
		default:
			if ok, err := path.Match(p, path.Base(name)); err == nil && ok {
				return true
			}
		}
	}
	return false
}

func hasSuffix(name string, suffixes []string) bool {
	for _, s := range suffixes {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return len(suffixes) == 0
}

func isForeign(name string) bool { return slices.Contains(foreign, path.Base(name)) }

// lineOf returns the 1-based line of a byte offset.
func lineOf(text string, offset int) int {
	return strings.Count(text[:offset], "\n") + 1
}
