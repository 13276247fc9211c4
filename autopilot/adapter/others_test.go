package adapter_test

import (
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"canopy/autopilot/adapter"
)

// Two programs that were started within the same millisecond have different numbers, of which the first is the lower.
func TestProgramsOfTheSameMillisecond(t *testing.T) {
	const unix = 1_790_000_000_000_000_000
	if a, b := adapter.Number(unix), adapter.Number(unix+200_000); b-a <= 0 {
		t.Errorf("%d, %d", a, b)
	}
}

// What the vehicle answers to another program in flight is no step of the attachment.
func TestAnswerToAnotherProgram(t *testing.T) {
	f := fly(t, "plane")
	f.takeOff()
	f.vehicle.Receive(raw(t, &mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 512, Param1: 148}))
	f.pass(2*sec, nil)
	if n := strings.Count(f.log.String(), "attaching: version 4.7.0"); n != 1 {
		t.Errorf("it is said %d times\n%s", n, f.log.String())
	}
}
