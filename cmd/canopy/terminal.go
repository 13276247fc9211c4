package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/report"

	"golang.org/x/term"
)

// printJSON prints a value for other programs.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false) // properties have arrows
	return e.Encode(v)
}

// show prints the result of a command: a value for other programs, or a text for a reader.
func show(w io.Writer, asJSON bool, value any, text func(io.Writer) error) error {
	if asJSON {
		return failed(printJSON(w, value))
	}
	return failed(text(w))
}

// writeText writes a text to a file, or to standard output if none is named.
func writeText(stdout io.Writer, file, text string) error {
	if file == "" {
		_, err := io.WriteString(stdout, text)
		return failed(err)
	}
	return failed(files.Save(file, []byte(text)))
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
	w     *os.File  // nil: no terminal, nothing is shown
	to    io.Writer // what writes to it
	until float64
	began time.Time
	shown time.Time
}

func newProgress(w io.Writer, until float64) *progress {
	p := &progress{until: until, began: time.Now()}
	if isTerminal(w) {
		p.w, _ = w.(*os.File)
		p.to = w
	}
	return p
}

// aside writes beside the loop of a flight: a terminal that takes nothing, as after Ctrl-S, does not stop the loop.
type aside struct {
	texts chan []byte
	done  chan struct{}
}

func newAside(w io.Writer) *aside {
	a := &aside{make(chan []byte, 1000), make(chan struct{})}
	go func() {
		defer close(a.done)
		for text := range a.texts {
			_, _ = w.Write(text) // the log has it
		}
	}()
	return a
}

// Write implements [io.Writer]. What finds no place is not shown.
func (a *aside) Write(text []byte) (int, error) {
	select {
	case a.texts <- bytes.Clone(text):
	default:
	}
	return len(text), nil
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
	fmt.Fprintf(p.to, "\r%s%s %s\x1b[K", strings.Repeat("█", done), strings.Repeat("░", width-done), text)
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
		fmt.Fprintf(p.to, "\r%3.0f %%  %s\x1b[K", 100*done/p.until, what)
	}
}

// clear removes the line.
func (p *progress) clear() {
	if p.w != nil {
		fmt.Fprint(p.to, "\r\x1b[K")
	}
}
