package region

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/diag"
)

// Panel is the picture of the answers to one question.
type Panel struct {
	Title    string
	Grid     *Grid
	Question int
	Paths    []Path // drawn on top
}

// Sizes of a picture, in pixels: a panel, the frame of its axes in it, and a line of the legend below.
const (
	panelWidth, panelHeight        = 420.0, 360.0
	frameLeft, frameTop            = 64.0, 34.0
	frameWidth, frameHeight        = panelWidth - frameLeft - 20, panelHeight - frameTop - 50
	lineHeight, boxWidth, legendAt = 18.0, 34.0, panelHeight + 6
)

// The report's colours of the classes, and shades of its accent for the region of attraction, by time.
var (
	colours = [...]string{Success: "#009e73", Failure: "#d55e00", Failing: "#e6b422", Late: "#9aa0a8", Broken: "#a3488a",
		Passed: "#56b4e9"}
	shades = [...]string{"#d9eaf5", "#a9d0ea", "#73b2dc", "#3a8fc4", "#0072b2"}
)

// Draw writes panels side by side as an SVG picture.
func Draw(w io.Writer, panels []Panel) error {
	var body bytes.Buffer
	lines := 0
	for k, p := range panels {
		fmt.Fprintf(&body, `<g transform="translate(%g,0)">`+"\n", panelWidth*float64(k))
		lines = max(lines, p.draw(&body, k))
		body.WriteString("</g>\n")
	}
	width, height := panelWidth*float64(len(panels)), legendAt+lineHeight*float64(lines)+8
	_, err := fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>`+"\n"+
		`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %[1]g %[2]g" `+
		`font-family="system-ui, sans-serif" font-size="12" fill="#1b1d20">`+"\n"+
		`<rect width="%[1]g" height="%[2]g" fill="#fff"/>`+"\n%s</svg>\n", width, height, body.Bytes())
	return err
}

// draw writes a panel, numbered for its identifiers, and returns the lines of its legend.
func (p Panel) draw(w *bytes.Buffer, number int) (lines int) {
	axes := p.Grid.Space.Axes
	x := func(v float64) float64 { return frameLeft + frameWidth*(v-axes[0].Least)/(axes[0].Most-axes[0].Least) }
	y := func(v float64) float64 { return frameTop + frameHeight*(axes[1].Most-v)/(axes[1].Most-axes[1].Least) }
	counts, _ := p.Grid.Portions(p.Question)
	longest := 0.0
	for _, c := range counts {
		if c.Class == Attracted {
			longest = c.Longest.Time
		}
	}
	p.cells(w, longest, x, y)
	fmt.Fprintf(w, `<clipPath id="frame%d"><rect x="%g" y="%g" width="%g" height="%g"/></clipPath>`+"\n", number,
		frameLeft, frameTop, frameWidth, frameHeight)
	for _, path := range p.Paths {
		fmt.Fprintf(w, `<g clip-path="url(#frame%d)"><polyline fill="none" stroke="#000" points="`, number)
		for i := range path.X {
			fmt.Fprintf(w, "%.1f,%.1f ", x(path.X[i]), y(path.Y[i]))
		}
		w.WriteString(`"/>`)
		if len(path.X) > 0 {
			fmt.Fprintf(w, `<circle cx="%.1f" cy="%.1f" r="4" fill="#000"/>`, x(path.X[0]), y(path.Y[0]))
		}
		w.WriteString("</g>\n")
	}
	fmt.Fprintf(w, `<rect x="%g" y="%g" width="%g" height="%g" fill="none" stroke="#666b73"/>`+"\n", frameLeft, frameTop,
		frameWidth, frameHeight)
	const middle, end = ` text-anchor="middle"`, ` text-anchor="end"`
	for _, v := range ticks(axes[0].Least, axes[0].Most) {
		text(w, x(v), frameTop+frameHeight+16, middle, diag.Number(v, 6))
	}
	for _, v := range ticks(axes[1].Least, axes[1].Most) {
		text(w, frameLeft-6, y(v)+4, end, diag.Number(v, 6))
	}
	text(w, frameLeft+frameWidth/2, frameTop-14, middle+` font-size="14"`, p.Title)
	text(w, frameLeft+frameWidth/2, frameTop+frameHeight+36, middle, axes[0].label())
	text(w, -(frameTop + frameHeight/2), 16, middle+` transform="rotate(-90)"`, axes[1].label())
	return p.legend(w, counts, longest)
}

