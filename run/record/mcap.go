package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"canopy/bt"

	"github.com/foxglove/mcap/go/mcap"
)

// The channels of run.mcap, numbered in this order from 1; each has the schema of the same number.
const (
	runChannel = iota + 1
	signalsChannel
	statusChannel
	eventsChannel
	summaryChannel
)

var topics = [...]string{
	runChannel: "/run", signalsChannel: "/signals", statusChannel: "/status", eventsChannel: "/events",
	summaryChannel: "/summary",
}

const chunkSize = 1 << 16 // bytes of messages; the maximum loss of a killed process

// container encodes the log as MCAP. The library keeps a chunk in memory until a message makes it larger than
// chunkSize, and then writes it.
type container struct {
	file     *bufio.Writer
	writer   *mcap.Writer
	data     []byte // scratch of the message being made
	sequence [len(topics)]uint32
	pending  []mcap.Message // of the chunk that is not written yet
	keys     [][]byte       // `,"name":` of each signal
	tasks    [][]byte       // name of each task as JSON
}

// newContainer begins the file with everything known before the run.
func newContainer(h *Header, w io.Writer) (*container, error) {
	c := &container{file: bufio.NewWriterSize(w, 1<<16)}
	for _, s := range h.Signals {
		c.keys = append(c.keys, signalKey(s.Name))
	}
	for _, t := range h.Tasks {
		c.tasks = append(c.tasks, quote(t.Name))
	}
	start, err := logTime(h.Start)
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
	options := &mcap.WriterOptions{Chunked: true, ChunkSize: chunkSize, IncludeCRC: true, OverrideLibrary: true}
	if c.writer, err = mcap.NewWriter(c.file, options); err != nil {
		return nil, err
	}
	if err := c.writer.WriteHeader(&mcap.Header{Library: "canopy"}); err != nil {
		return nil, err
	}
	for _, a := range h.Attachments {
		err := c.writer.WriteAttachment(&mcap.Attachment{LogTime: start, CreateTime: start, Name: a.Name,
			MediaType: a.MediaType, DataSize: uint64(len(a.Data)), Data: bytes.NewReader(a.Data)})
		if err != nil {
			return nil, err
		}
	}
	for id := runChannel; id < len(topics); id++ {
		schema := &mcap.Schema{ID: uint16(id), Name: "canopy" + topics[id], Encoding: "jsonschema", Data: schemas[id]}
		switch {
		case id == signalsChannel:
			schema.Data = signalsSchema(h)
		case id == runChannel && slices.ContainsFunc(h.Signals, func(s Signal) bool { return s.Type != "" }):
			schema.Data = bytes.Replace(schema.Data, realSignal, typedSignal, 1)
		}
		if err := c.writer.WriteSchema(schema); err != nil {
			return nil, err
		}
		channel := &mcap.Channel{ID: uint16(id), SchemaID: uint16(id), Topic: topics[id], MessageEncoding: "json"}
		if err := c.writer.WriteChannel(channel); err != nil {
			return nil, err
		}
	}
	options.ChunkSize = 0 // the library reads it at every message: the next message gets its own chunk
	err = c.message(runChannel, h.Start, run)
	options.ChunkSize = chunkSize
	return c, err
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
	b := append(c.data[:0], `{"t":`...)
	for _, key := range c.keys {
		end := bytes.IndexByte(line, ',')
		b = append(appendJSON(b, line[:end]), key...)
		line = line[end+1:]
	}
	b = appendJSON(b, line[:len(line)-1])
	c.data = append(b, '}')
	return c.message(signalsChannel, t, c.data)
}

// status adds a status change at t, whose text by appendNumber is time.
func (c *container) status(t float64, time []byte, micro int, change bt.Change) error {
	b := append(c.begin(time, micro), `,"task":`...)
	b = append(append(append(b, c.tasks[change.Task]...), `,"from":"`...), change.From.String()...)
	c.data = append(append(append(b, `","to":"`...), change.To.String()...), `"}`...)
	return c.message(statusChannel, t, c.data)
}

// event adds an event, the text of whose time by appendNumber is time.
func (c *container) event(time []byte, e Event) error {
	b := appendText(append(c.begin(time, e.Micro), `,"kind":`...), e.Kind)
	c.data = append(appendText(append(b, `,"text":`...), e.Text), '}')
	return c.message(eventsChannel, e.T, c.data)
}

// begin returns the beginning of a message at an instant.
func (c *container) begin(time []byte, micro int) []byte {
	b := append(appendJSON(append(c.data[:0], `{"t":`...), time), `,"micro":`...)
	return strconv.AppendInt(b, int64(micro), 10)
}

// message adds a message to the chunk, and writes the chunk to the file if it is full.
func (c *container) message(channel uint16, t float64, data []byte) error {
	stamp, err := logTime(t)
	if err != nil {
		return err
	}
	return c.add(&mcap.Message{ChannelID: channel, LogTime: stamp, Data: data})
}

