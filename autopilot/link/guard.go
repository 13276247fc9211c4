package link

import (
	"fmt"
	"slices"
	"time"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// Guard says whose bytes a channel is for, and how they are signed. With the zero Guard, a channel is for any sender,
// and nothing is signed.
type Guard struct {
	System byte          // of the vehicle, whose autopilot is component 1; 0: any sender
	Secret *frame.Secret // frames are signed, and refused without a valid signature; nil: they are not
	After  uint64        // the last stamp of an earlier session, or 0
}

const autopilot = 1 // component

// silence is how long nothing of the vehicle must have come from where it was, before it may be elsewhere.
var silence = 3 * time.Second

// channel is what a guarded channel goes on.
type channel interface {
	Link
	// judge is told whether what Read returned last has a frame of the vehicle, and reports whether it is dropped, and
	// why the vehicle is elsewhere than before.
	judge(ours bool) (drop bool, moved error)
}

// guarded is a channel with a guard. It takes the signatures off what arrives, and adds them to what is sent.
type guarded struct {
	channel
	guard  Guard
	reader frame.Reader
	writer frame.Writer
	heard  time.Time // the last frame of the vehicle
	told   bool      // that frames are refused; the channel is open again with a frame of the vehicle
	open   bool      // after a change, the next Read says that the channel is open again
	held   []byte    // arrived, and was not returned yet
}

func guardedBy(c channel, g Guard) Link {
	l := &guarded{channel: c, guard: g, reader: frame.Reader{Stream: c.Stream()}}
	if g.Secret != nil {
		l.reader.Verify(*g.Secret, time.Now().UnixNano())
		l.writer.Sign(*g.Secret, 0, g.After)
	}
	return l
}

func (l *guarded) Read(buf []byte) (int, error) {
	for {
		if l.open {
			l.open = false
			return 0, nil
		}
		if len(l.held) > 0 {
			n := copy(buf, l.held)
			l.held = l.held[n:]
			return n, nil
		}
		n, err := l.channel.Read(buf)
		if err != nil || n == 0 {
			l.reader.Open(l.Stream())
			return n, err
		}
		out, ours := l.pass(buf[:n])
		drop, moved := l.judge(ours)
		if drop {
			continue
		}
		if ours {
			l.open = l.open || l.told
			l.told, l.heard = false, time.Now()
		} else if !l.told && l.reader.Refused > 0 && time.Since(l.heard) >= silence {
			l.told = true
			moved = fmt.Errorf("%v: %w: frames without a valid signature are refused; does the file of --signing-key have "+
				"the secret of the vehicle, and is this computer's time right?", l, ErrBroken)
		}
		l.held = out
		if moved != nil {
			l.open, l.held = !l.told, slices.Clone(out)
			return 0, moved
		}
	}
}

// pass returns what of the bytes that arrived may pass, and whether a frame among it proves that the vehicle sent it.
func (l *guarded) pass(data []byte) (out []byte, ours bool) {
	for _, f := range l.reader.Read(data) {
		// An unknown message has no checksum that is known, and telemetry radios do not sign.
		_, unknown := f.Message.(*frame.Unknown)
		ours = ours || !unknown && (l.guard.Secret == nil || f.Signed()) &&
			(l.guard.System == 0 || f.From(l.guard.System, autopilot))
		if l.guard.Secret != nil {
			out = append(out, l.reader.Strip(f)...)
		}
	}
	if l.guard.Secret == nil {
		out = data
	}
	return out, ours
}

func (l *guarded) Write(data []byte) error {
	if l.guard.Secret != nil {
		data = l.writer.Signed(data, time.Now().UnixNano())
	}
	return l.channel.Write(data)
}
