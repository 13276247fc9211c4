package yamldoc

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strings"

	"github.com/canopy-uav/canopy/diag"

	"go.yaml.in/yaml/v3"
)

var yamlMessage = regexp.MustCompile(`^yaml: (?:line \d+: )?(.*)`)

// syntax reports a mistake that the YAML library finds, at its place and with a hint.
//
// The library names only the line on which the faulty collection begins, or none. The place is found here: in a flow
// collection by reading it, otherwise as the end of the shortest prefix of the text with the same mistake.
func (r *Reader) syntax(err error) {
	d := diag.Diagnostic{Source: r.Source, Code: "yaml-syntax", Text: message(err)}
	for _, h := range hints {
		if strings.Contains(d.Text, h.about) {
			d.Hint = h.hint
		}
	}
	d.Offset = r.lineOf(d.Text)
	if strings.Contains(d.Text, "did not find expected ',' or") || strings.Contains(d.Text, "expected node content") {
		if m, found := flowMistake(r.Source.Text); found {
			d.Offset, d.Length, d.Text, d.Hint = m.at, m.length, m.text, m.hint
		}
	}
	r.Diags = append(r.Diags, d)
}

// message returns the library's message without its line.
func message(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	if m := yamlMessage.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	return text
}

// hints are the hints for the library's messages.
var hints = []struct{ about, hint string }{
	{"cannot start any token", "quote texts that begin with @, % or a back quote, and indent with blanks"},
	{"mapping values are not allowed",
		`quote a text with ": " in it, and write the entries of a mapping below each other`},
	{"tab character", "indent with blanks, not with tabs"},
	{"did not find expected key", "begin the entries of a mapping in one column"},
	{"expected '-' indicator", `begin the entries of a list in one column, each with "- "`},
	{"block sequence entries are not allowed", `write the entries of a list below each other, each with "- "`},
	{"could not find expected ':'", "write `name: value`"},
	{"unexpected end of stream", "a quotation mark that opens a text is not closed"},
	{"unknown anchor", "quote texts that begin with *"},
	{"expected node content", "quote texts that contain brackets"},
	{"escape character", "write texts with backslashes in single quotation marks"},
	{"expected comment or line break", "write the text of | and > on the lines below it"},
}

// lineOf returns the offset of the first line with which the text has the mistake of the message.
func (r *Reader) lineOf(wrong string) int {
	line := sort.Search(len(r.lines), func(i int) bool {
		end := len(r.Source.Text)
		if i+1 < len(r.lines) {
			end = r.lines[i+1]
		}
		documents := yaml.NewDecoder(strings.NewReader(r.Source.Text[:end]))
		for {
			var doc yaml.Node
			switch err := documents.Decode(&doc); {
			case errors.Is(err, io.EOF):
				return false
			case err != nil:
				return message(err) == wrong
			}
		}
	})
	line = min(line, len(r.lines)-1)
	if r.lines[line] == len(r.Source.Text) && line > 0 {
		line--
	}
	at := r.lines[line]
	return at + len(r.Source.Text[at:]) - len(strings.TrimLeft(r.Source.Text[at:], " "))
}

// mistake is a mistake in a flow collection.
type mistake struct {
	at, length int
	text, hint string
}

// flow reads as much of a document as is needed to find its comments, and mistakes in flow collections, [a, b] and {a:
// b}.
type flow struct {
	text     string
	at       int
	open     []int // offsets of the brackets that are open
	comments []Comment
}

// flowMistake returns the first mistake in a flow collection of a document: a value that is not followed by a comma, or
// a bracket that is not closed.
func flowMistake(text string) (mistake, bool) {
	f := flow{text: text}
	for f.at < len(text) {
		if m, found := f.line(); found {
			return m, true
		}
	}
	return mistake{}, false
}

// Comment is a comment of a document.
type Comment struct {
	Text   string // from # to the end of the line
	Offset int
}

// Comments returns the comments of a well-formed document. They are found here because the library's nodes give no
// place of a comment and lack some, such as one behind an opening bracket.
func (r *Reader) Comments() []Comment {
	f := flow{text: r.Source.Text, at: r.Source.Begin()}
	for f.at < len(f.text) {
		f.line()
	}
	return f.comments
}

// line reads a line of block style, with the flow collections that begin on it.
func (f *flow) line() (mistake, bool) {
	indent := f.blanks()
	for f.at < len(f.text) {
		f.blanks()
		switch rest := f.text[f.at:]; {
		case rest == "":
		case rest[0] == '\n':
			f.at++
			return mistake{}, false
		case rest[0] == '#':
			f.comment()
			return mistake{}, false
		case rest[0] == '[', rest[0] == '{':
			if m, found := f.collection(); found {
				return m, true
			}
		case rest[0] == '"', rest[0] == '\'':
			f.quoted()
		case rest[0] == '|', rest[0] == '>':
			f.skipBlock(indent)
			return mistake{}, false
		case strings.HasPrefix(rest, "- "), strings.HasPrefix(rest, "? "), rest[0] == ':':
			f.at++
		case rest[0] == '&', rest[0] == '!':
			f.at += wordEnd(rest)
		default:
			f.plain(": ", ":\n", " #", "\n")
		}
	}
	return mistake{}, false
}

