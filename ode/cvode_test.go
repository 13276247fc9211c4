package ode

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/internal/problems"
)

// cvodeSolves reports whether the C program has the problem: it has no reactions to events.
func cvodeSolves(p *problems.Problem) bool { return p.React == nil }

// The C program has the problems of the Go list whose events change nothing, by the same names.
func TestCVODEHasTheSameProblems(t *testing.T) {
	source, err := os.ReadFile("testdata/cvode.c")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, name := range regexp.MustCompile(`\{"([^"]+)", `).FindAllStringSubmatch(string(source), -1) {
		got = append(got, name[1])
	}
	for _, p := range problems.All() {
		if cvodeSolves(p) {
			want = append(want, p.Name)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("the C program solves\n%v, want\n%v", got, want)
	}
}

// Where CVODE is installed (SUNDIALS 6; on Debian: libsundials-dev), its errors show that both programs solve the same
// equations; the evaluations of 6.4.1 are the stored numbers.
func TestCVODESolvesTheSameEquations(t *testing.T) {
	program := filepath.Join(t.TempDir(), "cvode")
	out, err := exec.Command("cc", "-O2", "-o", program, "testdata/cvode.c", "-lsundials_cvode", "-lsundials_nvecserial",
		"-lsundials_sunmatrixdense", "-lsundials_sunlinsoldense", "-lm").CombinedOutput()
	if err != nil {
		t.Skipf("CVODE is not installed: %v\n%s", err, out)
	}
	for _, p := range problems.All() {
		if !cvodeSolves(p) {
			continue
		}
		rtol := 1e-8
		if p.CVODE != nil {
			rtol = 1e-4 // millions of steps at tighter tolerances
		}
		version, evaluations, y := solveWithCVODE(t, program, p, rtol)
		if e := p.Error(y); e > 20*rtol*p.Growth {
			t.Errorf("%s: error of %.3g tolerances", p.Name, e/rtol)
		} else {
			t.Logf("%s: %d evaluations, error of %.3g tolerances", p.Name, evaluations, e/rtol)
		}
		if n := p.CVODE[rtol]; version == "6.4.1" && n > 0 && n != evaluations {
			t.Errorf("%s: %d evaluations, stored %d", p.Name, evaluations, n)
		}
	}
}

// solveWithCVODE returns the version of CVODE, its evaluations, and the values at the end.
func solveWithCVODE(t *testing.T, program string, p *problems.Problem, rtol float64) (version string, n int, y []float64) {
	t.Helper()
	const patience = 300_000 // steps
	var in strings.Builder
	fmt.Fprintln(&in, p.Name, map[bool]int{true: 1}[p.Stiff], patience, rtol, p.End, len(p.Y0))
	atol := p.AbsTol(rtol)
	for _, v := range p.Y0 {
		fmt.Fprintln(&in, v)
	}
	for i := range p.Y0 {
		fmt.Fprintln(&in, atol[i%len(atol)])
	}
	c := exec.Command(program)
	c.Stdin = strings.NewReader(in.String())
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s: %v", p.Name, err)
	}
	from := strings.NewReader(string(out))
	var complete, steps int
	if _, err := fmt.Fscan(from, &version, &complete, &steps, &n); err != nil || complete != 1 {
		t.Fatalf("%s: %v, %s", p.Name, err, out)
	}
	y = make([]float64, len(p.Y0))
	for i := range y {
		if _, err := fmt.Fscan(from, &y[i]); err != nil {
			t.Fatalf("%s: %v, %s", p.Name, err, out)
		}
	}
	return version, n, y
}
