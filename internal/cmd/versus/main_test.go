package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func TestExecute(t *testing.T) {
	self := os.Args[0] + " -test.run=^$"
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{[]string{"-rounds", "3", self, self + " -test.v"}, 0, "-test.v\n"},
		{[]string{"-rounds", "1", self + " -no-such-flag"}, 1, "exit status 2"},
		{[]string{"-rounds", "1", " "}, 1, "no program"},
		{nil, 2, "versus"},
		{[]string{"-h"}, 0, "versus"},
	} {
		var out bytes.Buffer
		if status := execute(c.args, &out, &out); status != c.status || !strings.Contains(out.String(), c.want) {
			t.Errorf("%q: status %d, want %d:\n%s", c.args, status, c.status, out.String())
		}
	}
}
