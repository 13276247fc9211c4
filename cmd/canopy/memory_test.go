package main

import (
	"runtime"
	"runtime/metrics"
	"testing"
)

// The first collection is late, those after it are as usual.
func TestFirstCollectionIsLate(t *testing.T) {
	t.Setenv("GOGC", "")
	percent := func() uint64 {
		s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(s)
		return s[0].Value.Uint64()
	}
	usual := percent()
	collectLate()
	if p := percent(); p <= usual {
		t.Errorf("%d %% before the first collection, as usual", p)
	}
	runtime.GC()
	for percent() != usual { // until the clean-up has run
		runtime.Gosched()
	}
}
