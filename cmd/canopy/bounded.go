package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"

	"github.com/canopy-uav/canopy/diag"
)

// mostMemory is the maximum amount of data of a check, a comparison or a search [bytes].
const mostMemory = 350 << 20

var errMemory = errors.New("too much memory")

// seldom is how often the work goes on before the memory is measured, which takes 10 microseconds.
const seldom = 16

// bounded returns a context that ends when a budget of time [s] or the memory is used up, and with its parent. The work
// asks goOn often, which watches the memory; stop ends the bounds.
func bounded(parent context.Context, budget float64) (ctx context.Context, goOn func() bool, stop func()) {
	ctx, over := context.WithTimeout(parent, time.Duration(min(budget, 1e9)*float64(time.Second)))
	ctx, end := context.WithCancelCause(ctx)
	before := debug.SetMemoryLimit(mostMemory)
	var asked atomic.Int32
	goOn = func() bool {
		if asked.Add(1)%seldom == 0 {
			if objects() > mostMemory {
				if runtime.GC(); objects() > mostMemory/10*9 {
					end(errMemory)
				}
			}
		}
		return ctx.Err() == nil
	}
	return ctx, goOn, func() {
		end(nil)
		over()
		debug.SetMemoryLimit(before)
	}
}

// objects returns the memory of all objects, garbage that is not collected yet among them [bytes].
func objects() uint64 {
	data := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(data)
	return data[0].Value.Uint64()
}

// ended returns how a bounded context has ended, to follow "not concluded", and the beginning of an advice.
func ended(ctx context.Context, budget float64) (text, advice string) {
	const more = "give it more time with --budget, or "
	switch {
	case errors.Is(context.Cause(ctx), errMemory):
		return fmt.Sprintf("within %d MB of memory", mostMemory>>20), ""
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Sprintf("within %s s", diag.Number(budget, 6)), more
	}
	return "before the interruption", more
}

// within returns a function that returns why a search must end: its budget of time or the memory is used up, or it was
// interrupted; "" as long as none is the case. stop ends the bounds.
func within(parent context.Context, budget seconds) (over func() string, stop func()) {
	ctx, goOn, stop := bounded(parent, float64(budget))
	return func() string {
		if goOn() {
			return ""
		}
		text, _ := ended(ctx, float64(budget))
		return "the search did not end " + text
	}, stop
}
