package plan

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// param reads the value of a task's parameter.
func (d *document) param(n *node, p *bt.Param) int {
	a := n.element.Find(p.Name)
	if a == nil {
		if p.Default == 0 {
			d.reportMissing(n.element, codeCount, n.kind.String(), p.Name, types[p.Type].example)
		}
		return p.Default
	}
	if p.Type == bt.Resource {
		return d.resource(a)
	}
	if name, isEntry := entry(a.Value, a.Name); isEntry {
		d.mention(name)
		n.entries = append(n.entries, len(n.params))
		return p.Default
	}
	return d.number(n, p, a, a.Value, types[p.Type].hint)
}

// number reads a number of an attribute; the text is that of a port if the attribute names one, and empty if it is no
// number.
func (d *document) number(n *node, p *bt.Param, a *xmltree.Attribute, written, hint string) int {
	if p.Type == bt.Choice {
		word := slices.Index(p.Words, strings.TrimSpace(written))
		if word < 0 {
			d.reportValue(a, codeCount, diag.OneOf("write ", p.Words), "%s cannot be %q", p.Name, written)
			return p.Default
		}
		return word + 1
	}
	children, words := len(n.children), types[p.Type]
	value, err := words.parse(written)
	if err != nil {
		d.reportValue(a, codeCount, hint, "%q is not a %s", cmp.Or(written, a.Value), words.noun)
		return p.Default
	}
	if _, ok := p.Resolve(value, children); !ok && (p.Type != bt.Children || children > 0 && d.doc.Whole) {
		text, hint := words.impossible(p, written, children)
		d.reportValue(a, codeCount, hint, "%s", text)
		return p.Default
	}
	return value
}

// resource returns the number of a resource that an attribute names.
func (d *document) resource(a *xmltree.Attribute) int {
	name := strings.TrimSpace(a.Value)
	if name == "" {
		d.reportAttribute(a, codeCount, `write resource="camera"`, "the resource has no name")
		return 1
	}
	d.checkName(a)
	i := slices.Index(d.resources, name)
	if i < 0 {
		i = len(d.resources)
		d.resources = append(d.resources, name)
	}
	return i + 1
}

// types says how the values of parameters are read, what is wrong with one, and what to write instead.
var types = [...]struct {
	noun       string
	example    string
	parse      func(string) (int, error)
	hint       string
	impossible func(p *bt.Param, value string, n int) (text, hint string)
}{
	bt.Children: {"count", "3", count, "write a whole number, -1 for all children",
		func(p *bt.Param, value string, n int) (text, hint string) {
			least := "1"
			if p.Zero {
				least = "0"
			}
			switch {
			case n > 1:
				return fmt.Sprintf("%s of %d children is not possible", value, n),
					fmt.Sprintf("write %s to %d, or -1 (all) to -%d", least, n, n)
			case p.Zero:
				return value + " of 1 child is not possible", "write 0 or 1, or -1 for all children"
			}
			return value + " of 1 child is not possible", "write 1, or -1 for all children"
		}},
	bt.Times: {"count", "3", count, "write a whole number, -1 for no limit",
		func(_ *bt.Param, value string, _ int) (text, hint string) {
			return value + " times is not possible", "write 0 or more, or -1 for no limit"
		}},
	bt.Resource: {example: "camera"},
	bt.Duration: {"duration", "500", milliseconds,
		"write milliseconds, 12h30m, 13:57:06, or a number with its unit, as in 2 [d]",
		func(_ *bt.Param, value string, _ int) (text, hint string) {
			return value + " is not a possible duration", "write 0 ms or more"
		}},
}

func count(text string) (int, error) { return strconv.Atoi(strings.TrimSpace(text)) }

// milliseconds reads a duration in the notation of expressions, and a bare number as BehaviorTree.CPP does.
func milliseconds(text string) (int, error) {
	ms, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil {
		if ms, err = expr.Duration(text); err != nil {
			return 0, err
		}
		ms *= 1000
	}
	whole := math.Round(ms)
	if !(math.Abs(ms-whole) <= 1e-9*math.Abs(ms) && math.Abs(ms) < 1e15) {
		return 0, errors.New("not a whole number of milliseconds")
	}
	return int(whole), nil
}
