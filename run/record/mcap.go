package record

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
)

// The channels of run.mcap, numbered in this order from 1; each has the schema of the same number.
const (
	runChannel = iota + 1
	signalsChannel
	statusChannel
	eventsChannel
	summaryChannel
	inChannel // this and the following ones are declared by their first message
	outChannel
	clockChannel
	decisionChannel
	locationChannel
	logChannel
	planChannel
)

var topics = [...]string{
	runChannel: "/run", signalsChannel: "/signals", statusChannel: "/status", eventsChannel: "/events",
	summaryChannel: "/summary", inChannel: "/mavlink/in", outChannel: "/mavlink/out", clockChannel: "/clock",
	decisionChannel: "/decision", locationChannel: "/location", logChannel: "/log",
	planChannel: "/plan",
}

// foxglove are the names of schemas for which Foxglove has a panel; the others are named after their topics.
var foxglove = map[int]string{locationChannel: "foxglove.LocationFix", logChannel: "foxglove.Log"}

// container encodes the log as MCAP.
type container struct {
	archive
	keys  [][]byte // `,"name":` of each signal
	tasks [][]byte // what rows call each task, as JSON
	date  uint64   // log time of all messages; 0: they have that of the run
}

// newContainer begins the file with everything known before the run, and writes it out.
func newContainer(h *Header, w io.Writer) (*container, error) {
	c := &container{date: uint64(h.Date), archive: archive{to: w, chunk: empty, all: empty,
		out: appendRecord([]byte(magic), opHeader, "", "canopy")}}
	for _, s := range h.Signals {
		c.keys = append(c.keys, signalKey(s.Name))
	}
	c.name(h)
	start, err := c.stamp(h.Start)
	if err != nil {
		return nil, fmt.Errorf("%w: the start: %w", ErrHeader, err)
	}
	if _, err := logTime(h.Horizon); err != nil {
		return nil, fmt.Errorf("%w: the horizon: %w", ErrHeader, err)
	}
	run, err := h.message()
	if err != nil {
		return nil, err
	}
	for _, a := range h.Attachments {
		c.attach(start, a.Name, a.MediaType, a.Data)
	}
	err = c.start(h.schemaOf)
	if err == nil {
		err = c.add(runChannel, start, run)
	}
	if err == nil && len(c.pending()) > 0 { // it was not larger than a chunk
		err = c.endChunk()
	}
	return c, err
}

// name enters what rows call the tasks of the log.
func (c *container) name(h *Header) {
	for i := len(c.tasks); i < len(h.Tasks); i++ {
		c.tasks = append(c.tasks, quote(label(i, h.Tasks[i].Name)))
	}
}

// message is the message on /run.
func (h *Header) message() ([]byte, error) {
	run, err := json.Marshal(h)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrHeader, err)
	}
	return run, nil
}

// sample adds the sample of time t whose numbers are the fields of a line of signals.csv.
func (c *container) sample(t float64, line []byte) error {
	stamp, err := c.stamp(t)
	if err != nil {
		return err
	}
	c.begin(signalsChannel, stamp)
	b := append(c.out, `{"t":`...)
	for _, key := range c.keys {
		end := bytes.IndexByte(line, ',')
		b = append(appendJSON(b, line[:end]), key...)
		line = line[end+1:]
	}
	b = appendJSON(b, line[:len(line)-1])
	c.out = append(b, '}')
	return c.end()
}

// status adds a status change at t, whose text by appendNumber is time.
func (c *container) status(t float64, time []byte, micro int, change bt.Change) error {
	b, err := c.instant(statusChannel, t, time, micro)
	if err != nil {
		return err
	}
	b = append(append(append(b, `,"task":`...), c.tasks[change.Task]...), `,"from":"`...)
	b = append(append(append(b, change.From.String()...), `","to":"`...), change.To.String()...)
	c.out = append(b, `"}`...)
	return c.end()
}

// event adds an event, the text of whose time by appendNumber is time.
func (c *container) event(time []byte, e Event) error {
	b, err := c.instant(eventsChannel, e.T, time, e.Micro)
	if err != nil {
		return err
	}
	b = appendText(append(b, `,"kind":`...), e.Kind)
	b = appendText(append(b, `,"text":`...), e.Text)
	if e.Grave {
		b = append(b, `,"grave":true`...)
	}
	if e.Relation != "" {
		b = appendText(append(b, `,"relation":`...), e.Relation)
		b = strconv.AppendBool(append(b, `,"holds":`...), e.Holds)
	}
	if e.Crossed != nil {
		b = appendJSON(append(b, `,"crossed":`...), strconv.AppendFloat(nil, *e.Crossed, 'g', -1, 64))
	}
	c.out = append(b, '}')
	return c.end()
}

