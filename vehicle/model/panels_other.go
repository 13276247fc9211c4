//go:build !amd64

package model

func (p *panels) all(temperature, voltage, dTemperature, dVoltage, power, received *[panelCount]float64) {
	p.each(temperature, voltage, dTemperature, dVoltage, power, received)
}
