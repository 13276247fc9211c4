package plan

import (
	"errors"
	"fmt"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// The codes of Read, in addition to those of the packages expr and preprocess. docs/plans-reference.md explains them to
// users.
const (
	codeEmpty          = "empty-file"
	codeNotXML         = "not-xml"
	codeWrongRoot      = "wrong-root"
	codeStrayText      = "stray-text"
	codeFormat         = "wrong-format"
	codeNoMainTree     = "missing-main-tree"
	codeNoTree         = "missing-tree"
	codeUnusedTree     = "unused-tree"
	codeCycle          = "cyclic-subtree"
	codeNoID           = "missing-id"
	codeDuplicateID    = "duplicate-id"
	codeReservedID     = "reserved-id"
	codeIgnoredID      = "ignored-id"
	codeName           = "bad-name"
	codeNode           = "unknown-node"
	codeForeignNode    = "unsupported-node"
	codeForeign        = "foreign-control"
	codeChildren       = "wrong-children"
	codeAttribute      = "unknown-attribute"
	codeForeignAttr    = "unsupported-attribute"
	codeDuplicateAttr  = "duplicate-attribute"
	codeConflictAttr   = preprocess.CodeConflictAttr
	codeCount          = "bad-count"
	codeNoCondition    = "missing-condition"
	codeUntil          = "bad-until"
	codeGuard          = "bad-guard"
	codeFree           = "free-leaf"
	CodeLost           = "not-in-btcpp"
	codeForm           = "wrong-element"
	codeUndeclared     = "undeclared-port"
	codePort           = "bad-port"
	codeNoPort         = "missing-port"
	codeNoAttr         = preprocess.CodeNoAttr
	codeNoEntry        = "missing-entry"
	codeTypes          = "type-conflict"
	codeShadow         = "own-entry"
	codeFreeEntry      = "free-entry"
	codeFacts          = "bad-facts"
	codeReadOnly       = "read-only-signal"
	codeLostAssignment = "lost-assignment"
	CodeWriteConflict  = "write-conflict" // two actions that may be active together write one slot
)

// reporter collects what is wrong with a source, for all passes.
type reporter struct {
	source   *diag.Source
	doc      *xmltree.Document
	found    diag.List
	reported map[mistake]bool
}

func newReporter(src *diag.Source) *reporter {
	return &reporter{source: src, reported: map[mistake]bool{}}
}

// report adds an error about bytes of the source. One that was reported before, from another use of the same tree, is
// not repeated.
func (r *reporter) report(at, length int, code, hint, format string, args ...any) {
	r.add(at, length, diag.Error, code, hint, fmt.Sprintf(format, args...))
}

// warn adds a warning.
func (r *reporter) warn(at, length int, code, hint, format string, args ...any) {
	r.add(at, length, diag.Warning, code, hint, fmt.Sprintf(format, args...))
}

func (r *reporter) add(at, length int, severity diag.Severity, code, hint, text string) {
	r.once(diag.Diagnostic{Source: r.source, Offset: at, Length: length,
		Severity: severity, Code: code, Text: text, Hint: hint})
}

// within adds to a number that is bounded, and reports once that it is too large.
func (r *reporter) within(n *int, more, most int, at xmltree.Span, hint, format string) bool {
	before := *n
	if *n += more; before <= most && *n > most {
		r.report(at.At, at.Len(), xmltree.CodeTooLarge, hint, format, most)
	}
	return *n <= most
}

// mistake identifies a diagnostic about a source.
type mistake struct {
	at, length       int
	code, text, hint string
}

// maxFound bounds the diagnostics of a file that is not a plan; at least one of them is an error.
const maxFound = 1000

// unlessProgram reports what is a mistake in a mission; elsewhere the program around the plan may know better.
func (d *document) unlessProgram(m diag.Diagnostic) {
	if m.Source = d.source; d.signals == nil {
		m.Severity = diag.Warning
	}
	d.once(m)
}

func (r *reporter) once(d diag.Diagnostic) {
	if len(r.found) >= maxFound && (d.Severity == diag.Warning || r.found.HasErrors()) {
		return
	}
	if m := (mistake{d.Offset, d.Length, d.Code, d.Text, d.Hint}); !r.reported[m] {
		r.reported[m] = true
		r.found = append(r.found, d)
	}
}

// where returns the line of an element, with its file if a message about another element is in a different one.
func (r *reporter) where(e, other *xmltree.Element) string { return r.whereAt(e.At, other.At) }

// whereAt is where for two places.
func (r *reporter) whereAt(place, other int) string {
	file, at := r.source.Origin(place)
	if file == r.source {
		return fmt.Sprintf("on line %d", r.doc.Line(place))
	}
	if len(r.found) >= maxFound { // the message is left out
		return ""
	}
	line, _ := diag.Diagnostic{Source: file, Offset: at}.Position()
	if about, _ := r.source.Origin(other); about == file {
		return fmt.Sprintf("on line %d", line)
	}
	return fmt.Sprintf("on line %d of %s", line, file.Name)
}

// reportName reports a mistake about an element at its name.
func (r *reporter) reportName(e *xmltree.Element, code, hint, format string, args ...any) {
	r.report(e.At+1, len(e.Name), code, hint, format, args...)
}

// reportMissing reports that an element needs an attribute, with an example of its value.
func (r *reporter) reportMissing(e *xmltree.Element, code, what, attribute, example string) {
	r.reportName(e, code, fmt.Sprintf("write %s=%q", attribute, example), "%s needs %s", what, attribute)
}

// reportValue reports a mistake about an attribute's value.
func (r *reporter) reportValue(a *xmltree.Attribute, code, hint, format string, args ...any) {
	r.report(a.Raw.At, a.Raw.Len(), code, hint, format, args...)
}

// reportAttribute reports a mistake about an attribute at its name.
func (r *reporter) reportAttribute(a *xmltree.Attribute, code, hint, format string, args ...any) {
	r.report(a.At, len(a.Name), code, hint, format, args...)
}

// reportMistake reports a mistake in the expression of an attribute.
func (r *reporter) reportMistake(a *xmltree.Attribute, m *expr.Error) {
	d := m.In(r.source, 0)
	if d.Offset, d.Length = a.Inside(m.Offset, m.Length); a.Value == sameName {
		d.Offset, d.Length = a.Raw.At, a.Raw.Len()
	}
	r.once(d)
}

// reportSyntax reports a mistake that expr.Parse finds in an attribute's value.
func (r *reporter) reportSyntax(a *xmltree.Attribute, err error) {
	var mistake *expr.Error
	if errors.As(err, &mistake) {
		r.reportMistake(a, mistake)
	}
}
