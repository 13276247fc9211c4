package model

import (
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"testing"

	"go.yaml.in/yaml/v3"
)

// readGiven reads a file of the solar aircraft's given data. Where the whole folder is missing the test is skipped.
func readGiven(t testing.TB, name string) []byte {
	t.Helper()
	const folder = "../../../shared/solar/"
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		t.Skip("the given data is not there: no folder ../shared/solar beside the project")
	}
	text, err := os.ReadFile(folder + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// fixture is one case of rhs.json, computed by the reference, which is an independent program.
type fixture struct {
	Time    float64 `json:"t"`
	Mode    string
	HHold   float64            `json:"h_hold"`
	State   map[string]float64 `json:"y"`
	Rates   map[string]float64 `json:"dydt"`
	Outputs map[string]float64 `json:"aux"`
}

func readFixtures(t testing.TB) []fixture {
	t.Helper()
	var cases []fixture
	if err := json.Unmarshal(readGiven(t, "rhs.json"), &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) < 3 {
		t.Fatalf("%d cases in rhs.json", len(cases))
	}
	return cases
}

// commands are those of the reference's mode.
func (f fixture) commands() []float64 {
	switch u := defaultCommands(); f.Mode {
	case "hold":
		u[commandCL], u[commandAltitude] = 1.10, 6000
		return u
	case "sink":
		u[commandCL], u[commandAltitude] = 0.85, 6000
		return u
	case "climb":
		u[commandCL], u[commandAltitude] = 0.95, 13000
		return u
	case "mission":
		u[commandCL], u[commandAltitude], u[commandPayload] = 0.95, f.HHold, 1
		return u
	}
	panic("no mode " + f.Mode)
}

func (f fixture) state() []float64 {
	y := make([]float64, stateCount)
	for i, s := range solar.States {
		y[i] = f.State[s.Name]
	}
	return y
}

func defaultCommands() []float64 {
	u := make([]float64, len(solar.Commands))
	for i, c := range solar.Commands {
		u[i] = c.Default
	}
	return u
}

func newSolar(t testing.TB) *aircraft {
	t.Helper()
	instance, err := solar.New(solar.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return instance.(*aircraft)
}

// validation is validation.yaml: values by others, with their sources there.
type validation struct {
	US1976 struct{ Rows [][5]float64 } `yaml:"atmosphere_us1976"`
	Layers struct{ Rows [][4]float64 } `yaml:"isa_layers_geopotential"`
	SPA    struct {
		Case struct {
			Latitude       float64 `yaml:"lat"`
			Longitude      float64 `yaml:"lon"`
			Pressure       float64 `yaml:"p_mbar"`
			Temperature    float64 `yaml:"T_C"`
			Zenith         float64
			Azimuth        float64
			Incidence      float64 `yaml:"incidence_slope30_azrot_m10"`
			Julian         float64 `yaml:"julian_day"`
			Declination    float64 `yaml:"topocentric_declination"`
			HourAngle      float64 `yaml:"local_hour_angle"`
			RightAscension float64 `yaml:"right_ascension"`
		}
	} `yaml:"solar_position_spa"`
	RiseSet struct {
		NREL   struct{ Rows [][]string } `yaml:"nrel_table_A2_1"`
		Golden struct{ Rows [][]string } `yaml:"golden_MST"`
		USNO   struct{ Rows [][]string } `yaml:"golden_usno_MST"`
		Site   struct{ Rows [][]string } `yaml:"chosen_site"`
	} `yaml:"sunrise_sunset"`
	Path     struct{ Rows [][3]float64 } `yaml:"sun_path_chosen_site"`
	AirMass  struct{ Rows [][2]float64 } `yaml:"airmass_kasten_young"`
	Altitude struct{ Rows [][2]float64 } `yaml:"pressure_altitude"`
	Modifier struct {
		Rows []struct {
			Incidence   float64 `yaml:"aoi"`
			Coefficient float64 `yaml:"a_r"`
			Modifier    float64 `yaml:"iam"`
		}
	} `yaml:"iam_martin_ruiz"`
	ClearSky struct {
		Ineichen struct{ Rows [][5]float64 }   `yaml:"ineichen_TL3_phoenix"`
		Scalar   struct{ Zenith, DNI float64 } `yaml:"ineichen_scalar"`
		Solis    struct{ Rows [][4]float64 }   `yaml:"simplified_solis_altitude"`
		Calgary  struct {
			Altitude  float64 `yaml:"Z"`
			Latitude  float64 `yaml:"lat"`
			Longitude float64 `yaml:"lon"`
			Turbidity float64 `yaml:"TL"`
			Tilt      float64
			Direct    float64 `yaml:"poa_direct"`
		} `yaml:"calgary_tilted"`
	} `yaml:"clear_sky"`
	Flight struct {
		AtlantikSolar struct {
			Mass, Span, Rho float64
			Aspect          float64 `yaml:"AR"`
			Power           float64 `yaml:"P_prop_level_W"`
			DragOverLift15  float64 `yaml:"implied_CD_over_CL15"`
		} `yaml:"atlantiksolar"`
	} `yaml:"level_flight_power_check"`
}

func readValidation(t testing.TB) *validation {
	t.Helper()
	v := new(validation)
	if err := yaml.Unmarshal(readGiven(t, "validation.yaml"), v); err != nil {
		t.Fatal(err)
	}
	return v
}

// near fails unless got is within an absolute tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %.9g, want %.9g within %g", what, got, want, tolerance)
	}
}
