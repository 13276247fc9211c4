package mission

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"canopy/diag"
	"canopy/expr"

	"go.yaml.in/yaml/v3"
)

// reader turns the nodes of a YAML document into values and every mistake into a diagnostic at its place.
type reader struct {
	src   *diag.Source
	lines []int // byte offset of each line
	diags diag.List
}

// newReader parses a document. A syntax error is reported and leaves the node nil.
func newReader(src *diag.Source) (*reader, *yaml.Node) {
	r := &reader{src: src, lines: []int{0}}
	for i := range len(src.Text) {
		if src.Text[i] == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(src.Text), &doc); err != nil {
		r.syntax(err)
		return r, nil
	}
	if len(doc.Content) == 0 {
		r.diags = append(r.diags, diag.Diagnostic{Source: src, Code: "empty-file", Text: "the mission file is empty",
			Hint: "a mission needs at least `mission`, `plan`, `vehicle` and `horizon`"})
		return r, nil
	}
	return r, doc.Content[0]
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

func (r *reader) syntax(err error) {
	d := diag.Diagnostic{Source: r.src, Code: "yaml-syntax", Text: err.Error(),
		Hint: "quote texts in which YAML signs stand, as in \"h - 6000 [m]\""}
	if m := yamlLine.FindStringSubmatch(strings.SplitN(err.Error(), "\n", 2)[0]); m != nil {
		d.Text = m[2]
		if line, err := strconv.Atoi(m[1]); err == nil && line <= len(r.lines) {
			d.Offset = r.lines[line-1]
		}
	}
	r.diags = append(r.diags, d)
}

// span returns the bytes that a node's scalar text takes in the file.
func (r *reader) span(n *yaml.Node) (offset, length int) {
	if n.Line < 1 || n.Line > len(r.lines) {
		return 0, 0
	}
	offset = r.lines[n.Line-1]
	for c := 1; c < n.Column && offset < len(r.src.Text); c++ { // columns count characters
		_, size := utf8.DecodeRuneInString(r.src.Text[offset:])
		offset += size
	}
	if n.Kind == yaml.ScalarNode {
		length = len(n.Value)
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			offset++ // the quotation mark
		}
	}
	return offset, min(length, len(r.src.Text)-offset)
}

func (r *reader) add(n *yaml.Node, code, hint, format string, args ...any) {
	offset, length := r.span(n)
	r.diags = append(r.diags, diag.Diagnostic{Source: r.src, Offset: offset, Length: length, Code: code,
		Text: fmt.Sprintf(format, args...), Hint: hint})
}

// mapping visits the entries of a mapping in order. what names the mapping in messages.
func (r *reader) mapping(n *yaml.Node, what string, visit func(key, value *yaml.Node)) {
	n = resolve(n)
	if n.Kind != yaml.MappingNode {
		r.add(n, "wrong-type", "", "%s must be a mapping of names to values", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if seen[key.Value] {
			r.add(key, "duplicate-name", "", "%q stands twice in %s", key.Value, what)
			continue
		}
		seen[key.Value] = true
		visit(key, resolve(n.Content[i+1]))
	}
}

// keys is the set of entries that a mapping may have.
type keys map[string]func(value *yaml.Node)

// fields visits a mapping whose keys are fixed; an unknown key is reported with the nearest known one.
func (r *reader) fields(n *yaml.Node, what string, known keys) {
	r.mapping(n, what, func(key, value *yaml.Node) {
		if visit, ok := known[key.Value]; ok {
			visit(value)
			return
		}
		r.unknown(key, "unknown-key", what, slices.Sorted(maps.Keys(known)))
	})
}

// unknown reports a name that is not among the candidates.
func (r *reader) unknown(n *yaml.Node, code, what string, candidates []string) {
	hint := diag.DidYouMean(n.Value, candidates)
	if hint == "" && len(candidates) > 0 && len(candidates) <= 16 {
		hint = "known: " + strings.Join(candidates, ", ")
	}
	r.add(n, code, hint, "%s has no %q", what, n.Value)
}

// sequence visits the entries of a list in order.
func (r *reader) sequence(n *yaml.Node, what string, visit func(value *yaml.Node)) {
	n = resolve(n)
	if n.Kind != yaml.SequenceNode {
		r.add(n, "wrong-type", "", "%s must be a list", what)
		return
	}
	for _, v := range n.Content {
		visit(resolve(v))
	}
}

// text reads a scalar as it stands.
func (r *reader) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		r.add(n, "wrong-type", "", "%s must be a text", what)
		return ""
	}
	return n.Value
}

// boolean reads true or false.
func (r *reader) boolean(n *yaml.Node, what string) bool {
	var b bool
	if n.Kind != yaml.ScalarNode || n.Decode(&b) != nil {
		r.add(n, "wrong-type", "write true or false", "%s must be true or false", what)
	}
	return b
}

// number reads a finite number in the given unit: a bare one as it stands, a literal such as `24 [h]` converted.
func (r *reader) number(n *yaml.Node, unit expr.Unit, what string) float64 {
	if v, err := strconv.ParseFloat(n.Value, 64); err == nil && n.Kind == yaml.ScalarNode && v-v == 0 {
		return v
	}
	e, err := expr.Parse(n.Value)
	if n.Kind != yaml.ScalarNode || !strings.Contains(n.Value, "[") || err == nil && len(e.Names()) > 0 {
		r.add(n, "not-a-number", numberHint(unit), "%s must be a number, not %q", what, n.Value)
		return 0
	}
	if e = r.expression(n, expr.Real, unit, nil); e == nil {
		return 0
	}
	v := expr.NewCompiler(nil).Compile(e).Real(nil, nil) / unit.SI(1)
	if v-v != 0 {
		r.add(n, "not-a-number", "", "%s is %v", what, v)
	}
	return v
}

func numberHint(unit expr.Unit) string {
	if u := unit.String(); u != "" && u != "1" {
		return fmt.Sprintf("a bare number is in %s; a literal names its unit, as in `12 [%s]`", u, u)
	}
	return ""
}

// expression parses and checks an expression; nil if it has a mistake.
func (r *reader) expression(n *yaml.Node, want expr.Type, unit expr.Unit, scope expr.Scope) *expr.Expr {
	if n.Kind != yaml.ScalarNode {
		r.add(n, "wrong-type", "", "an expression must be a text")
		return nil
	}
	e, err := expr.Parse(n.Value)
	if err != nil {
		r.inside(n, err)
		return nil
	}
	mistakes := e.Check(want, unit, scope)
	for _, m := range mistakes {
		r.inside(n, m)
	}
	if len(mistakes) > 0 {
		return nil
	}
	return e
}

// inside reports a mistake at its place within an expression's text.
func (r *reader) inside(n *yaml.Node, err error) {
	m, ok := err.(*expr.Error)
	if !ok {
		r.add(n, "syntax", "", "%v", err)
		return
	}
	offset, _ := r.span(n)
	r.diags = append(r.diags, diag.Diagnostic{Source: r.src, Offset: offset + m.Offset, Length: m.Length, Code: m.Code,
		Text: m.Text, Hint: m.Hint})
}

// resolve follows an alias to its anchor.
func resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
