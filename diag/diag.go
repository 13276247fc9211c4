// Package diag holds what an author wrote wrongly as a list of diagnostics: where, how bad, what is wrong and what to
// write instead. Plans, missions and scripts report their mistakes with it, all at once.
package diag

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Severity says whether a diagnostic stops the work.
type Severity uint8

// The severities. The zero value is Error.
const (
	Error Severity = iota
	Warning
)

func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Source is one input file, kept to show the offending line.
type Source struct {
	Name string // as the user named it
	Text string
}

// Diagnostic is one finding about the bytes [Offset, Offset+Length) of a source.
type Diagnostic struct {
	Source   *Source
	Offset   int
	Length   int // 0 marks a single column
	Severity Severity
	Code     string // stable, e.g. "unknown-signal"
	Text     string // what is wrong
	Hint     string // what to write instead; may be empty
}

// Position returns the 1-based line and column, the column counted in characters.
func (d Diagnostic) Position() (line, column int) {
	head := d.Source.Text[:min(max(d.Offset, 0), len(d.Source.Text))]
	start := strings.LastIndexByte(head, '\n') + 1
	return strings.Count(head, "\n") + 1, utf8.RuneCountInString(head[start:]) + 1
}

// Line returns the whole source line that the diagnostic starts on.
func (d Diagnostic) Line() string {
	text, at := d.Source.Text, min(max(d.Offset, 0), len(d.Source.Text))
	start := strings.LastIndexByte(text[:at], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
		end = at + n
	}
	return strings.TrimSuffix(text[start:end], "\r")
}

func (d Diagnostic) String() string {
	line, column := d.Position()
	return fmt.Sprintf("%s:%d:%d: %s: %s [%s]", d.Source.Name, line, column, d.Severity, d.Text, d.Code)
}

// List is a set of diagnostics; as an error it stands for all of them.
type List []Diagnostic

func (l List) Error() string {
	var b strings.Builder
	l.Write(&b, false)
	return strings.TrimSuffix(b.String(), "\n")
}

// HasErrors reports whether one of the diagnostics is an error.
func (l List) HasErrors() bool {
	return slices.ContainsFunc(l, func(d Diagnostic) bool { return d.Severity == Error })
}

// Err returns the list as an error if it holds one, else nil.
func (l List) Err() error {
	if l.HasErrors() {
		return l
	}
	return nil
}

// Sorted returns the list in the order of the sources' names, then of position.
func (l List) Sorted() List {
	s := slices.Clone(l)
	slices.SortStableFunc(s, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Source.Name, b.Source.Name), cmp.Compare(a.Offset, b.Offset))
	})
	return s
}

// Terminal escape sequences for coloured output.
const (
	red, yellow, cyan, reset = "\x1b[31;1m", "\x1b[33;1m", "\x1b[36m", "\x1b[0m"
)

// Write prints each diagnostic with its line, a caret below the place, and the hint.
func (l List) Write(w io.Writer, colour bool) {
	paint := func(escape, s string) string {
		if !colour {
			return s
		}
		return escape + s + reset
	}
	for _, d := range l.Sorted() {
		line, column := d.Position()
		mark := red
		if d.Severity == Warning {
			mark = yellow
		}
		severity := paint(mark, d.Severity.String())
		fmt.Fprintf(w, "%s:%d:%d: %s: %s [%s]\n", d.Source.Name, line, column, severity, d.Text, d.Code)
		if text := d.Line(); text != "" {
			from := byteColumn(text, column)
			width := max(1, utf8.RuneCountInString(text[from:min(len(text), from+d.Length)]))
			gutter := fmt.Sprintf("%5d | ", line)
			fmt.Fprintf(w, "%s%s\n", gutter, text)
			below := strings.Repeat(" ", len(gutter)-2) + "| " + indent(text, column)
			fmt.Fprintf(w, "%s%s\n", below, paint(mark, "^"+strings.Repeat("~", width-1)))
		}
		if d.Hint != "" {
			fmt.Fprintf(w, "%s%s\n", paint(cyan, "  hint: "), d.Hint)
		}
	}
}

// byteColumn returns the byte index of the 1-based character column.
func byteColumn(line string, column int) int {
	n := 1
	for i := range line {
		if n == column {
			return i
		}
		n++
	}
	return len(line)
}

// indent returns the blank text before a column, with the line's own tabs so that the caret stands below its place.
func indent(line string, column int) string {
	head := line[:byteColumn(line, column)]
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, head)
}

// Nearest returns the candidate that is most like word, or "" if none is near: at most a third of the letters wrong,
// in a short word one, a swap of neighbours counted once (Damerau 1964, restricted edit distance), letter case not
// counted.
func Nearest(word string, candidates []string) string {
	best, least := "", max(min(1, len(word)-1), len(word)/3)+1
	for _, c := range candidates {
		if d := distance(strings.ToLower(word), strings.ToLower(c)); d < least {
			best, least = c, d
		}
	}
	return best
}

// DidYouMean returns the hint for an unknown word, or "" if nothing is near.
func DidYouMean(word string, candidates []string) string {
	if n := Nearest(word, candidates); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

func distance(a, b string) int {
	if a == b {
		return 0
	}
	before, last, now := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		now[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(b)]
}
