package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The published power of a level flight gives the other aircraft's CD/CL^1.5, and with it the formula gives the power
// back. The quotient was published rounded to 1 %.
func TestLevelFlightPower(t *testing.T) {
	other := readValidation(t).Flight.AtlantikSolar
	frame := airframe{mass: other.Mass, area: other.Span * other.Span / other.Aspect}
	level := func(f airframe, rho, dragOverLift15 float64) float64 {
		return math.Sqrt(2*math.Pow(f.mass*gravity, 3)/(rho*f.area)) * dragOverLift15
	}
	near(t, "power", level(frame, other.Rho, other.DragOverLift15), 0.626*other.Power, 0.01*0.626*other.Power)

	// Our aircraft obeys the same formula in its trim at the start; a larger one, it is somewhat cleaner than the
	// other.
	a := newSolar(t)
	y, out := make([]float64, stateCount), make([]float64, len(solar.Outputs))
	a.Initial(y)
	a.Outputs(0, y, defaultCommands(), out)
	CL, CD := out[outputOf(t, "CL")], out[outputOf(t, "CD")]
	quotient := CD / math.Pow(CL, 1.5)
	power := out[outputOf(t, "thrust_cmd")] * out[outputOf(t, "V")]
	near(t, "power", power, level(a.airframe, out[outputOf(t, "rho")], quotient), 1e-4*power) // the climb rate settles
	if ratio := quotient / other.DragOverLift15; ratio < 0.6 || ratio > 1 {
		t.Errorf("CD/CL^1.5 is %.2f times that of AtlantikSolar", ratio)
	}
}

func TestClimbCommand(t *testing.T) {
	p := newSolar(t).autopilot
	const glide = 0.5
	near(t, "far below", p.climbCommand(5000, glide), p.climbRate, 2e-4)
	near(t, "far above", p.climbCommand(-5000, glide), -p.sinkShare*glide, 2e-4)
	near(t, "near by", p.climbCommand(1, glide), 0.02, 5e-4) // the corners are rounded
}

// The command compared with the original formula, with its four angles.
func TestBankCommandAgainstFormula(t *testing.T) {
	p := newSolar(t).autopilot
	random := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		north, east := random.NormFloat64()*5000, random.NormFloat64()*5000
		course, speed, radius := random.Float64()*400-200, 5+random.Float64()*20, 200+random.Float64()*3000
		d := math.Hypot(north, east)
		field := math.Atan2(east, north) + math.Pi/2 + math.Atan(2*(d-radius)/radius)
		turn := p.courseGain*math.Remainder(field-course, 2*math.Pi) +
			math.Exp(-math.Pow(2*(d-radius)/radius, 2))*speed/radius
		want := 20 * degree * math.Tanh(math.Atan(turn*speed/gravity)/(20*degree))
		sin, cos := math.Sincos(course)
		got, distance := p.bankCommand(north, east, sin, cos, speed, radius)
		near(t, "bank", got, want, 1e-9) // off by the distance's 1e-6 m
		near(t, "distance", distance, d, 1.1e-6)
		if t.Failed() {
			t.Fatalf("at north %g, east %g, course %g, speed %g, radius %g", north, east, course, speed, radius)
		}
	}
}

// On the circle, clockwise along it, the bank is that of the steady turn; far out the field points at the centre.
func TestLoiter(t *testing.T) {
	p := newSolar(t).autopilot
	p.largestBank = 60
	const R, V = 1500.0, 11.0
	for bearing := -3.0; bearing < 3; bearing += 0.5 {
		north, east := R*math.Cos(bearing), R*math.Sin(bearing)
		sin, cos := math.Sincos(bearing + math.Pi/2)
		bank, _ := p.bankCommand(north, east, sin, cos, V, R)
		near(t, "bank on the circle", bank, math.Atan(V*V/(gravity*R)), 1e-6)
		sin, cos = math.Sincos(bearing + math.Pi)
		bank, _ = p.bankCommand(100*north, 100*east, sin, cos, V, R)
		near(t, "bank far out", bank, 0, 1e-3)
	}
	if bank, distance := p.bankCommand(0, 0, 0, 1, V, R); math.IsNaN(bank) || distance > 1e-5 {
		t.Errorf("in the centre: bank %g, distance %g", bank, distance)
	}
}
