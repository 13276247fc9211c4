package service

import (
	"math"
	"slices"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// Stream is how often the vehicle is to send a message.
type Stream struct {
	Message uint32  // the number of the message
	Hz      float64 // above 1/60
}

// Streams asks the vehicle for messages at certain rates. An acknowledgement does not say for which message it is, so
// that one request is under way at a time, and only arriving messages prove that it was granted. A message that is
// silent for some periods is asked for again, later each time, for a reboot ends all streams. One that the vehicle
// denies or does not support is asked for rarely: the acknowledgement may have been that of another request.
type Streams struct {
	outbox
	ends    Ends
	streams []stream
	asked   int // the stream whose request is under way, or -1
	wait    timer
}

type stream struct {
	Stream
	tries   int
	answer  Answer
	seen    bool  // arrived since it was asked for
	at      Clock // when it last arrived, or was asked for
	pending bool  // is to be asked for
	patient timer // until it is asked for again
}

// NewStreams returns a machine for these rates. The first request is sent when it is woken.
func NewStreams(e Ends, rates []Stream) *Streams {
	s := &Streams{ends: e, asked: -1}
	for _, r := range rates {
		s.streams = append(s.streams, stream{Stream: r, pending: true, answer: Silent})
	}
	return s
}

// Arriving reports whether a message arrives: whether the last one is not older than some periods.
func (s *Streams) Arriving(now Clock, message uint32) bool {
	t := s.of(message)
	return t.seen && !t.silent().over(now)
}

// of returns the stream of a message, one that is silent if it was not asked for.
func (s *Streams) of(message uint32) *stream {
	i := slices.IndexFunc(s.streams, func(t stream) bool { return t.Message == message })
	if i < 0 {
		return &stream{answer: Silent}
	}
	return &s.streams[i]
}

// Answer returns the acknowledgement of the last request of a message, or Silent. It is a hint: a request that the
// vehicle received twice is acknowledged twice, and the second one may be taken for that of the next request.
func (s *Streams) Answer(message uint32) Answer { return s.of(message).answer }

// Settled reports whether every request was answered, or sent several times. The messages need not arrive yet.
func (s *Streams) Settled() bool {
	return !slices.ContainsFunc(s.streams, func(t stream) bool { return t.answer == Silent && t.tries < streamTries })
}

// silent is the timer that ends when a message is overdue.
func (t *stream) silent() *timer {
	after := max(streamWait, int64(streamSilent*second/t.Hz))
	return &timer{at: t.at, after: after, floor: retryFloor, on: true}
}

// Receive takes a frame.
func (s *Streams) Receive(now Clock, f frame.Frame) {
	if s.ends.from(f) {
		id := f.Message.GetID()
		for i := range s.streams {
			if t := &s.streams[i]; t.Message == id {
				t.seen, t.at = true, now
				t.patient.stop()
				if t.answer != Silent {
					t.tries = 1 // a later silence is a new one
				}
			}
		}
		if m, ok := f.Message.(*mav.MessageCommandAck); ok && s.ends.hears(f) && !f.Late && s.asked >= 0 &&
			m.Command == common.MAV_CMD_SET_MESSAGE_INTERVAL {
			t := &s.streams[s.asked]
			t.answer = Answer(m.Result)
			if m.Result == common.MAV_RESULT_DENIED || m.Result == common.MAV_RESULT_UNSUPPORTED {
				t.patient.set(now, streamAgain)
			}
			s.asked = -1
			s.wait.stop()
		}
	}
	s.Wake(now)
}

// Wake sends the next request, if none is under way.
func (s *Streams) Wake(now Clock) {
	if s.wait.over(now) {
		t := &s.streams[s.asked]
		t.pending = t.tries < streamTries
		s.asked = -1
		s.wait.stop()
	}
	for i := range s.streams {
		t := &s.streams[i]
		switch {
		case t.pending:
		case t.seen && t.silent().over(now):
			t.seen, t.pending = false, true
		case t.patient.over(now):
			t.pending = true
		}
		if t.pending && s.asked < 0 {
			s.request(now, i)
		}
	}
}

// request asks for a message. The next request for it is due when it is overdue, and later each time.
func (s *Streams) request(now Clock, i int) {
	t := &s.streams[i]
	period := second / t.Hz
	t.pending, t.at, t.answer = false, now, Silent
	t.tries++
	t.patient.set(now, min(t.silent().after<<min(t.tries-1, 8), streamAgain+int64(streamSilent*period)))
	s.asked = i
	s.wait.set(now, streamWait)
	s.send(&mav.MessageCommandLong{
		TargetSystem: s.ends.Vehicle.System, TargetComponent: s.ends.Vehicle.Component,
		Command: common.MAV_CMD_SET_MESSAGE_INTERVAL,
		Param1:  float32(t.Message), Param2: float32(math.Round(1e6 / t.Hz)), // µs; Param3 must be 0
	})
}

// Due returns the reading of the wall clock at which Wake is to be called.
func (s *Streams) Due() int64 {
	due := s.wait.due()
	for i := range s.streams {
		switch t := &s.streams[i]; {
		case t.pending && s.asked < 0:
			return math.MinInt64
		case t.pending:
		case t.seen:
			due = min(due, t.silent().due())
		default:
			due = min(due, t.patient.due())
		}
	}
	return due
}
