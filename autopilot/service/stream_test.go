package service_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/snapshot"
)

// streamer sends the messages that it was asked for, with a clock of its own.
type streamer struct {
	mute
	t      *rapid.T
	period map[uint32]int64
	next   map[uint32]int64
	denies uint32
}

func (s *streamer) receive(now int64, m frame.Message) {
	c, ok := m.(*mav.MessageCommandLong)
	if !ok {
		return
	}
	if c.Command != common.MAV_CMD_SET_MESSAGE_INTERVAL || c.Param3 != 0 {
		s.t.Fatalf("not a request for a rate: %+v", c)
	}
	ack := &mav.MessageCommandAck{Command: c.Command}
	if id := uint32(c.Param1); id == s.denies {
		ack.Result = mav.MAV_RESULT_DENIED
	} else {
		s.period[id], s.next[id] = int64(c.Param2)*1000, now
	}
	s.out = append(s.out, ack)
}

func (s *streamer) due() int64 {
	due := int64(math.MaxInt64)
	for _, at := range s.next {
		due = min(due, at)
	}
	return due
}

func (s *streamer) wake(now int64) {
	for _, m := range []frame.Message{&mav.MessageGlobalPositionInt{}, &mav.MessageVfrHud{}, &mav.MessageSysStatus{}} {
		if at, ok := s.next[m.GetID()]; ok && at <= now {
			s.out = append(s.out, m)
			s.next[m.GetID()] = now + s.period[m.GetID()]
		}
	}
}

var rates = []service.Stream{{Message: 33, Hz: 10}, {Message: 74, Hz: 5}, {Message: 1, Hz: 2}}

// On any channel that is not dead all streams arrive at the rates that were asked for; after a reboot again.
func TestStreamsArrive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &streamer{t: t, period: map[uint32]int64{}, next: map[uint32]int64{}}
		p.denies = rapid.SampledFrom([]uint32{0, 74}).Draw(t, "denied")
		s := service.NewStreams(ends, rates)
		w := newWire(t, s, p)
		w.fresh = func() machine { return service.NewStreams(ends, rates) }
		if w.loss == 100 {
			w.loss = 50
		}
		wanted := func() bool {
			return s.Arriving(w.now(), 33) && s.Arriving(w.now(), 1) && (p.denies == 74 || s.Arriving(w.now(), 74))
		}
		if !w.run(1000*sec, func() bool { return wanted() && s.Settled() }) {
			t.Fatal("not all streams arrive")
		}
		// A request that is received twice has two acknowledgements: the second answers the next request.
		if p.denies == 74 && w.loss == 0 && w.delay == 0 && w.twice == 0 && (s.Answer(74) != 2 || s.Arriving(w.now(), 74)) {
			t.Fatalf("a denied stream: %v", s.Answer(74))
		}
		for _, r := range rates {
			if r.Message != p.denies && math.Abs(float64(p.period[r.Message])*r.Hz-sec) > 1 {
				t.Fatalf("message %d: period %d ns, asked for %v Hz", r.Message, p.period[r.Message], r.Hz)
			}
		}
		clear(p.next) // a reboot that is not noticed
		w.flying = nil
		if !w.run(4*sec, func() bool { return !s.Arriving(w.now(), 33) }) {
			t.Fatal("a silent stream is not noticed")
		}
		if !w.run(1000*sec, wanted) {
			t.Fatal("not all streams arrive again")
		}
	})
}

// A stream that stays silent is asked for again, later each time: no flood of requests.
func TestSilentStreamIsNotFlooded(t *testing.T) {
	s := service.NewStreams(ends, rates[:1])
	n := 0
	for wall := int64(0); wall < 300*sec; wall = max(wall+1, s.Due()) {
		s.Wake(service.Clock{Wall: wall})
		n += len(s.Out())
	}
	if n < 8 || n > 20 {
		t.Errorf("%d requests in 300 s", n)
	}
	if s.Arriving(service.Clock{Wall: 300 * sec}, 33) || s.Answer(33) != service.Silent || s.Answer(99) != service.Silent {
		t.Error("something arrives")
	}
}

// chunked returns the parts of a text.
func chunked(text string, id uint16) []frame.Message {
	var parts []frame.Message
	for i := 0; ; i++ {
		n := min(len(text), 50)
		parts = append(parts, &mav.MessageStatustext{Severity: 4, Text: text[:n], Id: id, ChunkSeq: uint8(i)})
		if text = text[n:]; n < 50 {
			return parts
		}
	}
}

func TestTexts(t *testing.T) {
	long := strings.Repeat("PreArm: check the battery. ", 5)
	full := strings.Repeat("x", 100) // ends with an empty part
	parts := chunked(long, 7)
	for _, c := range []struct {
		name     string
		messages []frame.Message
		want     []string
	}{
		{"short", []frame.Message{&mav.MessageStatustext{Text: "Ground start"}}, []string{"Ground start"}},
		{"in parts", parts, []string{long}},
		{"in full parts", chunked(full, 7), []string{full}},
		{"overtaken", []frame.Message{parts[2], parts[0], parts[1]}, []string{long}},
		{"repeated", []frame.Message{parts[0], parts[0], parts[1], parts[2], parts[2], parts[0]}, []string{long}},
		{"two at a time", append(chunked(full, 8)[:2:2], append(parts, chunked(full, 8)[2])...), []string{long, full}},
		{"without the middle", []frame.Message{parts[0], parts[2]}, []string{long[:50] + "…" + long[100:]}},
		{"without the end", parts[:2], []string{long[:100] + "…"}},
	} {
		texts := service.NewTexts(ends)
		var reader frame.Reader
		vehicle := &frame.Writer{System: 1, Component: 1}
		now := service.Clock{Wall: 5 * sec}
		for _, m := range c.messages {
			texts.Receive(now, frameOf(t, &reader, vehicle, m))
			saved := snapshot.Save(nil, texts)
			texts = service.NewTexts(ends)
			if err := snapshot.Load(saved, texts); err != nil {
				t.Fatal(err)
			}
		}
		texts.Wake(service.Clock{Wall: 5*sec + 1999*ms})
		early := texts.Notices()
		if due := texts.Due(); due != math.MaxInt64 && due != 7*sec {
			t.Errorf("%s: due at %d", c.name, due)
		}
		texts.Wake(service.Clock{Wall: 7 * sec})
		var got []string
		for _, n := range append(early, texts.Notices()...) {
			got = append(got, n.Text)
			if n.From != ends.Vehicle || n.At != now {
				t.Errorf("%s: %+v", c.name, n)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if texts.Due() != math.MaxInt64 || len(texts.Out()) > 0 {
			t.Errorf("%s: something is left", c.name)
		}
	}
}

// Texts whose ends never arrive take bounded memory, and none is lost.
func TestManyOpenTexts(t *testing.T) {
	texts := service.NewTexts(ends)
	var reader frame.Reader
	vehicle := &frame.Writer{System: 1, Component: 1}
	for id := range uint16(1000) {
		texts.Receive(service.Clock{}, frameOf(t, &reader, vehicle, chunked(fmt.Sprintf("%050d", id), id+1)[0]))
	}
	texts.Wake(service.Clock{Wall: 2 * sec})
	if n := len(texts.Notices()); n != 1000 {
		t.Errorf("%d of 1,000 texts", n)
	}
}
