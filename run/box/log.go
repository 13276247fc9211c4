package box

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
)

// Logger stands between a flight and its recorder: to the log of the plan, it adds the frames both ways, the clocks,
// the decisions with their causes, and positions and messages by the schemas of Foxglove. As it is a function of the
// inputs and of what the flight answers, a replay writes the same log.
//
// A Logger is the flight's recorder, and it is [Replayable]: its Step is that of the flight.
type Logger struct {
	record.Nothing
	Replayable // the flight
	to         record.Recorder
	tlog       io.Writer // nil: none
	header     record.Header

	in, out  frame.Reader
	now      flight.Input
	inputs   int64   // so far
	told     int64   // wall time of the last message on /clock
	other    int64   // wall time of the last frame of another system in the log
	heard    heard   // since the last message on /clock
	last     byte    // number of the last frame of the autopilot,
	hears    bool    // if there was one
	decision decided // of the present input
	t        float64 // latest time of the log
	err      error   // of the recorder
}

// NewLogger returns the log of a flight. If tlog is not nil, it receives all frames in the format of that name: for
// each, the Unix time in µs (8 bytes, the high byte first) and the frame without its signature.
func NewLogger(h record.Header, to record.Recorder, tlog io.Writer) *Logger {
	return &Logger{to: to, tlog: tlog, header: h, told: -second, other: -second}
}

// Drive sets the flight, before the first step.
func (l *Logger) Drive(f Replayable) { l.Replayable = f }

// floods reports whether a frame is one of another system, which the flight ignores, less than a second after the last
// such frame in the log: whoever sends many does not fill the disk with it.
func (l *Logger) floods(f frame.Frame, wall int64) bool {
	if l.System() == 0 || f.System == l.System() {
		return false
	}
	if wall-l.other < second {
		return true
	}
	l.other = wall
	return false
}

// stamped is what identifies the input to which a message belongs.
type stamped struct {
	Input int64 `json:"input"`
	Wall  int64 `json:"wall"`
	Unix  int64 `json:"unix"`
}

// decided is a message on /decision.
type decided struct {
	stamped
	Cause   string   `json:"cause"`
	T       float64  `json:"t"`
	Crossed *float64 `json:"crossed,omitempty"`
	Because []string `json:"because"`
	Changes int      `json:"changes"`
}

// passed is a message on /mavlink/in or /mavlink/out.
type passed struct {
	stamped
	System    byte   `json:"system"`
	Component byte   `json:"component"`
	Sequence  byte   `json:"sequence"`
	Late      bool   `json:"late"`
	ID        uint32 `json:"id"`
	Frame     string `json:"frame"`
}

// heard is the number of frames of the vehicle's autopilot that came, and that later ones show to be missing.
type heard struct {
	Received int `json:"received"`
	Missing  int `json:"missing"`
}

// count counts a frame that came, and those between it and the one before.
func (l *Logger) count(f frame.Frame) {
	if f.System != l.System() || f.Component != byte(mav.MAV_COMP_ID_AUTOPILOT1) || f.Late {
		return
	}
	if step := f.Sequence - l.last; l.hears && step > 0 && step < 128 { // a longer one is that of a new start
		l.heard.Missing += int(step) - 1
	}
	l.heard.Received++
	l.last, l.hears = f.Sequence, true
}

// timestamp is the time of a message of Foxglove.
type timestamp struct {
	Sec  int64 `json:"sec"`
	NSec int64 `json:"nsec"`
}

func dated(unix int64) timestamp { return timestamp{unix / second, unix % second} }

// Step makes the flight react to an input and logs both. The error is that of the flight or of the recorder.
func (l *Logger) Step(in flight.Input) ([][]byte, error) {
	stamp := stamped{l.inputs, in.At.Wall, in.At.Unix}
	l.inputs++
	l.now, l.decision = in, decided{stamped: stamp, Cause: in.Kind.String(), Because: []string{}}
	l.to.SetDate(in.At.Unix)
	out, err := l.Replayable.Step(in)
	switch in.Kind {
	case flight.Open:
		l.in = frame.Reader{Stream: in.Stream()}
	case flight.Frame:
		l.frames(record.Incoming, &l.in, in.Data, stamp)
	}
	for _, datagram := range out {
		l.frames(record.Outgoing, &l.out, datagram, stamp)
	}
	if l.decision.Changes > 0 {
		l.send(record.Decisions, l.decision)
	}
	if in.Kind != flight.Frame && in.Kind != flight.Wake || in.At.Wall-l.told >= second {
		l.told = in.At.Wall
		l.send(record.Clocks, struct {
			T    float64 `json:"t"`
			Wall int64   `json:"wall"`
			Unix int64   `json:"unix"`
			heard
		}{l.t, in.At.Wall, in.At.Unix, l.heard})
		l.heard = heard{}
	}
	if err == nil {
		err = l.err
	}
	return out, err
}

