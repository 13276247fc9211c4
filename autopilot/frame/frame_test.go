package frame_test

import (
	"bytes"
	"errors"
	"math"
	"slices"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/snapshot"
)

// sentBy returns frames of component 1 of system 1, with the altitudes as their contents.
func sentBy(t interface{ Fatal(...any) }, w *frame.Writer, altitudes ...int32) [][]byte {
	var raws [][]byte
	for _, h := range altitudes {
		raw, err := w.Write(&mav.MessageGlobalPositionInt{Alt: h}, 0)
		if err != nil {
			t.Fatal(err)
		}
		raws = append(raws, raw)
	}
	return raws
}

func altitudes(frames []frame.Frame) []int32 {
	var got []int32
	for _, f := range frames {
		if m, ok := f.Message.(*mav.MessageGlobalPositionInt); ok {
			got = append(got, m.Alt)
		}
	}
	return got
}

// restored returns a new reader with the state of another one.
func restored(t *testing.T, r *frame.Reader) frame.Reader {
	t.Helper()
	fresh := frame.Reader{Stream: r.Stream}
	saved := snapshot.Save(nil, r)
	if err := snapshot.Load(saved, &fresh); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(saved, snapshot.Save(nil, &fresh)) {
		t.Error("a restored reader has another state")
	}
	return fresh
}

func plane() *frame.Writer { return &frame.Writer{System: 1, Component: 1} }

