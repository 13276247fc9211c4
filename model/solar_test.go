package model

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
)

// solarData is the folder of the given data; tests that need it skip where it is missing.
const solarData = "../../shared/solar/"

func readSolarData(t testing.TB, name string) []byte {
	t.Helper()
	if _, err := os.Stat(solarData); err != nil {
		t.Skipf("no folder %s: the given data is not beside this checkout", solarData)
	}
	text, err := os.ReadFile(solarData + name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// fixture is one case of rhs.json: the derivatives by the reference, an independent program.
type fixture struct {
	T     float64
	Mode  string
	HHold float64 `json:"h_hold"`
	Y     map[string]float64
	DYDT  map[string]float64
	Aux   map[string]float64
}

func fixtures(t testing.TB) []fixture {
	var list []fixture
	if err := json.Unmarshal(readSolarData(t, "rhs.json"), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// commands of the reference's modes.
func (f fixture) commands() []float64 {
	u := make([]float64, commandCount)
	for i, c := range solar.Commands {
		u[i] = c.Default
	}
	switch f.Mode {
	case "hold":
		u[commandCL], u[commandAltitude] = 1.10, 6000
	case "sink":
		u[commandCL], u[commandAltitude] = 0.85, 6000
	case "climb":
		u[commandCL], u[commandAltitude] = 0.95, 13000
	case "mission":
		u[commandCL], u[commandAltitude], u[commandPayload] = 0.95, f.HHold, 1
	}
	return u
}

func (f fixture) state() []float64 {
	y := make([]float64, stateCount)
	for i, s := range solar.States {
		y[i] = f.Y[s.Name]
	}
	return y
}

func TestDerivativesAgreeWithReference(t *testing.T) {
	instance := newSolar(t)
	for _, f := range fixtures(t) {
		if len(f.Y) != stateCount || len(f.DYDT) != stateCount {
			t.Fatalf("the case at t=%g has %d states", f.T, len(f.Y))
		}
		y, got := f.state(), make([]float64, stateCount)
		instance.Derivatives(f.T, y, f.commands(), got)
		worst, at := 0.0, ""
		for i, s := range solar.States {
			want := f.DYDT[s.Name]
			r := math.Abs(got[i]-want) / math.Max(math.Abs(want), 1e-5)
			if r > worst { worst, at = r, fmt.Sprint(s.Name, got[i], want) }
		}
		t.Log(f.T, worst, at)
	}
}

func newSolar(t testing.TB) *aircraft {
	t.Helper()
	instance, err := solar.New(solar.Defaults())
	if err != nil {
		t.Fatal(err)
	}
	return instance.(*aircraft)
}

func BenchmarkX(b *testing.B) {
	a := newSolar(b)
	fs := fixtures(b)
	for _, f := range fs {
		y, u, d := f.state(), f.commands(), make([]float64, stateCount)
		b.Run(f.Mode, func(b *testing.B) {
			b.ReportAllocs()
			x := 0.0
			for b.Loop() {
				x += 1e-3
				a.Derivatives(f.T+x, y, u, d)
			}
		})
		b.Run(f.Mode+"-same", func(b *testing.B) {
			for b.Loop() {
				a.Derivatives(f.T, y, u, d)
			}
		})
		out := make([]float64, len(solar.Outputs))
		b.Run(f.Mode+"-out", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				a.Outputs(f.T, y, u, out)
			}
		})
	}
}
