package adapter_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"pgregory.net/rapid"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/frame"
)

// shuffle lets frames arrive late, or twice, with a probability in percent.
func (p *pair) shuffle(fate *rand.Rand, disorder *int) {
	type delayed struct {
		at   int64
		data []byte
	}
	var way [2][]delayed
	p.disorder = func(end int, frames [][]byte) (arrived [][]byte) {
		for _, data := range frames {
			for again := true; again; again = fate.IntN(100) < *disorder/2 {
				d := delayed{p.wall, data}
				if fate.IntN(100) < *disorder {
					d.at += fate.Int64N(300) * ms
				}
				way[end] = append(way[end], d)
			}
		}
		slices.SortStableFunc(way[end], func(a, b delayed) int { return cmp.Compare(a.at, b.at) })
		for len(way[end]) > 0 && way[end][0].at <= p.wall {
			arrived = append(arrived, way[end][0].data)
			way[end] = way[end][1:]
		}
		return arrived
	}
}

// TestAnyLoss checks with random patterns of loss, repetition and delay, in both directions, in which frames overtake each
// other, and with wanted values that change meanwhile:
// nothing is commanded before the vehicle is attached and while the link is lost; no command to arm reaches a vehicle that
// is armed; and when the channel is good again, the vehicle is in the wanted state.
func TestAnyLoss(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := newPair(t)
		defer func() {
			if rt.Failed() {
				rt.Log(p.log.String())
			}
		}()
		loss, disorder, rounds := 0, 0, rapid.IntRange(1, 12).Draw(rt, "rounds")
		fate := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "fate"), 0))
		p.lose = func(toVehicle bool, m frame.Message) bool {
			if c, ok := m.(*mav.MessageCommandLong); toVehicle && ok && c.Command != 511 && c.Command != 512 &&
				p.Control() != adapter.Ready {
				rt.Errorf("command %d in the state %s", c.Command, p.Control())
			}
			if loss > 0 && fate.IntN(100) < loss {
				return true
			}
			if c, ok := m.(*mav.MessageCommandLong); toVehicle && ok && c.Command == 400 && c.Param1 == 1 && p.armed {
				rt.Error("an armed vehicle is commanded to arm")
			}
			return false
		}
		p.shuffle(fate, &disorder)
		modes := []string{"takeoff", "guided", "rtl", "loiter"}
		wanted := ""
		if rapid.Bool().Draw(rt, "attached") {
			p.run(6 * sec)
		}
		for range rounds {
			loss = rapid.SampledFrom([]int{0, 0, 30, 80, 100}).Draw(rt, "loss")
			disorder = rapid.SampledFrom([]int{0, 0, 20, 60}).Draw(rt, "disorder")
			switch rapid.IntRange(0, 3).Draw(rt, "change") {
			case 0:
				wanted = rapid.SampledFrom(modes).Draw(rt, "mode")
				p.want(t, "wanted_mode", wanted)
			case 1:
				p.Want(p.contract.Slot("target_north"), float64(rapid.IntRange(-500, 500).Draw(rt, "north")))
				p.Want(p.contract.Slot("target_h"), float64(rapid.IntRange(30, 100).Draw(rt, "height")))
			case 2:
				p.Want(p.contract.Slot("arm"), 1)
			}
			p.run(int64(rapid.IntRange(100, 6000).Draw(rt, "time")) * ms)
		}
		loss, disorder = 0, 0
		p.run(60 * sec)
		if p.Control() != adapter.Ready {
			rt.Fatalf("the state is %s", p.Control())
		}
		number := map[string]uint32{"": p.mode, "takeoff": 13, "guided": 15, "rtl": 11, "loiter": 12}[wanted]
		if p.mode != number {
			rt.Errorf("the mode is %d, wanted is %s", p.mode, wanted)
		}
		if want := p.Wanted("arm") == 1; p.armed != want {
			rt.Errorf("armed: %t, wanted: %t", p.armed, want)
		}
		if north := p.Wanted("target_north"); wanted == "guided" && p.Wanted("target_h") != 0 &&
			(abs(p.target[0]-north) > 0.1 || p.target[2] != p.Wanted("target_h")) {
			rt.Errorf("the target is %v, wanted is %v north, %v high", p.target, north, p.Wanted("target_h"))
		}
	})
}

func abs(v float64) float64 { return max(v, -v) }
