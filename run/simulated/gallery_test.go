package simulated

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/mission"
)

// gallery flies a mission of examples/14-hybrid and returns its log and the times at which a signal jumps.
func gallery(t *testing.T, name, signal string) (m *mission.Mission, l *log, jumps []float64) {
	t.Helper()
	m = read(t, "../../examples/14-hybrid/"+name, os.ReadFile, nil, nil)
	_, l = flown(t, m)
	values := l.column(m, signal)
	for i := 1; i < len(values); i++ {
		if l.times[i] == l.times[i-1] && values[i] != values[i-1] {
			jumps = append(jumps, l.times[i])
		}
	}
	return m, l, jumps
}

// value returns a signal after the instant at a time, or at the last point before the time.
func (l *log) value(m *mission.Mission, signal string, at float64) float64 {
	i, _ := slices.BinarySearch(l.times, math.Nextafter(at, math.Inf(1)))
	return l.column(m, signal)[i-1]
}

// The ball of the gallery bounces at the times of the closed form, and lies from the time of the last bounce on.
func TestGalleryBall(t *testing.T) {
	m, l, jumps := gallery(t, "ball.yaml", "bounces")
	fall := math.Sqrt(2 * 10 / 9.81)
	var want []float64
	for at, e := fall, 1.0; ; {
		want = append(want, at)
		if 9.81*fall*e < 0.01 {
			break
		}
		e *= 0.8
		at += 2 * fall * e
	}
	near(t, "bounces", jumps, 1e-8, want...)
	near(t, "rest", l.ends(m, "h", "v", "bounces", "lies"), 0, 0, 0, 34, 1)
	if len(l.kinds("chattering")) > 0 {
		t.Error("it chatters")
	}
}

// The clutch of the gallery sticks when both speeds are equal, and slips when it is loosened.
func TestGalleryClutch(t *testing.T) {
	m, l, jumps := gallery(t, "clutch.yaml", "sticks")
	stick := 100 / 35.
	near(t, "sticks and slips", jumps, 1e-9, stick, 6)
	common := 100 - 20*stick
	near(t, "when it sticks", []float64{l.value(m, "motor", stick+1e-6), l.value(m, "wheel", stick+1e-6)}, 1e-8, common, common)
	common += (6 - stick) * 10 / 3
	near(t, "when it slips", []float64{l.value(m, "motor", 6), l.value(m, "wheel", 6)}, 1e-8, common, common)
	near(t, "at the end", l.ends(m, "motor", "wheel"), 1e-8, common+4*7, common+4*1.5)
}

// The thermostat of the gallery switches periodically.
func TestGalleryThermostat(t *testing.T) {
	_, _, jumps := gallery(t, "thermostat.yaml", "heats")
	up, down := 100*math.Log(20./15), 100*math.Log(15./10)
	var want []float64
	for at, k := up, 0; at < 1000; k++ {
		want = append(want, at)
		at += []float64{down, up}[k%2]
	}
	near(t, "switches", jumps, 1e-5, want...)
}

// The gear box of the gallery shifts at the speeds of its events.
func TestGalleryGearBox(t *testing.T) {
	m, l, jumps := gallery(t, "gearbox.yaml", "gear")
	brake := 2.5 + 4 + 6/1.5
	near(t, "shifts", jumps, 1e-9, 2.5, 6.5, brake+2, brake+18/5.)
	near(t, "fastest", []float64{slices.Max(l.column(m, "v"))}, 1e-9, 26)
	near(t, "stands", l.at(m, "stand", bt.Running), 1e-9, brake+26/5.)
}

// The rod of the gallery, an array of states, cools by its slowest mode, in which it starts.
func TestGalleryRod(t *testing.T) {
	m, l, jumps := gallery(t, "rod.yaml", "warm")
	const n = 20
	rate, mean := 4*math.Pow(math.Sin(math.Pi/(2*(n+1))), 2), 0.0
	for i := 1; i <= n; i++ {
		mean += 100 * math.Sin(math.Pi*float64(i)/(n+1)) / n
	}
	near(t, "no longer warm", jumps, 1e-5, math.Log(mean/10)/rate)
	near(t, "at the end", l.ends(m, "T.10", "mean"), 1e-6,
		100*math.Sin(math.Pi*10/(n+1))*math.Exp(-200*rate), mean*math.Exp(-200*rate))
}

// The block of the gallery sticks to the belt and slips in turn: while it slips, it swings about the place at which the
// spring balances the sliding friction, until it is as fast as the belt again.
func TestGalleryFriction(t *testing.T) {
	_, _, jumps := gallery(t, "friction.yaml", "sticks")
	const k, belt, static, sliding = 4., 0.5, 6., 2. // of 1 kg
	w, amplitude := math.Sqrt(k), (static-sliding)/k
	slip, stick := 2*(math.Pi-math.Atan(amplitude*w/belt))/w, 2*amplitude/belt
	var want []float64
	for at := static / k / belt; at < 60; {
		want = append(want, at)
		if at += slip; at < 60 {
			want = append(want, at)
			at += stick
		}
	}
	near(t, "slips and sticks", jumps, 1e-6, want...)
}

// The relay of the gallery has no hysteresis: the level stays at its limit, the record has the mean flow of the valve,
// and the log has the time from which the valve is open for good.
func TestGalleryRelay(t *testing.T) {
	m, l, _ := gallery(t, "relay.yaml", "h")
	reached, left := 200-math.Sqrt(20000), 200.
	low := l.at(m, "warn", bt.Running)
	near(t, "low", low[1:], 1e-6, left+math.Sqrt(2000))
	near(t, "at the end", l.ends(m, "h"), 1e-6, 0.5)
	var slides []float64
	for _, e := range l.events {
		if e.Kind == "chattering" {
			slides = append(slides, e.T)
		}
	}
	near(t, "slides", slides, 1e-5, reached, left)
	for i, at := range l.times {
		if at > reached+1 && at < left-1 {
			near(t, "level and flow", []float64{l.column(m, "h")[i], l.column(m, "valve")[i]}, 1e-6, 1, 1e-4*at)
		}
	}
}
