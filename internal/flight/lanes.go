package flight

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/canopy-uav/canopy/bt"
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
	bt.Skipped:      {0, draw.CircleGlyph{}, pale},
	bt.Dropped:      {0, draw.CircleGlyph{}, pale},
}

// lanes draws the statuses of tasks over time, the first task on top.
type lanes struct {
	flight *Flight
	tasks  []bt.Task
	from   float64 // [s]
	to     float64
}

// Lanes returns the status lanes of a plan's leaves between two times [s].
func (f *Flight) Lanes(from, to float64, leaves ...string) *Plot {
	l := &lanes{flight: f, from: from, to: to}
	for _, t := range f.Mission.Plan.Tree.Leaves() {
		if len(leaves) == 0 || slices.Contains(leaves, f.Mission.Plan.Tree.Name(t)) {
			l.tasks = append(l.tasks, t)
		}
	}
	picture := New(Axis{Label: "t [s]", Min: from, Max: to}, Axis{Max: float64(len(l.tasks)) + 0.5})
	p := picture.plot
	p.X.Padding = vg.Points(4)
	ticks := make([]plot.Tick, len(l.tasks))
	for i, t := range l.tasks {
		ticks[i] = plot.Tick{Value: l.base(i) + 0.35, Label: f.Mission.Plan.Tree.Name(t)}
	}
	p.Y.Tick.Marker, p.Y.Tick.Length, p.Y.LineStyle.Width = plot.ConstantTicks(ticks), 0, 0
	p.Add(l)
	return picture
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
		now, since := l.flight.Tasks[task].Initial, l.from
		hold := func(until float64) {
			a, b := toX(max(since, l.from)), toX(min(until, l.to))
			c.StrokeLine2(draw.LineStyle{Color: levels[now].colour, Width: vg.Points(1.5)}, a, y(i, now), b, y(i, now))
		}
		for _, s := range l.flight.Changes {
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
