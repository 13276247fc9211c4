package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// collectLate puts the first garbage collection off until the heap has 32 MB instead of 4: most commands end before.
// From then on the collector works as usual. The environment variable GOGC takes precedence.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	usual := debug.SetGCPercent(800)
	runtime.AddCleanup(new([64]byte), func(percent int) { debug.SetGCPercent(percent) }, usual)
}
