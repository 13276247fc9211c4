package region

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Panel is the picture of the answers to one question.
type Panel struct {
	Title    string
	Grid     *Grid
	Question int
	Paths    []Path // drawn over it
}

// Sizes of a picture.
const (
	panelWidth  = 11 * vg.Centimeter
	panelHeight = 9 * vg.Centimeter
	lineHeight  = 0.5 * vg.Centimeter
	border      = 0.4 * vg.Centimeter
)

// bands is how many shades the region of attraction has, by time.
const bands = 5

// ErrFormat is returned by Draw for a format that it cannot write.
var ErrFormat = errors.New("a picture is an .svg or a .png")

// Draw writes a picture of panels side by side in a format, "svg" or "png".
func Draw(w io.Writer, format string, panels []Panel) error {
	if format != "svg" && format != "png" {
		return ErrFormat
	}
	var drawn []*picture
	lines := 0
	for _, p := range panels {
		d := newPicture(p)
		drawn, lines = append(drawn, d), max(lines, len(d.legend))
	}
	width, legend := panelWidth*vg.Length(len(panels)), lineHeight*vg.Length(lines)+border
	height := panelHeight + legend
	var canvas vg.CanvasWriterTo
	if format == "png" {
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(150))}
	} else {
		canvas = vgsvg.New(width, height)
	}
	whole := draw.NewCanvas(canvas, width, height)
	whole.FillPolygon(color.White, []vg.Point{{}, {X: width}, {X: width, Y: height}, {Y: height}})
	for k, d := range drawn {
		left := panelWidth * vg.Length(k)
		d.plot.Draw(draw.Crop(whole, left+border, left+panelWidth-width-border, legend, -border))
		d.drawLegend(draw.Crop(whole, left+4*border, left+panelWidth-width, border, legend-height))
	}
	_, err := canvas.WriteTo(w)
	return err
}

// entry is a line of a legend.
type entry struct {
	fill color.Color // nil: none
	line color.Color // nil: none
	text string
}

// picture is a panel ready to be drawn.
type picture struct {
	plot   *plot.Plot
	legend []entry
}

func newPicture(p Panel) *picture {
	d := &picture{plot: plot.New()}
	axes := p.Grid.Space.Axes
	d.plot.Title.Text = p.Title
	d.plot.X.Label.Text, d.plot.Y.Label.Text = axes[0].label(), axes[1].label()
	for _, style := range []*font.Font{&d.plot.Title.TextStyle.Font, &d.plot.X.Label.TextStyle.Font,
		&d.plot.Y.Label.TextStyle.Font, &d.plot.X.Tick.Label.Font, &d.plot.Y.Tick.Label.Font} {
		style.Variant, style.Size = "Sans", 10
	}
	d.plot.Title.Padding = 6
	counts, _ := p.Grid.Counts(p.Question)
	longest := 0.0
	for _, c := range counts {
		if c.Class == Attracted {
			longest = c.Longest.Time
		}
	}
	shade := func(time float64) int { return min(bands-1, int(bands*time/max(longest, 1e-300))) }
	d.plot.Add(cells{p, shade})
	for _, c := range counts {
		if c.Class != Attracted {
			d.legend = append(d.legend, entry{fill: colours[c.Class], text: c.Text})
			continue
		}
		for b := range bands {
			text := fmt.Sprintf("to %.3g s", longest*float64(b+1)/bands)
			if b == 0 {
				text = c.Text + ", " + text
			}
			d.legend = append(d.legend, entry{fill: blues[b], text: text})
		}
	}
	for _, path := range p.Paths {
		d.path(path)
	}
	if len(p.Paths) > 0 {
		d.legend = append(d.legend, entry{line: color.Black, text: "trajectory from the dot"})
	}
	d.legend = append(d.legend, entry{text: fmt.Sprintf("%d starts, not a proof", p.Grid.Len())})
	d.plot.X.Min, d.plot.X.Max = axes[0].Least, axes[0].Most
	d.plot.Y.Min, d.plot.Y.Max = axes[1].Least, axes[1].Most
	return d
}

func (a Axis) label() string {
	if a.Unit == "" || a.Unit == "1" {
		return a.Name
	}
	return fmt.Sprintf("%s [%s]", a.Name, a.Unit)
}

// path draws a trajectory, which the frame cuts off, and a dot where it begins.
func (d *picture) path(p Path) {
	xy := make(plotter.XYs, len(p.X))
	for i := range xy {
		xy[i] = plotter.XY{X: p.X[i], Y: p.Y[i]}
	}
	d.plot.Add(trajectory(xy))
}

