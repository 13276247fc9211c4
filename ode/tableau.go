package ode

// tableau holds one embedded Runge-Kutta pair as data. The stages are
//
//	k_i = f(t + c_i h, y + h sum_j a_ij k_j),
//
// the last one is the derivative at the end of the step (the last row of a are the weights b, so the first stage of
// the next step is known: FSAL for an explicit pair, stiffly accurate for a diagonally implicit one), the estimated
// error is h sum_i e_i k_i, and the dense output at t + theta h is
//
//	y + h sum_i k_i sum_j dense_ij theta^(j+1).
type tableau struct {
	order    int // of the weights b
	embedded int // of the weights b - e
	denses   int // of the dense output: its local error is O(h^(denses+1))
	gamma    float64
	c        []float64
	a        [][]float64 // row i holds a_i0 ... a_i(i-1); the diagonal is gamma from the second stage on
	e        []float64
	dense    [][]float64
	// stiff is the product of step size and dominant eigenvalue beyond which an explicit method is at its limit of
	// stability on the negative real axis.
	stiff float64
}

func (m *tableau) stages() int { return len(m.c) }

// tsitouras is the explicit pair 5(4) of Ch. Tsitouras, Runge-Kutta pairs of order 5(4) satisfying only the first column
// simplifying assumption, Computers & Mathematics with Applications 62 (2011) 770-775, with its interpolant of order 4.
var tsitouras = &tableau{
	order: 5, embedded: 4, denses: 4, stiff: 3.3,
	c: []float64{0, 0.161, 0.327, 0.9, 0.9800255409045097, 1, 1},
	a: [][]float64{
		{},
		{0.161},
		{-0.008480655492356989, 0.335480655492357},
		{2.8971530571054935, -6.359448489975075, 4.3622954328695815},
		{5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525},
		{5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401, -0.028269050394068383},
		{0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081, 2.324710524099774},
	},
	e: []float64{
		-0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995, -0.1447110071732629,
		0.5823571654525552, -0.45808210592918697, 0.015151515151515152,
	},
	dense: [][]float64{
		{1, -2.763706197274826, 2.9132554618219126, -1.0530884977290216},
		{0, 0.13169999999999998, -0.2234, 0.1017},
		{0, 3.9302962368947516, -5.941033872131505, 2.490627285651253},
		{0, -12.411077166933676, 30.33818863028232, -16.548102889244902},
		{0, 37.50931341651104, -88.1789048947664, 47.37952196281928},
		{0, -27.896526289197286, 65.09189467479366, -34.87065786149661},
		{0, 1.5, -4, 2.5},
	},
}
