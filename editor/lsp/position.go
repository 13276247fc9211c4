package lsp

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// position is a place in a text: its line from 0, and the UTF-16 code units before it on the line.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// span is a part of a text.
type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// location is a part of a document.
type location struct {
	URI   string `json:"uri"`
	Range span   `json:"range"`
}

// textEdit is a change of a text.
type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

// offset returns the byte of a position; one beyond the end of its line or of the text is that end.
func offset(text string, p position) int {
	at := 0
	for range p.Line {
		i := strings.IndexByte(text[at:], '\n')
		if i < 0 {
			return len(text)
		}
		at += i + 1
	}
	for units := 0; units < p.Character && at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		if units += max(1, utf16.RuneLen(r)); r == '\n' || strings.HasPrefix(text[at:], "\r\n") || units > p.Character {
			break
		}
		at += size
	}
	return at
}

// place returns the position of a byte.
func place(text string, at int) position {
	at = min(max(at, 0), len(text))
	start := strings.LastIndexByte(text[:at], '\n') + 1
	p := position{Line: strings.Count(text[:start], "\n")}
	for _, r := range text[start:at] {
		p.Character += max(1, utf16.RuneLen(r))
	}
	return p
}

// between returns the part of a text from one byte to another.
func between(text string, from, to int) span { return span{place(text, from), place(text, to)} }
