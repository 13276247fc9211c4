package main

import (
	"os"
	"path/filepath"
)

// save writes a file that the user named, and the folder it is to be in. A file is written whole or not at all: an
// earlier one stays until the new one is complete. What is no file but a device, a pipe or a link is written to.
func save(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, data, 0o666)
	}
	part := name + ".part"
	err := os.WriteFile(part, data, 0o666)
	if err == nil {
		err = os.Rename(part, name)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return err
}
