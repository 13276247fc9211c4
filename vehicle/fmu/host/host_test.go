package host

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/vehicle/fmu"
)

// ball returns the archive of the ball of an FMI version.
func ball(t *testing.T, version int) string {
	t.Helper()
	var data bytes.Buffer
	w := zip.NewWriter(&data)
	for _, name := range []string{"modelDescription.xml", "sources/ball.c", "sources/ball2.c", "sources/buildDescription.xml"} {
		from := name
		if name == "modelDescription.xml" {
			from = fmt.Sprintf("fmi%d.xml", version)
		}
		text, err := os.ReadFile("../testdata/ball/" + from)
		if err != nil {
			t.Fatal(err)
		}
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return data.String()
}

// log keeps events and samples.
type log struct {
	record.Nothing
	events []record.Event
	times  []float64
	values [][]float64
}

func (l *log) Event(e record.Event) error {
	l.events = append(l.events, e)
	return nil
}

func (l *log) Sample(t float64, v []float64) error {
	l.times, l.values = append(l.times, t), append(l.values, slices.Clone(v))
	return nil
}

// begin returns a run of a mission of the ball.
func begin(t *testing.T, h *Host, yaml, tree string) (*run.Run, *log) {
	t.Helper()
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler, cc")
	}
	archive := ball(t, 3)
	u, err := fmu.Read([]byte(archive), fmu.Any, 0)
	if err != nil {
		t.Fatal(err)
	}
	files := cart.Files{"m.yaml": "plan: p.xml\nvehicle: {fmu: ball.fmu, sha256: " + u.Digest + "}\n" + yaml,
		"p.xml": cart.Plan(tree), "ball.fmu": archive}
	m, list := mission.Read("m.yaml", files.Open, nil, nil)
	if m == nil {
		t.Fatal(list)
	}
	r, err := simulated.New(m.Hosted(h.Start), run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	l := &log{}
	r.Attach(l)
	return r, l
}

// A call that does not return in time ends the run; the message names the call and the time.
func TestHangs(t *testing.T) {
	h := &Host{Cache: t.TempDir(), Limit: 300 * time.Millisecond, Stderr: os.Stderr}
	r, _ := begin(t, h, "horizon: 1\nmax_step: 0.05\nparameters: {fault: 4, fault_at: 0.5}\n", `<Action name="a"/>`)
	var err error
	for more := true; more && err == nil; {
		more, err = r.Step()
	}
	if err == nil {
		t.Fatal("the run has ended well")
	}
	for _, part := range []string{"the FMU ball was to evaluate at t = 0.5", "no answer within 300ms", "GetDerivatives: no answer in time"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("not %q: %v", part, err)
		}
	}
	if r.T() < 0.4 || r.T() > 0.5 {
		t.Errorf("the run ended at %g", r.T())
	}
}

// The plan is exchanged in flight, and the FMU goes on: the ball follows its closed form, with the lamp of the new plan.
// A plan that does not settle changes nothing.
func TestSwap(t *testing.T) {
	h := &Host{Cache: t.TempDir(), Limit: time.Minute, Stderr: os.Stderr}
	r, l := begin(t, h, "horizon: 0.9\nrecord: {interval: 0.1, signals: [h, v, lit, bounces]}\n", `<Action name="a"/>`)
	step := func(until float64) {
		t.Helper()
		for r.T() < until {
			if more, err := r.Step(); err != nil || !more {
				if err != nil {
					t.Fatal(err)
				}
				return
			}
		}
	}
	exchange := func(name, tree string) {
		t.Helper()
		next, list := r.Mission().WithPlan(&diag.Source{Name: name, Text: cart.Plan(tree)})
		if next == nil {
			t.Fatal(list)
		}
		if err := r.Exchange(next, false); err != nil {
			t.Fatal(err)
		}
	}
	step(0.6)
	exchange("loop.xml", `<ReactiveFallback><Condition name="dark" on="not lit"/><Action name="b" write="lamp := false"/></ReactiveFallback>`)
	exchange("lamp.xml", `<Action name="b" write="lamp := true"/>`)
	step(0.9)
	lit := false
	for i, at := range l.times {
		hit := math.Sqrt(2 / 9.81)
		h := 1 - 9.81*at*at/2
		if at > hit {
			h = 0.7*9.81*hit*(at-hit) - 9.81*(at-hit)*(at-hit)/2
		}
		if math.Abs(l.values[i][0]-h) > 1e-6 {
			t.Errorf("t = %g: h = %g, want %g", at, l.values[i][0], h)
		}
		lit = lit || l.values[i][2] == 1
	}
	if !lit {
		t.Error("the new plan has not lit the lamp")
	}
}

// A folder without a library and sources, sources that are no C, and a program that does not compile have errors that
// say so; without a host, nothing runs.
func TestCannotStart(t *testing.T) {
	u, err := fmu.Read([]byte(ball(t, 3)), fmu.Any, 0)
	if err != nil {
		t.Fatal(err)
	}
	vehicle := func(u *fmu.Unit, start fmu.Start) error {
		v := u.Vehicle(start)
		i, err := v.New(v.Defaults())
		if err != nil {
			t.Fatal(err)
		}
		live, ok := i.(interface {
			Memory() []float64
			Err() error
		})
		if !ok {
			t.Fatal("no live instance")
		}
		live.Memory()
		return live.Err()
	}
	if err := vehicle(u, nil); !errors.Is(err, fmu.ErrNative) {
		t.Error(err)
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("there is no C compiler, cc")
	}
	h := &Host{Cache: t.TempDir(), Limit: time.Minute, Stderr: os.Stderr}
	for want, change := range map[string]func(*fmu.Unit){
		"and no sources": func(u *fmu.Unit) { u.Sources.Files = nil },
		"not C":          func(u *fmu.Unit) { u.Sources.Language = "C++17" },
		"FMI_VERSION":    func(u *fmu.Unit) { u.Sources.Defines = []string{"FMI_VERSION=wrong("} },
	} {
		wrong := *u
		change(&wrong)
		if err := vehicle(&wrong, h.Start); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("not %q: %v", want, err)
		}
	}
	if err := vehicle(u, (&Host{Cache: t.TempDir(), CC: "no-such-compiler"}).Start); !errors.Is(err, ErrCompiler) {
		t.Error(err)
	}
}
