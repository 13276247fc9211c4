package box

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/foxglove/mcap/go/mcap"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
)

// climber is a flight whose only task succeeds when the vehicle is above 100 m; it answers each frame.
type climber struct {
	to     record.Recorder
	writer frame.Writer
	reader frame.Reader
	done   bool
}

func (c *climber) Step(in flight.Input) (out [][]byte, err error) {
	if in.Kind != flight.Frame {
		return nil, nil
	}
	t := float64(in.At.Wall) / 1e9
	for _, f := range c.reader.Read(in.Data) {
		p, ok := f.Message.(*mav.MessageGlobalPositionInt)
		if !ok {
			continue
		}
		if err := c.to.Sample(t, []float64{float64(p.RelativeAlt) / 1e3}); err != nil {
			return nil, err
		}
		if p.RelativeAlt >= 100_000 && !c.done {
			c.done = true
			e := record.StateEvent(t, 1, "h >= 100", true)
			e.Since(t - 0.25)
			if err := c.to.Event(e); err != nil {
				return nil, err
			}
			if err := c.to.Status(t, 1, bt.Change{Task: 0, From: bt.Running, To: bt.Success}); err != nil {
				return nil, err
			}
		}
	}
	raw, err := c.writer.Write(&mav.MessageHeartbeat{Type: 18, Autopilot: 8}, in.At.Unix)
	return [][]byte{raw}, err
}

func (c *climber) Restore([]byte) error { panic("there is no checkpoint") }

// climb flies the climber and returns run.mcap and the tlog.
func climb(t *testing.T) (file, tlog []byte) {
	t.Helper()
	const date = 1_800_000_000_000_000_000
	h := record.Header{Mission: "climb", Horizon: 100, Date: date, Interval: 1,
		Tasks:   []record.Task{{Name: "up", Kind: "Condition", Parent: -1, Initial: bt.Running}},
		Signals: []record.Signal{{Name: "h", Unit: "m"}}}
	var out, lines bytes.Buffer
	w, err := record.NewWriter(h, record.Files{MCAP: &out})
	must(t, err)
	l := NewLogger(h, w, &lines)
	l.Drive(&climber{to: l, writer: frame.Writer{System: 1, Component: 191}})
	vehicle := frame.Writer{System: 1, Component: 1}
	step := func(kind flight.Kind, wall int64, data []byte) {
		t.Helper()
		_, err := l.Step(flight.Input{Kind: kind, At: service.Clock{Wall: wall, Unix: date + wall}, Data: data})
		must(t, err)
	}
	step(flight.Start, 0, nil)
	step(flight.Open, 1, []byte("udp:127.0.0.1:14550"))
	for i := range 30 {
		raw, err := vehicle.Write(&mav.MessageGlobalPositionInt{Lat: -353632610, Lon: 1491652300,
			Alt: 584_000 + int32(i)*10_000, RelativeAlt: int32(i) * 10_000}, 0)
		must(t, err)
		step(flight.Frame, int64(i+1)*500_000_000, raw)
	}
	step(flight.End, 20e9, nil)
	must(t, w.Close(record.Summary{Outcome: record.Complete, Ended: 15}))
	return out.Bytes(), lines.Bytes()
}

// System makes all but its own frames those of others.
func (c *climber) System() byte { return 1 }

// clocks sums up what the readings of the clocks say about the link.
type clocks struct {
	record.Nothing
	heard
}

func (c *clocks) Message(channel record.Channel, data []byte) error {
	var h heard
	if channel == record.Clocks {
		if err := json.Unmarshal(data, &h); err != nil {
			return err
		}
	}
	c.Received, c.Missing = c.Received+h.Received, c.Missing+h.Missing
	return nil
}

// TestLinkQuality: the readings of the clocks count the frames of the autopilot that came, and those between them that
// were lost; a frame that comes twice, and frames of others, do not count.
func TestLinkQuality(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 2))
	for range 20 {
		c := &clocks{}
		l := NewLogger(record.Header{Date: 1e18}, c, nil)
		l.Drive(&climber{to: l, writer: frame.Writer{System: 1, Component: 191}})
		autopilot, other := frame.Writer{System: 1, Component: 1}, frame.Writer{System: 9, Component: 1}
		step := func(kind flight.Kind, data []byte) {
			l.now.At.Wall += 1e7
			_, err := l.Step(flight.Input{Kind: kind, At: service.Clock{Wall: l.now.At.Wall, Unix: 1e18}, Data: data})
			must(t, err)
		}
		var want heard
		lost, loss := 0, r.Float64()/2
		for range 1000 {
			raw, err := autopilot.Write(&mav.MessageHeartbeat{}, 0)
			must(t, err)
			if r.Float64() < loss && want.Received > 0 {
				lost++
				continue
			}
			want.Received, want.Missing, lost = want.Received+1, want.Missing+lost, 0
			step(flight.Frame, raw)
			switch r.IntN(10) {
			case 0:
				step(flight.Frame, raw)
			case 1:
				raw, err := other.Write(&mav.MessageHeartbeat{}, 0)
				must(t, err)
				step(flight.Frame, raw)
			}
		}
		step(flight.End, nil)
		if c.heard != want {
			t.Errorf("%+v of %+v were counted", c.heard, want)
		}
	}
}

