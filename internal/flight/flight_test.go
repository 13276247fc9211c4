package flight

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run"
)

// An edit that changes nothing is an error: otherwise a comparison would compare a plan with itself.
func TestEditMustApply(t *testing.T) {
	if _, err := Read("../../missions/circuit.yaml", "no such text", ""); err == nil ||
		!strings.Contains(err.Error(), "no such text") {
		t.Error(err)
	}
}

// A lane begins with the task's status before the first change that is shown.
func TestLanes(t *testing.T) {
	m, err := Read("../../missions/circuit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := Fly(m, run.Continuous{}, 130)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Instants("advance", bt.Finished); len(got) != 1 || f.Told != 130 {
		t.Errorf("advance finished at %v, the flight ended at %g s", got, f.Told)
	}
	picture := func(from, to float64) string {
		var b bytes.Buffer
		if err := writeSVG(&b, 100, 50, f.Lanes(from, to, "take_off")); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	const runningBlue, acceptGrey = "#0072B2", "#8A9099"
	for _, c := range []struct {
		from, to   float64
		blue, grey int // strokes and fills, without those of the key
	}{
		{10, 90, 1, 0}, {110, 130, 0, 1},
	} {
		svg, key := picture(c.from, c.to), picture(-2, -1)
		blue := strings.Count(svg, runningBlue) - strings.Count(key, runningBlue)
		grey := strings.Count(svg, acceptGrey) - strings.Count(key, acceptGrey)
		if blue != c.blue || grey != c.grey-1 { // before the start the lane is a grey line
			t.Errorf("%g to %g s: %d blue and %d grey, want %d and %d", c.from, c.to, blue, grey, c.blue, c.grey-1)
		}
	}
}

// full is a writer whose disk is full.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

// An example's exit status reports whether its numbers were printed and its pictures written.
func TestExecute(t *testing.T) {
	run := func(w io.Writer, dir string) error {
		fmt.Fprintln(w, "into", dir)
		if dir == "bad" {
			return errors.New("no picture")
		}
		return nil
	}
	for _, c := range []struct {
		args       string
		stdout     io.Writer
		status     int
		out, wrong string
	}{
		{"", nil, 0, "into " + filepath.Join("out", "x") + "\n", ""},
		{"--out a", nil, 0, "into a\n", ""},
		{"--out bad", nil, 1, "into bad\n", "no picture\n"},
		{"", full{}, 1, "", "no space left\n"},
		{"a b", nil, 2, "", "x takes no arguments; 2 given\n"},
	} {
		var out, wrong strings.Builder
		if c.stdout == nil {
			c.stdout = &out
		}
		status := execute("x", strings.Fields(c.args), c.stdout, &wrong, run)
		if status != c.status || out.String() != c.out || wrong.String() != c.wrong {
			t.Errorf("%s: status %d, %q, %q", c.args, status, out.String(), wrong.String())
		}
	}
	var wrong strings.Builder
	if status := execute("x", []string{"--foo"}, io.Discard, &wrong, run); status != 2 || !strings.Contains(wrong.String(), "-foo") {
		t.Errorf("an unknown flag: status %d, %s", status, wrong.String())
	}
}
