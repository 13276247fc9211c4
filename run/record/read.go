package record

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/bt"
)

// ErrFormat is wrapped by the errors of a reader for a file that is not a run log, or a damaged one.
var ErrFormat = errors.New("it is not the log of a run")

// End is how a log ends. It is part of every result from a log: an incomplete log has the events up to a time, and
// nothing after it.
type End struct {
	Told    float64  // simulated time up to which the log is complete [s]
	Summary *Summary // nil if the log was cut off; CPU is not recorded
	Damage  error    // wraps ErrFormat: the error in the file; nil if there is none
}

// Missing returns the reason why the log does not cover the whole run, "" if it does.
func (e *End) Missing() string {
	switch {
	case e.Damage != nil:
		return "the log is damaged: " + strings.TrimPrefix(e.Damage.Error(), ErrFormat.Error()+": ")
	case e.Summary == nil:
		return "the log is cut off"
	case e.Summary.Outcome != Complete:
		return "the run has outcome " + strconv.Quote(string(e.Summary.Outcome))
	}
	return ""
}

// Log is a run in memory: a recorder that keeps what it receives.
type Log struct {
	Nothing
	*Header // its tasks include those of later plans
	End
	T       []float64   // simulated time of each sample [s]
	Values  [][]float64 // Values[i][k] is signal i of the header at T[k]
	Changes []Change    // in the order they happened
	Events  []Event     // in the order they happened
	Plans   []Takeover  // that took over, in the order they did; Changes number their tasks as Header.Take does
}

// Signal returns the column of a signal, nil if it was not recorded.
func (l *Log) Signal(name string) []float64 {
	if i := slices.IndexFunc(l.Signals, func(s Signal) bool { return s.Name == name }); i >= 0 {
		return l.Values[i]
	}
	return nil
}

// Begin begins the log of a run and returns it, as [Play] needs it.
func (l *Log) Begin(h *Header) Recorder {
	*l = Log{Header: h, Values: make([][]float64, len(h.Signals))}
	return l
}

// Sample is called by the run.
func (l *Log) Sample(t float64, values []float64) error {
	l.T = append(l.T, t)
	for i, v := range values {
		l.Values[i] = append(l.Values[i], v)
	}
	return nil
}

// Status is called by the run.
func (l *Log) Status(t float64, micro int, c bt.Change) error {
	l.Changes = append(l.Changes, Change{T: t, Micro: micro, Change: c})
	return nil
}

// Event is called by the run.
func (l *Log) Event(e Event) error {
	l.Events = append(l.Events, e)
	return nil
}

// Plan is called by the run.
func (l *Log) Plan(p Takeover) error {
	l.Plans = append(l.Plans, p)
	l.Take(p)
	return nil
}

// Play reads a run.mcap written by a Writer and passes its contents to the recorder that begin returns for the log's
// header, in the recorded order. Its memory does not grow with the log. Attachments after the header are added to it
// when they are read.
//
// It plays all complete chunks of a file that was cut off, and everything before the damage of a damaged one; the End
// reports this. The times of samples, of status changes and of events are finite and do not decrease. Errors wrap
// ErrFormat, for files without a valid header, or are those of r and of the recorder.
func Play(r io.ReadSeeker, begin func(*Header) Recorder) (End, error) {
	p := newPlayer(begin)
	ended, err := eachRecord(r, func(op opcode, body []byte) error {
		switch op {
		case opAttachment:
			return sound(p.attachment(body))
		case opChunk:
			records, err := chunk(body)
			if err != nil {
				return sound(err)
			}
			return eachMessage(records, p.channels, p.message)
		}
		return nil
	})
	switch {
	case !p.started && (err == nil || errors.Is(err, ErrFormat)):
		return End{}, cmp.Or(err, fmt.Errorf("%w: it has no message on /run", ErrFormat))
	case errors.Is(err, ErrFormat):
		p.end.Damage = err
	case err != nil:
		return End{}, err
	case p.end.Summary != nil && !ended:
		p.end.Damage = fmt.Errorf("%w: it is cut off after the summary", ErrFormat)
	}
	if s := p.end.Summary; s != nil {
		p.end.Told = max(p.end.Told, s.Ended)
	}
	return p.end, nil
}

