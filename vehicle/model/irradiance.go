package model

import "math"

// clearSky is the irradiance of a cloudless sky with a given turbidity.
type clearSky struct {
	turbidityGround, turbidityHigh, turbidityHeight float64
	diffuseFraction, diffuseHeight                  float64

	extraterrestrial float64 // normal irradiance outside the atmosphere on that day [W/m^2]
}

func (c *clearSky) bindings() []binding {
	return []binding{
		{Parameter{"solar.TL0", "1", 3, 1, 8, Assumed, "Linke turbidity at sea level"}, &c.turbidityGround},
		{Parameter{"solar.TLinf", "1", 1.8, 1, 8, Assumed, "Linke turbidity at high altitude"}, &c.turbidityHigh},
		{Parameter{"solar.H_TL", "m", 3000, 500, 20000, Assumed, "scale height of the turbidity"}, &c.turbidityHeight},
		{Parameter{"solar.dhi_frac", "1", 0.075, 0, 0.5, Assumed,
			"diffuse share of the extraterrestrial irradiance at sea level, sun high"}, &c.diffuseFraction},
		{Parameter{"solar.H_dhi", "m", 8000, 500, 30000, Assumed,
			"scale height of the diffuse irradiance"}, &c.diffuseHeight},
	}
}

// derive computes the irradiance outside the atmosphere.
//
//	E0 = 1361 W/m^2 (1 + 0.033 cos(2 pi day/365))
//
// Source: solar constant of Kopp and Lean (2011), eccentricity after Duffie and Beckman, Solar Engineering of Thermal
// Processes, equation 1.4.1a.
func (c *clearSky) derive(dayOfYear float64) {
	c.extraterrestrial = 1361 * (1 + 0.033*math.Cos(2*math.Pi*dayOfYear/365))
}

// daylight is the part of the sunlight that depends on time only.
type daylight struct {
	sun       direction
	elevation float64 // of the sun [rad]
	airMass   float64 // relative optical air mass at sea level
	beam      float64 // direct normal irradiance above the atmosphere; fades out at the horizon [W/m^2]
	diffuse   float64 // diffuse horizontal irradiance at sea level [W/m^2]
}

// daylight under a sun. The horizon is smooth: the disc and refraction let the beam rise from 0.5 deg below it, in
// about half a degree.
//
//	beam = E0/(1 + exp(-(el + 0.5 deg)/0.15 deg))
//	diffuse = E0 f s/(s + 0.15),  s = max(sin(el), 0)
func (c *clearSky) daylight(sun direction) daylight {
	elevation := sun.elevation()
	return daylight{
		sun:       sun,
		elevation: elevation,
		airMass:   relativeAirMass(elevation, sun.up),
		beam:      c.extraterrestrial / (1 + exp((elevation*(1/degree)+0.5)*(-1/0.15))),
		diffuse:   c.extraterrestrial * c.diffuseFraction * max(sun.up, 0) / (max(sun.up, 0) + 0.15),
	}
}

// relativeAirMass is the optical air mass relative to the zenith under an elevation [rad] with the given sine; it is
// constant from 1 deg below the horizon downwards.
//
//	m = 1/(sin(el) + 0.50572 (el/deg + 6.07995)^-1.6364)
//
// Source: Kasten and Young (1989), Applied Optics 28, 4735-4738.
func relativeAirMass(elevation, sine float64) float64 {
	degrees := elevation * (1 / degree)
	if degrees < -1 {
		degrees, sine = -1, -0.01745240643728351 // sin(-1 deg)
	}
	return 1 / (sine + 0.50572*exp(-1.6364*log(degrees+6.07995)))
}

// at is the direct normal and the diffuse horizontal irradiance [W/m^2] at an altitude [m] and a pressure [Pa].
//
//	direct = beam exp(-0.8662 TL m dR),  m = relative air mass p/p0,  TL = TLinf + (TL0 - TLinf) exp(-h/H)
//	diffuse = diffuse at sea level exp(-h/H)
//
// Source of the direct part: Kasten (1996), Solar Energy 56, 239-244.
func (c *clearSky) at(d *daylight, altitude, pressure float64) (direct, diffuse float64) {
	turbidity := c.turbidityHigh + (c.turbidityGround-c.turbidityHigh)*exp(-altitude/c.turbidityHeight)
	m := d.airMass * pressure * (1 / seaLevelPressure)
	direct = d.beam * exp(-0.8662*turbidity*m*rayleighDepth(m))
	if d.diffuse > 0 {
		diffuse = d.diffuse * exp(-altitude/c.diffuseHeight)
	}
	return direct, diffuse
}

// rayleighDepth is the integral optical thickness of a clean dry atmosphere per air mass m (corrected for pressure).
//
// Source: Kasten (1996), Solar Energy 56, 239-244.
func rayleighDepth(m float64) float64 {
	if m > 20 {
		return 1 / (10.4 + 0.718*m)
	}
	return 1 / (6.6296 + m*(1.7513+m*(-0.1202+m*(0.0065-m*0.00013))))
}
