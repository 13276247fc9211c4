package model

import "testing"

func TestPropellerSpeedIsInverseOfThrust(t *testing.T) {
	p := &newSolar(t).propeller
	for _, V := range []float64{5, 11, 20} {
		for _, rho := range []float64{0.25, 0.66, 1.225} {
			for _, T := range []float64{0.5, 16, 60} {
				near(t, "thrust", p.thrust(p.speed(T, V, rho), V, rho), T, 1e-12*T)
			}
		}
	}
}

// Froude: power exceeds thrust times the mean of the speeds ahead and behind, and a thrust of zero takes no induced
// power.
func TestPropellerPower(t *testing.T) {
	p := &newSolar(t).propeller
	const V, rho = 11.0, 0.66
	near(t, "power without thrust", p.power(0, 9, V, rho), rho*9*9*9*p.powerFactor, 1e-12)
	ideal := propeller{disc: p.disc, induced: 1}
	vi := 1.3                             // inflow
	T := 2 * rho * p.disc * (V + vi) * vi // momentum theorem
	near(t, "ideal power", ideal.power(T, 9, V, rho), T*(V+vi), 1e-9)
}

// Fed with the power that the propeller takes at the commanded speed, a drive at that speed stands still.
func TestDriveTrim(t *testing.T) {
	a := newSolar(t)
	const V, rho, T = 11.0, 0.66, 16.0
	n := a.propeller.speed(T, V, rho)
	omega := 2 * 3.141592653589793 * n
	power := a.propeller.power(T, n, V, rho)
	current := a.motor.feedForward(power, omega)
	rates := make([]float64, 4)
	electric := a.motor.derivatives([]float64{current, omega, 0, 298.15}, rates, omega, current, power/omega,
		a.propeller.inertia, 0, 298.15)
	for i := range 3 {
		near(t, "rate", rates[i], 0, 1e-12)
	}
	losses := a.motor.resistance*current*current + a.motor.friction*omega*omega
	near(t, "heating", rates[3], losses/a.motor.capacity, 1e-15)
	near(t, "electrical power", electric*a.motor.efficiency, power+losses, 1e-9)
}