// frames logs the frames of a datagram, and where the vehicle is.
func (l *Logger) frames(c record.Channel, r *frame.Reader, datagram []byte, stamp stamped) {
	for _, f := range r.Read(datagram) {
		if c == record.Incoming {
			l.count(f)
		}
		raw := r.Strip(f)
		if raw == nil || c == record.Incoming && l.floods(f, stamp.Wall) {
			continue
		}
		l.send(c, passed{stamp, f.System, f.Component, f.Sequence, f.Late, f.Message.GetID(), hex.EncodeToString(raw)})
		if l.tlog != nil && l.err == nil {
			_, l.err = l.tlog.Write(append(binary.BigEndian.AppendUint64(nil, uint64(stamp.Unix/1000)), raw...))
		}
		if p, ok := f.Message.(*mav.MessageGlobalPositionInt); ok && c == record.Incoming && !f.Late {
			l.send(record.Locations, struct {
				At         timestamp  `json:"timestamp"`
				Frame      string     `json:"frame_id"`
				Latitude   float64    `json:"latitude"`
				Longitude  float64    `json:"longitude"`
				Altitude   float64    `json:"altitude"`
				Covariance [9]float64 `json:"position_covariance"`
				Type       int        `json:"position_covariance_type"`
			}{At: dated(stamp.Unix), Frame: "vehicle", Latitude: float64(p.Lat) / 1e7, Longitude: float64(p.Lon) / 1e7,
				Altitude: float64(p.Alt) / 1e3})
		}
	}
}

// send passes a message to the recorder and keeps the first error.
func (l *Logger) send(c record.Channel, message any) {
	if l.err != nil {
		return
	}
	data, err := json.Marshal(message)
	if err == nil {
		err = l.to.Message(c, data)
	}
	l.err = err
}

// Sample implements [record.Recorder].
func (l *Logger) Sample(t float64, values []float64) error {
	l.t = max(l.t, t)
	return l.to.Sample(t, values)
}

// Status implements [record.Recorder].
func (l *Logger) Status(t float64, micro int, c bt.Change) error {
	if err := l.to.Status(t, micro, c); err != nil {
		return err
	}
	l.t, l.decision.T = t, t
	l.decision.Changes++
	l.say(info, l.header.Tasks[c.Task].Name, c.From.String()+" to "+c.To.String())
	return l.err
}

// Event implements [record.Recorder].
func (l *Logger) Event(e record.Event) error {
	if err := l.to.Event(e); err != nil {
		return err
	}
	l.t = max(l.t, e.T)
	switch e.Kind {
	case "state", "time":
		l.decision.Because = append(l.decision.Because, e.Text)
		if e.Crossed != nil && (l.decision.Crossed == nil || *e.Crossed < *l.decision.Crossed) {
			l.decision.Crossed = e.Crossed
		}
		l.say(info, e.Kind, e.Text)
	case "error":
		l.say(failure, e.Kind, e.Text)
	default:
		l.say(warning, e.Kind, e.Text)
	}
	return l.err
}

// Plan implements [record.Recorder].
func (l *Logger) Plan(p record.Takeover) error {
	l.header.Take(p)
	return l.to.Plan(p)
}

// The levels of foxglove.Log.
const (
	info    = 2
	warning = 3
	failure = 4
)

// say sends a message of the schema foxglove.Log.
func (l *Logger) say(level int, name, text string) {
	l.send(record.Messages, struct {
		At    timestamp `json:"timestamp"`
		Level int       `json:"level"`
		Text  string    `json:"message"`
		Name  string    `json:"name"`
		File  string    `json:"file"`
		Line  int       `json:"line"`
	}{dated(l.now.At.Unix), level, text, name, "", 0})
}
