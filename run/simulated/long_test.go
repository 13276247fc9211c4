package simulated

import (
	"bytes"
	"math"
	"runtime"
	"strconv"
	"testing"

	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
)

// A mission of many days costs as many times a day, within a tenth, and its memory does not grow.
func TestLongMission(t *testing.T) {
	days := 28
	if testing.Short() {
		days = 4
	}
	m := solarDay(t, "horizon="+strconv.Itoa(days)+" [d]")
	r := begin(t, m, run.Continuous{}, math.Inf(1), record.Nothing{})
	var heap []uint64 // bytes in use at the end of each day
	var cost []int    // evaluations up to there
	for more := true; more; {
		var err error
		if more, err = r.Step(); err != nil {
			t.Fatal(err)
		}
		if day := int(r.T() / 86400); day > len(heap) {
			var s runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&s)
			heap, cost = append(heap, s.HeapAlloc), append(cost, r.Summary().RHSEvaluations)
		}
	}
	if len(heap) != days {
		t.Fatalf("%d days, want %d", len(heap), days)
	}
	// The first day starts away from the rhythm of the others, so that they are compared with the second.
	day := cost[1] - cost[0]
	if ratio := float64(cost[days-1]-cost[0]) / float64((days-1)*day); math.Abs(ratio-1) > 0.1 {
		t.Errorf("%d days take %.3f times as many evaluations as a day each", days-1, ratio)
	}
	if grown := int64(heap[days-1]) - int64(heap[0]); grown > 100_000 {
		t.Errorf("the heap has grown by %d bytes since the first day", grown)
	}
}

// Runs of one mission at the same time leave the same log as one alone.
func TestWorkers(t *testing.T) {
	m := solarDay(t)
	alone, err := logs(m)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		files [3][]byte
		err   error
	}
	results := make(chan result)
	const workers = 4
	for range workers {
		go func() {
			files, err := logs(m)
			results <- result{files, err}
		}()
	}
	for range workers {
		r := <-results
		for k, file := range r.files {
			if r.err != nil || !bytes.Equal(file, alone[k]) {
				t.Errorf("a worker's file of %d bytes differs from that of %d bytes of a run alone: %v", len(file), len(alone[k]), r.err)
			}
		}
	}
}
