package main

import (
	_ "embed" // the program
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/canopy-uav/canopy/internal/problems"
)

// source is a C program that solves a problem with CVODE.
//
//go:embed cvode/cvode.c
var source string

// libraries are those of SUNDIALS that the program needs.
const libraries = "-lsundials_cvode -lsundials_nvecserial -lsundials_sunmatrixdense " +
	"-lsundials_sunlinsoldense -lm"

// patience is the largest number of steps of CVODE: some of the oscillating problems take three million and more.
const patience = 300_000

// peer runs CVODE where it is installed. It compiles the program for the first problem.
type peer struct {
	folder  string                      // of the compiled program, "" before and where there is none
	version string                      // of CVODE, once it has run
	missing string                      // why stored numbers take its place
	solved  map[string]peerResult       // by problem and tolerance
	compile func(program string) string // returns why it cannot
}

// peerResult is what CVODE needs for a problem, and its error.
type peerResult struct {
	evaluations int
	complete    bool // false: stopped after patience steps
	stored      bool
	y           []float64
}

func newPeer() *peer { return &peer{solved: map[string]peerResult{}, compile: compile} }

// compile compiles the C program to this file, or returns the first line of the compiler's message.
func compile(program string) string {
	args := append([]string{"-x", "c", "-O2", "-o", program, "-"}, strings.Fields(libraries)...)
	cc := exec.Command("cc", args...)
	cc.Stdin = strings.NewReader(source)
	if out, err := cc.CombinedOutput(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(fmt.Sprint(string(out), "\n", err)), "\n")
		return first
	}
	return ""
}

// close removes the compiled program.
func (c *peer) close() error { return os.RemoveAll(c.folder) }

// solves reports whether the C program has the problem: it has no reactions to events.
func solves(p *problems.Problem) bool { return p.React == nil }

// solve returns CVODE's evaluations and error for a problem: measured where it is installed, otherwise stored ones.
func (c *peer) solve(p *problems.Problem, rtol float64) (peerResult, error) {
	if !solves(p) {
		return peerResult{}, nil
	}
	if c.folder == "" && c.missing == "" {
		folder, err := os.MkdirTemp("", "cvode")
		if err != nil {
			return peerResult{}, err
		}
		c.folder = folder
		c.missing = c.compile(filepath.Join(folder, "cvode"))
	}
	if c.missing != "" {
		n := p.CVODE[rtol]
		return peerResult{evaluations: n, complete: n > 0, stored: n > 0}, nil
	}
	key := fmt.Sprint(p.Name, " ", rtol)
	r, done := c.solved[key]
	if done {
		return r, nil
	}
	atol := p.AbsTol(rtol)
	var in, out, message strings.Builder
	fmt.Fprintln(&in, p.Name, map[bool]int{true: 1}[p.Stiff], patience, rtol, p.End, len(p.Y0))
	for _, y := range p.Y0 {
		fmt.Fprintln(&in, y)
	}
	for i := range p.Y0 {
		fmt.Fprintln(&in, atol[i%len(atol)])
	}
	program := exec.Command(filepath.Join(c.folder, "cvode"))
	program.Stdin, program.Stdout, program.Stderr = strings.NewReader(in.String()), &out, &message
	if err := program.Run(); err != nil {
		return r, fmt.Errorf("CVODE: %w: %s", err, message.String())
	}
	from := strings.NewReader(out.String())
	var complete, steps int
	if _, err := fmt.Fscan(from, &c.version, &complete, &steps, &r.evaluations); err != nil {
		return r, fmt.Errorf("CVODE: %w", err)
	}
	r.complete, r.y = complete == 1, make([]float64, len(p.Y0))
	for i := range r.y {
		if _, err := fmt.Fscan(from, &r.y[i]); err != nil {
			return r, fmt.Errorf("CVODE: %w", err)
		}
	}
	c.solved[key] = r
	return r, nil
}

// note returns the line below the table: where the numbers of CVODE come from. It is empty if there are none.
func (c *peer) note() string {
	switch {
	case c.version != "":
		return fmt.Sprintf("CVODE %s, measured here; >: stopped after %d steps\n", c.version, patience)
	case c.missing != "":
		return fmt.Sprintf("CVODE: stored evaluations of 6.4.1, not measured here: %s\n", c.missing)
	}
	return ""
}
