package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"strconv"

	"canopy/bt"

	"github.com/foxglove/mcap/go/mcap"
)

// ErrFormat is wrapped by the errors of Read about a file that is not a run log, or a damaged one.
var ErrFormat = errors.New("record: not a run log")

// Log is a run read back.
type Log struct {
	Header
	T       []float64   // simulated time of each sample [s]
	Values  [][]float64 // Values[i][k] is signal i of the header at T[k]
	Changes []Change    // in the order they happened
	Events  []Event     // in the order they happened
	Summary *Summary    // nil if the run was cut off; CPU is not recorded
}

// Signal returns the column of a signal, nil if it was not recorded.
func (l *Log) Signal(name string) []float64 {
	for i, s := range l.Signals {
		if s.Name == name {
			return l.Values[i]
		}
	}
	return nil
}

// maxRecord bounds what a damaged length can make Read allocate [bytes].
const maxRecord = 1 << 30

// Read reads a run.mcap written by a Writer. Of a file that was cut off it returns everything up to the last flush, and a
// nil Summary. Errors wrap ErrFormat, or are those of r.
func Read(r io.ReadSeeker) (*Log, error) {
	l := &reader{tasks: map[string]bt.Task{}}
	lexer, err := mcap.NewLexer(r, &mcap.LexerOptions{
		EmitChunks: true, MaxRecordSize: maxRecord, AttachmentCallback: l.attachment,
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	defer lexer.Close()
	for {
		token, data, err := lexer.Next(nil)
		var cut *mcap.ErrTruncatedRecord
		switch {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &cut):
			return l.log()
		case err != nil:
			return nil, fmt.Errorf("%w: %w", ErrFormat, err)
		case token == mcap.TokenDataEnd:
			return l.log()
		case token == mcap.TokenChunk:
			if err := l.chunk(data); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrFormat, err)
			}
		}
	}
}

// reader collects the log.
type reader struct {
	Log
	started  bool
	channels [1 << 16]string // topics by channel number
	tasks    map[string]bt.Task
	keys     [][]byte
}

func (l *reader) log() (*Log, error) {
	if !l.started {
		return nil, fmt.Errorf("%w: it has no message on /run", ErrFormat)
	}
	return &l.Log, nil
}

func (l *reader) attachment(a *mcap.AttachmentReader) error {
	data, err := io.ReadAll(a.Data())
	if err != nil {
		return err
	}
	if uint64(len(data)) < a.DataSize {
		return io.ErrUnexpectedEOF
	}
	l.Attachments = append(l.Attachments, Attachment{Name: a.Name, MediaType: a.MediaType, Data: data})
	return nil
}

func (l *reader) chunk(data []byte) error {
	chunk, err := mcap.ParseChunk(data)
	if err != nil {
		return err
	}
	if chunk.Compression != "" {
		return fmt.Errorf("a chunk is compressed by %q; run logs are not compressed", chunk.Compression)
	}
	if chunk.UncompressedCRC != 0 && crc32.ChecksumIEEE(chunk.Records) != chunk.UncompressedCRC {
		return errors.New("the checksum of a chunk is wrong")
	}
	lexer, err := mcap.NewLexer(bytes.NewReader(chunk.Records), &mcap.LexerOptions{SkipMagic: true, EmitChunks: true,
		MaxRecordSize: maxRecord})
	if err != nil {
		return err
	}
	defer lexer.Close()
	for {
		token, data, err := lexer.Next(nil)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case token == mcap.TokenChannel:
			channel, err := mcap.ParseChannel(data)
			if err != nil {
				return err
			}
			l.channels[channel.ID] = channel.Topic
		case token == mcap.TokenMessage:
			message, err := mcap.ParseMessage(data)
			if err != nil {
				return err
			}
			topic := l.channels[message.ChannelID]
			if err := l.message(topic, message.Data); err != nil {
				return fmt.Errorf("message at %d ns on %q: %w", message.LogTime, topic, err)
			}
		}
	}
}

func (l *reader) message(topic string, data []byte) error {
	if !l.started && topic != topics[runChannel] {
		return errors.New("it comes before the message on /run")
	}
	switch topic {
	case topics[runChannel]:
		return l.start(data)
	case topics[signalsChannel]:
		return l.sample(data)
	case topics[statusChannel]:
		return l.status(data)
	case topics[eventsChannel]:
		var e Event
		if err := json.Unmarshal(data, &e); err != nil {
			return err
		}
		l.Events = append(l.Events, e)
	case topics[summaryChannel]:
		l.Summary = new(Summary)
		return json.Unmarshal(data, l.Summary)
	}
	return nil
}

func (l *reader) start(data []byte) error {
	if l.started {
		return errors.New("there is more than one")
	}
	if err := json.Unmarshal(data, &l.Header); err != nil {
		return err
	}
	if err := l.check(); err != nil {
		return err
	}
	l.started = true
	for i, t := range l.Tasks {
		if t.Parent < -1 || t.Parent >= len(l.Tasks) {
			return fmt.Errorf("task %q has an unknown parent", t.Name)
		}
		l.tasks[t.Name] = bt.Task(i)
	}
	l.Values = make([][]float64, len(l.Signals))
	for _, s := range l.Signals {
		l.keys = append(l.keys, signalKey(s.Name))
	}
	return nil
}

// sample reads the one form that container.sample writes, which is many times faster than any JSON.
func (l *reader) sample(data []byte) error {
	t, rest, err := number(data, []byte(`{"t":`))
	if err != nil {
		return err
	}
	values := make([]float64, len(l.keys))
	for i, key := range l.keys {
		if values[i], rest, err = number(rest, key); err != nil {
			return err
		}
	}
	if string(rest) != "}" {
		return fmt.Errorf("unexpected %.40q", rest)
	}
	l.T = append(l.T, t)
	for i, v := range values {
		l.Values[i] = append(l.Values[i], v)
	}
	return nil
}

// number reads key and the number after it.
func number(data, key []byte) (v float64, rest []byte, err error) {
	data, ok := bytes.CutPrefix(data, key)
	if !ok {
		return 0, nil, fmt.Errorf("expected %.40q", key)
	}
	end := bytes.IndexAny(data, ",}")
	if end < 0 {
		return 0, nil, errors.New("unexpected end")
	}
	text := string(data[:end])
	if text == "null" {
		return math.NaN(), data[end:], nil
	}
	v, err = strconv.ParseFloat(text, 64)
	return v, data[end:], err
}

func (l *reader) status(data []byte) error {
	var m struct {
		T              float64
		Micro          int
		Task, From, To string
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	task, known := l.tasks[m.Task]
	from, ok1 := statuses[m.From]
	to, ok2 := statuses[m.To]
	if !known || !ok1 || !ok2 {
		return fmt.Errorf("unknown task or status in %.200q", data)
	}
	l.Changes = append(l.Changes, Change{T: m.T, Micro: m.Micro,
		Change: bt.Change{Task: task, From: from, To: to, Iteration: int32(m.Micro)}})
	return nil
}

var statuses = func() map[string]bt.Status {
	m := map[string]bt.Status{}
	for s := bt.Success; s <= bt.Deactivating; s++ {
		m[s.String()] = s
	}
	return m
}()
