package flight

import (
	"image/color"
	"io"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"canopy/bt"
)

// level defines how a status is drawn in a lane: the height of its line, 0 to 1, its symbol at an instant, its colour.
// The levels and symbols are those of Figure 8 of A. Klöckner, Behavior Trees for UAV Mission Management, 2013.
type level struct {
	height float64
	symbol draw.GlyphDrawer
	colour color.Color
}

var (
	grey   = color.RGBA{0x8a, 0x90, 0x99, 0xff}
	orange = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	green  = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	pale   = color.RGBA{0xc8, 0xcc, 0xd2, 0xff}
	blue   = color.RGBA{0x00, 0x72, 0xb2, 0xff}
)

// levels of the statuses. Figure 8's Idle corresponds to a transient status or Deactivating.
var levels = [...]level{
	bt.Accept:       {0, draw.CircleGlyph{}, grey},
	bt.Deactivating: {0, draw.CircleGlyph{}, grey},
	bt.Failure:      {0.25, draw.RingGlyph{}, orange},
	bt.Aborted:      {0.25, draw.RingGlyph{}, orange},
	bt.Success:      {0.5, draw.PlusGlyph{}, green},
	bt.Finished:     {0.5, draw.PlusGlyph{}, green},
	bt.Activating:   {0.75, draw.TriangleGlyph{}, blue},
	bt.Running:      {1, draw.PyramidGlyph{}, blue},
}

// lanes draws the statuses of tasks over time, the first task on top.
type lanes struct {
	flight *Flight
	tasks  []bt.Task
	from   float64 // [s]
	to     float64
}

// Lanes returns the status lanes of a plan's leaves between two times [s].
func (f *Flight) Lanes(from, to float64, leaves ...string) *plot.Plot {
	l := &lanes{flight: f, from: from, to: to}
	for _, t := range f.Mission.Plan.Tree.Leaves() {
		if len(leaves) == 0 || slices.Contains(leaves, f.Mission.Plan.Tree.Name(t)) {
			l.tasks = append(l.tasks, t)
		}
	}
	p := New()
	p.X.Label.Text, p.X.Padding = "t [s]", vg.Points(4)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = from, to, 0, float64(len(l.tasks))+0.5
	ticks := make([]plot.Tick, len(l.tasks))
	for i, t := range l.tasks {
		ticks[i] = plot.Tick{Value: l.base(i) + 0.35, Label: f.Mission.Plan.Tree.Name(t)}
	}
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.LineStyle.Width = plot.ConstantTicks(ticks), 0, 0
	p.Add(l)
	return p
}

// base is the height of the lowest level of a lane.
func (l *lanes) base(i int) float64 { return float64(len(l.tasks)-1-i) + 0.15 }

// Plot draws the key on top, then lane by lane the level over time, with a symbol for each change.
func (l *lanes) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	y := func(i int, s bt.Status) vg.Length { return toY(l.base(i) + 0.7*levels[s].height) }
	style, at := p.Legend.TextStyle, vg.Point{X: c.Min.X + vg.Points(6), Y: toY(float64(len(l.tasks)) + 0.25)}
	for _, s := range []bt.Status{bt.Accept, bt.Failure, bt.Success, bt.Activating, bt.Running} {
		symbol(c, s, at)
		c.FillText(style, at.Add(vg.Point{X: vg.Points(7), Y: -style.Font.Size / 3}), key[s])
		at.X += style.Width(key[s]) + vg.Points(26)
	}
	for i, task := range l.tasks {
		now, since := l.flight.initial[task], l.from
		hold := func(until float64) {
			a, b := toX(max(since, l.from)), toX(min(until, l.to))
			c.StrokeLine2(draw.LineStyle{Color: levels[now].colour, Width: vg.Points(1.5)}, a, y(i, now), b, y(i, now))
		}
		for _, s := range l.flight.Statuses {
			if s.Task != task {
				continue
			}
			if s.T > l.to {
				break
			}
			if s.T >= l.from {
				hold(s.T)
				x := toX(s.T)
				c.StrokeLine2(draw.LineStyle{Color: pale, Width: vg.Points(0.5)}, x, y(i, now), x, y(i, s.To))
				symbol(c, s.To, vg.Point{X: x, Y: y(i, s.To)})
			}
			now, since = s.To, s.T
		}
		hold(l.to)
	}
}

func symbol(c draw.Canvas, s bt.Status, at vg.Point) {
	v := levels[s]
	c.DrawGlyph(draw.GlyphStyle{Color: v.colour, Radius: vg.Points(2.5), Shape: v.symbol}, at)
}

// key names the levels.
var key = [...]string{bt.Running: "Running", bt.Activating: "Activating", bt.Success: "Success, Finished",
	bt.Failure: "Failure, Aborted", bt.Accept: "Accept, Deactivating"}

// New returns an empty plot in the style of the examples.
func New() *plot.Plot {
	p := plot.New()
	for _, f := range []*font.Font{&p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font,
		&p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font, &p.Title.TextStyle.Font} {
		f.Variant, f.Size = "Sans", vg.Points(10)
	}
	p.Legend.Padding, p.Title.Padding = vg.Points(3), vg.Points(2)
	return p
}

// Curve adds a curve to a plot, and to its legend if it has a name; its number gives it a colour.
func Curve(p *plot.Plot, number int, name string, x, y []float64) error {
	points := make(plotter.XYs, len(x))
	for i := range points {
		points[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = []color.Color{blue, orange, green, grey}[number%4], vg.Points(1.5)
	p.Add(line)
	if name != "" {
		p.Legend.Add(name, line)
	}
	return nil
}

// WriteSVG writes plots, one below the other, as an SVG picture of a width and a height each [mm].
func WriteSVG(w io.Writer, width, height float64, plots ...*plot.Plot) error {
	mm := func(v float64) vg.Length { return vg.Length(v) * vg.Millimeter }
	svg := vgsvg.New(mm(width), mm(height*float64(len(plots))))
	page := draw.New(svg)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	margin := mm(3)
	for i, p := range plots {
		below := mm(height * float64(len(plots)-1-i))
		p.Draw(draw.Crop(page, margin, -margin, below+margin, below+mm(height)-margin-page.Size().Y))
	}
	_, err := svg.WriteTo(w)
	return err
}
