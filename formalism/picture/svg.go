package picture

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
)

// drawing is a plan to draw.
type drawing struct{ *plan.Plan }

// look is the colours of a box.
type look struct{ fill, line string }

// in returns the look of a box in a colour.
func in(colour string) look { return look{tint(colour, 0.15), colour} }

var looks = map[plan.Role]look{
	plan.Composite: in(blue),
	plan.Parallel:  in(purple),
	plan.Decorator: in(muted),
	plan.Condition: in(amber),
	plan.Action:    in(green),
}

// Lengths of the drawing in pixels, and the sizes of its letters.
const (
	boxHeight  = 38.0
	rowGap     = 10.0
	columnGap  = 36.0
	margin     = 14.0
	padding    = 10.0
	symbolSize = 24.0
	roundness  = 3.0 // more padding where the ends are round
	mostName   = 420.0
	mostNote   = 280.0
	nameSize   = 13.0
	noteSize   = 10.5
	boldness   = 1.15 // width of bold letters over that of normal ones
	legendStep = 104.0

	legendHeight = 30.0
)

// box is a task's place in the drawing.
type box struct {
	x, y, width float64
	name, note  string
}

// SVG draws the tree from left to right as a self-contained picture: a box for each task with its name and the
// attributes of a leaf, shortened; tooltips have the full text. Colours show the roles of tasks. It returns the error
// of the writer.
func SVG(w io.Writer, p *plan.Plan) error {
	d := &drawing{p}
	boxes, width, height := d.layout()
	legend := d.legend()
	width = max(width, 2*margin+legendStep*float64(len(legend)))
	out := bufio.NewWriter(w)
	height += legendHeight
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" `+
		`role="img" font-family="system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif">`+"\n",
		width, height, width, height)
	fmt.Fprintf(out, "<title>%s</title>\n", escape(p.Name))
	for t := p.Tree.Root(); t >= 0; t-- {
		d.edges(out, boxes, t)
	}
	for t := p.Tree.Root(); t >= 0; t-- {
		d.box(out, boxes[t], t)
	}
	for i, entry := range legend {
		x, y := margin+legendStep*float64(i), height-legendHeight+8
		fmt.Fprintf(out, `<rect x="%.1f" y="%.1f" width="12" height="12" rx="3" fill="%s" stroke="%s"/>`, x, y,
			entry.fill, entry.line)
		fmt.Fprintf(out, `<text x="%.1f" y="%.1f" font-size="11" fill="%s">%s</text>`+"\n", x+17, y+10, muted,
			entry.word)
	}
	fmt.Fprintln(out, "</svg>")
	return out.Flush()
}

// layout places the tasks: each to the right of its parent, each leaf in its own row, every other task in the middle of
// its children. So the rows of a task's subtree belong to it alone, and no two boxes overlap.
func (d *drawing) layout() (boxes []box, width, height float64) {
	tree := d.Tree
	boxes = make([]box, tree.Len())
	for t := tree.Root(); t >= 0; t-- { // parents first
		b := &boxes[t]
		b.x = margin
		if parent := tree.Parent(t); parent >= 0 {
			b.x = boxes[parent].x + boxes[parent].width + columnGap
		}
		b.name, b.note = fit(diag.Visible(d.Label(t)), nameSize*boldness, mostName), tree.Kind(t).String()
		if details := diag.Visible(strings.Join(d.Details(t), " · ")); tree.Kind(t).Family() != bt.Leaf && details != "" {
			b.note += ", " + details
		} else if details != "" {
			b.note = fit(details, noteSize, mostNote)
		}
		b.width = max(textWidth(b.name, nameSize*boldness), textWidth(b.note, noteSize)) + 2*padding
		switch {
		case tree.Kind(t).Symbol() != "":
			b.width += symbolSize
		case plan.RoleOf(tree.Kind(t)) == plan.Condition:
			b.width += 2 * roundness
		}
		width = max(width, b.x+b.width+margin)
	}
	height = margin
	for t := range boxes { // children first, leaves from left to right
		b := &boxes[t]
		if children := tree.Children(bt.Task(t)); len(children) > 0 {
			b.y = (boxes[children[0]].y + boxes[children[len(children)-1]].y) / 2
			continue
		}
		b.y = height
		height += boxHeight + rowGap
	}
	return boxes, width, height
}