// trajectory is a plotter of a line with a dot at its start.
type trajectory plotter.XYs

// Plot implements [plot.Plotter].
func (t trajectory) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	points := make([]vg.Point, len(t))
	for i, v := range t {
		points[i] = vg.Point{X: x(v.X), Y: y(v.Y)}
	}
	c.StrokeLines(draw.LineStyle{Color: color.Black, Width: vg.Points(1)}, c.ClipLinesXY(points)...)
	if len(points) > 0 {
		c.DrawGlyph(draw.GlyphStyle{Color: color.Black, Radius: vg.Points(3), Shape: draw.CircleGlyph{}}, points[0])
	}
}

// The colours of the classes, and those of the region of attraction by time.
var (
	colours = [...]color.RGBA{
		Success: {0x66, 0xbd, 0x63, 255}, Failure: {0xd9, 0x5f, 0x5f, 255}, Failing: {0xfd, 0xae, 0x61, 255},
		Late: {0xbd, 0xbd, 0xbd, 255}, Broken: {0x9e, 0x7b, 0xb5, 255},
	}
	blues = [bands]color.RGBA{{0xde, 0xeb, 0xf7, 255}, {0xb0, 0xd2, 0xe8, 255}, {0x7a, 0xb6, 0xd9, 255},
		{0x42, 0x92, 0xc6, 255}, {0x1b, 0x64, 0xa5, 255}}
)

// cells is a plotter of a grid's cells.
type cells struct {
	Panel
	shade func(time float64) int
}

// Plot implements [plot.Plotter]. Cells of one colour side by side are drawn as one.
func (d cells) Plot(c draw.Canvas, p *plot.Plot) {
	g := d.Grid
	x, y := p.Transforms(&c)
	leaves := slices.Clone(g.leaves)
	slices.SortFunc(leaves, func(a, b cell) int { return comparePoints(a.point, b.point) })
	type run struct {
		cell
		width int
		fill  color.RGBA
	}
	var runs []run
	for _, l := range leaves {
		fill, known := d.fill(l)
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
	const overlap = 0.5 // hides the seams between neighbours
	axes := g.Space.Axes
	for _, r := range runs {
		left, right := x(axes[0].at(r.i, g.size)), x(axes[0].at(r.i+r.width, g.size))
		bottom, top := y(axes[1].at(r.j, g.size)), y(axes[1].at(r.j+r.size, g.size))
		right, top = min(right+overlap, c.Max.X), min(top+overlap, c.Max.Y)
		c.FillPolygon(r.fill, []vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
	}
}

// fill returns the colour of a cell: of the class of most of its corners, and of their mean time.
func (d cells) fill(l cell) (color.RGBA, bool) {
	var votes [len(colours)]int
	var times [len(colours)]float64
	best := Class(0)
	for _, p := range l.corners() {
		samples, known := d.Grid.samples[p]
		if !known {
			return color.RGBA{}, false
		}
		s := samples[d.Question]
		votes[s.Class]++
		times[s.Class] += s.Time
		if votes[s.Class] > votes[best] {
			best = s.Class
		}
	}
	if best == Attracted {
		return blues[d.shade(times[best]/float64(votes[best]))], true
	}
	return colours[best], true
}

// DataRange implements [plot.DataRanger].
func (d cells) DataRange() (xmin, xmax, ymin, ymax float64) {
	a := d.Grid.Space.Axes
	return a[0].Least, a[0].Most, a[1].Least, a[1].Most
}

// drawLegend writes the legend line by line from the top.
func (d *picture) drawLegend(c draw.Canvas) {
	style := d.plot.X.Tick.Label
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	for k, e := range d.legend {
		y := c.Max.Y - lineHeight*(vg.Length(k)+0.5)
		left, right := c.Min.X, c.Min.X+2*lineHeight
		switch {
		case e.fill != nil:
			half := 0.35 * lineHeight
			box := []vg.Point{{X: left, Y: y - half}, {X: right, Y: y - half}, {X: right, Y: y + half}, {X: left, Y: y + half}}
			c.FillPolygon(e.fill, box)
		case e.line != nil:
			c.StrokeLine2(draw.LineStyle{Color: e.line, Width: vg.Points(1)}, left, y, right, y)
		}
		c.FillText(style, vg.Point{X: right + border, Y: y}, e.text)
	}
}
