package fake_test

import (
	"slices"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
)

// The rate of a message holds for the channel on which it was asked for; commands, answers and texts are of all.
func TestChannels(t *testing.T) {
	v := fake.New(fake.Options{Channels: 2})
	w := frame.Writer{System: 255, Component: 190}
	v.Step(5 * sec)
	raw, err := w.Write(&mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 511, Param1: 33,
		Param2: 100000}, 0)
	if err != nil {
		t.Fatal(err)
	}
	v.ReceiveOn(1, raw)
	v.Step(10 * sec)
	for channel, want := range []int{0, 100} {
		var r frame.Reader
		positions, acks, beats := 0, 0, 0
		for _, d := range v.OutOn(channel) {
			for _, f := range r.Read(d) {
				switch f.Message.(type) {
				case *mav.MessageGlobalPositionInt:
					positions++
				case *mav.MessageCommandAck:
					acks++
				case *mav.MessageHeartbeat:
					beats++
				}
			}
		}
		if positions < want || positions > want+1 || acks != 1 || beats < 11 {
			t.Errorf("channel %d: %d positions, %d answers, %d heartbeats", channel, positions, acks, beats)
		}
	}
}

// What is for everyone reaches the other links of the vehicle as it was sent, except heartbeats.
func TestForwards(t *testing.T) {
	v := fake.New(fake.Options{Channels: 2})
	v.Step(5 * sec)
	v.Out()
	v.OutOn(1)
	w := frame.Writer{System: 1, Component: 191}
	for _, m := range []frame.Message{&mav.MessageHeartbeat{}, &mav.MessageNamedValueInt{Name: "CANOPY", Value: 7},
		&mav.MessageParamRequestRead{TargetSystem: 1, TargetComponent: 1}} {
		raw, err := w.Write(m, 0)
		if err != nil {
			t.Fatal(err)
		}
		v.ReceiveOn(1, raw)
	}
	var r frame.Reader
	n := 0
	for _, d := range v.Out() {
		for _, f := range r.Read(d) {
			if f.Component == 1 {
				continue
			}
			if m, ok := f.Message.(*mav.MessageNamedValueInt); f.System != 1 || !ok || m.Value != 7 {
				t.Errorf("%+v", f)
			}
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d messages", n)
	}
}

// The same calls give the same datagrams.
func TestDeterministic(t *testing.T) {
	run := func() []byte {
		v := fake.New(fake.Options{Seed: 3, Wind: [2]float64{3, -2}})
		w := frame.Writer{System: 255, Component: 190}
		var all []byte
		for i := range 600 {
			v.Step(sec / 7)
			if i%50 == 0 {
				raw, err := w.Write(&mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 511,
					Param1: float32([]int{1, 33, 74, 245}[i/50%4]), Param2: 100000}, 0)
				if err != nil {
					t.Fatal(err)
				}
				v.Receive(raw)
			}
			for _, d := range v.Out() {
				all = append(all, d...)
			}
		}
		return all
	}
	if a, b := run(), run(); !slices.Equal(a, b) || len(a) < 10000 {
		t.Errorf("%d and %d bytes", len(a), len(b))
	}
}
