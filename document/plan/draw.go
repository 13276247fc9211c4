package plan

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Details returns the attributes of the leaf as a list of "attribute: text", in canonical spelling, and its ports.
func (l *Leaf) Details() []string {
	var details []string
	for _, p := range l.Ports {
		details = append(details, p.Name+": "+p.Value)
	}
	for _, d := range l.details() {
		details = append(details, d.Name+": "+d.Value)
	}
	return details
}

func (l *Leaf) details() []xmltree.Pair {
	var details []xmltree.Pair
	add := func(name string, e *expr.Expr) {
		if e != nil {
			details = append(details, xmltree.Pair{Name: name, Value: e.String()})
		}
	}
	assign := func(name string, list []Assignment) {
		var parts []string
		for _, a := range list {
			parts = append(parts, a.String())
		}
		if len(parts) > 0 {
			details = append(details, xmltree.Pair{Name: name, Value: strings.Join(parts, "; ")})
		}
	}
	add(attrOn, l.On)
	add(attrOff, l.Off)
	if l.until != nil {
		details = append(details, xmltree.Pair{Name: attrUntil, Value: l.until.Value})
	}
	assign(attrWrite, l.Write)
	assign(attrEntry, l.Entry)
	add(attrEntryTime, l.EntryTime)
	add(attrEntryUntil, l.EntryUntil)
	add(attrDone, l.Done)
	add(attrFailed, l.Failed)
	assign(attrExit, l.Exit)
	add(attrExitTime, l.ExitTime)
	add(attrExitUntil, l.ExitUntil)
	add(attrSuccessIf, l.SuccessIf)
	add(attrFailureIf, l.FailureIf)
	return details
}

// Details returns the attributes and ports of a leaf as [Leaf.Details] does, or the parameters of another task.
func (p *Plan) Details(t bt.Task) []string {
	if i, leaf := slices.BinarySearch(p.Tree.Leaves(), t); leaf {
		return p.Leaves[i].Details()
	}
	var values []string
	for i, param := range p.Tree.Kind(t).Params() {
		values = append(values, param.Label+" "+p.Param(t, i))
	}
	if values == nil {
		return nil
	}
	text := strings.Join(values, ", ")
	if p.Tree.Kind(t).Family() == bt.Count {
		text += fmt.Sprintf(" of %d", len(p.Tree.Children(t)))
	}
	return []string{text}
}

// shorten cuts a text to a number of characters.
func shorten(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most-1]) + "…"
}

// Text draws the tree with box-drawing characters, one task a line with its name, kind, status (indexed by task; nil:
// none) and the attributes of a leaf, shortened. It returns the error of the writer.
func Text(w io.Writer, p *Plan, statuses []bt.Status) error {
	const mostDetail, mostName = 90, 60
	type line struct{ name, kind, status, detail string }
	var lines []line
	var walk func(t bt.Task, lead, below string)
	walk = func(t bt.Task, lead, below string) {
		l := line{name: lead + diag.Visible(p.Tree.Name(t)), kind: p.Tree.Kind(t).String(),
			detail: shorten(diag.Visible(strings.Join(p.Details(t), " · ")), mostDetail)}
		if statuses != nil {
			l.status = statuses[t].String()
		}
		lines = append(lines, l)
		children := p.Tree.Children(t)
		for i, c := range children {
			if i == len(children)-1 {
				walk(c, below+"└─ ", below+"   ")
			} else {
				walk(c, below+"├─ ", below+"│  ")
			}
		}
	}
	walk(p.Tree.Root(), "", "")
	names, kinds, words := 0, 0, 0
	for _, l := range lines {
		names = min(mostName, max(names, utf8.RuneCountInString(l.name)))
		kinds = max(kinds, len(l.kind))
		words = max(words, len(l.status))
	}
	out := bufio.NewWriter(w)
	for _, l := range lines {
		text := fmt.Sprintf("%-*s  %-*s  ", names, l.name, kinds, l.kind)
		if statuses != nil {
			text += fmt.Sprintf("%-*s  ", words, l.status)
		}
		fmt.Fprintln(out, strings.TrimRight(text+l.detail, " "))
	}
	return out.Flush()
}

// Role is what a drawing tells apart by colour.
type Role string

// The roles of tasks.
const (
	Composite Role = "composite"
	Parallel  Role = "parallel"
	Decorator Role = "decorator"
	Condition Role = "condition"
	Action    Role = "action"
)

// RoleOf returns the role of a kind.
func RoleOf(k bt.Kind) Role {
	switch {
	case k.Acts(), k.Childless():
		return Action
	case k.Judged():
		return Condition
	case k.Family() == bt.Count:
		return Parallel
	}
	if least, most := k.Arity(); least == 1 && most == 1 {
		return Decorator
	}
	return Composite
}
