package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
)

// testPeer returns a peer whose program is removed at the end of the test.
func testPeer(t *testing.T) *peer {
	c := newPeer()
	t.Cleanup(func() {
		if err := c.close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// The C program has the problems of the Go list whose events change nothing, by the same names.
func TestPeerHasTheSameProblems(t *testing.T) {
	var got, want []string
	for _, name := range regexp.MustCompile(`\{"([^"]+)", `).FindAllStringSubmatch(source, -1) {
		got = append(got, name[1])
	}
	for _, p := range problems.All() {
		if solves(p) {
			want = append(want, p.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the C program solves\n%v, want\n%v", got, want)
	}
}

// Where CVODE is installed, its errors show that both programs solve the same equations; those of 6.4.1 are the stored
// numbers.
func TestPeerSolvesTheSameEquations(t *testing.T) {
	c := testPeer(t)
	for _, p := range problems.All() {
		if !solves(p) {
			continue
		}
		rtol := 1e-8
		if p.CVODE != nil {
			rtol = 1e-4 // millions of steps at tighter tolerances
		}
		r := &result{RelTol: rtol}
		if err := r.compare(c, p); err != nil {
			t.Fatal(err)
		}
		if c.missing != "" {
			t.Skip("CVODE is not installed: ", c.missing)
		}
		if r.CVODEStopped || r.CVODEStored || r.CVODEError == nil || *r.CVODEError > 20*rtol*p.Growth {
			t.Errorf("%s: %+v", p.Name, r)
		} else {
			t.Logf("%s: %d evaluations, error of %.3g tolerances", p.Name, r.CVODE, *r.CVODEError/rtol)
		}
		if n := p.CVODE[rtol]; c.version == "6.4.1" && n > 0 && n != r.CVODE {
			t.Errorf("%s: %d evaluations, stored %d", p.Name, r.CVODE, n)
		}
	}
	if note := c.note(); !strings.HasPrefix(note, "CVODE "+c.version+", measured here") {
		t.Error(note)
	}
}

// Where it is not, the numbers are stored ones, and marked.
func TestPeerThatIsMissing(t *testing.T) {
	c := testPeer(t)
	c.compile = func(string) string { return "cc: not found" }
	r := &result{RelTol: 1e-6}
	if err := r.compare(c, problems.Oscillating()[0]); err != nil {
		t.Fatal(err)
	}
	if r.CVODE != 3496530 || !r.CVODEStored || r.CVODEStopped || r.CVODEError != nil {
		t.Errorf("%+v", r)
	}
	if note := c.note(); note != "CVODE: stored evaluations of 6.4.1, not measured here: cc: not found\n" {
		t.Error(note)
	}
}
