package translate

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
)

// finder finds mistakes in a source that is read line by line.
type finder struct {
	src  *diag.Source
	list diag.List
}

// fail reports an error.
func (f *finder) fail(at, length int, code, hint, text string, args ...any) {
	f.list = append(f.list, diag.Diagnostic{Source: f.src, Offset: at, Length: length, Code: code, Hint: hint,
		Text: fmt.Sprintf(text, args...)})
}

// warn reports a warning.
func (f *finder) warn(at, length int, code, hint, text string, args ...any) {
	f.fail(at, length, code, hint, text, args...)
	f.list[len(f.list)-1].Severity = diag.Warning
}

// readable reports whether the source is a text that is not empty.
func (f *finder) readable(hint string) bool {
	for i, c := range f.src.Text {
		if c == 0 || c == utf8.RuneError && !strings.HasPrefix(f.src.Text[i:], string(utf8.RuneError)) {
			f.fail(i, 1, "not-utf8", "", "the file is not a text in UTF-8")
			return false
		}
	}
	for range f.lines() {
		return true
	}
	f.fail(0, 0, "empty-file", hint, "the file is empty")
	return false
}

// lines yields each line that is not blank without its comment, and the byte at which it begins.
func (f *finder) lines() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		at := f.src.Begin()
		for text := range strings.Lines(f.src.Text[at:]) {
			line, _, _ := strings.Cut(text, "#")
			line = strings.TrimRight(line, " \t\r\n")
			if line != "" && !yield(at, line) {
				return
			}
			at += len(text)
		}
	}
}

// reserved reports a name that is not allowed in a plan.
func (f *finder) reserved(at int, name string) {
	_, isKind := bt.ParseKind(name)
	if isKind || slices.Contains([]string{"Control", "Decorator", "SubTree", "root", "Root"}, name) {
		f.fail(at, len(name), "reserved-name", "choose another name", "%q is a node or element of plans", name)
	}
}
