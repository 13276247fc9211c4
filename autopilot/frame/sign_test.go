package frame_test

import (
	"testing"
	"time"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// now is a time in 2026, in nanoseconds since 1970.
const now = 1790000000e9

func signedBy(t *testing.T, w *frame.Writer, unix int64) []byte {
	t.Helper()
	raw, err := w.Write(&mav.MessageHeartbeat{Type: 1}, unix)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func stampOf(raw []byte) (stamp uint64) {
	for i := range 6 {
		stamp |= uint64(raw[len(raw)-12+i]) << (8 * i)
	}
	return stamp
}

func TestStamp(t *testing.T) {
	at := time.Date(2015, 1, 1, 0, 0, 1, 0, time.UTC).UnixNano()
	if got := frame.Stamp(at); got != 100_000 {
		t.Errorf("one second after the epoch: %d, want 100,000 units of 10 µs", got)
	}
	if got := frame.Stamp(0); got != 0 {
		t.Errorf("before the epoch: %d", got)
	}
}

// A receiver refuses stamps that do not increase strictly. The trap of gomavlib: a burst has equal stamps.
func TestStampsIncrease(t *testing.T) {
	w := plane()
	w.Sign(frame.SecretOf("secret"), 3, 0)
	var r frame.Reader
	r.Verify(frame.SecretOf("secret"), now)
	last := uint64(0)
	for _, at := range []int64{now, now, now + 5e3, now - 3600e9, now + 1e9} { // bursts, and a clock that is put back
		raw := signedBy(t, w, at)
		if stamp := stampOf(raw); stamp <= last {
			t.Errorf("stamp %d after %d", stamp, last)
		} else {
			last = stamp
		}
		if len(r.Read(raw)) != 1 {
			t.Errorf("a frame at %d is refused", at-now)
		}
	}
}

// A program that is started again with a clock in the past begins after its last stamp.
func TestStampsIncreaseAcrossSessions(t *testing.T) {
	w := plane()
	w.Sign(frame.SecretOf("secret"), 0, frame.Stamp(now))
	if stamp := stampOf(signedBy(t, w, now-3600e9)); stamp != frame.Stamp(now)+1 {
		t.Errorf("stamp %d, want %d", stamp, frame.Stamp(now)+1)
	}
}

func TestVerify(t *testing.T) {
	key := frame.SecretOf("secret")
	writer := func(passphrase string, link byte) *frame.Writer {
		w := plane()
		w.Sign(frame.SecretOf(passphrase), link, 0)
		return w
	}
	good := signedBy(t, writer("secret", 0), now)
	changed := signedBy(t, writer("secret", 0), now)
	changed[len(changed)-1] ^= 1
	radio, err := (&frame.Writer{System: 51, Component: 68}).Write(&mav.MessageRadioStatus{Rssi: 100}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		raws [][]byte
		want int // frames accepted
	}{
		{"signed", [][]byte{good}, 1},
		{"replayed", [][]byte{good, good}, 1},
		{"another link of the same sender", [][]byte{good, signedBy(t, writer("secret", 1), now)}, 2},
		{"changed", [][]byte{changed}, 0},
		{"another key", [][]byte{signedBy(t, writer("other", 0), now)}, 0},
		{"without a signature", [][]byte{signedBy(t, plane(), now)}, 0},
		{"of a radio, without a signature", [][]byte{radio}, 1},
		{"59 s old", [][]byte{signedBy(t, writer("secret", 0), now-59e9)}, 1},
		{"61 s old", [][]byte{signedBy(t, writer("secret", 0), now-61e9)}, 0},
	} {
		var r frame.Reader
		r.Verify(key, now)
		n := 0
		for _, raw := range c.raws {
			n += len(r.Read(raw))
		}
		if n != c.want || int(r.Refused) != len(c.raws)-c.want || r.Broken != 0 {
			t.Errorf("%s: %d accepted, %d refused, %d bytes broken; want %d accepted", c.name, n, r.Refused, r.Broken, c.want)
		}
	}
}

// Logs contain no signatures: an unsigned frame has the same message, and a valid checksum.
func TestStrip(t *testing.T) {
	w := plane()
	w.Sign(frame.SecretOf("secret"), 0, 0)
	raw := signedBy(t, w, now)
	var signed, stripped frame.Reader
	f := signed.Read(raw)[0]
	bare := signed.Strip(f)
	if len(bare) != len(raw)-13 {
		t.Fatalf("%d bytes of %d remain", len(bare), len(raw))
	}
	g := stripped.Read(bare)
	if len(g) != 1 || g[0].Sequence != f.Sequence || g[0].Message.(*mav.MessageHeartbeat).Type != 1 {
		t.Errorf("read %+v", g)
	}
	if len(signed.Strip(g[0])) != len(bare) {
		t.Error("a frame without a signature is shortened")
	}
	secret, err := w.Write(&mav.MessageSetupSigning{SecretKey: frame.SecretOf("secret")}, now)
	if err != nil {
		t.Fatal(err)
	}
	if kept := signed.Strip(signed.Read(secret)[0]); kept != nil {
		t.Errorf("a key would be logged: %x", kept)
	}
}
