package flight

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Axis describes an axis of a plot.
type Axis struct {
	Label    string
	Min, Max float64 // the range that is shown at least; the curves alone decide if Max is not above Min
	Log      bool    // logarithmic scale
}

// Plot is a picture of curves, discs or status lanes over two axes.
type Plot struct {
	Title   string
	KeyLeft bool // the names of the curves are at the top left, else at the top right
	plot    *plot.Plot
}

// New returns an empty plot in the style of the examples.
func New(x, y Axis) *Plot {
	p := plot.New()
	for _, f := range []*font.Font{&p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font,
		&p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font, &p.Title.TextStyle.Font} {
		f.Variant, f.Size = "Sans", vg.Points(10)
	}
	p.Legend.Padding, p.Title.Padding = vg.Points(3), vg.Points(2)
	x.apply(&p.X)
	y.apply(&p.Y)
	return &Plot{plot: p}
}

func (a Axis) apply(to *plot.Axis) {
	to.Label.Text = a.Label
	if a.Max > a.Min {
		to.Min, to.Max = a.Min, a.Max
	}
	if a.Log {
		to.Scale, to.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	}
}

// Curve adds a curve, with a name in the key if it has one; its number gives it a colour.
func (p *Plot) Curve(number int, name string, x, y []float64) error {
	line, err := plotter.NewLine(points(x, y))
	if err != nil {
		return err
	}
	line.Color, line.Width = []color.Color{blue, orange, green, grey}[number%4], vg.Points(1.5)
	p.plot.Add(line)
	if name != "" {
		p.plot.Legend.Add(name, line)
	}
	return nil
}

// Disc adds a grey disc.
func (p *Plot) Disc(x, y, radius float64) error {
	const corners = 60
	var xs, ys []float64
	for i := range corners {
		angle := 2 * math.Pi * float64(i) / corners
		xs, ys = append(xs, x+radius*math.Cos(angle)), append(ys, y+radius*math.Sin(angle))
	}
	shape, err := plotter.NewPolygon(points(xs, ys))
	if err != nil {
		return err
	}
	shape.Color, shape.LineStyle.Width = color.Gray{210}, 0
	p.plot.Add(shape)
	return nil
}

func points(x, y []float64) plotter.XYs {
	list := make(plotter.XYs, len(x))
	for i := range list {
		list[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return list
}

// writeSVG writes plots, one below the other, as an SVG picture of a width and a height each [mm].
func writeSVG(w io.Writer, width, height float64, plots ...*Plot) error {
	mm := func(v float64) vg.Length { return vg.Length(v) * vg.Millimeter }
	svg := vgsvg.New(mm(width), mm(height*float64(len(plots))))
	page := draw.New(svg)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	margin := mm(3)
	for i, p := range plots {
		p.plot.Title.Text, p.plot.Legend.Top, p.plot.Legend.Left = p.Title, true, p.KeyLeft
		below := mm(height * float64(len(plots)-1-i))
		p.plot.Draw(draw.Crop(page, margin, -margin, below+margin, below+mm(height)-margin-page.Size().Y))
	}
	_, err := svg.WriteTo(w)
	return err
}