// sound wraps an error in ErrFormat.
func sound(err error) error {
	if err == nil || errors.Is(err, ErrFormat) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrFormat, err)
}

// maxRecord bounds the records that are read [bytes]: chunks have little more than chunkSize, attachments are
// documents.
const maxRecord = 1 << 28

// eachRecord calls visit for every complete record of an MCAP file, up to the end of its data, as long as visit returns
// nil. It reports whether the file has an end of data, and the index behind it. Errors are those of r and visit, or
// wrap ErrFormat. The body is valid until visit returns.
func eachRecord(r io.ReadSeeker, visit func(op opcode, body []byte) error) (ended bool, err error) {
	size, err := r.Seek(0, io.SeekEnd)
	if err != nil {
		return false, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	file := bufio.NewReaderSize(r, 1<<16)
	first := make([]byte, len(magic))
	if _, err := io.ReadFull(file, first); err != nil || string(first) != magic {
		return false, fmt.Errorf("%w: it does not begin like an MCAP file", ErrFormat)
	}
	// The checksum at the end of the data starts at the file, as in our files, or at the data, as in the
	// specification.
	fromFile, fromData := crc32.NewIEEE(), crc32.NewIEEE()
	_, _ = fromFile.Write(first)
	left := uint64(size) - uint64(len(magic))
	head := make([]byte, recordHead)
	var body []byte
	for left >= recordHead {
		if _, err := io.ReadFull(file, head); err != nil {
			return false, err
		}
		left -= recordHead
		op, length := opcode(head[0]), binary.LittleEndian.Uint64(head[1:])
		if length > left {
			return false, nil
		}
		if length > maxRecord {
			return false, fmt.Errorf("%w: a record has %d bytes", ErrFormat, length)
		}
		left -= length
		body = slices.Grow(body[:0], int(length))[:length]
		if _, err := io.ReadFull(file, body); err != nil {
			return false, err
		}
		if op == opDataEnd {
			if len(body) != 4 {
				return false, fmt.Errorf("%w: its end is damaged", ErrFormat)
			}
			if v := binary.LittleEndian.Uint32(body); v != 0 && v != fromFile.Sum32() && v != fromData.Sum32() {
				return false, fmt.Errorf("%w: the checksum of the file is wrong", ErrFormat)
			}
			return index(file, left)
		}
		for _, sum := range []hash.Hash32{fromFile, fromData} {
			if sum == fromFile || op != opHeader {
				_, _ = sum.Write(head)
				_, _ = sum.Write(body)
			}
		}
		if err := visit(op, body); err != nil {
			return false, err
		}
	}
	return false, nil
}

// index reads what follows the data of an MCAP file, left bytes: an index, the footer and the magic bytes. It reports
// whether the file ends with them.
func index(file io.Reader, left uint64) (ended bool, err error) {
	const footer = recordHead + 8 + 8 + 4 // the last field is the checksum of the index and the footer before it
	tail := uint64(4 + len(magic))
	if left < footer+uint64(len(magic)) {
		return false, nil
	}
	sum := crc32.NewIEEE()
	if _, err := io.CopyN(sum, file, int64(left-tail)); err != nil {
		return false, err
	}
	last := make([]byte, tail)
	if _, err := io.ReadFull(file, last); err != nil {
		return false, err
	}
	v := binary.LittleEndian.Uint32(last)
	switch {
	case string(last[4:]) != magic:
		return false, nil
	case v != 0 && v != sum.Sum32():
		return false, fmt.Errorf("%w: the checksum of the index is wrong", ErrFormat)
	}
	return true, nil
}

var errShort = errors.New("a record is shorter than its contents")

// fields are those of a record that are not read yet. The first one that is not complete is an error.
type fields struct {
	data []byte
	err  error
}

// cut splits n bytes off; nil: there are fewer.
func (f *fields) cut(n uint64) (head []byte) {
	if n > uint64(len(f.data)) {
		f.data, f.err = nil, errShort
		return nil
	}
	head, f.data = f.data[:n], f.data[n:]
	return head
}

// text splits off bytes preceded by their count, an unsigned integer of the given size in bytes.
func (f *fields) text(width uint64) []byte {
	switch head := f.cut(width); {
	case f.err != nil:
		return nil
	case width == 4:
		return f.cut(uint64(binary.LittleEndian.Uint32(head)))
	default:
		return f.cut(binary.LittleEndian.Uint64(head))
	}
}

// player passes a log to a recorder.
type player struct {
	begin    func(*Header) Recorder
	to       Recorder
	header   Header
	log      Header // its tasks, with those of later plans
	end      End
	started  bool
	channels map[uint16]string // topics
	sequence [len(topics)]uint32
	times    [len(topics)]float64 // of the last message
	tasks    map[string]bt.Task
	keys     [][]byte
	row      []float64
}

func newPlayer(begin func(*Header) Recorder) *player {
	return &player{begin: begin, channels: map[uint16]string{}, tasks: map[string]bt.Task{}}
}

// know enters a task by what rows call it, and by its name, as in rows of earlier versions.
func (p *player) know(task bt.Task, name string) {
	if _, taken := p.tasks[name]; !taken {
		p.tasks[name] = task
	}
	p.tasks[label(int(task), name)] = task
}

// attachment reads an attachment record: log time, creation time, name, media type, data, checksum.
func (p *player) attachment(body []byte) error {
	f := fields{data: body}
	f.cut(8 + 8)
	name, media, data := f.text(4), f.text(4), f.text(8)
	if f.err == nil {
		p.header.Attachments = append(p.header.Attachments,
			Attachment{Name: string(name), MediaType: string(media), Data: bytes.Clone(data)})
	}
	return f.err
}

// message is a message of a chunk.
type message struct {
	channel  uint16
	sequence uint32
	time     uint64 // log time [ns]
	data     []byte
}

// eachMessage calls visit for every message among the records of a chunk, with its topic. It adds the channels that
// the chunk declares. Errors are those of visit, or wrap ErrFormat.
func eachMessage(records []byte, channels map[uint16]string, visit func(topic string, m message) error) error {
	all := fields{data: records}
	for len(all.data) > 0 {
		op := opcode(all.cut(1)[0])
		body := fields{data: all.text(8)}
		if all.err != nil {
			return sound(all.err)
		}
		switch op {
		case opChannel:
			head, topic := body.cut(2+2), body.text(4) // channel, schema; topic
			if body.err != nil {
				return sound(body.err)
			}
			channels[binary.LittleEndian.Uint16(head)] = string(topic)
		case opMessage:
			head := body.cut(2 + 4 + 8 + 8) // channel, sequence number, log time, publish time
			if body.err != nil {
				return sound(body.err)
			}
			m := message{binary.LittleEndian.Uint16(head), binary.LittleEndian.Uint32(head[2:]),
				binary.LittleEndian.Uint64(head[6:]), body.data}
			if err := visit(channels[m.channel], m); err != nil {
				return fmt.Errorf("message at %d ns on %q: %w", m.time, channels[m.channel], err)
			}
		}
	}
	return nil
}

// chunk returns the records of a chunk: first and last log time, uncompressed size, checksum, compression, records.
func chunk(body []byte) ([]byte, error) {
	f := fields{data: body}
	head, compression := f.cut(8+8+8+4), f.text(4)
	if len(compression) > 0 {
		return nil, fmt.Errorf("a chunk is compressed by %.20q; run logs are not compressed", compression)
	}
	records := f.text(8)
	if f.err != nil {
		return nil, f.err
	}
	if sum := binary.LittleEndian.Uint32(head[24:]); sum != 0 && crc32.ChecksumIEEE(records) != sum {
		return nil, errors.New("the checksum of a chunk is wrong")
	}
	return records, nil
}

// message plays a message. Errors are those of the recorder, or wrap ErrFormat.
func (p *player) message(topic string, m message) error {
	channel := slices.Index(topics[:], topic)
	if channel < runChannel {
		return nil // of another tool
	}
	switch {
	case p.end.Summary != nil:
		return sound(errors.New("it comes after the summary"))
	case !p.started && channel != runChannel:
		return sound(errors.New("it comes before the message on /run"))
	case m.sequence != p.sequence[channel]:
		return sound(errors.New("messages before it are missing"))
	}
	p.sequence[channel]++
	switch channel {
	case runChannel:
		return sound(p.start(m.data))
	case signalsChannel:
		t, err := p.sample(m.data)
		if err = p.goes(channel, t, err); err != nil {
			return err
		}
		return p.to.Sample(t, p.row)
	case statusChannel:
		c, err := p.status(m.data)
		if err = p.goes(channel, c.T, err); err != nil {
			return err
		}
		return p.to.Status(c.T, c.Micro, c.Change)
	case eventsChannel:
		var e Event
		err := json.Unmarshal(m.data, &e)
		if err = p.goes(channel, e.T, err); err != nil {
			return err
		}
		return p.to.Event(e)
	case summaryChannel:
		var s Summary
		if err := json.Unmarshal(m.data, &s); err != nil {
			return sound(err)
		}
		p.end.Summary = &s
		return nil
	case planChannel:
		next, err := p.plan(m.data)
		if err = p.goes(channel, next.T, err); err != nil {
			return err
		}
		return p.to.Plan(next)
	}
	p.to.SetDate(int64(m.time))
	return p.to.Message(Channel(channel), m.data)
}

// goes checks that time does not decrease in a channel.
func (p *player) goes(channel int, t float64, err error) error {
	switch {
	case err != nil:
	case t-t != 0:
		err = fmt.Errorf("its time is %g", t)
	case t < p.times[channel]:
		err = fmt.Errorf("its time is %g s, after %g s", t, p.times[channel])
	default:
		p.times[channel] = t
		p.end.Told = max(p.end.Told, t)
		return nil
	}
	return sound(err)
}

func (p *player) start(data []byte) error {
	if p.started {
		return errors.New("there is more than one")
	}
	h := &p.header
	if err := json.Unmarshal(data, h); err != nil {
		return err
	}
	if err := h.check(); err != nil {
		return err
	}
	for i, t := range h.Tasks {
		p.know(bt.Task(i), t.Name)
	}
	p.log.Tasks = h.Tasks
	p.row = make([]float64, len(h.Signals))
	for _, s := range h.Signals {
		p.keys = append(p.keys, signalKey(s.Name))
	}
	for i := range p.times {
		p.times[i] = h.Start
	}
	p.started, p.end.Told, p.to = true, h.Start, p.begin(h)
	return nil
}

// sample reads only the form that container.sample writes, which is many times faster than general JSON.
func (p *player) sample(data []byte) (t float64, err error) {
	t, rest, err := number(data, []byte(`{"t":`))
	if err != nil {
		return 0, err
	}
	for i, key := range p.keys {
		if p.row[i], rest, err = number(rest, key); err != nil {
			return 0, err
		}
	}
	if string(rest) != "}" {
		return 0, fmt.Errorf("unexpected %.40q", rest)
	}
	return t, nil
}

// number reads key and the number after it.
func number(data, key []byte) (v float64, rest []byte, err error) {
	data, ok := bytes.CutPrefix(data, key)
	if !ok {
		return 0, nil, fmt.Errorf("expected %.40q", key)
	}
	end := 0
	for end < len(data) && data[end] != ',' && data[end] != '}' {
		end++
	}
	if end == len(data) {
		return 0, nil, errors.New("unexpected end")
	}
	text := string(data[:end])
	if text == "null" {
		return math.NaN(), data[end:], nil
	}
	v, err = strconv.ParseFloat(text, 64)
	return v, data[end:], err
}

func (p *player) status(data []byte) (Change, error) {
	var m struct {
		T              float64
		Micro          int
		Task, From, To string
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return Change{}, err
	}
	task, known := p.tasks[m.Task]
	from, ok1 := statuses[m.From]
	to, ok2 := statuses[m.To]
	if !known || !ok1 || !ok2 {
		return Change{}, fmt.Errorf("unknown task or status in %.200q", data)
	}
	return Change{T: m.T, Micro: m.Micro,
		Change: bt.Change{Task: task, From: from, To: to, Iteration: int32(m.Micro)}}, nil
}

// ParseStatus returns the status of a name.
func ParseStatus(name string) (s bt.Status, ok bool) {
	s, ok = statuses[name]
	return s, ok
}

var statuses = func() map[string]bt.Status {
	m := map[string]bt.Status{}
	for s := bt.Success; s <= bt.Dropped; s++ {
		m[s.String()] = s
	}
	return m
}()
