package record

import (
	"bufio"
	"bytes"
	"encoding/binary"
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

// ErrFormat is wrapped by what Read says about a file that is not a run log, or a damaged one.
var ErrFormat = errors.New("record: not a sound run log")

// Log is a run read back.
type Log struct {
	Header
	T       []float64   // simulated time of each sample [s]
	Values  [][]float64 // Values[i][k] is signal i of the header at T[k]
	Changes []Change    // in the order they happened
	Events  []Event     // in the order they happened
	Summary *Summary    // nil if the log was cut off; CPU is not recorded
	Damage  error       // wraps ErrFormat: what made Read stop before the end of the file; nil if nothing did
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

// Read reads a run.mcap written by a Writer. Of a file that was cut off it returns all whole chunks, and a nil
// Summary; of a damaged one everything before the damage, which Log.Damage describes. Errors wrap ErrFormat, for
// files that do not even say what the run is, or are those of r.
//
// It walks the records itself: the library's lexer allocates whatever length a damaged file claims.
func Read(r io.ReadSeeker) (*Log, error) {
	l := &reader{channels: map[uint16]string{}, tasks: map[string]bt.Task{}}
	err := eachRecord(r, func(op mcap.OpCode, body []byte) error {
		switch op {
		case mcap.OpAttachment:
			l.Damage = l.attachment(body)
		case mcap.OpChunk:
			l.Damage = eachMessage(body, l.channels, l.message)
		}
		if l.Damage != nil {
			l.Damage = fmt.Errorf("%w: %w", ErrFormat, l.Damage)
		}
		return l.Damage
	})
	if err != nil && l.Damage == nil {
		return nil, err
	}
	return l.log()
}

// eachRecord calls visit for every record of an MCAP file that is there as a whole, up to the end of its data, as long
// as visit returns nil.
func eachRecord(r io.ReadSeeker, visit func(op mcap.OpCode, body []byte) error) error {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return err
	}
	file := bufio.NewReaderSize(r, 1<<16)
	magic := make([]byte, len(mcap.Magic))
	if _, err := io.ReadFull(file, magic); err != nil || !bytes.Equal(magic, mcap.Magic) {
		return fmt.Errorf("%w: it does not begin as an MCAP file does", ErrFormat)
	}
	left := uint64(size) - uint64(len(magic))
	head := make([]byte, recordHead)
	for left >= recordHead {
		if _, err := io.ReadFull(file, head); err != nil {
			return err
		}
		left -= recordHead
		op, length := mcap.OpCode(head[0]), binary.LittleEndian.Uint64(head[1:])
		if op == mcap.OpDataEnd || length > left {
			return nil
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(file, body); err != nil {
			return err
		}
		left -= length
		if err := visit(op, body); err != nil {
			return err
		}
	}
	return nil
}

const recordHead = 1 + 8 // bytes: operation code, length

var errShort = errors.New("a record is shorter than its contents")

// cut splits n bytes off data.
func cut(data []byte, n uint64) (head, rest []byte, err error) {
	if n > uint64(len(data)) {
		return nil, nil, errShort
	}
	return data[:n], data[n:], nil
}

// cutString splits off bytes that are preceded by their number, an unsigned integer of so many bytes.
func cutString(data []byte, width uint64) (text, rest []byte, err error) {
	head, rest, err := cut(data, width)
	if err != nil {
		return nil, nil, err
	}
	if width == 4 {
		return cut(rest, uint64(binary.LittleEndian.Uint32(head)))
	}
	return cut(rest, binary.LittleEndian.Uint64(head))
}

// reader collects the log.
type reader struct {
	Log
	started  bool
	channels map[uint16]string // topics
	tasks    map[string]bt.Task
	keys     [][]byte
}

func (l *reader) log() (*Log, error) {
	switch {
	case l.started:
		return &l.Log, nil
	case l.Damage != nil:
		return nil, l.Damage
	}
	return nil, fmt.Errorf("%w: it has no message on /run", ErrFormat)
}

// attachment takes an attachment record: log time, creation time, name, media type, data, checksum.
func (l *reader) attachment(body []byte) error {
	_, rest, err := cut(body, 8+8)
	if err != nil {
		return err
	}
	name, rest, err := cutString(rest, 4)
	if err != nil {
		return err
	}
	media, rest, err := cutString(rest, 4)
	if err != nil {
		return err
	}
	data, _, err := cutString(rest, 8)
	if err != nil {
		return err
	}
	l.Attachments = append(l.Attachments, Attachment{Name: string(name), MediaType: string(media), Data: data})
	return nil
}

// eachMessage calls visit for every message of a chunk record, with its topic: first and last log time, uncompressed
// size, checksum, compression, records. It adds the channels that the chunk declares.
func eachMessage(body []byte, channels map[uint16]string, visit func(topic string, m *mcap.Message) error) error {
	head, rest, err := cut(body, 8+8+8+4)
	if err != nil {
		return err
	}
	compression, rest, err := cutString(rest, 4)
	if err != nil {
		return err
	}
	if len(compression) > 0 {
		return fmt.Errorf("a chunk is compressed by %.20q; run logs are not compressed", compression)
	}
	records, _, err := cutString(rest, 8)
	if err != nil {
		return err
	}
	if sum := binary.LittleEndian.Uint32(head[24:]); sum != 0 && crc32.ChecksumIEEE(records) != sum {
		return errors.New("the checksum of a chunk is wrong")
	}
	for len(records) > 0 {
		op := mcap.OpCode(records[0])
		var body []byte
		if body, records, err = cutString(records[1:], 8); err != nil {
			return err
		}
		switch op {
		case mcap.OpChannel:
			channel, err := mcap.ParseChannel(body)
			if err != nil {
				return err
			}
			channels[channel.ID] = channel.Topic
		case mcap.OpMessage:
			message, err := mcap.ParseMessage(body)
			if err != nil {
				return err
			}
			if err := visit(channels[message.ChannelID], message); err != nil {
				return fmt.Errorf("message at %d ns on %q: %w", message.LogTime, channels[message.ChannelID], err)
			}
		}
	}
	return nil
}

func (l *reader) message(topic string, m *mcap.Message) error {
	data := m.Data
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
		var s Summary
		if err := json.Unmarshal(data, &s); err != nil {
			return err
		}
		l.Summary = &s
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
