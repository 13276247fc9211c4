package region

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// curve is a question with a made-up answer.
type curve func(x, y float64) Class

func (curve) Name() string                 { return "curve" }
func (curve) Classes() []string            { return []string{"one", "two", "three"} }
func (c curve) Sample(x, y float64) Sample { return Sample{Class: c(x, y), Time: x + y} }

// curves are boundaries of several shapes in the unit square: a circle, a thin diagonal band, three sectors, waves.
var curves = map[string]curve{
	"circle": func(x, y float64) Class { return 1 + pick(math.Hypot(x-0.43, y-0.58) < 0.31) },
	"band":   func(x, y float64) Class { return 1 + pick(math.Abs(x-y) < 0.13) },
	"sectors": func(x, y float64) Class {
		return 1 + Class(math.Floor(3*(math.Atan2(y-0.47, x-0.52)+math.Pi)/(2*math.Pi+1e-9)))
	},
	"waves": func(x, y float64) Class { return 1 + pick(y > 0.5+0.3*math.Sin(9*x)) + pick(y > 0.9) },
}

func pick(yes bool) Class {
	if yes {
		return 1
	}
	return 0
}

var unit = &Space{Axes: [2]Axis{{0, "x", "1", 0, 1}, {1, "y", "1", 0, 1}}, Until: 1}

// No boundary that the coarse grid saw is lost: where two neighbouring corners of the coarse grid differ, two
// neighbouring corners of finest cells between them do. What is not refined is alike at all corners, and where the
// coarse grid saw a boundary the refined answers agree with all points of the finest grid, sampled one by one, with few
// exceptions.
func TestRefinementKeepsBoundaries(t *testing.T) {
	const cells, depth = 9, 3
	for name, c := range curves {
		g := sampled(t, unit, cells, depth, c)
		finest := map[[2]point]bool{}
		covered := 0
		alike := func(p, q point) bool {
			return slices.EqualFunc(g.samples[p], g.samples[q], func(x, y Sample) bool { return x.Class == y.Class })
		}
		var share [4]float64
		for _, l := range g.leaves {
			covered += l.size * l.size
			corners := l.corners()
			for k, p := range corners {
				q := corners[(k+1)%4]
				if l.size == 1 && !alike(p, q) {
					finest[[2]point{p, q}], finest[[2]point{q, p}] = true, true
				}
				if l.size > 1 && !alike(p, q) {
					t.Errorf("%s: cell %+v was not quartered", name, l)
				}
				if got, want := g.samples[p][0].Class, c(g.start(p)[0], g.start(p)[1]); got != want {
					t.Errorf("%s: %v has class %d, want %d", name, p, got, want)
				}
			}
		}
		if covered != g.size*g.size {
			t.Errorf("%s: the cells cover %d of %d", name, covered, g.size*g.size)
		}
		seen := 0
		check := func(p, q point) {
			if alike(p, q) {
				return
			}
			seen++
			steps := max(q.i-p.i, q.j-p.j)
			for n := range steps {
				at := func(n int) point { return point{p.i + (q.i-p.i)*n/steps, p.j + (q.j-p.j)*n/steps} }
				if finest[[2]point{at(n), at(n + 1)}] {
					return
				}
			}
			t.Errorf("%s: the boundary between %v and %v is lost", name, p, q)
		}
		for j := range cells + 1 {
			for i := range cells + 1 {
				p := point{i << depth, j << depth}
				if i < cells {
					check(p, point{p.i + 1<<depth, p.j})
				}
				if j < cells {
					check(p, point{p.i, p.j + 1<<depth})
				}
			}
		}
		if seen < 8 {
			t.Errorf("%s: the coarse grid saw only %d boundaries", name, seen)
		}
		// against the dumb grid: shares of the box
		const n = 400
		for j := range n {
			for i := range n {
				share[c((float64(i)+0.5)/n, (float64(j)+0.5)/n)] += 1. / n / n
			}
		}
		counts, boundary := g.Portions(0)
		for _, k := range counts {
			if math.Abs(k.Share-share[k.Class]) > boundary/4 {
				t.Errorf("%s: %s has %.4f of the box, want %.4f, boundary %.4f", name, k.Text, k.Share, share[k.Class], boundary)
			}
		}
		if g.Len() > (g.size+1)*(g.size+1)/2 {
			t.Errorf("%s: %d starts are no saving", name, g.Len())
		}
	}
}

