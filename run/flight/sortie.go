package flight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/run/record"
)

// sortie is what was seen of the vehicle since the plan began.
type sortie struct {
	record.Sortie
	begun, wanted, armed, flew bool

	aloft, fell bool // it was last seen in the air; it rebooted there, and was not seen there since

	held string // what keeps the plan from its beginning, then the vehicle from being armed; "": nothing that is known
}

// asks notes that the plan wants to fly, if a value of a slot says so.
func (s *sortie) asks(f *Flight, slot int, value float64) {
	switch f.c.Slots[slot].Name {
	case armSlot:
		s.wanted = s.wanted || value == 1
	case wantedMode:
		s.wanted = s.wanted || value >= 0 && slices.Contains(adapter.FlyingModes, f.mode(value))
	}
}

// look notes what telemetry shows.
func (s *sortie) look(f *Flight) error {
	if !f.Started() || f.phase == over {
		return nil
	}
	if !s.begun {
		s.begun, s.held = true, ""
	}
	if f.signal("ready") == 1 {
		s.PreArm = "" // the checks pass now
	}
	s.armed = s.armed || f.signal("armed") == 1
	if air := f.signal("in_air"); air == air {
		s.aloft = air == 1
		s.flew, s.fell = s.flew || s.aloft, s.fell && !s.aloft
	}
	if f.signal("fence_breached") != 1 {
		return nil
	}
	return f.r.Breach(f.world().t, "the autopilot reports a breach of its fence")
}

// reasons are how autopilots begin a text about why they cannot be armed.
var reasons = []string{"PreArm:", "Arm:", "Preflight Fail:", "Arming denied"}

// heed takes an event of the adapter with its text.
func (s *sortie) heed(f *Flight, kind adapter.Kind, slot int, text string) {
	switch arm := slot == f.c.Slot(armSlot); kind {
	case adapter.Waiting:
		if !s.begun || arm || slot == f.c.Slot(wantedMode) {
			s.held = text
		}
	case adapter.Commanded:
		if s.begun && arm {
			s.held = "" // nothing holds up arming
		}
	case adapter.Attaching, adapter.Observed:
		if s.held = ""; strings.Contains(text, ": ") { // otherwise a step is done
			s.held = text
		}
	case adapter.Rebooted:
		s.fell = s.fell || s.aloft
	case adapter.Text:
		if slices.ContainsFunc(reasons, func(r string) bool { return strings.HasPrefix(text, r) }) {
			s.PreArm = text
		}
	case adapter.Refused:
		_, reason, explained := strings.Cut(text, adapter.MayExplain)
		switch n := len(s.Refused); {
		case explained && s.MoreRefused > 0: // its refusal is only counted
		case explained && n > 0:
			s.Refused[n-1] += ": " + reason
		default:
			s.Refuse(fmt.Sprintf("%s at %.1f s", text, f.world().t))
		}
	default:
	}
}

// fate returns what became of the vehicle, and what there is to say about it.
func (s *sortie) fate(f *Flight) (record.Fate, string) {
	state, air, armed := f.vehicle.Control(), f.signal("in_air"), f.signal("armed")
	rest := ""
	if air == 0 && armed == 0 {
		rest = ", on the ground, disarmed"
	}
	switch {
	case !s.begun:
		text := "the vehicle is " + state.String()
		if s.held != "" {
			text += ": " + s.held
		}
		return record.NotBegun, text
	case state == adapter.Taken:
		return record.TakenOver, f.seen() + rest
	case state == adapter.Observing:
		return record.Observed, f.seen() + rest
	case state == adapter.Ready && air == 1:
		return record.InTheAir, f.seen()
	case state == adapter.Ready && air != air:
		return record.NotHeard, "telemetry does not show whether it flies: " + f.seen()
	case state != adapter.Ready || armed != armed:
		return record.NotHeard, f.seen()
	case armed == 1:
		return record.StillArmed, f.seen()
	case s.fell:
		return record.Observed, "it rebooted in the air, and nobody has seen it land: " + f.seen() + rest
	case s.flew:
		return record.Landed, f.seen()
	case !s.wanted:
		return record.NotAsked, ""
	case s.armed:
		return record.NeverFlew, f.seen()
	case !f.o.Arm:
		return record.NeverArmed, "the plan enables the motors only with --arm"
	}
	if i := slices.IndexFunc(s.Refused, func(r string) bool { return strings.HasPrefix(r, armSlot+": ") }); i >= 0 {
		return record.NeverArmed, s.Refused[i]
	}
	switch {
	case strings.Contains(s.held, adapter.NoFence), strings.Contains(s.held, adapter.InFailsafe):
		return record.NeverArmed, s.held
	case s.PreArm == "" && len(s.Refused) > 0:
		return record.NeverArmed, s.Refused[0]
	}
	return record.NeverArmed, cmp.Or(s.PreArm, s.held)
}
