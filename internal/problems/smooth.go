package problems

import (
	"fmt"
	"math"
)

// Collections that are the source of several problems.
const (
	testSet = "Mazzia & Magherini, Test Set for Initial Value Problem Solvers, University of Bari (2008)"
	detest  = "Enright & Pryce, Two FORTRAN packages for assessing initial value methods, ACM TOMS 13 (1987) 1-27"
	hairer1 = "Hairer, Norsett & Wanner, Solving Ordinary Differential Equations I, 2nd ed. (1993)"
	again   = "; values recomputed by two high-order methods at tight tolerances"
)

// HIRES is a chemical reaction in morphogenesis, eight species.
var HIRES = &Problem{
	Name: "hires", Text: "chemical reaction of eight species", Source: testSet,
	Y0: []float64{1, 0, 0, 0, 0, 0, 0, 0.0057}, End: 321.8122, Scale: []float64{1e-4}, Stiff: true, Growth: 10,
	Want: []float64{
		0.7371312573325668e-3, 0.1442485726316185e-3, 0.5888729740967575e-4, 0.1175651343283149e-2,
		0.2386356198831331e-2, 0.6238968252742796e-2, 0.2849998395185769e-2, 0.2850001604814231e-2,
	},
	Derivatives: func(_ float64, y, _, d []float64) {
		d[0] = -1.71*y[0] + 0.43*y[1] + 8.32*y[2] + 0.0007
		d[1] = 1.71*y[0] - 8.75*y[1]
		d[2] = -10.03*y[2] + 0.43*y[3] + 0.035*y[4]
		d[3] = 8.32*y[1] + 1.71*y[2] - 1.12*y[3]
		d[4] = -1.745*y[4] + 0.43*y[5] + 0.43*y[6]
		d[5] = -280*y[5]*y[7] + 0.69*y[3] + 1.71*y[4] - 0.43*y[5] + 0.69*y[6]
		d[6] = 280*y[5]*y[7] - 1.81*y[6]
		d[7] = -d[6]
	},
}

// Robertson is an autocatalytic reaction over eleven decades of time, with two roots on the way.
var Robertson = &Problem{
	Name: "robertson", Text: "autocatalytic reaction over eleven decades of time, two roots",
	Source: testSet + "; roots of the example cvRoberts_dns of SUNDIALS, recomputed at a tight tolerance",
	Y0:     []float64{1, 0, 0}, End: 1e11, Scale: []float64{1e-8}, Stiff: true, Growth: 10,
	Want: []float64{0.2083340149701255e-7, 0.8333360770334713e-13, 0.9999999791665050},
	Derivatives: func(_ float64, y, _, d []float64) {
		d[0] = -0.04*y[0] + 1e4*y[1]*y[2]
		d[2] = 3e7 * y[1] * y[1]
		d[1] = -d[0] - d[2]
	},
	Indicators: []Indicator{{"y1 >= 1e-4", Either}, {"y3 >= 0.01", Either}},
	Zeros:      func(_ float64, y, _, g []float64) { g[0], g[1] = y[0]-1e-4, y[2]-0.01 },
	Events:     []Event{{0.264019078187, 1}, {2.0795496883e7, 0}}, Lag: 20,
}

// VanDerPolStiff is the relaxation oscillator with eps = 1e-6.
var VanDerPolStiff = &Problem{
	Name: "vanderpol-stiff", Text: "relaxation oscillator, eps = 1e-6", Source: testSet + again,
	Y0: []float64{2, 0}, End: 2, Scale: []float64{1}, Stiff: true, Growth: 10,
	Want: []float64{1.7061677321705, -0.8928097010248},
	Derivatives: func(_ float64, y, _, d []float64) {
		d[0], d[1] = y[1], ((1-y[0]*y[0])*y[1]-y[0])/1e-6
	},
}

// VanDerPol is the oscillator with mu = 1 and the zero crossings of its first state.
var VanDerPol = &Problem{
	Name: "vanderpol", Text: "oscillator, mu = 1, zero crossings", Source: "van der Pol (1926)" + again,
	Y0: []float64{2, 0}, End: 20, Scale: []float64{1}, Growth: 60,
	Want:        []float64{2.008149762175, -0.042508875273},
	Derivatives: func(_ float64, y, _, d []float64) { d[0], d[1] = y[1], (1-y[0]*y[0])*y[1]-y[0] },
	Indicators:  []Indicator{{"y1 >= 0", Either}},
	Zeros:       func(_ float64, y, _, g []float64) { g[0] = y[0] },
	Events: []Event{
		{2.1616949939, 0}, {5.4931558427, 0}, {8.8247939137, 0}, {12.1564371863, 0}, {15.4880806113, 0},
		{18.8197240409, 0},
	},
	Lag: 20,
}

// Oregonator is the Belousov-Zhabotinsky reaction.
var Oregonator = &Problem{
	Name: "oregonator", Text: "Belousov-Zhabotinsky reaction", Source: testSet,
	Y0: []float64{1, 2, 3}, End: 360, Scale: []float64{1}, Stiff: true, Growth: 13,
	Want: []float64{0.1000814870318523e1, 0.1228178521549917e4, 0.1320554942846706e3},
	Derivatives: func(_ float64, y, _, d []float64) {
		d[0] = 77.27 * (y[1] + y[0]*(1-8.375e-6*y[0]-y[1]))
		d[1] = (y[2] - (1+y[0])*y[1]) / 77.27
		d[2] = 0.161 * (y[0] - y[2])
	},
}