// Cells that Refine could not sample are left out, and the rest can be summed up and drawn.
func TestInterruptedRefinement(t *testing.T) {
	g := NewGrid(unit, []Question{curves["circle"]}, 8, 2)
	asked := 0
	if g.Refine(func(starts []Start) [][]Sample {
		answers := all(g)(starts)
		if asked++; asked == 2 {
			for i := range answers {
				if i%2 == 0 {
					answers[i] = nil
				}
			}
		}
		return answers
	}) {
		t.Error("complete without all samples")
	}
	counts, boundary := g.Portions(0)
	if len(counts) != 2 || boundary <= 0 || asked != 2 {
		t.Errorf("%+v, boundary %g, asked %d times", counts, boundary, asked)
	}
	var out bytes.Buffer
	if err := Draw(&out, []Panel{{Title: "part", Grid: g}}); err != nil || !strings.Contains(out.String(), "part") {
		t.Error(err)
	}
	none := NewGrid(unit, []Question{curves["circle"]}, 2, 0)
	if none.Refine(func(s []Start) [][]Sample { return make([][]Sample, len(s)) }) {
		t.Error("complete without any sample")
	}
	if counts, _ := none.Portions(0); len(counts) != 0 {
		t.Errorf("%+v", counts)
	}
	if err := Draw(&out, []Panel{{Grid: none}}); err != nil {
		t.Error(err)
	}
}

// A picture is well-formed SVG that has the colours where the answers are, and names as text.
func TestPicture(t *testing.T) {
	g := sampled(t, unit, 8, 2, curve(func(x, _ float64) Class { return 1 + pick(x > 0.5) }))
	var out bytes.Buffer
	path := Path{X: []float64{0.1, 0.9}, Y: []float64{0.1, 0.1}}
	if err := Draw(&out, []Panel{{Title: "<halves>", Grid: g, Paths: []Path{path}}, {Title: "again", Grid: g}}); err != nil {
		t.Fatal(err)
	}
	area, middle, texts := map[string]float64{}, map[string]float64{}, []string{}
	inCells, decoder := false, xml.NewDecoder(&out)
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			attr := map[string]string{}
			number := func(name string) float64 {
				x, _ := strconv.ParseFloat(attr[name], 64)
				return x
			}
			for _, a := range e.Attr {
				attr[a.Name.Local] = a.Value
			}
			if e.Name.Local == "g" {
				inCells = attr["shape-rendering"] != ""
			}
			if e.Name.Local == "rect" && inCells {
				a := number("width") * number("height")
				area[attr["fill"]] += a
				middle[attr["fill"]] += a * (number("x") + number("width")/2)
			}
		case xml.EndElement:
			inCells = inCells && e.Name.Local != "g"
		case xml.CharData:
			texts = append(texts, string(e))
		}
	}
	one, two := area["#009e73"], area["#d55e00"]
	if len(area) != 2 || math.Abs(one+two-2*frameWidth*frameHeight) > 10 || math.Abs(one-two) > 0.05*one {
		t.Errorf("areas %v of two frames of %g", area, frameWidth*frameHeight)
	}
	if left, right := middle["#009e73"]/one, middle["#d55e00"]/two; math.Abs(right-left-frameWidth/2) > 0.05*frameWidth {
		t.Errorf("the middle of the left half is at %g, of the right half at %g", left, right)
	}
	for _, want := range []string{"<halves>", "again", "trajectory from the dot", "0.4"} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is not written: %q", want, texts)
		}
	}
}

// Ticks are round numbers in the range.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		least, most float64
		want        []float64
	}{
		{0, 5, []float64{0, 1, 2, 3, 4, 5}}, {-2, 2, []float64{-2, -1, 0, 1, 2}}, {0, 300, []float64{0, 50, 100, 150, 200, 250, 300}},
		{0.01, 4, []float64{0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4}},
	} {
		if got := ticks(c.least, c.most); !slices.Equal(got, c.want) {
			t.Errorf("%g to %g: %v, want %v", c.least, c.most, got, c.want)
		}
	}
}