// collection reads a flow collection.
func (f *flow) collection() (mistake, bool) {
	value, plain := -1, false // where the value before this place begins; it is a plain text
	for f.at < len(f.text) {
		rest := f.text[f.at:]
		c := rest[0]
		switch {
		case strings.IndexByte(" \t\r\n", c) >= 0:
			f.at++
		case c == '#' && strings.IndexByte(" \t\n", f.text[f.at-1]) >= 0:
			f.comment()
		case c == ',', c == ':' && value >= 0:
			f.at, value = f.at+1, -1
		case c == ']' || c == '}':
			if f.text[f.open[len(f.open)-1]] != map[byte]byte{']': '[', '}': '{'}[c] {
				text := fmt.Sprintf("%q does not close the %q before it", c, f.text[f.open[len(f.open)-1]])
				return mistake{f.at, 1, text, ""}, true
			}
			f.at, value, plain = f.at+1, f.open[len(f.open)-1], false
			f.open = f.open[:len(f.open)-1]
			if len(f.open) == 0 {
				return mistake{}, false
			}
		case value >= 0 && (!plain || c == '[' || c == '{'):
			return f.follows(value), true
		case c == '[', c == '{':
			f.open = append(f.open, f.at)
			f.at++
		case c == '"', c == '\'':
			value, plain = f.at, false
			f.quoted()
		case c == '&', c == '!':
			f.at += wordEnd(rest)
		default:
			if value < 0 {
				value = f.at
			}
			plain = true
			f.plain(": ", ":\n", ":,", ":}", ":]", " #", ",", "[", "]", "{", "}", "\n")
		}
	}
	at := f.open[len(f.open)-1]
	return mistake{at, 1, fmt.Sprintf("this %q is not closed", f.text[at]), ""}, true
}

// follows is the mistake of a value that begins at an offset and is followed by something without a comma in between.
func (f *flow) follows(value int) mistake {
	end, depth := f.at, 0
scan:
	for ; end < len(f.text); end++ {
		switch f.text[end] {
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth < 0 {
				break scan
			}
		case ',':
			if depth == 0 {
				break scan
			}
		case '\n':
			break scan
		}
	}
	whole := strings.TrimSpace(f.text[value:end])
	return mistake{value, len(whole), fmt.Sprintf("%q cannot follow a value within [...] or {...}", f.text[f.at:f.at+1]),
		fmt.Sprintf("put the value in quotation marks, %q, or add a comma", whole)}
}

// blanks skips blanks and returns their number.
func (f *flow) blanks() int {
	rest := strings.TrimLeft(f.text[f.at:], " \t\r")
	n := len(f.text) - f.at - len(rest)
	f.at += n
	return n
}

// plain skips an unquoted text, up to the first of the marks.
func (f *flow) plain(marks ...string) {
	for f.at++; f.at < len(f.text); f.at++ {
		for _, m := range marks {
			if strings.HasPrefix(f.text[f.at:], m) {
				return
			}
		}
	}
}

// quoted skips a text in quotation marks.
func (f *flow) quoted() {
	mark := f.text[f.at]
	for f.at++; f.at < len(f.text); f.at++ {
		switch c := f.text[f.at]; {
		case c == '\\' && mark == '"':
			f.at++
		case c == mark && mark == '\'' && strings.HasPrefix(f.text[f.at:], "''"):
			f.at++
		case c == mark:
			f.at++
			return
		}
	}
	f.at = min(f.at, len(f.text))
}

func (f *flow) skipLine() {
	if i := strings.IndexByte(f.text[f.at:], '\n'); i >= 0 {
		f.at += i
	} else {
		f.at = len(f.text)
	}
}

// comment skips a comment, which ends with its line.
func (f *flow) comment() {
	at := f.at
	f.skipLine()
	f.comments = append(f.comments, Comment{strings.TrimRight(f.text[at:f.at], "\r"), at})
}

// skipBlock skips the lines of a text that | or > begins on a line with the given indentation: those that are indented
// as the first one, or, with an indentation in the header, as in |2, more than the line.
func (f *flow) skipBlock(indent int) {
	at := f.at
	f.skipLine()
	header := f.text[at:f.at]
	if i := strings.Index(header, " #"); i >= 0 {
		f.at = at + i + 1
		f.comment()
		header = header[:i]
	}
	given := strings.ContainsAny(header, "123456789")
	for f.at < len(f.text) {
		line, _, _ := strings.Cut(f.text[f.at+1:], "\n")
		if text := strings.TrimLeft(line, " "); strings.TrimSpace(text) != "" {
			depth := len(line) - len(text)
			if depth <= indent {
				f.at++
				return
			}
			if !given {
				indent, given = depth-1, true
			}
		}
		f.at += 1 + len(line)
	}
}

// wordEnd returns the length of a word up to a blank.
func wordEnd(s string) int {
	if i := strings.IndexAny(s, " \t\r\n,]}"); i > 0 {
		return i
	}
	return len(s)
}
