package driver

import (
	"io"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"
)

// log passes the log of a flight on. An error, such as that of a full disk, does not end the flight: the first one is
// kept until then.
type log struct {
	to   record.Recorder
	tlog io.Writer // nil: none
	tell func(e record.Event)
	err  error
}

// failed keeps the error. It always returns nil.
func (l *log) failed(err error) error {
	if err != nil && l.err == nil {
		l.err = err
	}
	return nil
}

func (l *log) Sample(t float64, values []float64) error { return l.failed(l.to.Sample(t, values)) }

func (l *log) Status(t float64, micro int, c bt.Change) error {
	return l.failed(l.to.Status(t, micro, c))
}

func (l *log) Event(e record.Event) error {
	l.tell(e)
	return l.failed(l.to.Event(e))
}

func (l *log) Plan(p record.Takeover) error { return l.failed(l.to.Plan(p)) }

func (l *log) SetDate(unix int64) { l.to.SetDate(unix) }

func (l *log) Message(c record.Channel, data []byte) error { return l.failed(l.to.Message(c, data)) }

// Write receives the frames for the tlog.
func (l *log) Write(frame []byte) (int, error) {
	_, err := l.tlog.Write(frame)
	return len(frame), l.failed(err)
}
