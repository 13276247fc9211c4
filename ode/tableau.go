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
	name       string
	order      int     // of the weights b
	embedded   int     // of the weights b - e
	inside     int     // order of the dense output
	gamma      float64 // 0 for an explicit pair
	safety     float64 // of step control: smaller values keep errors further below the tolerance
	c          []float64
	a          [][]float64 // row i holds a_i0 ... a_i(i-1); the diagonal is gamma from the second stage on
	e          []float64
	dense      [][4]float64
	predictors []predictor // of the stages of an implicit method
}

// predictor lists the stages whose derivatives predict the derivative of a stage: of the same step and of the previous
// one. They are few and well apart, so that extrapolation does not magnify their remaining iteration errors.
type predictor struct{ own, before []int }

// tableaus is the table of the pairs. Checkpoints identify a pair by its index: append new ones. Tests check each
// against its order conditions, and against the order observed when the step is halved.
var tableaus = []*tableau{tsitouras, kennedyCarpenter, bogackiShampine}

func (m *tableau) stages() int { return len(m.c) }

// tsitouras is the explicit pair 5(4) of Ch. Tsitouras, Runge-Kutta pairs of order 5(4) satisfying only the first
// column simplifying assumption, Computers & Mathematics with Applications 62 (2011) 770-775, with its interpolant of
// order 4.
var tsitouras = &tableau{
	name: "Tsitouras", order: 5, embedded: 4, inside: 4, safety: 0.88,
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
	dense: [][4]float64{
		{1, -2.763706197274826, 2.9132554618219126, -1.0530884977290216},
		{0, 0.13169999999999998, -0.2234, 0.1017},
		{0, 3.9302962368947516, -5.941033872131505, 2.490627285651253},
		{0, -12.411077166933676, 30.33818863028232, -16.548102889244902},
		{0, 37.50931341651104, -88.1789048947664, 47.37952196281928},
		{0, -27.896526289197286, 65.09189467479366, -34.87065786149661},
		{0, 1.5, -4, 2.5},
	},
}

// kennedyCarpenter is the L-stable pair ESDIRK5(4)7L[2]SA2 of C. A. Kennedy & M. H. Carpenter, Diagonally implicit
// Runge-Kutta methods for stiff ODEs, Applied Numerical Mathematics 146 (2019) 221-244: stiffly accurate, an explicit
// first stage, stage order 2.
//
// The paper gives no dense output. This one has order 4 and is the only one on these stages that also suits components
// that follow the others immediately: for h lambda -> -infinity it stays bounded and becomes a combination of the
// stages' values (which are then exact, while their derivatives have only order 2) that reproduces cubics.
var kennedyCarpenter = &tableau{
	name: "KennedyCarpenter", order: 5, embedded: 4, inside: 4, gamma: 0.184, safety: 0.93,
	c: []float64{0, 0.368, 0.62821529547664945, 0.13881019830028329, 0.69995861940457471, 0.90837696335078533, 1},
	a: [][]float64{
		{},
		{0.184},
		{0.2221076477383247, 0.22210764773832475},
		{-0.014049475381926274, -0.014049475381926283, -0.017090850935864151},
		{-0.40838859254931487, -0.40838859254931464, 0.16646399821362964, 1.1662718062895745},
		{-0.53929072355881114, -0.53929072355881136, -0.24223442884542501, 1.4888806111225146, 0.55631222819131843},
		{
			-0.039466069109740348, -0.039466069109740258, 0.27263649025024267, 0.43216517252028819, 0.35241608623288911,
			-0.16228561078393952,
		},
	},
	e: []float64{
		-0.039466069109740348 + 0.080689466566647272, -0.039466069109740258 + 0.080689466566647439,
		0.27263649025024267 - 0.18289968461343553, 0.43216517252028819 - 0.51701387376623098,
		0.35241608623288911 - 0.42659973130245432, -0.16228561078393952 + 0.10432685796713498,
		0.184 - 0.13919250141830897,
	},
	dense: [][4]float64{
		{1.8277112241122901, -9.6300582718277923, 14.542869466644939, -6.7799884880391748},
		{1.8277112241122897, -9.6300582718277923, 14.542869466644946, -6.779988488039181},
		{-0.91398931455844989, 3.5526223979092793, -1.2618715842868184, -1.1041250088137682},
		{-1.9539215944031634, 16.311426967164945, -26.93375311110033, 13.008412910858839},
		{0.22513133046351433, -1.5663480051750858, 2.2046286859896105, -0.51099592504514968},
		{-0.30416843085047951, 3.4726975381183376, -7.9807958354467186, 4.6499811173949217},
		{0.29152556112399847, -2.5102823543618884, 4.8860529115543763, -2.4832961183164866},
	},
	predictors: []predictor{
		1: {own: []int{0}, before: []int{2, 3}},
		2: {own: []int{0, 1}, before: []int{2}},
		3: {own: []int{0, 1, 2}},
		4: {own: []int{3, 1, 2}},
		5: {own: []int{3, 1, 4}},
		6: {own: []int{1, 4, 5}},
	},
}

// bogackiShampine is the explicit pair 3(2) of P. Bogacki & L. F. Shampine, A 3(2) pair of Runge-Kutta formulas,
// Applied Mathematics Letters 2 (1989) 321-325. Its dense output is the cubic through values and derivatives at both
// ends.
var bogackiShampine = &tableau{
	name: "BogackiShampine", order: 3, embedded: 2, inside: 3, safety: 0.8,
	c: []float64{0, 1. / 2, 3. / 4, 1},
	a: [][]float64{
		{},
		{1. / 2},
		{0, 3. / 4},
		{2. / 9, 1. / 3, 4. / 9},
	},
	e: []float64{-5. / 72, 1. / 12, 1. / 9, -1. / 8},
	dense: [][4]float64{
		{1, -4. / 3, 5. / 9},
		{0, 1, -2. / 3},
		{0, 4. / 3, -8. / 9},
		{0, -1, 1},
	},
}
