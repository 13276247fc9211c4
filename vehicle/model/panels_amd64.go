package model

import "golang.org/x/sys/cpu"

// eachAVX2 is panels.each with the normals of p. Without fused multiplications (GOAMD64 below v3) both give the same
// bits; with them, the portable one rounds less.
//
//go:noescape
func eachAVX2(c *panelTerms, normals *[3][panelCount]float64, temperature, voltage, dTemperature, dVoltage, power,
	received *[panelCount]float64)

func (p *panels) all(temperature, voltage, dTemperature, dVoltage, power, received *[panelCount]float64) {
	if cpu.X86.HasAVX2 {
		eachAVX2(&p.terms, &p.normals, temperature, voltage, dTemperature, dVoltage, power, received)
	} else {
		p.each(temperature, voltage, dTemperature, dVoltage, power, received)
	}
}