// instant begins a message at an instant and returns the archive's output with its first fields.
func (c *container) instant(channel int, t float64, time []byte, micro int) ([]byte, error) {
	stamp, err := c.stamp(t)
	if err != nil {
		return nil, err
	}
	c.begin(channel, stamp)
	b := append(appendJSON(append(c.out, `{"t":`...), time), `,"micro":`...)
	return strconv.AppendInt(b, int64(micro), 10), nil
}

// add adds a message.
func (c *container) add(channel int, stamp uint64, data []byte) error {
	c.begin(channel, stamp)
	c.out = append(c.out, data...)
	return c.end()
}

func (c *container) close(s Summary) error {
	portable := struct {
		Summary
		CPU    *float64 `json:"cpu_s,omitempty"` // hides Summary.CPU: a log is the same on every machine
		Flight *float64 `json:"cpu_flight_s,omitempty"`
	}{Summary: s}
	data, err := json.Marshal(portable)
	if err == nil {
		var stamp uint64
		if stamp, err = c.stamp(s.Ended); err == nil {
			err = c.add(summaryChannel, stamp, data)
		}
	}
	return errors.Join(err, c.archive.close())
}

// stamp is the log time of a message at t.
func (c *container) stamp(t float64) (uint64, error) {
	if c.date != 0 {
		return c.date, nil
	}
	return logTime(t)
}

// logTime is t in MCAP's unit, ns. Readers treat it as a signed number.
func logTime(t float64) (uint64, error) {
	ns := math.Round(t * 1e9)
	if !(ns >= 0 && ns < 1<<63) {
		return 0, fmt.Errorf(
			"a simulated time of %g s is not between 0 and 9.2e9 s, the range of the nanoseconds of run.mcap", t)
	}
	return uint64(ns), nil
}

func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic("record: a string cannot be written as JSON")
	}
	return b
}

// signalKey is the text in a sample between the previous value and that of the signal.
func signalKey(name string) []byte {
	return append(append([]byte{','}, quote(name)...), ':')
}

// schemaFiles have the schemas of the messages, by topic; that of the samples depends on the signals.
//
//go:embed schema/*.json
var schemaFiles embed.FS

// schema returns the schema of a channel's messages, in one line.
func schema(channel int) []byte {
	name, _, _ := strings.Cut(topics[channel][1:], "/")
	text, err := schemaFiles.ReadFile("schema/" + name + ".json")
	var b bytes.Buffer
	if err = errors.Join(err, json.Compact(&b, text)); err != nil {
		panic("record: a schema cannot be read")
	}
	if channel == outChannel {
		return bytes.Replace(b.Bytes(), []byte("frame from"), []byte("frame to"), 1)
	}
	return b.Bytes()
}

// Schema returns the name and the text of the schema of the messages on a topic of run.mcap, a JSON Schema.
func (h *Header) Schema(topic string) (name string, text []byte) {
	channel := slices.Index(topics[:], topic)
	return cmp.Or(foxglove[channel], "canopy"+topic), h.schemaOf(channel)
}

// schemaOf returns the schema of a channel that every log has, for a run.
func (h *Header) schemaOf(channel int) []byte {
	if channel == signalsChannel {
		b := []byte(`{"type":"object","title":"sample","properties":{` +
			`"t":{"type":"number","description":"simulated time [s]"}`)
		for _, s := range h.Signals {
			b = append(b, signalKey(s.Name)...)
			b = append(b, `{"type":"number","description":`...)
			b = append(b, quote(s.Text+" ["+s.UnitOrOne()+"]")...)
			b = append(b, '}')
		}
		return append(b, "}}"...)
	}
	text := schema(channel)
	before := func(place, more string) { text = bytes.Replace(text, []byte(place), []byte(more+place), 1) }
	if channel == runChannel && slices.ContainsFunc(h.Signals, func(s Signal) bool { return s.Type != "" }) {
		before(`}}},"plots":`, `,"type":{"enum":["boolean","integer","enumeration","text"]},`+
			`"values":{"type":"array","items":{"type":"string"}}`)
	}
	if h.Date != 0 && channel == runChannel {
		before(`"start":`, `"date":{"type":"integer","description":"Unix time of the start [ns]"},`)
	}
	if h.Date != 0 && channel == eventsChannel {
		before(`"relation":`, `"grave":{"type":"boolean","description":"reason not to command the vehicle"},`)
	}
	return text
}