// Pleiades are seven stars in the plane with quasi-collisions: the x, the y and their velocities.
var Pleiades = &Problem{
	Name: "pleiades", Text: "seven stars in the plane, quasi-collisions", Source: testSet,
	Y0: []float64{
		3, 3, -1, -3, 2, -2, 2, 3, -3, 2, 0, 0, -4, 4,
		0, 0, 0, 0, 0, 1.75, -1.5, 0, 0, 0, -1.25, 1, 0, 0,
	},
	End: 3, Scale: []float64{1}, Growth: 3000,
	Want: []float64{
		0.3706139143970502, 3.237284092057233, -3.222559032418324, 0.6597091455775310, 0.3425581707156584,
		1.562172101400631, -0.7003092922212495,
		-3.943437585517392, -3.271380973972550, 5.225081843456543, -2.590612434977470, 1.198213693392275,
		-0.2429682344935824, 1.091449240428980,
		3.417003806314313, 1.354584501625501, -2.590065597810775, 2.025053734714242, -1.155815100160448,
		-0.8072988170223021, 0.5952396354208710,
		-3.741244961234010, 0.3773459685750630, 0.9386858869551073, 0.3667922227200571, -0.3474046353808490,
		2.344915448180937, -1.947020434263292,
	},
	Derivatives: func(_ float64, y, _, d []float64) {
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
	},
}

// Arenstorf is a closed orbit of the restricted three-body problem.
var Arenstorf = &Problem{
	Name: "arenstorf", Text: "closed orbit around Earth and Moon, one period", Source: hairer1 + ", section II.0",
	Y0: arenstorfStart, End: 17.0652165601579625588917206249, Scale: []float64{1}, Growth: 400000,
	Want: arenstorfStart,
	Derivatives: func(_ float64, y, _, d []float64) {
		const mu = 0.012277471
		const nu = 1 - mu
		d1 := math.Pow((y[0]+mu)*(y[0]+mu)+y[1]*y[1], 1.5)
		d2 := math.Pow((y[0]-nu)*(y[0]-nu)+y[1]*y[1], 1.5)
		d[0], d[1] = y[2], y[3]
		d[2] = y[0] + 2*y[3] - nu*(y[0]+mu)/d1 - mu*(y[0]-nu)/d2
		d[3] = y[1] - 2*y[2] - nu*y[1]/d1 - mu*y[1]/d2
	},
}

var arenstorfStart = []float64{0.994, 0, 0, -2.00158510637908252240537862224}

// Brusselator is the reaction with A = 1, B = 3, a limit cycle.
var Brusselator = &Problem{
	Name: "brusselator", Text: "reaction with a limit cycle, A = 1, B = 3", Source: hairer1 + ", section II.4" + again,
	Y0: []float64{1.5, 3}, End: 20, Scale: []float64{1}, Growth: 10,
	Want: []float64{0.4986370712683, 4.5967803494520},
	Derivatives: func(_ float64, y, _, d []float64) {
		d[0] = 1 + y[0]*y[0]*y[1] - 4*y[0]
		d[1] = 3*y[0] - y[0]*y[0]*y[1]
	},
}

// DetestA2 is a single equation with the solution 1/sqrt(1 + t).
var DetestA2 = &Problem{
	Name: "detest-a2", Text: "single equation, y = 1/sqrt(1 + t)", Source: detest,
	Y0: []float64{1}, End: 20, Scale: []float64{1}, Growth: 10,
	Want:        []float64{0.218217890235992},
	Derivatives: func(_ float64, y, _, d []float64) { d[0] = -y[0] * y[0] * y[0] / 2 },
}

// DetestB1 is the growth of two conflicting populations.
var DetestB1 = &Problem{
	Name: "detest-b1", Text: "growth of two conflicting populations", Source: detest + again,
	Y0: []float64{1, 3}, End: 20, Scale: []float64{1}, Growth: 60,
	Want: []float64{0.6761876008579, 0.1860816099640},
	Derivatives: func(_ float64, y, _, d []float64) {
		d[0] = 2 * (y[0] - y[0]*y[1])
		d[1] = -(y[1] - y[0]*y[1])
	},
}

// DetestD1, DetestD3 and DetestD5 are Kepler orbits of eccentricity 0.1, 0.5 and 0.9: x, y and their velocities.
// The positions at the end follow from Kepler's equation.
var (
	DetestD1 = kepler("detest-d1", 0.1, 600, 0.21988353520084, 0.94270768463418)
	DetestD3 = kepler("detest-d3", 0.5, 3000, -0.57804329530354, 0.86338400091942)
	DetestD5 = kepler("detest-d5", 0.9, 2000, -1.29526625098758, 0.40039389637923)
)

func kepler(name string, e, growth float64, want ...float64) *Problem {
	return &Problem{
		Name: name, Text: fmt.Sprintf("Kepler orbit, eccentricity %g", e),
		Source: detest + "; positions by Kepler's equation",
		Y0:     []float64{1 - e, 0, 0, math.Sqrt((1 + e) / (1 - e))}, End: 20, Scale: []float64{1}, Growth: growth,
		Want: want,
		Derivatives: func(_ float64, y, _, d []float64) {
			r := math.Pow(y[0]*y[0]+y[1]*y[1], 1.5)
			d[0], d[1], d[2], d[3] = y[2], y[3], -y[0]/r, -y[1]/r
		},
	}
}
