package expr

import (
	"math"
	"strings"
	"testing"
)

// A function of places reads signals that its text does not have, which a port of the same name does not replace. A
// constant without a unit is in degrees.
func TestPlaces(t *testing.T) {
	values := map[string]float64{"north": 100, "east": -200, "home_lat": 0.84, "home_lon": math.Pi - 1e-3,
		"home_meridian": 6.37e6, "home_parallel": 4.27e6, "home_alt": 590}
	names := []string{"north", "east", "home_lat", "home_lon", "home_meridian", "home_parallel", "home_alt"}
	scope, bound := Scope{"north": Number(metre), "east": Number(metre)}, Scope{}
	for _, name := range names[2:] {
		unit, value := One, values[name]
		if name != "home_lat" && name != "home_lon" {
			unit = metre
		}
		scope[name] = Number(unit)
		bound[name] = Variable{Unit: unit, Constant: &value}
	}
	bound["north"], bound["east"] = scope["north"], scope["east"]
	at := func(name string) (int, bool) {
		for i, n := range names {
			if n == name {
				return i, true
			}
		}
		return 0, false
	}
	var signals []float64
	for _, n := range names {
		signals = append(signals, values[n])
	}
	value := func(text string, with map[string]*Expr) float64 {
		e := parsed(t, text)
		if e.String() != text {
			t.Errorf("%s is written %s", text, e)
		}
		if e = e.Substitute(with); len(e.Check(Real, metre, scope)) > 0 {
			t.Fatalf("%s: %v", text, e.Check(Real, metre, scope))
		}
		free := NewCompiler(scope, at).CompileFor(e, Number(metre)).Value(signals, nil)
		for _, name := range e.Resolved(bound).Names() {
			if bound[name].Constant != nil {
				t.Errorf("%s reads %s", e.Resolved(bound), name)
			}
		}
		code := NewCompiler(bound, at).CompileFor(e.Resolved(bound), Number(metre))
		if v := code.Value(signals, nil); math.Abs(v-free) > 1e-6 {
			t.Errorf("%s = %v, with constants %s = %v", e, free, e.Resolved(bound), v)
		}
		return free
	}
	near := func(text string, got, want float64) {
		if !(math.Abs(got-want) < 1e-6*math.Max(1, math.Abs(want))) {
			t.Errorf("%s = %v, want %v", text, got, want)
		}
	}
	const deg = math.Pi / 180
	near("north", value("north_of(48.2)", nil), (48.2*deg-0.84)*6.37e6)
	near("north", value("north_of(48.2 [deg])", nil), (48.2*deg-0.84)*6.37e6)
	near("beyond the date line", value("east_of(-179.99)", nil), (math.Pi+0.01*deg-math.Pi+1e-3)*4.27e6)
	near("south", value("north_of(-(48 + 12 / 60))", nil), (-48.2*deg-0.84)*6.37e6)
	ports := map[string]*Expr{"lat": parsed(t, "48.2"), "lon": parsed(t, "180 [deg]")}
	near("a port", value("distance_to(lat, lon)", ports), math.Hypot(100-(48.2*deg-0.84)*6.37e6, -200-1e-3*4.27e6))
	near("a port that has the name of a signal", value("distance_to(48.2, north)",
		map[string]*Expr{"north": parsed(t, "180 [deg]")}), math.Hypot(100-(48.2*deg-0.84)*6.37e6, -200-1e-3*4.27e6))
	for text, want := range map[string]string{
		"north_of(90.5)":           "90.5 degrees is not a latitude, which is between -90 and 90",
		"east_of(-181 [deg])":      "-181 degrees is not a longitude, which is between -180 and 180",
		"distance_to(11, 200)":     "200 degrees is not a longitude",
		"distance_to(49.1, 180)":   "distance_to(49.1, 180) is more than 100 km from home",
		"east_of(178.1)":           "east_of(178.1) is more than 100 km from home",
		"distance_to(48)":          "distance_to takes 2 arguments, not 1",
		"north_of(48, 11)":         "north_of takes 1 argument, not 2",
		"north_of(3 [m])":          "north_of takes a latitude, but 3 [m] is in m",
		"distance_to(1,2,lat,lon)": "distance_to takes 2 arguments, not 4",
	} {
		if list := parsed(t, text).Check(Real, metre, bound); len(list) == 0 || !strings.Contains(list[0].Text, want) {
			t.Errorf("%s: %v", text, list)
		}
	}
	if list := parsed(t, "north_of(48)").Check(Real, metre, Scope{}); len(list) == 0 {
		t.Error("north_of needs no home")
	}
}
