package plan

import (
	"fmt"

	"canopy/diag"
	"canopy/syntax/xmltree"
)

// The codes of Read, in addition to those of package expr. docs/plans-reference.md explains them to users.
const (
	codeEmpty          = "empty-file"
	codeNotXML         = "not-xml"
	codeWrongRoot      = "wrong-root"
	codeStrayText      = "stray-text"
	codeNoFormat       = "missing-format"
	codeFormat         = "wrong-format"
	codeFormat3        = "old-format"
	codeInclude        = "bad-include"
	codeIncludeCycle   = "cyclic-include"
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
	codeConflictAttr   = "conflicting-attributes"
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
	codeNoAttr         = "missing-attribute"
	codeNoEntry        = "missing-entry"
	codeTypes          = "type-conflict"
	codeShadow         = "own-entry"
	codeFreeEntry      = "free-entry"
	codeFacts          = "bad-facts"
	codeSurvey         = "bad-survey"
	codeReadOnly       = "read-only-signal"
	codeLostAssignment = "lost-assignment"
	CodeWriteConflict  = "write-conflict" // two actions that may be active together write one slot
)

// report adds an error about bytes of the source. One that was reported before, from another use of the same tree, is
// not repeated.
func (r *reader) report(at, length int, code, hint, format string, args ...any) {
	r.add(at, length, diag.Error, code, hint, fmt.Sprintf(format, args...))
}

// warn adds a warning.
func (r *reader) warn(at, length int, code, hint, format string, args ...any) {
	r.add(at, length, diag.Warning, code, hint, fmt.Sprintf(format, args...))
}

func (r *reader) add(at, length int, severity diag.Severity, code, hint, text string) {
	r.once(diag.Diagnostic{Source: r.source, Offset: at, Length: length,
		Severity: severity, Code: code, Text: text, Hint: hint})
}

// mistake identifies a diagnostic about a source.
type mistake struct {
	at, length       int
	code, text, hint string
}

// maxFound bounds the diagnostics of a file that is not a plan; at least one of them is an error.
const maxFound = 1000

func (r *reader) once(d diag.Diagnostic) {
	if len(r.found) >= maxFound && (d.Severity == diag.Warning || r.found.HasErrors()) {
		return
	}
	if m := (mistake{d.Offset, d.Length, d.Code, d.Text, d.Hint}); !r.reported[m] {
		r.reported[m] = true
		r.found = append(r.found, d)
	}
}

// where returns the line of an element, with its file if a message about another element is in a different one.
func (r *reader) where(e, other *xmltree.Element) string { return r.whereAt(e.At, other.At) }

// whereAt is where for two places.
func (r *reader) whereAt(place, other int) string {
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
func (r *reader) reportName(e *xmltree.Element, code, hint, format string, args ...any) {
	r.report(e.At+1, len(e.Name), code, hint, format, args...)
}

// reportMissing reports that an element needs an attribute, with an example of its value.
func (r *reader) reportMissing(e *xmltree.Element, code, what, attribute, example string) {
	r.reportName(e, code, fmt.Sprintf("write %s=%q", attribute, example), "%s needs %s", what, attribute)
}

// reportValue reports a mistake about an attribute's value.
func (r *reader) reportValue(a *xmltree.Attribute, code, hint, format string, args ...any) {
	r.report(a.Raw.At, a.Raw.Len(), code, hint, format, args...)
}

// noTree reports an attribute that names a tree that the plan does not have. Where no leaf needs a meaning, it is free.
func (r *reader) noTree(a *xmltree.Attribute) {
	d := diag.Diagnostic{Source: r.source, Offset: a.Raw.At, Length: a.Raw.Len(), Code: codeNoTree,
		Text: fmt.Sprintf("there is no tree %q", a.Value), Suggest: diag.Near(a.Value, r.treeIDs)}
	if r.signals == nil {
		d.Severity, d.Text, d.Hint = diag.Warning, d.Text+"; it is read as a free action", "include its file"
	}
	r.once(d)
}

// reportAttribute reports a mistake about an attribute at its name.
func (r *reader) reportAttribute(a *xmltree.Attribute, code, hint, format string, args ...any) {
	r.report(a.At, len(a.Name), code, hint, format, args...)
}
