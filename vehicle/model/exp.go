package model

import "math"

// Steps per factor of 2 in the table of exp.
const expSteps = 64

// expTable holds the bits of 2^(j/64).
var expTable = func() (table [expSteps]uint64) {
	for j := range table {
		table[j] = math.Float64bits(math.Exp2(float64(j) / expSteps))
	}
	return table
}()

// exp is math.Exp to within 2 units in the last place, in about half the time: the panels need two exponentials each,
// which dominate the cost of an evaluation.
//
//	exp(x) = 2^k 2^(j/64) exp(r),  x = (k + j/64) ln 2 + r,  |r| <= ln 2/128,  exp(r) by Taylor, remainder below 4e-17
//
// Source of the method: Tang (1989), ACM Transactions on Mathematical Software 15, 144-157.
func exp(x float64) float64 {
	if !(-700 < x && x < 700) { // so that the result is a normal number
		return math.Exp(x)
	}
	const (
		round = 3 << 51                     // adding it leaves an integer in the low bits
		ln2Hi = 0x1.62e42fefap-1 / expSteps // times any integer below 2^17 exact
		ln2Lo = 0x1.cf79abc9e3b39p-40 / expSteps
	)
	shifted := x*(expSteps/math.Ln2) + round
	n := shifted - round
	r := (x - n*ln2Hi) - n*ln2Lo
	r2 := r * r
	p := r + r2*((0.5+r*(1.0/6))+r2*(1.0/24+r*(1.0/120)))
	i := math.Float64bits(shifted) // j in the low 6 bits, k above
	scale := math.Float64frombits(expTable[i%expSteps] + i/expSteps<<52)
	return scale + scale*p
}

// Steps of the mantissa in the table of log.
const logSteps = 128

// logTable holds, for each step, the reciprocal of a number in it and the logarithm of that number. The first number is
// 1, so that log(1) is zero; the others are in the middle of their step.
var logTable = func() (table [logSteps]struct{ inverse, log float64 }) {
	table[0].inverse = 1
	for j := 1; j < logSteps; j++ {
		table[j].inverse = 1 / (1 + (float64(j)+0.5)/logSteps)
		table[j].log = -math.Log(table[j].inverse)
	}
	return table
}()

// log is math.Log to within 3e-16, or 2 units in the last place if that is more, in about half the time.
//
//	log(x) = k ln 2 + log(c) + log(1 + r),  x = 2^k m,  m = c (1 + r),  0 <= r < 1/128 or |r| <= 1/256
//
// The Taylor series of log(1 + r) up to r^7 has a remainder of 2e-18.
func log(x float64) float64 {
	bits := math.Float64bits(x)
	exponent := bits >> 52
	if exponent-1 >= 0x7fe { // zero, subnormal, negative, infinite, NaN
		return math.Log(x)
	}
	const mantissa = 1<<52 - 1
	c := &logTable[bits>>45%logSteps]
	r := math.Float64frombits(bits&mantissa|1023<<52)*c.inverse - 1
	r2 := r * r
	p := r - r2*((0.5-r*(1.0/3))+r2*((0.25-r*(1.0/5))+r2*(1.0/6-r*(1.0/7))))
	return float64(int(exponent)-1023)*math.Ln2 + (c.log + p)
}
