package live

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkWakeUp measures the time from a condition that is set in one goroutine to the start of the action that
// follows in the goroutine of Run, which sleeps in between, in trees of several sizes. docs/performance.md has the
// figures beside those of BehaviorTree.CPP.
func BenchmarkWakeUp(b *testing.B) {
	for _, nodes := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) { wakeUp(b, nodes) })
	}
}

func wakeUp(b *testing.B, nodes int) {
	b.Helper()
	others := strings.Repeat(`<ReactiveSequence><Condition ID="off"/><Action ID="act"/></ReactiveSequence>`, (nodes-4)/3)
	x := New("plan.xml", document(`<ReactiveFallback>`+others+alternation+`</ReactiveFallback>`))
	on := x.Condition("on")
	x.Condition("off")
	follows := make(chan time.Time, 1)
	x.Action("act", Action{
		Start: func(Activation) { follows <- time.Now() },
		Stop:  func(Activation) { follows <- time.Now() },
	})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error)
	go func() { done <- x.Serve(ctx) }()
	latencies := make([]time.Duration, 0, b.N)
	for b.Loop() {
		for quiet := time.Now(); time.Since(quiet) < 200*time.Microsecond; { // the loop falls asleep
		}
		set := time.Now()
		on.Set(true)
		latencies = append(latencies, (<-follows).Sub(set))
		on.Set(false)
		<-follows
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		b.Error(err)
	}
	slices.Sort(latencies)
	b.ReportMetric(float64(latencies[len(latencies)/2].Nanoseconds()), "ns-median")
	b.ReportMetric(float64(latencies[len(latencies)*999/1000].Nanoseconds()), "ns-p99.9")
}
