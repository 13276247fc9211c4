// Package yamldoc reads an author's YAML document value by value, and every mistake as a diagnostic at its place.
package yamldoc

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"

	"go.yaml.in/yaml/v3"
)

// Reader turns the nodes of a document into values and every mistake into a diagnostic at its place. A method that
// reports a mistake returns the zero value. The parameter what describes the value in messages.
type Reader struct {
	Source *diag.Source
	Diags  diag.List // the mistakes so far

	lines  []int    // byte offset of each line
	placed position // the last one
}

// NewReader returns a reader of nodes whose lines and columns are places in a source.
func NewReader(src *diag.Source) *Reader {
	r := &Reader{Source: src, lines: []int{0}}
	for i := range len(src.Text) {
		if src.Text[i] == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	return r
}

// Parse returns the root of the source's first document. An empty file, for which the hint describes the expected
// content, and a syntax error are reported; the root is then nil.
func (r *Reader) Parse(hint string) *Node {
	if i := strings.IndexFunc(r.Source.Text, func(c rune) bool { return c == utf8.RuneError || c == 0 }); i >= 0 {
		r.Diags = append(r.Diags, diag.Diagnostic{Source: r.Source, Offset: i, Length: 1, Code: "not-utf8",
			Text: "the file is not a text in UTF-8"})
		return nil
	}
	if isXML.MatchString(r.Source.Text) {
		r.Diags = append(r.Diags, diag.Diagnostic{Source: r.Source, Code: "yaml-syntax",
			Text: "this is XML, perhaps a plan, where YAML is expected", Hint: hint})
		return nil
	}
	var doc, second yaml.Node
	documents := yaml.NewDecoder(strings.NewReader(r.Source.Text))
	if err := documents.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	switch err := documents.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		r.syntax(err)
		return nil
	default:
		n := r.place(&second)
		r.Add(n, "second-document", "give each document a file of its own", "only the first document of a file is read")
		return nil
	}
	if len(doc.Content) == 0 {
		r.Diags = append(r.Diags, diag.Diagnostic{Source: r.Source, Code: "empty-file", Text: "the file is empty",
			Hint: hint})
		return nil
	}
	root := r.node(doc.Content[0], map[*yaml.Node]*Node{})
	if root.size > maxNodes {
		r.Add(root, "too-large", "use fewer aliases", "with its aliases the document has more than %d values", maxNodes)
	}
	if r.Diags.HasErrors() {
		return nil
	}
	return root
}

var isXML = regexp.MustCompile(`^\s*<[?!A-Za-z]`)

// Has reports whether a source is a document with an entry of the given name, which is written without escapes.
func Has(src *diag.Source, key string) bool {
	return strings.Contains(src.Text, key) && NewReader(src).Parse("").Entry(key) != nil
}

// Add reports a mistake at a node.
func (r *Reader) Add(n *Node, code, hint, format string, args ...any) {
	r.Diags = append(r.Diags, diag.Diagnostic{Source: r.Source, Offset: n.Offset, Length: n.Length, Code: code,
		Text: fmt.Sprintf(format, args...), Hint: hint})
}

// Mapping visits the entries of a mapping in order.
func (r *Reader) Mapping(n *Node, what string, visit func(key, value *Node)) {
	if n.sample != nil {
		n.visitNames(what, visit)
		return
	}
	if n.Kind != Mapping {
		r.Add(n, "wrong-type", "", "%s must be a mapping of names to values", what)
		return
	}
	seen := map[string]bool{}
	for i, key := range n.Keys {
		if seen[key.Value] {
			r.Add(key, "duplicate-name", "", "%q occurs twice in %s", key.Value, what)
			continue
		}
		seen[key.Value] = true
		visit(key, n.Items[i])
	}
}

// Keys is the set of entries that a mapping may have.
type Keys map[string]func(value *Node)

// Fields visits a mapping whose keys are fixed; an unknown key is reported with the nearest known one.
func (r *Reader) Fields(n *Node, what string, known Keys) {
	r.FieldsOr(n, what, known, func(key *Node) {
		r.Unknown(key, "unknown-key", what, slices.Sorted(maps.Keys(known)))
	})
}

// FieldsOr visits a mapping whose keys are fixed; refuse reports an unknown one.
func (r *Reader) FieldsOr(n *Node, what string, known Keys, refuse func(key *Node)) {
	if n.sample != nil {
		n.visitFields(known)
		return
	}
	r.Mapping(n, what, func(key, value *Node) {
		if visit, ok := known[key.Value]; ok {
			visit(value)
			return
		}
		refuse(key)
	})
}

// Unknown reports a name that is not among the candidates.
func (r *Reader) Unknown(n *Node, code, what string, candidates []string) {
	r.Add(n, code, "", "%s has no %q", what, n.Value)
	r.Suggest(func() string {
		return cmp.Or(diag.DidYouMean(n.Value, candidates), diag.OneOf("known: ", candidates))
	})
}

// Suggest gives the mistake that was reported last a suggestion.
func (r *Reader) Suggest(suggest func() string) { r.Diags[len(r.Diags)-1].Suggest = suggest }

