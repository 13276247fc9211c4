package expr

import "testing"

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"distance gt 60 [m]":                      "distance > 60",
		"h >= 12 [km] and not (door or soc < 50)": "(h >= 12000) && (!(door || (soc < 50)))",
		"1 < x + 2*y < 3":                         "(1 < (x + (2 * y))) && ((x + (2 * y)) < 3)",
		`mode == "far off"`:                       "mode == 'far off'",
		"if(up, 1, -2) == 1":                      "(up ? 1 : (-2)) == 1",
		"{goal} > 1e-7":                           "goal > 0.0000001",
		"t lt 2 [min]":                            "t < 120",
		"abs(x) < 1":                              "",
		"x^2 < 1":                                 "",
		"uav.h > 1":                               "",
		`name == "it's"`:                          "",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := e.Plain()
		if !ok {
			got = ""
		}
		if got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}
