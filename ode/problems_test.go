package ode

import (
	"cmp"
	"math"
	"testing"
)

// problem is an initial value problem whose solution at end is known.
type problem struct {
	name   string
	f      Func
	y0     []float64
	end    float64
	want   []float64
	atol   float64 // absolute tolerance per relative tolerance
	stiff  bool
	factor float64 // the largest error allowed, in units of rtol*|y| + atol; 0 means 10
}

// Values: the test set for IVP solvers (Mazzia & Magherini, University of Bari), DETEST (Enright & Pryce, ACM TOMS 13
// (1987) 1-27), Hairer, Norsett & Wanner I; where "recomputed", by two high-order methods at tight tolerances.
var problems = []problem{
	{
		name: "HIRES", f: hires, y0: []float64{1, 0, 0, 0, 0, 0, 0, 0.0057}, end: 321.8122, atol: 1e-4, stiff: true,
		want: []float64{
			0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
			0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2,
		},
	},
	{
		name: "Robertson", f: robertson, y0: []float64{1, 0, 0}, end: 1e11, atol: 1e-8, stiff: true,
		want: []float64{0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050},
	},
	{
		name: "VanDerPolStiff", f: vanDerPolStiff, y0: []float64{2, 0}, end: 2, atol: 1, stiff: true,
		want: []float64{1.7061677321705, -0.8928097010248}, // recomputed
	},
	{
		name: "Oregonator", f: oregonator, y0: []float64{1, 2, 3}, end: 360, atol: 1, stiff: true,
		want: []float64{0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3},
	},
	{
		name: "Pleiades", factor: 3000, f: pleiades, end: 3, atol: 1,
		y0: []float64{
			3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4,
			0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0,
		},
		want: []float64{ // the first thirteen; the given table ends there
			0.3706139143970502, 3.237284092057233, -3.222559032418324, 0.6597091455775310, 0.3425581707156584,
			1.562172101400631, -0.7003092922212495, -3.943437585517392, -3.271380973972550, 5.225081843456543,
			-2.590612434977470, 1.198213693392275, -0.2429682,
		},
	},
	{
		name: "Arenstorf", factor: 400000, f: arenstorf, atol: 1,
		y0:  []float64{0.994, 0, 0, -2.00158510637908252240537862224},
		end: 17.0652165601579625588917206249, want: []float64{0.994, 0, 0, -2.00158510637908252240537862224},
	},
	{name: "DetestA2", f: detestA2, y0: []float64{1}, end: 20, atol: 1, want: []float64{0.218217890235992}},
	{
		name: "DetestB1", factor: 60, f: detestB1, y0: []float64{1, 3}, end: 20, atol: 1,
		want: []float64{0.6761876008579, 0.1860816099640}, // recomputed
	},
	{
		name: "DetestD1", factor: 600, f: kepler, y0: orbit(0.1), end: 20, atol: 1,
		want: []float64{0.21988353520084, 0.94270768463418},
	},
	{
		name: "DetestD3", factor: 3000, f: kepler, y0: orbit(0.5), end: 20, atol: 1,
		want: []float64{-0.57804329530354, 0.86338400091942},
	},
	{
		name: "DetestD5", factor: 2000, f: kepler, y0: orbit(0.9), end: 20, atol: 1,
		want: []float64{-1.29526625098758, 0.40039389637923},
	},
	{
		name: "Brusselator", f: brusselator, y0: []float64{1.5, 3}, end: 20, atol: 1,
		want: []float64{0.4986370712683, 4.5967803494520}, // recomputed
	},
	{
		name: "VanDerPol", factor: 60, f: vanDerPol, y0: []float64{2, 0}, end: 20, atol: 1,
		want: []float64{2.008149762175, -0.042508875273}, // recomputed
	},
}

func hires(_ float64, y, d []float64) {
	d[0] = -1.71*y[0] + 0.43*y[1] + 8.32*y[2] + 0.0007
	d[1] = 1.71*y[0] - 8.75*y[1]
	d[2] = -10.03*y[2] + 0.43*y[3] + 0.035*y[4]
	d[3] = 8.32*y[1] + 1.71*y[2] - 1.12*y[3]
	d[4] = -1.745*y[4] + 0.43*y[5] + 0.43*y[6]
	d[5] = -280*y[5]*y[7] + 0.69*y[3] + 1.71*y[4] - 0.43*y[5] + 0.69*y[6]
	d[6] = 280*y[5]*y[7] - 1.81*y[6]
	d[7] = -d[6]
}

func robertson(_ float64, y, d []float64) {
	d[0] = -0.04*y[0] + 1e4*y[1]*y[2]
	d[2] = 3e7 * y[1] * y[1]
	d[1] = -d[0] - d[2]
}