// text writes a text at a position.
func text(w *bytes.Buffer, x, y float64, attributes, s string) {
	fmt.Fprintf(w, `<text x="%.1f" y="%.1f"%s>`, x, y, attributes)
	_ = xml.EscapeText(w, []byte(diag.Visible(s))) // a buffer has no errors
	w.WriteString("</text>\n")
}

// ticks returns about five round numbers in a range.
func ticks(least, most float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((most-least)/4)))
	for _, f := range []float64{5, 2} {
		if f*step <= (most-least)/4 {
			step *= f
			break
		}
	}
	var all []float64
	for k := math.Ceil(least/step - 1e-9); k*step <= most+1e-9*step && len(all) < 20; k++ {
		all = append(all, k*step)
	}
	return all
}

// legend explains the colours.
func (p Panel) legend(w *bytes.Buffer, counts []Portion, longest float64) (lines int) {
	line := func(mark func(y float64), s string) {
		y := legendAt + lineHeight*(float64(lines)+0.5)
		mark(y)
		text(w, frameLeft+boxWidth+8, y+4, "", s)
		lines++
	}
	box := func(fill string) func(float64) {
		return func(y float64) {
			fmt.Fprintf(w, `<rect x="%g" y="%g" width="%g" height="12" fill="%s"/>`, frameLeft, y-6, boxWidth, fill)
		}
	}
	for _, c := range counts {
		if c.Class != Attracted {
			line(box(colours[c.Class]), c.Text)
			continue
		}
		for b, fill := range shades {
			s := fmt.Sprintf("to %.3g s", longest*float64(b+1)/float64(len(shades)))
			if b == 0 {
				s = c.Text + ", " + s
			}
			line(box(fill), s)
		}
	}
	if len(p.Paths) > 0 {
		line(func(y float64) {
			fmt.Fprintf(w, `<path d="M%g %gh%g" stroke="#000"/>`, frameLeft, y, boxWidth)
		}, "trajectory from the dot")
	}
	line(func(float64) {}, fmt.Sprintf("%d starts, not a proof", p.Grid.Len()))
	return lines
}

func (a Axis) label() string {
	if a.Unit == "" || a.Unit == "1" {
		return a.Name
	}
	return fmt.Sprintf("%s [%s]", a.Name, a.Unit)
}

// cells draws the cells of the grid. Adjacent cells of one colour are drawn as one.
func (p Panel) cells(w *bytes.Buffer, longest float64, x, y func(float64) float64) {
	g := p.Grid
	leaves := slices.Clone(g.leaves)
	slices.SortFunc(leaves, func(a, b cell) int { return comparePoints(a.point, b.point) })
	type run struct {
		cell
		width int
		fill  string
	}
	var runs []run
	for _, l := range leaves {
		fill, known := p.fill(l, longest)
		if !known {
			continue
		}
		if n := len(runs) - 1; n >= 0 && runs[n].j == l.j && runs[n].size == l.size && runs[n].i+runs[n].width == l.i &&
			runs[n].fill == fill {
			runs[n].width += l.size
			continue
		}
		runs = append(runs, run{l, l.size, fill})
	}
	w.WriteString(`<g shape-rendering="crispEdges">` + "\n") // no seams between neighbours
	axes := g.Space.Axes
	for _, r := range runs {
		left, right := x(axes[0].at(r.i, g.size)), x(axes[0].at(r.i+r.width, g.size))
		bottom, top := y(axes[1].at(r.j, g.size)), y(axes[1].at(r.j+r.size, g.size))
		fmt.Fprintf(w, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>`+"\n", left, top, right-left,
			bottom-top, r.fill)
	}
	w.WriteString("</g>\n")
}

// fill returns the colour of a cell, by the class of most of its corners and their mean time.
func (p Panel) fill(l cell, longest float64) (colour string, known bool) {
	var votes [len(colours)]int
	var times [len(colours)]float64
	best := Class(0)
	for _, corner := range l.corners() {
		samples, known := p.Grid.samples[corner]
		if !known {
			return "", false
		}
		s := samples[p.Question]
		votes[s.Class]++
		times[s.Class] += s.Time
		if votes[s.Class] > votes[best] {
			best = s.Class
		}
	}
	if best == Attracted {
		mean := times[best] / float64(votes[best])
		return shades[min(len(shades)-1, int(float64(len(shades))*mean/max(longest, 1e-300)))], true
	}
	return colours[best], true
}
