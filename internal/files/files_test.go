package files

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A batch that fails, at whichever change, leaves every file as it was.
func TestBatchFails(t *testing.T) {
	for fails := range 4 {
		dir := t.TempDir()
		path := func(name string) string { return filepath.Join(dir, name) }
		for _, name := range []string{"a", "b", "c"} {
			if err := os.WriteFile(path(name), []byte("old "+name), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var b Batch
		err := b.Remove(path("a"))
		for _, name := range []string{"b", "c", "new"} {
			f, e := b.Create(path(name))
			err = errors.Join(err, e)
			_, e = f.Write([]byte("new " + name))
			err = errors.Join(err, e)
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(b.changes[fails].path); err != nil { // in the way of the change: a folder with a file
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(b.changes[fails].path, "x"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Join(b.changes[fails].path+".old", "x"), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := b.Commit(); err == nil {
			t.Fatalf("change %d: no error", fails)
		}
		b.Cancel()
		for i, name := range []string{"a", "b", "c"} {
			if got := ""; i != fails {
				if got = read(t, path(name)); got != "old "+name {
					t.Errorf("change %d fails: %s holds %q", fails, name, got)
				}
			}
		}
		if list, err := filepath.Glob(path("*.part")); err != nil || len(list) > 0 {
			t.Errorf("left: %v, %v", list, err)
		}
	}
}

// After a batch the new files have their names and can be written to, and no other files are left.
func TestBatch(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.WriteFile(path("gone"), nil, 0o666), os.WriteFile(path("target"), nil, 0o600),
		os.Symlink("target", path("link"))); err != nil {
		t.Fatal(err)
	}
	var b Batch
	if err := errors.Join(b.Remove(path("gone")), b.Remove(path("never"))); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"link", "new"} {
		f, err := b.Create(path(name))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			_, e1 := f.Write([]byte(" after"))
			if err := errors.Join(e1, f.Close()); err != nil || read(t, path(name)) != "before after" {
				t.Errorf("%s: %q, %v", name, read(t, path(name)), err)
			}
		}()
		if _, err := f.Write([]byte("before")); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 3 {
		t.Errorf("the folder has %v, %v", list, err)
	}
	if info, err := os.Stat(path("target")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the permissions are %v, %v", info.Mode(), err)
	}
	if info, err := os.Lstat(path("link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Error("the link was replaced:", err)
	}
}
