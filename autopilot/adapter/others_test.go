package adapter_test

import (
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"canopy/autopilot/adapter"
	"canopy/autopilot/frame"
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

// A vehicle whose autopilot has just reported a failsafe, which is over, is armed only when the report takes it from
// nobody any more.
func TestNotArmedJustAfterAFailsafe(t *testing.T) {
	f := fly(t, "plane")
	f.run(60*sec, func() bool { return f.Control() == adapter.Ready && f.signals["ready"] == 1 })
	w := frame.Writer{System: 1, Component: 1}
	var r frame.Reader
	for _, text := range []string{"GCS Failsafe On: RTL", "GCS Failsafe Off"} {
		data, err := w.Write(&mav.MessageStatustext{Severity: 4, Text: text}, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range r.Read(data) {
			f.Receive(clockOf(f), x)
		}
	}
	f.want(60)
	f.pass(sec, func() {
		if f.vehicle.State().Armed {
			t.Fatalf("it is armed\n%s", f.log.String())
		}
	})
	if !strings.Contains(f.log.String(), "waiting: take-off height: the autopilot has just reported a failsafe") {
		t.Error(f.log.String())
	}
	f.run(60*sec, func() bool { return f.signals["h"] > 55 })
	if f.Control() != adapter.Ready {
		t.Errorf("%s\n%s", f.Control(), f.log.String())
	}
}
