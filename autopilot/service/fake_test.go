package service_test

import (
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"canopy/autopilot/fake"
	"canopy/autopilot/frame"
	"canopy/autopilot/service"
)

// bench connects all machines with the fake autopilot, without losses, in the fake's time.
type bench struct {
	t        *testing.T
	vehicle  *fake.Autopilot
	reader   frame.Reader
	writer   *frame.Writer
	clocks   *service.ClockMap
	machines []machine
	synced   bool // a TIMESYNC of ours was answered
}

// steps lets time pass until something holds, at most for some seconds.
func (b *bench) until(seconds int, holds func() bool) {
	b.t.Helper()
	for range seconds * 100 {
		if holds() {
			return
		}
		b.vehicle.Step(10 * ms)
		now := service.Clock{Wall: b.vehicle.Now(), Vehicle: b.clocks.Vehicle(b.vehicle.Now())}
		for _, data := range b.vehicle.Out() {
			for _, f := range b.reader.Read(data) {
				if m, ok := f.Message.(*mav.MessageTimesync); ok && m.Tc1 != 0 {
					b.synced = true
				}
				for _, m := range b.machines {
					m.Receive(now, f)
				}
			}
		}
		for _, m := range b.machines {
			m.Wake(now)
			for _, message := range m.Out() {
				data, err := b.writer.Write(message, 0)
				if err != nil {
					b.t.Fatal(err)
				}
				b.vehicle.Receive(data)
			}
		}
	}
	b.t.Fatalf("not within %d s", seconds)
}

func (b *bench) now() service.Clock {
	return service.Clock{Wall: b.vehicle.Now(), Vehicle: b.clocks.Vehicle(b.vehicle.Now())}
}

// The services and the fake autopilot were written independently of each other, from the same facts.
func TestServicesWithFakes(t *testing.T) {
	b := &bench{t: t, vehicle: fake.New(fake.Options{}), writer: &frame.Writer{System: 1, Component: 191}}
	b.clocks = service.NewClockMap(ends)
	beats, texts := service.NewHeartbeat(ends, 18), service.NewTexts(ends)
	streams := service.NewStreams(ends, []service.Stream{{Message: 33, Hz: 10}, {Message: 74, Hz: 5}, {Message: 30, Hz: 4}})
	commands, parameters := service.NewCommands(ends), service.NewParameters(ends, service.Cast)
	transfers := service.NewTransfers(ends)
	b.machines = []machine{b.clocks, beats, texts, streams, commands, parameters, transfers}

	b.until(20, func() bool { return beats.Link() == service.Up })
	b.until(20, func() bool {
		return streams.Settled() && streams.Arriving(b.now(), 33) && streams.Arriving(b.now(), 74) && streams.Arriving(b.now(), 30)
	})
	b.until(20, b.clocks.Stable)
	if n, _ := b.clocks.Jumps(); b.clocks.Boots()+n > 0 || b.clocks.Rate() != 1 {
		t.Errorf("the clock: %d boots, %d jumps, rate %v", b.clocks.Boots(), n, b.clocks.Rate())
	}

	for name, value := range map[string]float64{"TKOFF_ALT": 80, "FENCE_ENABLE": 0} {
		if err := parameters.Write(b.now(), name, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := parameters.Read(b.now(), "NO_SUCH_NAME"); err != nil {
		t.Fatal(err)
	}
	b.until(20, func() bool { return !parameters.Busy() })
	for _, s := range parameters.Settings() {
		want := map[string]service.Knowledge{"NO_SUCH_NAME": service.Missing}[s.Name]
		if s.Knowledge != want {
			t.Errorf("%s: %v", s.Name, s.Knowledge)
		}
	}

	fence := []service.Item{
		{Command: 5001, Params: [4]float32{3}, X: 480714000, Y: 112731000},
		{Command: 5001, Params: [4]float32{3}, X: 480914000, Y: 112731000},
		{Command: 5001, Params: [4]float32{3}, X: 480914000, Y: 112931000},
	}
	rally := []service.Item{{Command: 5100, Frame: 3, X: 480814000, Y: 112831000, Z: 60}}
	for list, items := range map[service.Storage][]service.Item{
		service.FenceList: fence, service.RallyList: rally,
	} {
		transfers.Upload(b.now(), list, items)
		transfers.Download(b.now(), list)
		transfers.Upload(b.now(), list, nil)
		var ended []service.Transfer
		b.until(60, func() bool {
			ended = append(ended, transfers.Ended()...)
			return len(ended) == 3
		})
		for i, want := range [][]service.Item{items, items, nil} {
			if d := service.Compare(want, ended[i].Items); ended[i].Err != nil || d != "" {
				t.Errorf("%v, transfer %d: %v, %s", list, i, ended[i].Err, d)
			}
		}
	}

	// Plane refuses the command for a take-off; changing the mode works.
	commands.Send(b.now(), service.Order{ID: 22, Repeat: service.Guarded})
	commands.Send(b.now(), service.Order{ID: 176, Params: [7]float64{1, 15}})
	replies := map[uint16]service.Answer{}
	b.until(20, func() bool {
		for _, r := range commands.Replies() {
			replies[r.ID] = r.Answer
		}
		return len(replies) == 2
	})
	if replies[22] != 4 || replies[176] != service.Accepted {
		t.Errorf("take-off %v, mode %v", replies[22], replies[176])
	}
	b.until(5, func() bool { return b.vehicle.State().Mode == "GUIDED" })
	if !b.synced {
		t.Error("no answer to TIMESYNC")
	}
	if len(texts.Notices()) == 0 {
		t.Error("no text")
	}
	if b.reader.Broken > 0 {
		t.Errorf("%d bytes belong to no frame", b.reader.Broken)
	}
}
