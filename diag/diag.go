// Package diag represents the errors in an input file as a list of diagnostics: location, severity, message and hint.
// Readers of plans, missions and scripts use it to report all errors at once.
package diag

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Severity is the severity of a diagnostic. An Error stops the work.
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
	Name  string // as the user named it
	Text  string
	parts []part // of an assembled text, in order; nil: the text is the file's
}

// Begin returns the offset of the text's first character, after the byte order mark that some editors write.
func (s *Source) Begin() int { return len(s.Text) - len(strings.TrimPrefix(s.Text, "\ufeff")) }

// Diagnostic is one finding about the bytes [Offset, Offset+Length) of a source.
type Diagnostic struct {
	Source   *Source
	Offset   int
	Length   int // 0 marks a single column
	Severity Severity
	Code     string // stable, e.g. "unknown-signal"
	Text     string // what is wrong
	Hint     string // what to write instead; may be empty

	// Suggest, if not nil, returns a better hint; "" is none. It is called only when the diagnostic is shown, because
	// it may search many names ([Near]) and only a few of many diagnostics are shown.
	Suggest func() string
}

// Advice returns what to write instead: the suggestion, if there is one, else the hint.
func (d Diagnostic) Advice() string {
	if d.Suggest != nil {
		if better := d.Suggest(); better != "" {
			return better
		}
	}
	return d.Hint
}

// Position returns the 1-based line and column, the column counted in characters.
func (d Diagnostic) Position() (line, column int) {
	var p place
	p.moveTo(d.origin())
	return p.line, p.column()
}

func (d Diagnostic) String() string {
	d = d.origin()
	line, column := d.Position()
	return fmt.Sprintf("%s:%d:%d: %s: %s [%s]", Visible(d.Source.Name), line, column, d.Severity, Visible(d.Text), d.Code)
}

// List is a set of diagnostics. As an error it represents all of them.
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

// Sorted returns the list in the order of the sources' names, then of position. What concerns an assembled text is at
// its place in the file.
func (l List) Sorted() List {
	s := slices.Clone(l)
	for i := range s {
		s[i] = s[i].origin()
	}
	slices.SortStableFunc(s, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Source.Name, b.Source.Name), cmp.Compare(a.Offset, b.Offset))
	})
	return s
}

// Terminal escape sequences for coloured output.
const (
	red, yellow, cyan, reset = "\x1b[31;1m", "\x1b[33;1m", "\x1b[36m", "\x1b[0m"
)

// Limits of Write.
const (
	maxPrinted = 50  // diagnostics
	maxColumns = 100 // characters of a line
)

// Write prints each diagnostic with its line, a caret below the place, and the hint. It shortens a very long line to
// the part around the place, and a very long list to the first diagnostics, errors before warnings.
func (l List) Write(w io.Writer, colour bool) {
	printed := l.Sorted()
	if len(l) > maxPrinted {
		slices.SortStableFunc(printed, func(a, b Diagnostic) int { return cmp.Compare(a.Severity, b.Severity) })
		printed = printed[:maxPrinted].Sorted()
	}
	var p place
	for _, d := range printed {
		p.moveTo(d)
		d.write(w, p, colour)
	}
	if more := len(l) - len(printed); more > 0 {
		fmt.Fprintf(w, "and %d more\n", more)
	}
}

func (d Diagnostic) write(w io.Writer, p place, colour bool) {
	paint := func(escape, s string) string {
		if !colour {
			return s
		}
		return escape + s + reset
	}
	mark := red
	if d.Severity == Warning {
		mark = yellow
	}
	fmt.Fprintf(w, "%s:%d:%d: %s: %s [%s]\n", Visible(d.Source.Name), p.line, p.column(),
		paint(mark, d.Severity.String()), Visible(d.Text), d.Code)
	if line, at := p.text(), p.at-p.start; line != "" {
		at = min(at, len(line))
		from, to := around(line, at)
		width := max(1, utf8.RuneCountInString(excerpt(line[at:min(to, at+max(0, d.Length))])))
		var before, after string
		if from > 0 {
			before = "…"
		}
		if to < len(line) {
			after = "…"
		}
		gutter := fmt.Sprintf("%5d | ", p.line)
		fmt.Fprintf(w, "%s%s%s%s\n", gutter, before, excerpt(line[from:to]), after)
		fmt.Fprintf(w, "%s| %s%s\n", strings.Repeat(" ", len(gutter)-2), indent(before+excerpt(line[from:at])),
			paint(mark, "^"+strings.Repeat("~", width-1)))
	}
	if advice := d.Advice(); advice != "" {
		fmt.Fprintf(w, "%s%s\n", paint(cyan, "  hint: "), Visible(advice))
	}
}

// place is a place in a source. It moves from diagnostic to diagnostic, so that the lines of a source are counted once.
type place struct {
	source *Source
	at     int // byte of the source
	line   int // from 1
	start  int // of the line
}

// moveTo moves the place to the start of a diagnostic.
func (p *place) moveTo(d Diagnostic) {
	text, begin := d.Source.Text, d.Source.Begin()
	at := min(max(d.Offset, begin), len(text))
	if p.source != d.Source || at < p.start {
		*p = place{source: d.Source, line: 1, start: begin}
	}
	p.at = at
	passed := text[p.start:at]
	p.line += strings.Count(passed, "\n")
	p.start += strings.LastIndexByte(passed, '\n') + 1
}

// column returns the column from 1, in characters.
func (p *place) column() int { return utf8.RuneCountInString(p.source.Text[p.start:p.at]) + 1 }

// text returns the whole line.
func (p *place) text() string {
	line, _, _ := strings.Cut(p.source.Text[p.start:], "\n")
	return strings.TrimSuffix(line, "\r")
}

// around returns the part of a line shown around a byte.
func around(line string, at int) (from, to int) {
	from = back(line, at, maxColumns/2)
	to = from
	for n := 0; n < maxColumns && to < len(line); n++ {
		_, size := utf8.DecodeRuneInString(line[to:])
		to += size
	}
	return back(line, to, maxColumns), to
}

// back returns the offset of the byte the given number of characters before another one, or of the line's first.
func back(line string, at, characters int) int {
	for ; at > 0 && characters > 0; characters-- {
		_, n := utf8.DecodeLastRuneInString(line[:at])
		at -= n
	}
	return at
}

// excerpt returns a part of a line for display: with its tabs, other invisible characters escaped.
func excerpt(line string) string {
	parts := strings.Split(line, "\t")
	for i, part := range parts {
		parts[i] = Visible(part)
	}
	return strings.Join(parts, "\t")
}

// indent returns blank text as wide as the given one, with its tabs, so that the caret is below its place.
func indent(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' {
			return r
		}
		return ' '
	}, text)
}