func (d *drawing) edges(out *bufio.Writer, boxes []box, t bt.Task) {
	from := boxes[t]
	for _, c := range d.Tree.Children(t) {
		to := boxes[c]
		x0, y0, x1, y1 := from.x+from.width, from.y+boxHeight/2, to.x, to.y+boxHeight/2
		middle := (x0 + x1) / 2
		fmt.Fprintf(out,
			`<path d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="%s" stroke-width="1.2"/>`+"\n",
			x0, y0, middle, y0, middle, y1, x1, y1, line)
	}
}

func (d *drawing) box(out *bufio.Writer, b box, t bt.Task) {
	l := looks[plan.RoleOf(d.Tree.Kind(t))]
	full := []string{d.Tree.Name(t), d.Tree.Kind(t).String()}
	radius := 5.0
	x := b.x + padding
	if plan.RoleOf(d.Tree.Kind(t)) == plan.Condition {
		radius, x = boxHeight/2, x+roundness
	}
	fmt.Fprintf(out, `<g><title>%s</title>`, escape(strings.Join(append(full, d.Details(t)...), "\n")))
	fmt.Fprintf(out, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="%.0f" `+
		`fill="%s" stroke="%s" stroke-width="1.2"/>`, b.x, b.y, b.width, boxHeight, radius, l.fill, l.line)
	if s := d.Tree.Kind(t).Symbol(); s != "" {
		fmt.Fprintf(out,
			`<text x="%.1f" y="%.1f" font-size="18" font-weight="600" text-anchor="middle" fill="%s">%s</text>`,
			x+symbolSize/2-4, b.y+boxHeight/2+6, l.line, s)
		x += symbolSize
	}
	fmt.Fprintf(out, `<text x="%.1f" y="%.1f" font-size="%.0f" font-weight="600" fill="#1c2530">%s</text>`, x, b.y+16,
		nameSize, escape(b.name))
	fmt.Fprintf(out, `<text x="%.1f" y="%.1f" font-size="%.1f" fill="#4a5560">%s</text></g>`+"\n", x, b.y+30, noteSize,
		escape(b.note))
}

type legendEntry struct {
	look
	word plan.Role
}

// legend explains the colours that the drawing has.
func (d *drawing) legend() (entries []legendEntry) {
	for _, k := range bt.Kinds() {
		role := plan.RoleOf(k)
		if e := (legendEntry{looks[role], role}); d.has(k) && !slices.Contains(entries, e) {
			entries = append(entries, e)
		}
	}
	return entries
}

// has reports whether the tree has a task of the kind.
func (d *drawing) has(k bt.Kind) bool {
	for t := range bt.Task(d.Tree.Len()) {
		if d.Tree.Kind(t) == k {
			return true
		}
	}
	return false
}

// textWidth estimates the width of a text in a common sans-serif font, rather too large than too small.
func textWidth(s string, size float64) float64 {
	sum := 0.0
	for _, r := range s {
		sum += ems(r)
	}
	return sum * size
}

// ems estimates the width of a character in relation to the size of its font.
func ems(r rune) float64 {
	switch {
	case strings.ContainsRune("iljtfrI.,:;|!'`()[]/ ", r):
		return 0.38
	case strings.ContainsRune("mwMW@%→≥≤…", r):
		return 0.95
	case r > unicode.MaxLatin1:
		return 1.05
	case unicode.IsUpper(r):
		return 0.72
	}
	return 0.61
}

// fit cuts a text to a width.
func fit(s string, size, most float64) string {
	if textWidth(s, size) <= most {
		return s
	}
	sum := 0.0
	for i, r := range s {
		if sum += ems(r); (sum+ems('…'))*size > most {
			return s[:i] + "…"
		}
	}
	return s + "…"
}

func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(diag.VisibleLines(s))) //nolint:errcheck // a strings.Builder has no errors
	return b.String()
}
