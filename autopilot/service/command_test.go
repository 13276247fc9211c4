package service_test

import (
	"math"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
)

// performer executes each command that it receives, as ArduPilot does: a repeated one again.
type performer struct {
	mute
	result    mav.MAV_RESULT
	progress  int // answers IN_PROGRESS before
	longOnly  bool
	executed  int
	positions []int32
}

func (p *performer) receive(_ int64, m frame.Message) {
	ack := &mav.MessageCommandAck{Result: p.result, TargetSystem: 1, TargetComponent: 191}
	switch m := m.(type) {
	case *mav.MessageCommandLong:
		ack.Command = m.Command
	case *mav.MessageCommandInt:
		ack.Command = m.Command
		if p.longOnly {
			ack.Result = common.MAV_RESULT_COMMAND_LONG_ONLY
			p.out = append(p.out, ack)
			return
		}
		p.positions = append(p.positions, m.X, m.Y)
	default:
		return
	}
	for range p.progress {
		running := *ack
		running.Result = mav.MAV_RESULT_IN_PROGRESS
		p.out = append(p.out, &running)
	}
	p.executed++
	p.out = append(p.out, ack)
}

// Every command ends, whatever the channel does. One that must not be repeated is sent once; a guarded one is repeated
// only after telemetry has shown that it did not happen.
func TestCommandsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &performer{
			result:   mav.MAV_RESULT(rapid.IntRange(0, 6).Filter(func(r int) bool { return r != 5 }).Draw(t, "result")),
			progress: rapid.IntRange(0, 2).Draw(t, "progress"),
			longOnly: rapid.Bool().Draw(t, "long only"),
		}
		c := service.NewCommands(ends)
		w := newWire(t, c, p)
		w.fresh = func() machine { return service.NewCommands(ends) }
		order := service.Order{ID: 192, Repeat: service.Repeat(rapid.IntRange(0, 1).Draw(t, "class")), Int: rapid.Bool().Draw(t, "int")}
		ticket := c.Send(w.now(), order)
		var replies []service.Reply
		ended := func() bool {
			replies = append(replies, c.Replies()...)
			return len(replies) > 0
		}
		absent := 0 // how often telemetry showed that nothing happened
		for range 20 {
			if w.run(6*sec, ended) {
				break
			}
			if order.Repeat == service.Guarded {
				before := len(w.sent)
				c.Observe(w.now(), ticket, p.executed > 0)
				w.flush()
				if len(w.sent) > before {
					if p.executed > 0 {
						t.Fatal("a guarded command was repeated although it was executed")
					}
					absent++
				}
			}
		}
		w.run(120*sec, func() bool { return false }) // what is still on the way arrives
		replies = append(replies, c.Replies()...)
		if len(replies) != 1 || replies[0].Ticket != ticket || replies[0].ID != 192 {
			t.Fatalf("the command's replies are %+v", replies)
		}
		forms := 0 // commands that the vehicle could execute
		for _, m := range w.sent {
			if _, isInt := m.(*mav.MessageCommandInt); !isInt || !p.longOnly {
				forms++
			}
		}
		switch r := replies[0]; {
		case order.Repeat == service.Guarded && forms > 1+absent:
			t.Fatalf("a guarded command was sent %d times, with %d observations that it did not happen", forms, absent)
		case r.Answer == service.Answer(p.result) && p.executed == 0:
			t.Fatal("an acknowledgement of a command that was not executed")
		case r.Answer != service.Answer(p.result) && r.Answer != service.Silent && r.Answer != service.Happened:
			t.Fatalf("answer %v, sent %v", r.Answer, p.result)
		case w.loss == 0 && w.delay == 0 && r.Answer != service.Answer(p.result):
			t.Fatalf("answer %v on a good channel", r.Answer)
		}
		if c.Due() != math.MaxInt64 {
			t.Fatal("there is still something to do")
		}
	})
}