// TestFloodOfOthers: of the frames of other systems, one a second is in the log.
func TestFloodOfOthers(t *testing.T) {
	var out, lines bytes.Buffer
	h := record.Header{Mission: "climb", Horizon: 100, Date: 1e18, Interval: 1}
	w, err := record.NewWriter(h, record.Files{MCAP: &out})
	must(t, err)
	l := NewLogger(h, w, &lines)
	l.Drive(&climber{to: l, writer: frame.Writer{System: 1, Component: 191}})
	for i := range 3000 { // 3 s
		for _, system := range []byte{9, 1} {
			if i%100 > 0 && system == 1 {
				continue
			}
			raw, err := (&frame.Writer{System: system, Component: 1}).Write(&mav.MessageHeartbeat{}, 0)
			must(t, err)
			_, err = l.Step(flight.Input{Kind: flight.Frame, At: service.Clock{Wall: int64(i) * 1e6, Unix: 1e18}, Data: raw})
			must(t, err)
		}
	}
	must(t, w.Close(record.Summary{Outcome: record.Complete}))
	r, err := mcap.NewReader(bytes.NewReader(out.Bytes()))
	must(t, err)
	info, err := r.Info()
	must(t, err)
	for id, n := range info.Statistics.ChannelMessageCounts {
		if topic := info.Channels[id].Topic; topic == "/mavlink/in" && n != 3+30 {
			t.Errorf("%d frames are in the log", n)
		}
	}
}

// TestLog reads the log of a flight with the library of the format and with our own reader.
func TestLog(t *testing.T) {
	file, tlog := climb(t)
	r, err := mcap.NewReader(bytes.NewReader(file))
	must(t, err)
	info, err := r.Info()
	must(t, err)
	count := map[string]int{}
	for id, n := range info.Statistics.ChannelMessageCounts {
		count[info.Channels[id].Topic] = int(n)
	}
	for topic, want := range map[string]int{"/mavlink/in": 30, "/mavlink/out": 30, "/location": 30, "/decision": 1,
		"/log": 2, "/clock": 17, "/status": 1, "/signals": 30, "/events": 1} {
		if count[topic] != want {
			t.Errorf("%s has %d messages, want %d", topic, count[topic], want)
		}
	}
	messages, err := r.Messages(mcap.UsingIndex(true), mcap.InOrder(mcap.LogTimeOrder))
	must(t, err)
	first := map[string]map[string]any{}
	for {
		schema, channel, m, err := messages.NextInto(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if m.LogTime < 1_800_000_000_000_000_000 {
			t.Fatalf("a message on %s has the log time %d", channel.Topic, m.LogTime)
		}
		var fields map[string]any
		must(t, json.Unmarshal(m.Data, &fields))
		var declared struct{ Properties map[string]any }
		must(t, json.Unmarshal(schema.Data, &declared))
		for name := range fields {
			if _, ok := declared.Properties[name]; !ok && channel.Topic != "/summary" {
				t.Fatalf("the schema %s has no field %s", schema.Name, name)
			}
		}
		if first[channel.Topic] == nil {
			fields["schema"] = schema.Name
			first[channel.Topic] = fields
		}
	}
	d := first["/decision"]
	// The 11th position is above 100 m, the input after Start, Open and ten others.
	if d["input"] != 12.0 || d["t"] != 5.5 || d["crossed"] != 5.25 || d["cause"] != "frame" || d["changes"] != 1.0 {
		t.Errorf("the decision: %v", d)
	}
	where := first["/location"]
	if where["schema"] != "foxglove.LocationFix" || math.Abs(where["latitude"].(float64)+35.363261) > 1e-9 ||
		where["altitude"] != 584.0 || where["timestamp"].(map[string]any)["sec"] != 1_800_000_000.0 {
		t.Errorf("the position: %v", where)
	}
	if l := first["/log"]; l["schema"] != "foxglove.Log" || l["name"] != "state" || l["level"] != 2.0 {
		t.Errorf("the log: %v", l)
	}

	var own record.Log
	own.End, err = record.Play(bytes.NewReader(file), own.Begin)
	must(t, err)
	if why := own.Missing(); why != "" || len(own.Changes) != 1 || len(own.T) != 30 || own.Date == 0 {
		t.Errorf("our reader: %q, %d changes, %d samples", why, len(own.Changes), len(own.T))
	}
	again, _ := climb(t)
	if !bytes.Equal(again, file) {
		t.Error("a replay writes another log")
	}

	var stamps []int64
	for len(tlog) > 0 {
		stamps = append(stamps, int64(binary.BigEndian.Uint64(tlog)))
		n := frame.Size(tlog[8:])
		if n <= 0 || len(tlog) < 8+n {
			t.Fatal("the tlog is no sequence of frames")
		}
		tlog = tlog[8+n:]
	}
	if len(stamps) != 60 || !slices.IsSorted(stamps) || stamps[0] != 1_800_000_000_500_000 {
		t.Errorf("the tlog has the stamps %v", stamps)
	}
}
