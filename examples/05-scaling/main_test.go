package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNumbers(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if err := run(&b, dir); err != nil {
		t.Fatal(err)
	}
	lines := map[string]bool{}
	for line := range strings.Lines(b.String()) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	want := []string{"solar plan 14 4 10", "with a fuel cell 17 5 16"}
	for k := 1; k <= 8; k++ {
		want = append(want, fmt.Sprintf("sequence k= %d %d %d %d", k, k+1, k+2, k+1))
	}
	for k := 2; k <= 10; k++ {
		want = append(want, strings.Join(strings.Fields(fmt.Sprintf("priority list k=%2d %d %d %d", k, 3*k-1, k, k*(k-1))), " "))
	}
	for k := 1; k <= 6; k++ {
		want = append(want, fmt.Sprintf("parallel k= %d %d %d %d", k, 3*k+1, 1<<k, (1<<k)*(1<<k-1)))
	}
	for _, line := range want {
		if !lines[line] {
			t.Errorf("no %q in\n%s", line, &b)
		}
	}
	if text, err := os.ReadFile(filepath.Join(dir, "scaling.svg")); err != nil || !bytes.Contains(text, []byte("<svg")) {
		t.Error("no picture", err)
	}
}
