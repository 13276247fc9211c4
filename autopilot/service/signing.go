package service

import (
	"errors"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"canopy/autopilot/frame"
)

// Signing gives the vehicle the secret of signed frames, or takes it away. The secret is sent in the open: this is
// done over a cable. There is no acknowledgement; what proves it is that the vehicle signs its frames.
type Signing struct {
	outbox
	ends   Ends
	secret frame.Secret
	heard  bool // a heartbeat: whether the vehicle is armed is known
	tries  int
	wait   timer
	done   bool
	err    error
}

// The reasons why signatures could not be set up.
var (
	ErrArmed    = errors.New("the vehicle is armed: signatures are set up on the ground")
	ErrUnsigned = errors.New("the vehicle does not sign its frames")
	ErrSigned   = errors.New("the vehicle still signs its frames")
)

// NewSigning returns a machine that sets up signatures with a secret. The zero secret ends them. Nothing is sent
// before a heartbeat shows that the vehicle is not armed. The reader must not verify signatures meanwhile.
func NewSigning(e Ends, secret frame.Secret) *Signing { return &Signing{ends: e, secret: secret} }

// Done returns whether the set-up is over and, if it is, why it failed, or nil.
func (s *Signing) Done() (bool, error) { return s.done, s.err }

// off reports whether signatures are ended, not set up.
func (s *Signing) off() bool { return s.secret == frame.Secret{} }

func (s *Signing) finish(err error) {
	s.done, s.err = true, err
	s.wait.stop()
}

// Receive takes a frame.
func (s *Signing) Receive(now Clock, f frame.Frame) {
	if s.done || !s.ends.from(f) {
		return
	}
	if m, ok := f.Message.(*ardupilotmega.MessageHeartbeat); ok && !f.Late {
		if m.BaseMode&ardupilotmega.MAV_MODE_FLAG_SAFETY_ARMED != 0 {
			s.finish(ErrArmed)
			return
		}
		s.heard = true
	}
	if s.tries > 0 && (s.off() && !f.Signed() || !s.off() && f.SignedWith(s.secret)) {
		s.finish(nil)
		return
	}
	s.Wake(now)
}

// Wake sends the secret, or gives up.
func (s *Signing) Wake(now Clock) {
	switch {
	case s.done || !s.heard || s.wait.on && !s.wait.over(now):
	case s.tries == signingTries && s.off():
		s.finish(ErrSigned)
	case s.tries == signingTries:
		s.finish(ErrUnsigned)
	default:
		s.tries++
		s.wait.set(now, signingWait)
		m := &ardupilotmega.MessageSetupSigning{TargetSystem: s.ends.Vehicle.System,
			TargetComponent: s.ends.Vehicle.Component, SecretKey: s.secret}
		if !s.off() {
			m.InitialTimestamp = frame.Stamp(now.Unix)
		}
		s.send(m)
	}
}

// Due returns the reading of the wall clock at which Wake is to be called.
func (s *Signing) Due() int64 { return s.wait.due() }
