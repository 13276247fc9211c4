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
		"tick 1 s, conventional          100      100\n",
		"tick 1 s                          0        1\n",
		"continuous                        0        1\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "chattering.svg")); err != nil || !bytes.Contains(text, []byte("<svg")) {
		t.Error("no picture", err)
	}
}
