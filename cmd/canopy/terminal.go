package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"canopy/run/report"

	"golang.org/x/term"
)

// printJSON prints a value for other programs.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// isTerminal reports whether w is a terminal that interprets escape sequences.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd())) && os.Getenv("TERM") != "dumb"
}

// colour reports whether to print in colours: on a terminal, unless NO_COLOR is set (https://no-color.org).
func colour(w io.Writer) bool { return isTerminal(w) && os.Getenv("NO_COLOR") == "" }

// columns returns the width of a terminal, at most the given one; 0: w is none.
func columns(w io.Writer, most int) int {
	if !isTerminal(w) {
		return 0
	}
	n, _, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil || n <= 0 {
		return most
	}
	return min(n, most)
}

// progress is a line on a terminal that shows the progress of a run.
type progress struct {
	w     *os.File // nil: no terminal, nothing is shown
	until float64
	began time.Time
	shown time.Time
}

func newProgress(w io.Writer, until float64) *progress {
	p := &progress{until: until, began: time.Now()}
	if isTerminal(w) {
		p.w, _ = w.(*os.File)
	}
	return p
}

// show redraws the line, at most ten times a second.
func (p *progress) show(t float64, events func() int) {
	now, due := p.due()
	if !due {
		return
	}
	speed := t / now.Sub(p.began).Seconds()
	text := fmt.Sprintf("%s of %s  %d events  %.0f x real time", report.Clock(t), report.Clock(p.until), events(),
		speed)
	columns, _, err := term.GetSize(int(p.w.Fd()))
	if err != nil {
		columns = 80
	}
	width := max(0, min(30, columns-len(text)-3)) // the rest of the line, which must not wrap
	done := min(width, int(float64(width)*t/p.until))
	fmt.Fprintf(p.w, "\r%s%s %s\x1b[K", strings.Repeat("█", done), strings.Repeat("░", width-done), text)
}

// due reports whether to redraw the line, and the time.
func (p *progress) due() (now time.Time, due bool) {
	if p.w == nil {
		return now, false
	}
	if now = time.Now(); now.Sub(p.shown) < 100*time.Millisecond {
		return now, false
	}
	p.shown = now
	return now, true
}

// step shows the progress of work that is counted, not timed, at most ten times a second.
func (p *progress) step(done float64, what string) {
	if _, due := p.due(); due {
		fmt.Fprintf(p.w, "\r%3.0f %%  %s\x1b[K", 100*done/p.until, what)
	}
}

// clear removes the line.
func (p *progress) clear() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
