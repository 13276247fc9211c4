package foxglove

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"

	"github.com/coder/websocket"
)

// channel is a channel as it is advertised.
type channel struct {
	ID             uint32 `json:"id"`
	Topic          string `json:"topic"`
	Encoding       string `json:"encoding"`
	SchemaName     string `json:"schemaName"`
	SchemaEncoding string `json:"schemaEncoding"`
	Schema         string `json:"schema"`
}

// The channels, by number.
const (
	signalsChannel = 1 + iota
	statusChannel
	eventsChannel
	logChannel
	locationChannel // of flights over a link
)

var topics = []string{"/signals", "/status", "/events", "/log", "/location"}

// view is what is known of a run at a time.
type view struct {
	log      record.Header // its tasks include those of later plans
	channels []channel
	keys     [][]byte // what precedes the values of the signals in JSON
	t        float64
	statuses []bt.Status
	sample   []float64
	sampled  float64 // its time [s]
	location []byte  // JSON; nil: none yet
}

func newView(h *record.Header) *view {
	v := &view{log: *h, t: h.Start}
	for i, topic := range topics {
		if i+1 == locationChannel && h.Date == 0 {
			continue
		}
		name, schema := h.Schema(topic)
		v.channels = append(v.channels, channel{uint32(i + 1), topic, "json", name, "jsonschema", string(schema)})
	}
	for _, s := range h.Signals {
		name, _ := json.Marshal(s.Name) // a string is JSON
		v.keys = append(v.keys, append(append([]byte{','}, name...), ':'))
	}
	v.know()
	return v
}

// know enters the tasks that are new to the log.
func (v *view) know() {
	for _, t := range v.log.Tasks[len(v.statuses):] {
		v.statuses = append(v.statuses, t.Initial)
	}
}

// stamp returns a time of the run [s] as the log has it [ns]: since midnight, or the Unix time.
func (v *view) stamp(t float64) uint64 {
	if v.log.Date != 0 {
		return uint64(v.log.Date + int64(math.Round((t-v.log.Start)*1e9)))
	}
	return uint64(math.Round(t * 1e9))
}

// seconds is the opposite of stamp.
func (v *view) seconds(stamp uint64) float64 {
	if v.log.Date != 0 {
		return v.log.Start + float64(int64(stamp)-v.log.Date)/1e9
	}
	return float64(stamp) / 1e9
}

// publish sends a message of a channel, if the client wants it.
func (x *session) publish(channel uint32, t float64, message func() []byte) {
	id, wanted := x.subscriptions[channel]
	if !wanted || x.silent {
		return
	}
	b := binary.LittleEndian.AppendUint32([]byte{1}, id)
	b = binary.LittleEndian.AppendUint64(b, x.view.stamp(t))
	x.send(websocket.MessageBinary, append(b, message()...))
}

// passes tells the time of the run.
func (x *session) passes(t float64) {
	x.view.t = t
	if now := x.view.stamp(t); now != x.told && !x.silent {
		x.told = now
		x.send(websocket.MessageBinary, binary.LittleEndian.AppendUint64([]byte{2}, now))
	}
}

// state sends the last messages of a channel with a state.
func (x *session) state(channel uint32) {
	v := x.view
	switch {
	case channel == signalsChannel && v.sample != nil:
		x.publish(channel, v.t, v.values)
	case channel == locationChannel && v.location != nil:
		x.publish(channel, v.t, func() []byte { return v.location })
	case channel == statusChannel:
		for i, s := range v.statuses {
			x.change(v.t, 0, bt.Change{Task: bt.Task(i), From: s, To: s})
		}
	}
}

// Sample implements record.Recorder.
func (x *session) Sample(t float64, values []float64) error {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.passes(t)
	x.view.sampled, x.view.sample = t, append(x.view.sample[:0], values...)
	x.publish(signalsChannel, t, x.view.values)
	return x.err
}

// values returns the message about the last sample.
func (v *view) values() []byte {
	b := appendNumber([]byte(`{"t":`), v.sampled)
	for i, value := range v.sample {
		b = appendNumber(append(b, v.keys[i]...), value)
	}
	return append(b, '}')
}

func appendNumber(b []byte, v float64) []byte {
	if v-v != 0 {
		return append(b, "null"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

// change sends a message about a status.
func (x *session) change(t float64, micro int, c bt.Change) {
	x.publish(statusChannel, t, func() []byte {
		return encoded(struct {
			T     float64 `json:"t"`
			Micro int     `json:"micro"`
			Task  string  `json:"task"`
			From  string  `json:"from"`
			To    string  `json:"to"`
		}{t, micro, x.view.log.Tasks[c.Task].Name, c.From.String(), c.To.String()})
	})
}

// encoded returns a value as JSON.
func encoded(message any) []byte {
	b, err := json.Marshal(message)
	if err != nil {
		panic("foxglove: a message is not JSON")
	}
	return b
}

// Status implements record.Recorder.
func (x *session) Status(t float64, micro int, c bt.Change) error {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.passes(t)
	x.view.statuses[c.Task] = c.To
	x.change(t, micro, c)
	x.line(t, info, x.view.log.Tasks[c.Task].Name, c.From.String()+" to "+c.To.String())
	return x.err
}

// Event implements record.Recorder.
func (x *session) Event(e record.Event) error {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.passes(e.T)
	x.publish(eventsChannel, e.T, func() []byte {
		m := struct {
			record.Event
			Holds *bool `json:"holds,omitempty"` // as in the log: wherever there is a relation
		}{Event: e}
		if e.Relation != "" {
			m.Holds = &e.Holds
		}
		return encoded(m)
	})
	level := warning
	switch e.Kind {
	case "state", "time":
		level = info
	case "error":
		level = failure
	}
	x.line(e.T, level, e.Kind, e.Text)
	return x.err
}

// The levels of foxglove.Log.
const (
	info    = 2
	warning = 3
	failure = 4
)

// stamp is a time as Foxglove has it in JSON.
type stamp struct {
	Sec  uint64 `json:"sec"`
	Nsec uint64 `json:"nsec"`
}

func stampOf(ns uint64) stamp { return stamp{ns / 1e9, ns % 1e9} }

// line sends a line of the log.
func (x *session) line(t float64, level int, name, text string) {
	x.publish(logChannel, t, func() []byte {
		return encoded(struct {
			At      stamp  `json:"timestamp"`
			Level   int    `json:"level"`
			Message string `json:"message"`
			Name    string `json:"name"`
			File    string `json:"file"`
			Line    int    `json:"line"`
		}{stampOf(x.view.stamp(t)), level, text, name, "", 0})
	})
}

// Plan implements record.Recorder.
func (x *session) Plan(p record.Takeover) error {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.passes(p.T)
	numbers := x.view.log.Take(p)
	x.view.know()
	for i, n := range numbers {
		from := x.view.statuses[n]
		x.view.statuses[n] = p.Tasks[i].Initial
		x.change(p.T, 0, bt.Change{Task: n, From: from, To: p.Tasks[i].Initial})
	}
	return x.err
}

// Message implements record.Recorder.
func (x *session) Message(c record.Channel, data []byte) error {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if c == record.Locations {
		x.view.location = bytes.Clone(data)
		x.state(locationChannel)
	}
	return x.err
}
