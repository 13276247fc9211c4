package region

import (
	"math"
	"slices"

	"github.com/canopy-uav/canopy/bt"
)

// Claim is a statement about all starts of a grid.
type Claim struct {
	Text    string   `json:"text"`
	Holds   bool     `json:"holds"`
	Starts  int      `json:"starts"`            // to which it applies
	Against int      `json:"against"`           // of them, those at which it does not hold
	Example *Extreme `json:"example,omitempty"` // the first of those
}

// Bound is the maximum time that a task takes to succeed from the sampled part of its region of attraction.
type Bound struct {
	Seen bool // the region of attraction has starts
	Extreme
}

// Bound returns the time bound of a [Trial], among the grid's questions.
func (g *Grid) Bound(question int) Bound {
	b := Bound{}
	for _, p := range g.known() {
		s := g.samples[p][question]
		if s.Class == Attracted && (!b.Seen || s.Time > b.Time) {
			b = Bound{true, Extreme{Start: g.start(p), Time: s.Time}}
		}
	}
	return b
}

// slack is the relative tolerance of event times.
const slack = 1e-5

// Lemma compares a task, question 0, with its two parts, questions 1 and 2. For a Fallback (Lemmas 3 and 5) of T1 and
// T2:
//
//	premise      S2 \ S1 is a subset of R'1
//	tacitly      R'2 \ (R'1 u S1) is a subset of F1: there T2 is executed
//	conclusion   S0 = S1,  R'0 = (R'1 u R'2) \ S1,  tau0 <= tau1 + tau2
//
// For a Sequence the same argument takes
//
//	premise      S1 is a subset of R'2 u S2
//	tacitly      R'2 is a subset of S1
//	conclusion   S0 = S1 n S2,  R'0 = R'1 u R'2,  tau0 <= tau1 + tau2
//
// The lemmas print S2 for S2 \ S1 and R'1 u R'2 for the set without S1: no start of a Fallback is in S1 and in R'0. It
// panics if the task is neither.
func (g *Grid) Lemma(kind bt.Kind) []Claim {
	type answers = [3]Class
	is := func(k int, c Class) func(answers) bool { return func(a answers) bool { return a[k] == c } }
	s0, s1, s2, f1 := is(0, Success), is(1, Success), is(2, Success), is(1, Failure)
	r0, r1, r2 := is(0, Attracted), is(1, Attracted), is(2, Attracted)
	type claim struct {
		text            string
		about, conclude func(answers) bool
	}
	always := func(answers) bool { return true }
	same := func(p, q func(answers) bool) func(answers) bool { return func(a answers) bool { return p(a) == q(a) } }
	var claims []claim
	switch {
	case isFallback(kind):
		claims = []claim{
			{`S2 \ S1 is a subset of R'1`, func(a answers) bool { return s2(a) && !s1(a) }, r1},
			{`R'2 \ (R'1 u S1) is a subset of F1`, func(a answers) bool { return r2(a) && !r1(a) && !s1(a) }, f1},
			{"S0 = S1", always, same(s0, s1)},
			{`R'0 = (R'1 u R'2) \ S1`, always, same(r0, func(a answers) bool { return (r1(a) || r2(a)) && !s1(a) })},
		}
	case isSequence(kind):
		claims = []claim{
			{"S1 is a subset of R'2 u S2", s1, func(a answers) bool { return r2(a) || s2(a) }},
			{"R'2 is a subset of S1", r2, s1},
			{"S0 = S1 n S2", always, same(s0, func(a answers) bool { return s1(a) && s2(a) })},
			{"R'0 = R'1 u R'2", always, same(r0, func(a answers) bool { return r1(a) || r2(a) })},
		}
	default:
		panic("region: no Fallback or Sequence")
	}
	var list []Claim
	for _, c := range claims {
		list = append(list, g.claim(c.text, func(v []Sample) (applies, holds bool, example Extreme) {
			a := answers{v[0].Class, v[1].Class, v[2].Class}
			return c.about(a), c.conclude(a), Extreme{Text: v[0].Text}
		}))
	}
	sum := g.Bound(1).Time + g.Bound(2).Time
	return append(list, g.claim("tau0 <= tau1 + tau2", func(v []Sample) (applies, holds bool, example Extreme) {
		return v[0].Class == Attracted, v[0].Time <= sum+slack*math.Abs(sum), Extreme{Time: v[0].Time}
	}))
}

// claim judges a claim at each start to which it applies; example is what the first contrary start shows.
func (g *Grid) claim(text string, judge func(v []Sample) (applies, holds bool, example Extreme)) Claim {
	s := Claim{Text: text, Holds: true}
	for _, p := range g.known() {
		applies, holds, example := judge(g.samples[p])
		if !applies {
			continue
		}
		if s.Starts++; holds {
			continue
		}
		if s.Against++; s.Holds {
			example.Start = g.start(p)
			s.Holds, s.Example = false, &example
		}
	}
	return s
}

// Rules returns the claims about a list of rules: question 0 is a [Trial], question 1 a [Regression].
func (g *Grid) Rules() []Claim {
	claims := []struct {
		text     string
		question int
		against  []Class
	}{
		{"complete (Definition 2): a rule holds", 1, []Class{Gap}},
		{"regression (Definition 1): its action leads to an earlier rule's condition", 1, []Class{Astray, Lost}},
		{"stronger regression (Definition 4): without violating its own", 1, []Class{Astray, Lost, Weakly}},
		{"the rules together succeed", 0, []Class{Failure, Failing, Late, Broken, Passed}},
	}
	var list []Claim
	for _, c := range claims {
		list = append(list, g.claim(c.text, func(v []Sample) (applies, holds bool, example Extreme) {
			x := v[c.question]
			return true, !slices.Contains(c.against, x.Class), Extreme{Time: x.Time, Text: x.Text}
		}))
	}
	return list
}

// Counterexample returns a start whose run does not succeed although each rule leads to an earlier one at every start:
// the wanted start, or else the nearest one of the grid, by distance relative to the box. Question 0 is a [Trial],
// question 1 a [Regression]. Runs that broke off are ignored.
func (g *Grid) Counterexample(wanted Start) (Start, bool) {
	var best Start
	least := math.Inf(1)
	against := func(s Sample) bool { return s.Class == Failing || s.Class == Late }
	for _, p := range g.known() {
		v := g.samples[p]
		if c := v[1].Class; c != Strongly && c != Weakly && c != Goal {
			return Start{}, false
		}
		if !against(v[0]) {
			continue
		}
		s, d := g.start(p), 0.0
		for k, a := range g.Space.Axes {
			d += math.Abs(s[k]-wanted[k]) / (a.Most - a.Least)
		}
		if d < least {
			best, least = s, d
		}
	}
	if x, y := g.Space.Axes[0], g.Space.Axes[1]; x.holds(wanted[0]) && y.holds(wanted[1]) &&
		against(g.Questions[0].Sample(wanted[0], wanted[1])) {
		return wanted, true
	}
	return best, !math.IsInf(least, 1)
}