// The trap of gomavlib's Node: it delivers only the first of several frames in a datagram.
func TestAllFramesOfADatagramAreDelivered(t *testing.T) {
	raws := sentBy(t, plane(), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
	var r frame.Reader
	if diff := cmp.Diff([]int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, altitudes(r.Read(bytes.Join(raws, nil)))); diff != "" {
		t.Error(diff)
	}
}

// A frame of MAVLink 1, written out by hand: heartbeat of an ArduPlane, the checksum by the guide's rule.
func TestVersion1(t *testing.T) {
	raw := []byte{0xFE, 9, 7, 1, 1, 0, 0x0F, 0, 0, 0, 1, 3, 81, 4, 3}
	crc := uint16(0xFFFF)
	for _, b := range append(raw[1:len(raw):len(raw)], 50) { // 50: the extra byte of HEARTBEAT
		x := b ^ byte(crc)
		x ^= x << 4
		crc = crc>>8 ^ uint16(x)<<8 ^ uint16(x)<<3 ^ uint16(x)>>4
	}
	raw = append(raw, byte(crc), byte(crc>>8))
	var r frame.Reader
	frames := r.Read(raw)
	if len(frames) != 1 {
		t.Fatalf("%d frames, %d broken bytes", len(frames), r.Broken)
	}
	m := frames[0].Message.(*mav.MessageHeartbeat)
	if m.CustomMode != 15 || m.Type != 1 || m.Autopilot != 3 || frames[0].Sequence != 7 || !frames[0].From(1, 1) {
		t.Errorf("read %+v", m)
	}
	if !bytes.Equal(frames[0].Raw, raw) {
		t.Error("the raw frame differs from what was received")
	}
}

func TestTargets(t *testing.T) {
	var r frame.Reader
	w := plane()
	for _, c := range []struct {
		m                 frame.Message
		us, other, member bool // for 255/190, for 7/190, for 255/1
	}{
		{&mav.MessageHeartbeat{}, true, true, true},
		{&mav.MessageCommandAck{}, true, true, true},
		{&mav.MessageCommandAck{TargetSystem: 255, TargetComponent: 190}, true, false, false},
		{&mav.MessageMissionAck{TargetSystem: 255}, true, false, true},
	} {
		raw, err := w.Write(c.m, 0)
		if err != nil {
			t.Fatal(err)
		}
		f := r.Read(raw)[0]
		if f.For(255, 190) != c.us || f.For(7, 190) != c.other || f.For(255, 1) != c.member {
			t.Errorf("%+v: for us %v, for another system %v, for its autopilot %v",
				c.m, f.For(255, 190), f.For(7, 190), f.For(255, 1))
		}
	}
}

func TestTimeSinceBoot(t *testing.T) {
	var r frame.Reader
	raw, err := plane().Write(&mav.MessageAttitude{TimeBootMs: 12345}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Read(raw)[0]; !f.Stamped || f.Boot != 12345 {
		t.Errorf("attitude: %v, %d", f.Stamped, f.Boot)
	}
	raw, err = plane().Write(&mav.MessageVfrHud{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if r.Read(raw)[0].Stamped {
		t.Error("VFR_HUD has no time")
	}
}

// Every message of the dialect is written and read back.
func TestAllMessages(t *testing.T) {
	w := plane()
	var r frame.Reader
	for _, m := range mav.Dialect.Messages {
		raw, err := w.Write(m, 0)
		if err != nil {
			t.Fatal(err)
		}
		frames := r.Read(raw)
		if len(frames) != 1 {
			t.Errorf("%T is not read", m)
			continue
		}
		if diff := cmp.Diff(m, frames[0].Message); diff != "" {
			t.Error(diff)
		}
	}
}

// Whatever surrounds whole frames, in whatever pieces a stream delivers them: all are read, in order.
func TestStreams(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var want []int32
		var data []byte
		w := plane()
		for range rapid.IntRange(1, 8).Draw(t, "frames") {
			// Noise without the first bytes of frames, which would wait for their ends.
			data = append(data, rapid.SliceOfN(rapid.ByteRange(0, 0xFC), 0, 20).Draw(t, "noise")...)
			h := rapid.Int32().Draw(t, "altitude")
			want = append(want, h)
			data = append(data, sentBy(t, w, h)[0]...)
		}
		total, kept := len(data), 0
		r := frame.Reader{Stream: true}
		var got []int32
		for len(data) > 0 {
			n := rapid.IntRange(1, len(data)).Draw(t, "piece")
			frames := r.Read(data[:n:n])
			for _, f := range frames {
				kept += len(f.Raw)
			}
			got = append(got, altitudes(frames)...)
			data = data[n:]
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if int(r.Broken) != total-kept {
			t.Fatalf("%d bytes belong to no frame, %d are counted", total-kept, r.Broken)
		}
	})
}

// A broken byte costs at most the frame that contains it.
func TestBrokenBytes(t *testing.T) {
	raws := sentBy(t, plane(), 1, 2, 3)
	for at := range len(raws[1]) {
		for bit := range 8 {
			data := bytes.Join(raws, nil)
			data[len(raws[0])+at] ^= 1 << bit
			var r frame.Reader
			if diff := cmp.Diff([]int32{1, 3}, altitudes(r.Read(data))); diff != "" {
				t.Errorf("byte %d, bit %d: %s", at, bit, diff)
			}
			if r.Broken+r.Unknown == 0 {
				t.Errorf("byte %d, bit %d: not counted", at, bit)
			}
		}
	}
}

func TestSequences(t *testing.T) {
	var all []int32
	for i := range int32(600) {
		all = append(all, i)
	}
	raws := sentBy(t, plane(), all...)
	for _, c := range []struct {
		name  string
		order []int
		late  []int // the places of those that were repeated or overtaken
	}{
		{"complete", []int{0, 1, 2}, nil},
		{"begins late", []int{7, 8}, nil},
		{"begins out of order", []int{8, 7, 9}, []int{1}},
		{"lost", []int{0, 3, 4}, nil},
		{"over the end of the range", []int{254, 255, 256, 258}, nil},
		{"repeated", []int{0, 1, 1, 0, 2}, []int{2, 3}},
		{"overtaken", []int{0, 2, 1, 3}, []int{2}},
		{"overtaken and repeated", []int{0, 2, 1, 1, 3}, []int{2, 3}},
		{"started again within the window", []int{20, 21, 0, 1, 2, 3, 4, 5, 6, 7, 9}, []int{2, 3, 4, 5, 6, 7, 8}},
		{"started again", []int{100, 101, 0, 1}, nil},
	} {
		var r frame.Reader
		var late []int
		for k, i := range c.order {
			if r.Read(raws[i])[0].Late {
				late = append(late, k)
			}
			r = restored(t, &r)
		}
		if !slices.Equal(late, c.late) {
			t.Errorf("%s: %v are late, want %v", c.name, late, c.late)
		}
	}
}

// Each component has a sequence of its own.
func TestSequencesOfComponents(t *testing.T) {
	var r frame.Reader
	autopilot, camera := plane(), &frame.Writer{System: 1, Component: 100}
	for _, w := range []*frame.Writer{autopilot, autopilot, autopilot, camera, autopilot, camera} {
		if r.Read(sentBy(t, w, 1)[0])[0].Late {
			t.Errorf("a frame of component %d is late", w.Component)
		}
	}
}

func TestUnknownMessage(t *testing.T) {
	w := plane()
	raws := sentBy(t, w, 1, 2, 3)
	raws[1][8] = 0x77 // a number that the dialect does not use
	var r frame.Reader
	frames := r.Read(bytes.Join(raws, nil))
	if len(frames) != 3 || r.Unknown != 1 || r.Broken != 0 {
		t.Fatalf("%d frames, %d unknown, %d bytes broken", len(frames), r.Unknown, r.Broken)
	}
	if _, err := w.Write(frames[1].Message, 0); !errors.Is(err, frame.ErrMessage) {
		t.Errorf("writing it: %v", err)
	}
}

// Zero bytes at the end are not sent; not a number is a value like any other.
func TestValuesSurvive(t *testing.T) {
	sent := &mav.MessageCommandInt{
		TargetSystem: 1, TargetComponent: 1, Frame: 6, Command: 192,
		Param1: -1, Param2: 1, Param4: float32(math.NaN()), X: -353632610, Y: 1491652300, Z: 80,
	}
	raw, err := plane().Write(sent, 0)
	if err != nil {
		t.Fatal(err)
	}
	var r frame.Reader
	got := r.Read(raw)[0].Message.(*mav.MessageCommandInt)
	if !math.IsNaN(float64(got.Param4)) {
		t.Errorf("not a number became %v", got.Param4)
	}
	got.Param4, sent.Param4 = 0, 0
	if diff := cmp.Diff(sent, got); diff != "" {
		t.Error(diff)
	}
}

// The reader does not write into bytes that it was given, even behind a payload that is shorter than its message.
func TestReaderLeavesItsBytes(t *testing.T) {
	data := bytes.Join(sentBy(t, plane(), 0, 0, 0), nil)
	before := bytes.Clone(data)
	var r frame.Reader
	if n := len(r.Read(data)); n != 3 {
		t.Errorf("%d of 3 frames", n)
	}
	if !bytes.Equal(before, data) {
		t.Error("the bytes were changed")
	}
}

// A message without a time stamp that was overtaken must not change what is known.
func TestLate(t *testing.T) {
	raws := sentBy(t, plane(), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
	for _, c := range []struct {
		name  string
		order []int
		late  []int // places in order
	}{
		{"in order", []int{0, 1, 2}, nil},
		{"with a loss", []int{0, 2, 3}, nil},
		{"overtaken", []int{0, 2, 1, 3}, []int{2}},
		{"repeated", []int{0, 1, 1, 2}, []int{2}},
		{"repeated twice", []int{0, 1, 0, 1, 2}, []int{2, 3}},
		{"started again", []int{9, 10, 0, 1, 2, 3, 4, 5, 6, 7, 8}, []int{2, 3, 4, 5, 6, 7, 8}},
	} {
		var r frame.Reader
		var late []int
		for i, at := range c.order {
			if r.Read(raws[at])[0].Late {
				late = append(late, i)
			}
		}
		if diff := cmp.Diff(c.late, late); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
