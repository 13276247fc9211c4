package driver

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/run/flight"
)

// flown returns the inputs of a flight with a fake plane, and what makes the same flight again.
func flown(t testing.TB) (list []flight.Input, again func() *flight.Flight) {
	m := north(t)
	x := begin(t, m, fake.Options{})
	x.succeed(nil)
	return x.tape.inputs, func() *flight.Flight {
		f := newFlight(t, m, flight.Options{Arm: true})
		f.Attach(newPage(m))
		return f
	}
}

// TestStepsAllocateLittle: a datagram costs few allocations, those of its frame, its message, and its samples among them.
// What is collected delays the next steps.
func TestStepsAllocateLittle(t *testing.T) {
	list, begin := flown(t)
	f := begin()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, in := range list {
		if _, err := f.Step(in); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if n := float64(after.Mallocs-before.Mallocs) / float64(len(list)); n > 10 {
		t.Errorf("%.1f allocations in a step", n)
	}
}

// BenchmarkLatency measures the time from the arrival of a datagram to the frames that answer it, without the socket,
// over the inputs of a flight with a fake plane: all that is on the way from telemetry to a command. The answers are
// the steps that send something.
func BenchmarkLatency(b *testing.B) {
	list, begin := flown(b)
	all, answers := make([]time.Duration, 0, 1<<20), make([]time.Duration, 0, 1<<16)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		f := begin()
		for _, in := range list {
			at := time.Now()
			out, err := f.Step(in)
			took := time.Since(at)
			if err != nil {
				b.Fatal(err)
			}
			if in.Kind != flight.Frame {
				continue
			}
			if all = append(all, took); len(out) > 0 {
				answers = append(answers, took)
			}
		}
	}
	runtime.ReadMemStats(&after)
	for name, list := range map[string][]time.Duration{"": all, "-answer": answers} {
		slices.Sort(list)
		b.ReportMetric(float64(list[len(list)/2].Nanoseconds()), "ns-median"+name)
		b.ReportMetric(float64(list[len(list)*999/1000].Nanoseconds()), "ns-p99.9"+name)
	}
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(len(all)), "allocs/step")
}
