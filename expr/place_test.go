package expr

import (
	"math"
	"strings"
	"testing"
)

// A function of places reads signals that its text does not have, which a port of the same name does not replace. A
// constant without a unit is in degrees.
func TestPlaces(t *testing.T) {
	scope := Scope{"lat": Number(One), "lon": Number(One), "home_lat": Number(One), "home_lon": Number(One),
		"home_meridian": Number(metre), "home_parallel": Number(metre), "h": Number(metre)}
	values := map[string]float64{"lat": 0.84, "lon": math.Pi - 1e-3, "home_lat": 0.84, "home_lon": math.Pi - 1e-3,
		"home_meridian": 6.37e6, "home_parallel": 4.27e6, "h": 3}
	names := []string{"lat", "lon", "home_lat", "home_lon", "home_meridian", "home_parallel", "h"}
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
		code := NewCompiler(scope, at).CompileFor(e, Number(metre))
		return code.Value(signals, nil)
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
	near("ports called lat and lon", value("distance_to(lat, lon)", ports),
		EarthRadius*math.Acos(math.Sin(48.2*deg)*math.Sin(0.84)+math.Cos(48.2*deg)*math.Cos(0.84)*math.Cos(1e-3)))
	for text, want := range map[string]string{
		"north_of(90.5)":           "90.5 degrees are no latitude: it is between -90 and 90",
		"east_of(-181 [deg])":      "-181 degrees are no longitude: it is between -180 and 180",
		"distance_to(11, 200)":     "200 degrees are no longitude",
		"distance_to(48)":          "distance_to takes 2 arguments, not 1",
		"north_of(48, 11)":         "north_of takes 1 argument, not 2",
		"north_of(3 [m])":          "north_of takes a latitude, but 3 [m] is in m",
		"distance_to(1,2,lat,lon)": "distance_to takes 2 arguments, not 4",
	} {
		if list := parsed(t, text).Check(Real, metre, scope); len(list) == 0 || !strings.Contains(list[0].Text, want) {
			t.Errorf("%s: %v", text, list)
		}
	}
	if list := parsed(t, "north_of(48)").Check(Real, metre, Scope{}); len(list) == 0 {
		t.Error("north_of needs no signal of home")
	}
}