// add adds a message with the given channel, log time and data. It keeps a copy until the chunk is written.
func (c *container) add(m *mcap.Message) error {
	before := c.chunks()
	err := c.writer.WriteMessage(&mcap.Message{ChannelID: m.ChannelID, Sequence: c.sequence[m.ChannelID],
		LogTime: m.LogTime, PublishTime: m.LogTime, Data: m.Data})
	c.sequence[m.ChannelID]++
	if c.chunks() > before {
		c.pending = c.pending[:0]
		return err
	}
	n := len(c.pending)
	c.pending = slices.Grow(c.pending, 1)[:n+1] // reusing the memory of an earlier message
	kept := &c.pending[n]
	kept.ChannelID, kept.LogTime, kept.Data = m.ChannelID, m.LogTime, append(kept.Data[:0], m.Data...)
	return err
}

// chunks is the number of chunks that have been added to the file.
func (c *container) chunks() int { return len(c.writer.ChunkIndexes) }

func (c *container) close(s Summary) error {
	portable := struct {
		Summary
		CPU    *float64 `json:"cpu_s,omitempty"` // hides Summary.CPU: a log is the same on every machine
		Flight *float64 `json:"cpu_flight_s,omitempty"`
	}{Summary: s}
	data, err := json.Marshal(portable)
	if err == nil {
		err = c.message(summaryChannel, s.Ended, data)
	}
	return errors.Join(err, c.writer.Close(), c.file.Flush())
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

// schemas describe the messages of the channels; that of the samples depends on the signals.
var schemas = [len(topics)][]byte{
	runChannel: []byte(`{"type":"object","title":"identity of the run","properties":{` +
		`"mission":{"type":"string"},"text":{"type":"string"},"plan":{"type":"string"},"vehicle":{"type":"string"},` +
		`"start":{"type":"number","description":"simulated time of the first sample [s]"},` +
		`"horizon":{"type":"number","description":"simulated time at which the run is to end [s]"},` +
		`"method":{"type":"string","description":"method of the integration"},` +
		`"rel_tol":{"type":"number","description":"relative tolerance of the integration"},` +
		`"interval":{"type":"number","description":"interval of the sampling grid [s]"},` +
		`"tasks":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},` +
		`"kind":{"type":"string"},"parent":{"type":"integer"},"detail":{"type":"string"},` +
		`"initial":{"type":"string"}}}},` +
		string(realSignal) +
		`"plots":{"type":"array","items":{"type":"object","properties":{"title":{"type":"string"},` +
		`"signals":{"type":"array","items":{"type":"string"}}}}},` +
		`"parameters":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},` +
		`"unit":{"type":"string"},"value":{"type":"number"},"default":{"type":"number"},"tag":{"type":"string"},` +
		`"text":{"type":"string"}}}}}}`),
	statusChannel: []byte(`{"type":"object","title":"status change of a task","properties":{` +
		`"t":{"type":"number","description":"simulated time [s]"},` +
		`"micro":{"type":"integer","description":"event iteration within the instant"},` +
		`"task":{"type":"string"},"from":{"type":"string"},"to":{"type":"string"}}}`),
	eventsChannel: []byte(`{"type":"object","title":"event","properties":{` +
		`"t":{"type":"number","description":"simulated time [s]"},` +
		`"micro":{"type":"integer","description":"event iteration within the instant"},` +
		`"kind":{"type":"string"},"text":{"type":"string"}}}`),
	summaryChannel: []byte(`{"type":"object","title":"cost and end of the run","properties":{` +
		`"steps":{"type":"integer"},"rejected_steps":{"type":"integer"},"rhs_evaluations":{"type":"integer"},` +
		`"jacobians":{"type":"integer"},"factorisations":{"type":"integer"},"state_events":{"type":"integer"},` +
		`"time_events":{"type":"integer"},"status_changes":{"type":"integer"},` +
		`"max_event_iterations":{"type":"integer"},` +
		`"ended":{"type":"number","description":"simulated time at which the run ended [s]"},` +
		`"outcome":{"enum":["complete","interrupted","failed"]},"reason":{"type":"string"},` +
		`"stopped":{"type":"number","description":"simulated time at which the plan was stopped [s]"},` +
		`"properties":{"type":"array","items":{"type":"object","properties":{"property":{"type":"string"},` +
		`"verdict":{"enum":["satisfied","violated","open"]},"margin":{"type":["number","null"]},` +
		`"at_s":{"type":"number"},"open_after_s":{"type":"number"},"because":{"type":"string"}}}}}}`),
}

// realSignal and typedSignal describe the list of signals in the schema of a run without and with discrete signals.
var (
	realSignal = []byte(`"signals":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},` +
		`"unit":{"type":"string"},"text":{"type":"string"}}}},`)
	typedSignal = []byte(`"signals":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},` +
		`"unit":{"type":"string"},"text":{"type":"string"},` +
		`"type":{"enum":["boolean","integer","enumeration","text"]},` +
		`"values":{"type":"array","items":{"type":"string"}}}}},`)
)

func signalsSchema(h *Header) []byte {
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
