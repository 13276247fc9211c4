package main

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"canopy/diag"
)

// maxInput bounds what is read of a file that the user names [bytes]: a device or a pipe need not end.
const maxInput = 16 << 20

var errInput = errors.New("it is longer than 16 MiB, too long for a plan, mission or script")

// readFile reads a file that the user named, a device or a pipe as well, up to maxInput.
func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	text, err := io.ReadAll(io.LimitReader(f, maxInput+1))
	if err == nil && len(text) > maxInput {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errInput}
	}
	return text, err
}

// source reads a document that the user named.
func source(name string) (*diag.Source, error) {
	text, err := readFile(name)
	return &diag.Source{Name: name, Text: string(text)}, err
}
