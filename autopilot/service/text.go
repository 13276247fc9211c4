package service

import (
	"math"
	"slices"
	"strings"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// Notice is a text of a component. Nothing may depend on texts alone: they get lost.
type Notice struct {
	At       Clock // when its last part was received
	From     Address
	Severity byte // MAV_SEVERITY: 0 emergency to 7 debug
	Text     string
}

// Texts joins the parts of STATUSTEXT messages, of all components of the vehicle's system.
type Texts struct {
	ends    Ends
	open    []chunks // oldest first
	notices []Notice
}

// chunks is a text in several parts.
type chunks struct {
	Notice
	id    uint16
	parts []string // by their sequence; "" is missing
	last  int      // the sequence of the last part, or -1
	wait  timer
	done  bool // its parts that are repeated are ignored for some time
}

// gap stands for a part that is missing.
const gap = "…"

// NewTexts returns a machine that listens to the vehicle's system.
func NewTexts(e Ends) *Texts { return &Texts{ends: e} }

// Notices returns the texts that are complete, or that waited for their parts in vain, and forgets them.
func (t *Texts) Notices() []Notice { return Taken(&t.notices) }

// Out returns nothing: texts are not answered.
func (*Texts) Out() []frame.Message { return nil }

// Receive takes a frame. A part of a text is identified by its sender and its number; the part that is shorter than a
// full one is the last.
func (t *Texts) Receive(now Clock, f frame.Frame) {
	if m, ok := f.Message.(*mav.MessageStatustext); ok && f.System == t.ends.Vehicle.System {
		n := Notice{now, Address{f.System, f.Component}, byte(m.Severity), m.Text}
		if m.Id == 0 {
			t.notices = append(t.notices, n)
		} else {
			t.part(now, n, m.Id, int(m.ChunkSeq))
		}
	}
	t.Wake(now)
}

func (t *Texts) part(now Clock, n Notice, id uint16, sequence int) {
	i := slices.IndexFunc(t.open, func(c chunks) bool { return c.From == n.From && c.id == id })
	if i < 0 {
		if len(t.open) == textsOpen {
			t.remove(0)
		}
		i = len(t.open)
		t.open = append(t.open, chunks{Notice: n, id: id, last: -1})
	}
	c := &t.open[i]
	if c.done {
		return
	}
	for len(c.parts) <= sequence {
		c.parts = append(c.parts, "")
	}
	c.parts[sequence] = n.Text
	c.At = now
	c.wait.set(now, chunkWait)
	if len(n.Text) < chunkLength {
		c.last = sequence
	}
	if c.last >= 0 && !slices.Contains(c.parts[:c.last], "") {
		t.finish(i)
	}
}

// finish takes a text as it is.
func (t *Texts) finish(i int) {
	c := &t.open[i]
	var b strings.Builder
	for j, p := range c.parts {
		if p == "" && j != c.last {
			p = gap
		}
		b.WriteString(p)
	}
	if c.last < 0 {
		b.WriteString(gap)
	}
	c.Text, c.done = b.String(), true
	t.notices = append(t.notices, c.Notice)
}

// remove forgets a text. If parts are missing, it is taken without them.
func (t *Texts) remove(i int) {
	if !t.open[i].done {
		t.finish(i)
	}
	t.open = append(t.open[:i:i], t.open[i+1:]...)
}

// Wake gives up waiting for parts.
func (t *Texts) Wake(now Clock) {
	for i := 0; i < len(t.open); i++ {
		if t.open[i].wait.over(now) {
			t.remove(i)
			i--
		}
	}
}

// Due returns the reading of the wall clock at which Wake is to be called.
func (t *Texts) Due() int64 {
	due := int64(math.MaxInt64)
	for i := range t.open {
		due = min(due, t.open[i].wait.due())
	}
	return due
}
