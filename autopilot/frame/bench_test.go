package frame_test

import (
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// BenchmarkRead is part of the way from a datagram to a command.
func BenchmarkRead(b *testing.B) {
	raw := sentBy(b, plane(), 1)[0]
	var r frame.Reader
	b.ReportAllocs()
	for b.Loop() {
		if len(r.Read(raw)) != 1 {
			b.Fatal("no frame")
		}
	}
}

// BenchmarkWrite is the other part.
func BenchmarkWrite(b *testing.B) {
	w := plane()
	m := &mav.MessageCommandInt{TargetSystem: 1, TargetComponent: 1, Command: 192, X: 1, Y: 2, Z: 3}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := w.Write(m, 0); err != nil {
			b.Fatal(err)
		}
	}
}
