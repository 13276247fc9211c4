// Package files replaces files as a whole: an earlier file stays until the new one is complete.
package files

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Save writes a file and creates its folder. A file is written whole or not at all: an earlier one stays until
// the new one is complete. A link is followed; a device or a pipe is written to.
func Save(name string, data []byte) error {
	return Write(name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Write is Save with a function that writes the file's content.
func Write(name string, content func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	var b Batch
	f, err := b.Create(name)
	if err != nil {
		return err
	}
	if err = content(f); err == nil {
		err = b.Commit()
	}
	if err != nil {
		b.Cancel()
		return err
	}
	return f.Close()
}

// ErrSpecial is wrapped by the error of a pipe or a device.
var ErrSpecial = errors.New("not a regular file")

// Open opens a file that exists, or a folder, with the flags of [os.OpenFile]. It fails for a pipe or a device: these
// can block, and need not end.
func Open(name string, flag int) (*os.File, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: ErrSpecial}
	}
	return os.OpenFile(name, flag, 0)
}

// Read reads a file of at most a number of bytes, and fails if it has more.
func Read(name string, most int64) ([]byte, error) {
	f, err := Open(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s: it has more than %d bytes", name, most)
	}
	return data, err
}

// Batch replaces and removes several files together: Commit makes all changes or none. Its zero value is empty. Until
// Commit, new files are written beside the old ones, under the name and ".part".
type Batch struct{ changes []change }

// change is the replacement or removal of one file.
type change struct {
	path   string // links followed
	file   *File  // the replacement; nil: the file is removed
	old    string // where the earlier file is during Commit; "" if there is none
	placed bool   // the new file has its name
}

// File is a file that is being written. Commit gives it its name; it can be written to before and after.
type File struct {
	file *os.File
	part string // its present path; "" if it has its name
	name string // links followed
}

// Write implements [io.Writer].
func (f *File) Write(data []byte) (int, error) { return f.file.Write(data) }

// ErrGone is wrapped by the error of a file that is no longer in its place.
var ErrGone = errors.New("it was removed or replaced while it was written: what was written is lost")

// There fails if the file, which has its name, is no longer in its place.
func (f *File) There() error {
	mine, err := f.file.Stat()
	if err != nil {
		return err
	}
	if there, err := os.Stat(f.name); err != nil || !os.SameFile(mine, there) {
		return fmt.Errorf("%s: %w", f.name, ErrGone)
	}
	return nil
}

// Close closes the file.
func (f *File) Close() error { return f.file.Close() }

// Create makes an empty file that replaces the named one at Commit, with the same permissions. It fails if the named
// one is a folder or is not writable. A device or a pipe is opened directly.
func (b *Batch) Create(name string) (*File, error) {
	path, err := filepath.EvalSymlinks(name)
	dangling := false
	if errors.Is(err, fs.ErrNotExist) {
		path = name
		_, e := os.Lstat(name)
		dangling, err = e == nil, nil
	}
	if err != nil {
		return nil, err
	}
	regular, err := writable(path)
	if err != nil {
		return nil, err
	}
	f := &File{name: path}
	if dangling || !regular {
		f.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o666)
	} else {
		f.part = path + ".part"
		f.file, err = os.Create(f.part)
		if info, e := os.Stat(path); err == nil && e == nil {
			err = f.file.Chmod(info.Mode().Perm())
		}
	}
	if err != nil {
		return nil, err
	}
	b.changes = append(b.changes, change{path: path, file: f})
	return f, nil
}

// Remove registers a file for removal at Commit, if it exists. It fails if the file is a folder or is not writable.
func (b *Batch) Remove(name string) error {
	if info, err := os.Lstat(name); err != nil || info.Mode()&fs.ModeSymlink == 0 { // a link is removed, not its target
		if _, err := writable(name); err != nil {
			return err
		}
	}
	b.changes = append(b.changes, change{path: name})
	return nil
}

// writable fails if the name exists and is not writable, and reports whether it is a regular file or does not exist.
func writable(path string) (regular bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular() && !info.IsDir():
		return false, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// Commit puts the new files in their places. If it fails, the earlier files are unchanged.
func (b *Batch) Commit() error {
	for i := range b.changes {
		if err := b.changes[i].do(i == len(b.changes)-1); err != nil {
			for _, c := range slices.Backward(b.changes[:i+1]) {
				err = errors.Join(err, c.undo())
			}
			return err
		}
	}
	for _, c := range b.changes {
		if c.old != "" {
			_ = os.Remove(c.old) // nothing can fail any more
		}
	}
	b.changes = nil
	return nil
}

// do makes a change. The earlier file is kept under another name, unless no later step can fail.
func (c *change) do(last bool) error {
	if c.file != nil && c.file.part == "" {
		return nil
	}
	if !last {
		if err := c.keep(); err != nil {
			return err
		}
	}
	if c.file == nil {
		if err := os.Remove(c.path); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	// Some systems do not rename a file that is open.
	if err := c.file.Close(); err != nil {
		return err
	}
	if err := os.Rename(c.file.part, c.path); err != nil {
		return err
	}
	c.file.part, c.placed = "", true
	var err error
	c.file.file, err = os.OpenFile(c.path, os.O_WRONLY|os.O_APPEND, 0)
	return err
}

// keep gives the earlier file, if there is one, another name; where hard links exist, an additional one, so that its
// place is never empty.
func (c *change) keep() error {
	old := c.path + ".old"
	if err := os.Remove(old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	err := os.Link(c.path, old)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = os.Rename(c.path, old)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err == nil {
		c.old = old
	}
	return err
}

func (c *change) undo() error {
	switch {
	case c.old != "":
		return os.Rename(c.old, c.path)
	case c.placed:
		return os.Remove(c.path)
	}
	return nil
}

// Cancel closes and removes the new files that do not have their names yet.
func (b *Batch) Cancel() {
	for _, c := range b.changes {
		if c.file == nil {
			continue
		}
		_ = c.file.Close()
		if c.file.part != "" {
			_ = os.Remove(c.file.part)
		}
	}
	b.changes = nil
}
