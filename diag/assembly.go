package diag

import (
	"sort"
	"strings"
)

// Assembly makes a text from parts of other sources. The messages about the text are shown where its parts come from.
type Assembly struct {
	text  strings.Builder
	parts []part
}

// part is the origin of the bytes of an assembled text from an offset to the next part.
type part struct {
	at     int // its offset in the assembled text
	source *Source
	offset int  // in the source
	copied bool // the bytes are those of the source; else they stand for the place there
}

// Copy adds the bytes [from, to) of a source.
func (a *Assembly) Copy(s *Source, from, to int) {
	a.parts = append(a.parts, part{a.text.Len(), s, from, true})
	a.text.WriteString(s.Text[from:to])
}

// Insert adds a text that stands for a place of a source.
func (a *Assembly) Insert(text string, s *Source, at int) {
	a.parts = append(a.parts, part{a.text.Len(), s, at, false})
	a.text.WriteString(text)
}

// Len returns the number of bytes of the text.
func (a *Assembly) Len() int { return a.text.Len() }

// Source returns the assembled text.
func (a *Assembly) Source(name string) *Source {
	return &Source{Name: name, Text: a.text.String(), parts: a.parts}
}

// Origin returns the file from which a byte of the text comes, with its offset there.
func (s *Source) Origin(offset int) (file *Source, at int) {
	d := Diagnostic{Source: s, Offset: offset}.origin()
	return d.Source, d.Offset
}

// origin returns the diagnostic at its place in the file.
func (d Diagnostic) origin() Diagnostic {
	for len(d.Source.parts) > 0 {
		parts := d.Source.parts
		i := max(0, sort.Search(len(parts), func(i int) bool { return parts[i].at > d.Offset })-1)
		p, end := parts[i], len(d.Source.Text)
		if i+1 < len(parts) {
			end = parts[i+1].at
		}
		if p.copied {
			d.Length = max(0, min(d.Length, end-d.Offset))
			d.Offset += p.offset - p.at
		} else {
			d.Offset, d.Length = p.offset, 0
		}
		d.Source = p.source
	}
	return d
}