func vanDerPolStiff(_ float64, y, d []float64) {
	d[0] = y[1]
	d[1] = ((1-y[0]*y[0])*y[1] - y[0]) / 1e-6
}

func vanDerPol(_ float64, y, d []float64) {
	d[0] = y[1]
	d[1] = (1-y[0]*y[0])*y[1] - y[0]
}

func oregonator(_ float64, y, d []float64) {
	d[0] = 77.27 * (y[1] + y[0]*(1-8.375e-6*y[0]-y[1]))
	d[1] = (y[2] - (1+y[0])*y[1]) / 77.27
	d[2] = 0.161 * (y[0] - y[2])
}

func pleiades(_ float64, y, d []float64) {
	copy(d[:14], y[14:])
	for i := range 7 {
		d[14+i], d[21+i] = 0, 0
		for j := range 7 {
			if j == i {
				continue
			}
			dx, dy := y[j]-y[i], y[7+j]-y[7+i]
			r := math.Pow(dx*dx+dy*dy, 1.5)
			d[14+i] += float64(j+1) * dx / r
			d[21+i] += float64(j+1) * dy / r
		}
	}
}

func arenstorf(_ float64, y, d []float64) {
	const mu = 0.012277471
	const nu = 1 - mu
	d1 := math.Pow((y[0]+mu)*(y[0]+mu)+y[1]*y[1], 1.5)
	d2 := math.Pow((y[0]-nu)*(y[0]-nu)+y[1]*y[1], 1.5)
	d[0], d[1] = y[2], y[3]
	d[2] = y[0] + 2*y[3] - nu*(y[0]+mu)/d1 - mu*(y[0]-nu)/d2
	d[3] = y[1] - 2*y[2] - nu*y[1]/d1 - mu*y[1]/d2
}

func detestA2(_ float64, y, d []float64) { d[0] = -y[0] * y[0] * y[0] / 2 }

func detestB1(_ float64, y, d []float64) {
	d[0] = 2 * (y[0] - y[0]*y[1])
	d[1] = -(y[1] - y[0]*y[1])
}

func kepler(_ float64, y, d []float64) {
	r := math.Pow(y[0]*y[0]+y[1]*y[1], 1.5)
	d[0], d[1], d[2], d[3] = y[2], y[3], -y[0]/r, -y[1]/r
}

func orbit(e float64) []float64 { return []float64{1 - e, 0, 0, math.Sqrt((1 + e) / (1 - e))} }

func brusselator(_ float64, y, d []float64) {
	d[0] = 1 + y[0]*y[0]*y[1] - 4*y[0]
	d[1] = 3*y[0] - y[0]*y[0]*y[1]
}

// integrate runs p and returns the largest error at its end in units of rtol*|y| + atol.
func (p problem) integrate(m Method, rtol float64) (*Integrator, float64, error) {
	in := New(p.f, len(p.y0), Options{Method: m, RelTol: rtol, AbsTol: []float64{rtol * p.atol}})
	in.Restart(0, p.y0)
	for in.T() < p.end {
		if err := in.Step(p.end); err != nil {
			return in, math.NaN(), err
		}
	}
	worst := 0.0
	for i, want := range p.want {
		worst = max(worst, math.Abs(in.Y()[i]-want)/(rtol*math.Abs(want)+rtol*p.atol))
	}
	return in, worst, nil
}

// TestPublishedValues integrates each problem with each method that is meant for it. Step control bounds the error
// made per step; how far it grows on the way is a matter of the problem, most of all for orbits, whose phase drifts.
func TestPublishedValues(t *testing.T) {
	for _, p := range problems {
		for _, m := range []Method{Auto, Explicit, Implicit} {
			if m == Explicit && p.stiff {
				continue
			}
			for _, rtol := range []float64{1e-4, 1e-6, 1e-8} {
				if testing.Short() && rtol == 1e-8 {
					continue
				}
				in, err, failure := p.integrate(m, rtol)
				if failure != nil {
					t.Errorf("%s %v %g: %v", p.name, m, rtol, failure)
					continue
				}
				t.Logf("%-15s %-9v %.0e  error %9.2g  %+v", p.name, m, rtol, err, in.Stats())
				if limit := cmp.Or(p.factor, 10); !(err <= limit) {
					t.Errorf("%s %v %g: error of %.3g tolerances, want at most %g", p.name, m, rtol, err, limit)
				}
				if in.T() != p.end {
					t.Errorf("%s %v %g: ends at %v, want exactly %v", p.name, m, rtol, in.T(), p.end)
				}
			}
		}
	}
}
