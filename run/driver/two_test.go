package driver

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run/flight"
)

// program is one of the programs that fly the same vehicle over links of their own.
type program struct {
	*flight.Flight
	page
	sent [][]byte
}

func newProgram(t *testing.T, m *mission.Mission) *program {
	f := newFlight(t, m, flight.Options{Arm: true})
	p := &program{Flight: f, page: *newPage(m)}
	f.Attach(&p.page)
	return p
}

func (p *program) step(t *testing.T, in flight.Input) {
	if p.Over() {
		return
	}
	out, err := p.Step(in)
	if err != nil {
		t.Fatal(err)
	}
	p.sent = append(p.sent, out...)
}

// together flies several programs with one vehicle; the nth begins at begins[n] [s]. Each link loses a part of the
// datagrams, and up to the time quiet [s] all that others sent.
func together(t *testing.T, class string, m func() *mission.Mission, begins []float64, loss, quiet float64, seed uint64, limit float64, end func(list []*program, v *fake.Autopilot) bool) []*program {
	firmware, _ := fake.FirmwareNamed(class)
	v := fake.New(fake.Options{Firmware: firmware, Channels: len(begins)})
	fate := rand.New(rand.NewPCG(seed, 2))
	list := make([]*program, len(begins))
	const unix = 1_790_000_000_000_000_000
	for v.Now() < int64(limit*1e9) && (list[len(list)-1] == nil || !end(list, v)) {
		v.Step(20_000_000)
		for i, p := range list {
			data := v.OutOn(i)
			begin := int64(begins[i] * 1e9)
			if v.Now() < begin {
				continue
			}
			at := service.Clock{Wall: v.Now() - begin + 1, Unix: unix + v.Now()}
			if p == nil {
				p = newProgram(t, m())
				list[i] = p
				p.step(t, flight.Input{Kind: flight.Start, At: at})
				p.step(t, flight.Input{Kind: flight.Open, At: at, Data: []byte("udp:test")})
			}
			for _, d := range data {
				other := len(d) > 6 && d[6] == ends.Us.Component // the sender of a frame of MAVLink 2
				if fate.Float64() >= loss && !(other && v.Now() < int64(quiet*1e9)) {
					p.step(t, flight.Input{Kind: flight.Frame, At: at, Data: d})
				}
			}
			if p.Due() <= at.Wall {
				p.step(t, flight.Input{Kind: flight.Wake, At: at})
			}
			for _, d := range p.sent {
				if fate.Float64() >= loss {
					v.ReceiveOn(i, d)
				}
			}
			p.sent = nil
		}
	}
	return list
}

// Two programs with the same circuit on one vehicle, at once or one after the other, also where a part of the frames is
// lost: one flies it to its end, each other one commands nothing from then on, and says why.
func TestTwoProgramsOnOneVehicle(t *testing.T) {
	for _, c := range []struct {
		begins      []float64
		loss, quiet float64
	}{{[]float64{0, 0.1}, 0, 0}, {[]float64{0, 0.1}, 0.2, 0}, {[]float64{3, 0.5}, 0, 0}, {[]float64{0, 8}, 0.2, 0},
		{[]float64{0, 15}, 0, 0}, {[]float64{35, 0}, 0.2, 0}, {[]float64{0, 0.3, 0.6}, 0.1, 0}, {[]float64{0.1, 0}, 0, 20},
		{[]float64{0, 0.3}, 0.2, 28}, {[]float64{0.4, 0, 0.2}, 0, 27}} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			m := func() *mission.Mission { return north(t) }
			list := together(t, "plane", m, c.begins, c.loss, c.quiet, 7, 300, func(list []*program, _ *fake.Autopilot) bool {
				return slices.ContainsFunc(list, func(p *program) bool { return p != nil && p.Over() })
			})
			gone := 0
			for i, p := range list {
				log := strings.Join(p.lines, "\n")
				if p.Over() {
					first := c.quiet == 0 || c.begins[i] == 0
					if gone++; !first || !strings.Contains(log, "go Accept") || strings.Contains(log, "took over") {
						t.Errorf("%d\n%s", i, log)
					}
				} else if s := p.Vehicle(); s != adapter.Taken && s != adapter.Observing || !strings.Contains(log, "another Canopy") ||
					c.quiet == 0 && strings.Contains(log, "go Running") || strings.Contains(log, "pilot took over") ||
					s == adapter.Taken && !strings.Contains(log, "another station took over: another Canopy") {
					t.Errorf("%d: %s\n%s", i, s, log)
				}
			}
			if gone != 1 {
				t.Errorf("%d go on", gone)
			}
		})
	}
}

// A program that begins when the other one has gone flies.
func TestTheOtherProgramHasGone(t *testing.T) {
	n := 0
	m := func() *mission.Mission {
		if n++; n == 1 {
			return read(t, "plane", `<Action name="wait" done="ready"/>`, "")
		}
		return north(t)
	}
	list := together(t, "plane", m, []float64{0, 45}, 0, 0, 1, 300, func(list []*program, _ *fake.Autopilot) bool { return list[1].Over() })
	if log := strings.Join(list[1].lines, "\n"); !list[0].Over() || !strings.Contains(log, "go Accept") {
		t.Errorf("%s", log)
	}
}