// The content of commands, and their confirmation numbers.
func TestCommandForms(t *testing.T) {
	c := service.NewCommands(ends)
	at := func(s int64) service.Clock { return service.Clock{Wall: s} }
	c.Send(at(0), service.Order{ID: 192, Int: true, Frame: 6, Params: [7]float64{-1, 1, 60, 0, -35.363261, 149.16523, 80}})
	c.Send(at(0), service.Order{ID: 176, Params: [7]float64{1, 15}})
	c.Wake(at(ackTime))
	want := []frame.Message{
		&mav.MessageCommandInt{TargetSystem: 1, TargetComponent: 1, Frame: 6, Command: 192,
			Param1: -1, Param2: 1, Param3: 60, X: -353632610, Y: 1491652300, Z: 80},
		&mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 176, Param1: 1, Param2: 15},
		&mav.MessageCommandInt{TargetSystem: 1, TargetComponent: 1, Frame: 6, Command: 192,
			Param1: -1, Param2: 1, Param3: 60, X: -353632610, Y: 1491652300, Z: 80},
		&mav.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: 176, Confirmation: 1, Param1: 1, Param2: 15},
	}
	if diff := cmp.Diff(want, c.Out()); diff != "" {
		t.Error(diff)
	}
	for v, want := range map[float64]int32{-35.36326105: -353632611, 180: 1800000000, 181: math.MaxInt32} {
		if got := service.Degrees(v); got != want {
			t.Errorf("%v degrees: %d, want %d", v, got, want)
		}
	}
	if service.Degrees(math.NaN()) != math.MaxInt32 {
		t.Error("not a number is not the vehicle's own position")
	}
}

const ackTime = 500 * ms

// One command of each ID is under way: the acknowledgement does not tell two of them apart.
func TestCommandsOfOneIDWait(t *testing.T) {
	c := service.NewCommands(ends)
	var reader frame.Reader
	vehicle := &frame.Writer{System: 1, Component: 1}
	now := service.Clock{}
	first := c.Send(now, service.Order{ID: 43000})
	second := c.Send(now, service.Order{ID: 43000})
	other := c.Send(now, service.Order{ID: 176})
	if n := len(c.Out()); n != 2 {
		t.Errorf("%d commands sent at once, want 2", n)
	}
	ack := &mav.MessageCommandAck{Command: 43000}
	c.Receive(now, frameOf(t, &reader, vehicle, ack))
	if n := len(c.Out()); n != 1 {
		t.Errorf("%d commands sent after the first one's end, want 1", n)
	}
	c.Cancel(other)
	ack.Result = 4
	c.Receive(now, frameOf(t, &reader, vehicle, ack))
	want := []service.Reply{{Ticket: first, ID: 43000, Tries: 1}, {Ticket: second, ID: 43000, Answer: 4, Tries: 1}}
	if diff := cmp.Diff(want, c.Replies()); diff != "" {
		t.Error(diff)
	}
	if c.Due() != math.MaxInt64 {
		t.Error("a cancelled command is still under way")
	}
}

// Acknowledgements of others, for others and of commands that were not sent have no effect.
func TestForeignAcknowledgements(t *testing.T) {
	c := service.NewCommands(ends)
	c.Send(service.Clock{}, service.Order{ID: 400, Repeat: service.Guarded})
	var reader frame.Reader
	for _, x := range []struct {
		from *frame.Writer
		ack  mav.MessageCommandAck
	}{
		{&frame.Writer{System: 2, Component: 1}, mav.MessageCommandAck{Command: 400}},
		{&frame.Writer{System: 1, Component: 100}, mav.MessageCommandAck{Command: 400}},
		{&frame.Writer{System: 1, Component: 1}, mav.MessageCommandAck{Command: 400, TargetSystem: 255, TargetComponent: 190}},
		{&frame.Writer{System: 1, Component: 1}, mav.MessageCommandAck{Command: 176}},
	} {
		c.Receive(service.Clock{}, frameOf(t, &reader, x.from, &x.ack))
	}
	if r := c.Replies(); len(r) > 0 {
		t.Errorf("the command ended: %+v", r)
	}
}
