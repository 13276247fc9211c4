package service_test

import (
	"errors"
	"math"
	"testing"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"pgregory.net/rapid"

	"canopy/autopilot/frame"
	"canopy/autopilot/service"
)

// signatory is a vehicle with signatures, which sends a heartbeat every second. Its writer is that of the wire.
type signatory struct {
	mute
	w      *wire
	next   int64
	armed  bool
	accept bool
}

func (s *signatory) due() int64 { return s.next }

func (s *signatory) wake(now int64) {
	if now < s.next {
		return
	}
	s.next = now + 1*sec
	beat := &ardupilotmega.MessageHeartbeat{Type: 1, Autopilot: 3}
	if s.armed {
		beat.BaseMode = ardupilotmega.MAV_MODE_FLAG_SAFETY_ARMED
	}
	s.out = append(s.out, beat)
}

func (s *signatory) receive(_ int64, m frame.Message) {
	if m, ok := m.(*ardupilotmega.MessageSetupSigning); ok && s.accept && !s.armed {
		if m.SecretKey == [32]uint8{} {
			s.w.writers[0] = &frame.Writer{System: 1, Component: 1}
			return
		}
		s.w.writers[0].Sign(m.SecretKey, 0, m.InitialTimestamp)
	}
}

// The set-up ends; it ends well only if the vehicle signs its frames with the secret. An armed vehicle gets none.
func TestSigning(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &signatory{armed: rapid.Bool().Draw(t, "armed"), accept: rapid.Bool().Draw(t, "accept")}
		secret := frame.SecretOf("secret")
		off := rapid.Bool().Draw(t, "off")
		before := rapid.Bool().Draw(t, "signed before")
		if off {
			secret = frame.Secret{}
		}
		m := service.NewSigning(ends, secret)
		p.w = newWire(t, m, p)
		p.w.fresh = func() machine { return service.NewSigning(ends, secret) }
		if before {
			p.w.writers[0].Sign(frame.SecretOf("old"), 0, 0)
		}
		over := func() bool { done, _ := m.Done(); return done }
		if !p.w.run(60*sec, over) && p.w.loss < 50 {
			t.Fatal("no end")
		}
		done, err := m.Done()
		good := p.w.loss == 0
		signs := p.w.writers[0].Stamp() > 0
		switch {
		case !done:
		case p.armed && (err == nil || len(p.w.sent) > 0):
			t.Fatalf("an armed vehicle: %v, %d messages", err, len(p.w.sent))
		case p.armed:
			if !errors.Is(err, service.ErrArmed) {
				t.Fatal(err)
			}
		case err == nil && signs == off && p.w.delay == 0:
			t.Fatalf("it ends well; the vehicle signs: %v, off: %v", signs, off)
		case good && p.accept && err != nil:
			t.Fatal(err)
		case good && !p.accept && (off && before && !errors.Is(err, service.ErrSigned) || !off && !errors.Is(err, service.ErrUnsigned)):
			t.Fatalf("a vehicle that does not react: %v", err)
		}
		if done && m.Due() != math.MaxInt64 {
			t.Fatal("there is still something to do")
		}
	})
}
