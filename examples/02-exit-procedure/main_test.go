package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	dir := t.TempDir()
	t.Chdir("../..")
	var b bytes.Buffer
	if err := draw(&b, dir); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"with the exit procedure    250.0 m at 600 s\n",
		"without                   1334.7 m at 600 s\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "trajectories.svg")); err != nil || !bytes.Contains(text, []byte("<svg")) {
		t.Error("no picture", err)
	}
}
