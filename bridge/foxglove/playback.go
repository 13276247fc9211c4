package foxglove

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/relay"

	"github.com/coder/websocket"
)

// playback is how a recorded run is replayed: from the first subscription on, unless the client controls it.
type playback struct {
	bar      bool // the client can control it
	recorded bool // else the run is in progress
	touched  bool // it was begun or controlled
	last     float64
	playing  bool
	ended    bool
	speed    float64   // simulated seconds per second
	at       float64   // the time of the run [s]
	since    time.Time // when it was that
	seeking  bool      // the client wants to be elsewhere,
	target   float64   // there,
	request  string    // by this request
}

// The states of a playback, as the protocol has them.
const (
	playing = iota
	paused
	_ // buffering
	ended
)

// tick is the longest time between two messages about the time, while a run is played.
const tick = 100 * time.Millisecond

// errSeek ends the reading of the log: the client wants to be elsewhere.
var errSeek = errors.New("another time is wanted")

// nobody receives a log of which only the end is needed.
type nobody struct{ record.Nothing }

// replay replays the log in a folder until the client goes.
func (x *session) replay(dir string) error {
	end, err := relay.Play(dir, func(*record.Header) record.Recorder { return nobody{} })
	for err == nil {
		_, err = relay.Play(dir, func(h *record.Header) record.Recorder {
			x.rewind(h, end.Told)
			return relay.Paced(x, x.wait)
		})
		if err == nil {
			err = x.wait(end.Told)
		}
		if err == nil {
			err = x.rest()
		}
		if errors.Is(err, errSeek) {
			err = nil
		}
	}
	return err
}

// rewind begins at the beginning of the log, and goes on to the time that is wanted.
func (x *session) rewind(h *record.Header, last float64) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	if !x.recorded {
		x.recorded, x.last, x.target = true, last, h.Start
		var more map[string]any
		if v := newView(h); x.bar {
			more = map[string]any{"capabilities": []string{"time", "playbackControl"},
				"dataStartTime": stampOf(v.stamp(h.Start)), "dataEndTime": stampOf(v.stamp(last))}
		}
		x.begin(h, more)
	}
	x.view = newView(h)
	x.silent, x.seeking, x.ended, x.at = true, false, false, x.target
}

// wait waits until the time of a run has come. The error is errSeek or that of the context.
func (x *session) wait(t float64) error {
	for {
		x.mutex.Lock()
		left, err := x.left(t)
		x.mutex.Unlock()
		if err != nil || left <= 0 {
			return err
		}
		if err := x.sleep(left); err != nil {
			return err
		}
	}
}

// sleep sleeps until something is wished, at most some time.
func (x *session) sleep(most time.Duration) error {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-x.changed:
	case <-timer.C:
	case <-x.ctx.Done():
		return x.ctx.Err()
	}
	return nil
}

// left returns how long to wait at most until a time of the run.
func (x *session) left(t float64) (time.Duration, error) {
	switch {
	case x.err != nil:
		return 0, x.err
	case x.seeking:
		return 0, errSeek
	case x.silent && t < x.target:
		return 0, nil
	case x.silent: // it is there
		x.silent, x.since = false, time.Now()
		x.told = 0
		x.passes(x.target)
		for channel := range x.subscriptions {
			x.state(channel)
		}
		x.answer(x.request, true)
		x.request = ""
	}
	if !x.playing {
		return time.Hour, nil
	}
	now := x.position()
	if t <= now {
		return 0, nil
	}
	x.passes(now)
	return time.Duration(min(tick.Seconds(), (t-now)/x.speed)*float64(time.Second)) + 1, nil
}

// position returns the time of the run that has come.
func (x *session) position() float64 {
	if x.playing && !x.silent {
		return min(x.last, x.at+time.Since(x.since).Seconds()*x.speed)
	}
	return x.at
}

// rest waits at the end of the log. The error is errSeek or that of the context.
func (x *session) rest() error {
	x.mutex.Lock()
	x.at, x.ended, x.playing = x.last, true, false
	x.answer("", false)
	x.mutex.Unlock()
	for {
		x.mutex.Lock()
		again, err := x.playing, x.err
		if again && !x.seeking { // from the beginning
			x.target = x.view.log.Start
		}
		again = again || x.seeking
		x.mutex.Unlock()
		if err != nil {
			return err
		}
		if again {
			return errSeek
		}
		if err := x.sleep(time.Hour); err != nil {
			return err
		}
	}
}

// answer tells the client the state of the playback, after its request.
func (x *session) answer(request string, sought bool) {
	if !x.bar {
		return
	}
	b := []byte{5, paused}
	switch {
	case x.ended:
		b[1] = ended
	case x.playing:
		b[1] = playing
	}
	b = binary.LittleEndian.AppendUint64(b, x.view.stamp(x.position()))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(x.speed)))
	b = append(b, 0)
	if sought {
		b[len(b)-1] = 1
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(request)))
	x.send(websocket.MessageBinary, append(b, request...))
}

// wished receives a binary message: what is to be played.
func (x *session) wished(b []byte) error {
	const fixed = 1 + 1 + 4 + 1 + 8 + 4
	if len(b) < fixed || b[0] != 3 || uint64(binary.LittleEndian.Uint32(b[fixed-4:])) != uint64(len(b)-fixed) {
		return fmt.Errorf("%w: %d bytes", errUnknown, len(b))
	}
	speed := float64(math.Float32frombits(binary.LittleEndian.Uint32(b[2:])))
	switch {
	case !x.recorded || !x.bar:
		return errors.New("there is nothing to control: the run is in progress, or the protocol is not " + protocols[0])
	case b[1] > paused || b[6] > 1 || !(speed > 0) || math.IsInf(speed, 1):
		return fmt.Errorf("%w: playback %d at speed %g", errUnknown, b[1], speed)
	}
	request := string(b[fixed:])
	if b[6] == 1 {
		x.seeking, x.request = true, request
		x.target = max(x.view.log.Start, min(x.last, x.view.seconds(binary.LittleEndian.Uint64(b[7:]))))
	}
	if x.play(b[1] == playing, speed); !x.seeking {
		x.answer(request, false)
	}
	return nil
}

// play plays or pauses.
func (x *session) play(on bool, speed float64) {
	x.at, x.since, x.touched = x.position(), time.Now(), true
	x.playing, x.speed = on, speed
	x.ended = x.ended && !on
	select {
	case x.changed <- struct{}{}:
	default:
	}
}
