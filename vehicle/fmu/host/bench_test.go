package host

import (
	"os"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/vehicle/fmu"
)

func BenchmarkCall(b *testing.B) {
	data, err := os.ReadFile("/tmp/fmuin/fmus/b72.fmu")
	if err != nil {
		b.Skip(err)
	}
	u, err := fmu.Read(data, fmu.Any, 0)
	if err != nil {
		b.Fatal(err)
	}
	v := u.Vehicle((&Host{Limit: time.Minute, Stderr: os.Stderr}).Start)
	i, _ := v.New(nil)
	y, d := make([]float64, 72), make([]float64, 72)
	i.Initial(y)
	for n := range b.N {
		y[0] = float64(n)
		i.Derivatives(float64(n), y, nil, d)
	}
}
