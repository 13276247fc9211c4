package model

// Constants of the International Standard Atmosphere (ISO 2533, US Standard Atmosphere 1976).
const (
	gravity        = 9.80665   // standard acceleration of free fall [m/s^2]
	airGasConstant = 287.05287 // specific gas constant of dry air [J/(kg K)]
	earthRadius    = 6356766.0 // nominal radius that ties geometric to geopotential altitude [m]

	seaLevelTemperature = 288.15   // [K]
	seaLevelPressure    = 101325.0 // [Pa]
	seaLevelDensity     = 1.225    // [kg/m^3]
	lapseRate           = 0.0065   // fall of temperature with geopotential altitude in the troposphere [K/m]

	tropopause            = 11000.0  // geopotential altitude [m]
	tropopauseTemperature = 216.65   // [K]
	tropopausePressure    = 22632.06 // [Pa]
)

// air is the state of the atmosphere at one altitude.
type air struct {
	temperature     float64 // [K]
	pressure        float64 // [Pa]
	density         float64 // [kg/m^3]
	densityGradient float64 // d ln(density) / d(geometric altitude) [1/m]
}

// standardAir is the standard atmosphere at a geometric altitude h [m] from the ground to 20 km.
//
//	H = r h / (r + h)
//	troposphere:         T = T0 - L H,  p = p0 (T/T0)^(g/(L R))
//	lower stratosphere:  T = T11,       p = p11 exp(-g (H - H11)/(R T11))
//	rho = p/(R T),  d ln(rho)/dh = -(g/R + dT/dH)/T (r/(r + h))^2
//
// Source: US Standard Atmosphere 1976, part 1.
//
// The lapse rate is a kink at the tropopause: the gradient of the density jumps by a quarter, and it affects the
// acceleration that holds the equivalent airspeed.
func standardAir(h float64) air {
	ratio := earthRadius / (earthRadius + h)
	geopotential := ratio * h
	var a air
	lapse := lapseRate
	if geopotential < tropopause {
		a.temperature = seaLevelTemperature - lapseRate*geopotential
		const exponent = gravity / (lapseRate * airGasConstant)
		a.pressure = seaLevelPressure * exp(exponent*log(a.temperature*(1/seaLevelTemperature)))
	} else {
		lapse = 0
		a.temperature = tropopauseTemperature
		const rate = gravity / (airGasConstant * tropopauseTemperature)
		a.pressure = tropopausePressure * exp(-rate*(geopotential-tropopause))
	}
	a.density = a.pressure / (airGasConstant * a.temperature)
	a.densityGradient = (lapse - gravity/airGasConstant) / a.temperature * ratio * ratio
	return a
}