// Sequence visits the entries of a list in order.
func (r *Reader) Sequence(n *Node, what string, visit func(value *Node)) {
	if n.sample != nil {
		n.visitItems(visit)
		return
	}
	if n.Kind != Sequence {
		r.Add(n, "wrong-type", "", "%s must be a list", what)
		return
	}
	for _, v := range n.Items {
		visit(v)
	}
}

// Text reads a scalar as text.
func (r *Reader) Text(n *Node, what string) string {
	if n.sample != nil {
		n.sample.shape.Text = true
		return cmp.Or(n.sample.examples[what], n.Value)
	}
	if n.Kind != Scalar || n.Value == "" {
		r.Add(n, "wrong-type", "", "%s must be a text", what)
		return ""
	}
	return n.Value
}

// Boolean reads true or false.
func (r *Reader) Boolean(n *Node, what string) bool {
	var b bool
	if n.sample != nil {
		n.sample.shape.Boolean = true
		return true
	}
	scalar := yaml.Node{Kind: yaml.ScalarNode, Tag: n.tag, Value: n.Value}
	if n.Kind != Scalar || scalar.Decode(&b) != nil {
		r.Add(n, "wrong-type", "write true or false", "%s must be true or false", what)
	}
	return b
}

// Number reads a finite number in the given unit: a bare number is in that unit, a literal such as `24 [h]` is
// converted; a time may also be written as in [expr.Duration].
func (r *Reader) Number(n *Node, unit expr.Unit, what string) float64 {
	if n.sample != nil {
		n.sample.shape.Number = true
		return 1
	}
	if v, err := strconv.ParseFloat(n.Value, 64); err == nil && n.Kind == Scalar && v-v == 0 {
		return v
	}
	e, err := expr.ParseFor(n.Value, unit)
	mistake, _ := err.(*expr.Error)
	ofUnit := mistake != nil && mistake.Code == expr.CodeUnit
	if n.Kind != Scalar || err != nil && !ofUnit || err == nil && len(e.Names()) > 0 {
		kind := "number"
		if unit == expr.Second {
			kind = "time"
		}
		r.Add(n, "not-a-number", numberHint(unit), "%s must be a %s, not %q", what, kind, n.Value)
		return 0
	}
	if e = r.checked(n, e, err, expr.Number(unit), nil); e == nil {
		return 0
	}
	v, _ := e.Constant()
	v /= unit.SI(1)
	if v-v != 0 {
		r.Add(n, "not-a-number", "", "%s is %v", what, v)
	}
	return v
}

// Bounded reads a number as Number does. One that is not allowed is reported; must completes the message, for instance
// "be positive".
func (r *Reader) Bounded(n *Node, unit expr.Unit, what string, allowed func(v float64) bool, must, hint string,
) float64 {
	before := len(r.Diags)
	v := r.Number(n, unit, what)
	if len(r.Diags) == before && !allowed(v) && n.sample == nil {
		r.Add(n, "out-of-range", hint, "%s must %s", what, must)
	}
	return v
}

// Unit reads a unit of measurement; one that cannot be read fits every other.
func (r *Reader) Unit(n *Node) expr.Unit {
	if n.sample != nil {
		n.sample.shape.Text = true
		return expr.One
	}
	u, err := expr.ParseUnit(n.Value)
	if err != nil || n.Kind != Scalar {
		if err == nil {
			err = errors.New("a unit must be a text")
		}
		r.Add(n, "unknown-unit", "", "%v", err)
		return expr.AnyUnit
	}
	return u
}

// SIUnit reads the unit of a signal, which must be the SI's coherent one.
func (r *Reader) SIUnit(n *Node) expr.Unit {
	u := r.Unit(n)
	if !u.Coherent() {
		r.Add(n, "unknown-unit", "signals are in SI units; literals in expressions may use others",
			"a signal cannot be in %s", n.Value)
	}
	return u
}

func numberHint(unit expr.Unit) string {
	if unit == expr.Second {
		return expr.TimeForms
	}
	if u := unit.String(); u != "" && u != "1" {
		return fmt.Sprintf("a bare number is in %s; a literal names its unit, as in `12 [%s]`", u, u)
	}
	return ""
}

// Expression parses and checks an expression; nil if it has a mistake.
func (r *Reader) Expression(n *Node, want expr.Variable, scope expr.Scope) *expr.Expr {
	if n.sample != nil {
		n.sample.shape.Text = true
		return nil
	}
	if n.Kind != Scalar {
		r.Add(n, "wrong-type", "", "an expression must be a text")
		return nil
	}
	e, err := expr.ParseFor(n.Value, want.Unit)
	return r.checked(n, e, err, want, scope)
}

// checked checks an expression that was parsed; nil if it has a mistake.
func (r *Reader) checked(n *Node, e *expr.Expr, err error, want expr.Variable, scope expr.Scope) *expr.Expr {
	if err != nil {
		r.Inside(n, err)
		return nil
	}
	mistakes := e.CheckFor(want, scope)
	for _, m := range mistakes {
		r.Inside(n, m)
	}
	if len(mistakes) > 0 {
		return nil
	}
	return e.Resolved(scope)
}

// Inside reports a mistake at its place within an expression's text.
func (r *Reader) Inside(n *Node, err error) {
	m, ok := err.(*expr.Error)
	if !ok {
		r.Add(n, "syntax", "", "%v", err)
		return
	}
	r.Diags = append(r.Diags, m.In(r.Source, n.Offset))
}
