package diag

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOfFile: errors about files are in plain words, with the file's name, also within another error.
func TestOfFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, missing := os.ReadFile(filepath.Join(dir, "x"))
	_, folder := os.ReadFile(dir)
	_, below := os.ReadFile(filepath.Join(file, "x"))
	for want, err := range map[string]error{
		"cannot open " + dir + "/x: there is no such file":              missing,
		"cannot read " + dir + ": it is a folder":                       folder,
		"cannot open " + file + "/x: a part of the path is a file":      below,
		"cannot write " + file + ": it exists already":                  os.Mkdir(file, 0o700),
		"cannot write f: the disk is full":                              &fs.PathError{Op: "write", Path: "f", Err: syscall.ENOSPC},
		"the log: cannot read " + dir + ": it is a folder; try another": fmt.Errorf("the log: %w; try another", folder),
		"other": errors.New("other"),
	} {
		if got := OfFile(err); got != want {
			t.Errorf("%v: %s, want %s", err, got, want)
		}
	}
}
