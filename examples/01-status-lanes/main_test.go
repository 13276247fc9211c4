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
		"altitude ok         100.1 s\n",
		"waypoint reached    119.4 s   157.3 s   245.9 s   283.9 s\n",
		"advance failed      283.9 s\n",
		"reset               283.9 s\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "lanes.svg")); err != nil || !bytes.Contains(text, []byte("<svg")) {
		t.Error("no picture", err)
	}
}
