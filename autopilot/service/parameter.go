package service

import (
	"errors"
	"fmt"
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// Encoding is how a firmware puts a parameter into the float of the messages.
type Encoding uint8

// The encodings. AUTOPILOT_VERSION's capabilities say which one a vehicle uses.
const (
	Cast     Encoding = iota // ArduPilot: the number itself; integers above 2^24 lose digits
	Bytewise                 // PX4: the bits of an int32 or of a float
)

// Knowledge is the end of an exchange about a parameter.
type Knowledge uint8

// The ends of an exchange.
const (
	Found      Knowledge = iota // the vehicle has this value
	Missing                     // the vehicle is heard, but does not answer to this name: it has no such parameter
	Different                   // the vehicle has another value than was written
	Refused                     // the vehicle refuses to read or to change it
	Unanswered                  // nothing of the vehicle is heard
)

var knowledge = [...]string{Found: "found", Missing: "missing", Different: "different", Refused: "refused",
	Unanswered: "no answer"}

// String returns the knowledge in words.
func (f Knowledge) String() string { return knowledge[f] }

// Setting is the end of an exchange about a parameter. Value is what the vehicle has if the knowledge is Found or
// Different, else not a number.
type Setting struct {
	Name  string
	Value float64
	Knowledge
}

// maxName is the length of the longest name.
const maxName = 16

// ErrParameter reports a name or a value that no vehicle would answer.
var ErrParameter = errors.New("not a parameter")

// Parameters reads and writes parameters by name. It never reads the whole list, which has more than a thousand.
type Parameters struct {
	outbox
	ends     Ends
	encoding Encoding
	kinds    map[string]common.MAV_PARAM_TYPE // of the parameters that were read
	queue    []*inquiry
	settings []Setting
}

// inquiry is an exchange under way: a parameter is asked for, or set and then asked for if the answer differs.
type inquiry struct {
	name    string
	write   bool
	value   float64
	setting bool // the last message set the parameter
	tries   int  // of the last kind of message
	rounds  int  // how often the parameter was set and had another value afterwards
	heard   bool // the vehicle sent something since the first message
	wait    timer
}

// NewParameters returns a machine for a firmware of this encoding.
func NewParameters(e Ends, encoding Encoding) *Parameters {
	return &Parameters{ends: e, encoding: encoding, kinds: map[string]common.MAV_PARAM_TYPE{}}
}

// Read asks for a parameter. The error wraps [ErrParameter].
func (p *Parameters) Read(now Clock, name string) error { return p.begin(now, &inquiry{name: name}) }

// Write sets a parameter and compares what the vehicle has then. The error wraps [ErrParameter].
func (p *Parameters) Write(now Clock, name string, value float64) error {
	if math.IsNaN(value) || math.IsInf(value, 0) || math.IsInf(float64(float32(value)), 0) {
		return fmt.Errorf("%s: the value %v: %w", name, value, ErrParameter)
	}
	return p.begin(now, &inquiry{name: name, write: true, value: value})
}

func (p *Parameters) begin(now Clock, q *inquiry) error {
	if q.name == "" || len(q.name) > maxName {
		return fmt.Errorf("the name %q: %w", q.name, ErrParameter)
	}
	p.queue = append(p.queue, q)
	p.Wake(now)
	return nil
}

// Settings returns the exchanges that ended, and forgets them.
func (p *Parameters) Settings() []Setting { return Taken(&p.settings) }

// Busy reports whether an exchange is under way.
func (p *Parameters) Busy() bool { return len(p.queue) > 0 }

func (p *Parameters) end(q *inquiry, f Knowledge, value float64) {
	p.settings = append(p.settings, Setting{q.name, value, f})
	p.queue = without(p.queue, q)
}

// Receive takes a frame.
func (p *Parameters) Receive(now Clock, f frame.Frame) {
	if p.ends.from(f) {
		for _, q := range p.queue {
			q.heard = true
		}
		switch m := f.Message.(type) {
		case *mav.MessageParamValue:
			if q := p.find(m.ParamId); q != nil {
				p.answer(now, q, m)
			}
		case *mav.MessageParamError:
			if q := p.find(m.ParamId); q != nil && p.ends.hears(f) {
				known := Refused
				if m.Error == common.MAV_PARAM_ERROR_DOES_NOT_EXIST {
					known = Missing
				}
				p.end(q, known, math.NaN())
			}
		}
	}
	p.Wake(now)
}

// find returns the exchange under way about a name.
func (p *Parameters) find(name string) *inquiry {
	for _, q := range p.queue {
		if q.name == name && q.wait.on {
			return q
		}
	}
	return nil
}

// answer takes a value. A different one than was set may be older: the parameter is asked for again, and set again
// once.
func (p *Parameters) answer(now Clock, q *inquiry, m *mav.MessageParamValue) {
	value, ok := p.encoding.decode(m.ParamValue, m.ParamType)
	if !ok {
		p.end(q, Refused, math.NaN())
		return
	}
	_, known := p.kinds[q.name]
	p.kinds[q.name] = m.ParamType
	switch {
	case !q.write, // what was written is kept as a float
		math.Abs(value-q.value) <= paramTolerance*max(1, math.Abs(value), math.Abs(q.value)):
		p.end(q, Found, value)
	case q.setting:
		q.setting, q.tries = false, 0
		p.transmit(now, q)
	case q.rounds == paramRounds:
		p.end(q, Different, value)
	default:
		if known {
			q.rounds++
		}
		q.setting, q.tries = true, 0
		p.transmit(now, q)
	}
}

// Wake sends what is due.
func (p *Parameters) Wake(now Clock) {
	for i := 0; i < min(len(p.queue), paramWindow); i++ {
		q := p.queue[i]
		switch {
		case !q.wait.on && p.find(q.name) == nil:
			_, known := p.kinds[q.name]
			q.setting = q.write && (known || p.encoding == Cast)
			p.transmit(now, q)
		case !q.wait.over(now):
		case q.tries < paramTries:
			p.transmit(now, q)
		case q.setting: // the answer may have been lost
			q.setting, q.tries = false, 0
			p.transmit(now, q)
		case q.heard:
			p.end(q, Missing, math.NaN())
		default:
			p.end(q, Unanswered, math.NaN())
		}
		if i < len(p.queue) && p.queue[i] != q {
			i-- // the next one has its place
		}
	}
}

// Due returns the reading of the wall clock at which Wake is to be called.
func (p *Parameters) Due() int64 {
	due := int64(math.MaxInt64)
	for _, q := range p.queue {
		due = min(due, q.wait.due())
	}
	return due
}

func (p *Parameters) transmit(now Clock, q *inquiry) {
	to := p.ends.Vehicle
	if q.setting {
		value, kind, ok := p.encoding.encode(q.value, p.kinds[q.name])
		if !ok {
			p.end(q, Refused, math.NaN())
			return
		}
		p.send(&mav.MessageParamSet{TargetSystem: to.System, TargetComponent: to.Component,
			ParamId: q.name, ParamValue: value, ParamType: kind})
	} else {
		p.send(&mav.MessageParamRequestRead{TargetSystem: to.System, TargetComponent: to.Component,
			ParamId: q.name, ParamIndex: -1})
	}
	q.tries++
	q.wait.set(now, paramWait)
}

// integers are the types whose bits fit into a float.
var integers = map[common.MAV_PARAM_TYPE]struct {
	bits   int
	signed bool
}{
	common.MAV_PARAM_TYPE_UINT8: {8, false}, common.MAV_PARAM_TYPE_INT8: {8, true},
	common.MAV_PARAM_TYPE_UINT16: {16, false}, common.MAV_PARAM_TYPE_INT16: {16, true},
	common.MAV_PARAM_TYPE_UINT32: {32, false}, common.MAV_PARAM_TYPE_INT32: {32, true},
}

// encode returns a value as it is sent, with its type, and whether the type can have the value.
func (e Encoding) encode(value float64, kind common.MAV_PARAM_TYPE) (float32, common.MAV_PARAM_TYPE, bool) {
	if e == Cast || kind == common.MAV_PARAM_TYPE_REAL32 {
		return float32(value), common.MAV_PARAM_TYPE_REAL32, true
	}
	bits := math.Float32frombits(uint32(int64(value)))
	same, ok := e.decode(bits, kind)
	return bits, kind, ok && same == value
}

// decode returns the value of a message, and whether the type is one that fits into a float.
func (e Encoding) decode(value float32, kind common.MAV_PARAM_TYPE) (float64, bool) {
	if e == Cast || kind == common.MAV_PARAM_TYPE_REAL32 {
		return float64(value), true
	}
	t, ok := integers[kind]
	bits := int64(math.Float32bits(value)) << (64 - t.bits)
	if t.signed {
		return float64(bits >> (64 - t.bits)), ok
	}
	return float64(uint64(bits) >> (64 - t.bits)), ok
}
