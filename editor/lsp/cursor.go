package lsp

import (
	"strings"

	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
)

// cursor is where a position is in a plan that may be half typed.
type cursor struct {
	tag       bool   // in the name of an element
	element   string // whose start tag is around
	attribute string // whose value is around
	written   string // of the value, up to the position
}

// cursorIn returns where a byte of a plan is; ok is false if it is in no start tag.
func cursorIn(text string, at int) (c cursor, ok bool) {
	open := strings.LastIndexByte(text[:at], '<')
	if open < 0 || strings.LastIndex(text[:at], "<!--") > strings.LastIndex(text[:at], "-->") {
		return c, false
	}
	rest := text[open+1 : at]
	i := strings.IndexAny(rest, " \t\r\n/>")
	if i < 0 {
		return cursor{tag: true, element: rest}, !strings.HasPrefix(rest, "?") && !strings.HasPrefix(rest, "!")
	}
	c.element, rest = rest[:i], rest[i:]
	for {
		i := strings.IndexAny(rest, `"'>`)
		if i < 0 {
			return c, c.element != ""
		}
		if rest[i] == '>' {
			return c, false
		}
		name := strings.Fields("x " + strings.TrimRight(rest[:i], "= \t\r\n"))
		end := strings.IndexByte(rest[i+1:], rest[i])
		if end < 0 {
			c.attribute, c.written = name[len(name)-1], rest[i+1:]
			return c, true
		}
		rest = rest[i+1+end+1:]
	}
}

// yamlCursor returns the keys around a byte of a YAML document in block style, "-" for an item of a list, and whether
// the byte is where a key is written, or in a value, with what is written of it.
func yamlCursor(text string, at int) (around []string, key bool, written string) {
	lines := strings.Split(text[:at], "\n")
	last := len(lines) - 1
	outer, inner, rest := indents(lines[last])
	dash := outer < inner
	name, value, isValue := strings.Cut(rest, ":")
	if isValue {
		around = append(around, strings.Trim(name, `"' `))
	}
	if dash {
		around, inner = append([]string{"-"}, around...), outer+1
	}
	for i := last - 1; i >= 0 && inner > 0; i-- {
		outer, in, rest := indents(lines[i])
		name, _, isKey := strings.Cut(rest, ":")
		switch {
		case rest == "" || strings.HasPrefix(rest, "#"):
		case in < inner && isKey:
			around = append([]string{strings.Trim(name, `"' `)}, around...)
			if inner = in; outer < in {
				around, inner = append([]string{"-"}, around...), outer+1
			}
		case outer < in && in == inner && outer < inner:
			around, inner = append([]string{"-"}, around...), outer+1
		}
	}
	if isValue {
		return around, false, strings.TrimLeft(value, " ")
	}
	return around, true, rest
}

// indents returns the blanks before a line's first dash and those before its first key or value, and the rest.
func indents(line string) (outer, inner int, rest string) {
	rest = strings.TrimLeft(line, " ")
	outer = len(line) - len(rest)
	for strings.HasPrefix(rest, "- ") {
		rest = strings.TrimLeft(rest[2:], " ")
	}
	return outer, len(line) - len(rest), strings.TrimRight(rest, "\r")
}

// isPart reports whether a byte may be in a name; bytes that are not ASCII count as letters.
func isPart(c byte) bool {
	return c == '_' || c == '.' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// wordAt returns the part of a text around a byte that may be a name.
func wordAt(text string, at int) (from, to int) {
	from, to = at, at
	for from > 0 && isPart(text[from-1]) {
		from--
	}
	for to < len(text) && isPart(text[to]) {
		to++
	}
	return from, to
}

// describe returns what people need to know of a signal.
func describe(name string, s plan.Signal) string {
	text := name
	if unit := s.Unit.String(); s.Type == expr.Real && unit != "" {
		text += " [" + unit + "]"
	} else if s.Type != expr.Real {
		text += ", " + s.Type.Name()
	}
	if len(s.Values) > 0 {
		text += " (" + strings.Join(s.Values, ", ") + ")"
	}
	if s.Slot {
		text += ", which tasks may write"
	}
	if s.Text != "" {
		text += ": " + s.Text
	}
	return text
}
