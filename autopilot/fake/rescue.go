package fake

import (
	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// The failsafes of an ArduCopter in flight for the radio and the position, as measured.
const (
	radioTime = 1500 * millisecond // until the loss of the radio counts; measured: 1 to 3 s
	ekfTime   = 7 * second         // without satellites until the estimator gives up; measured: within 8 s
)

// watchRadio is the failsafe for the loss of the pilot's radio.
func (v *Autopilot) watchRadio() {
	t, g := &v.trouble, &v.guard
	if t.silent == 0 || g.radioLost || !v.body.flying || v.value("FS_THR_ENABLE") == 0 || v.now-t.silent < radioTime {
		return
	}
	g.radioLost = true
	if int(v.value("FS_OPTIONS"))&4 != 0 && v.mode.conduct == guided {
		v.say(mav.MAV_SEVERITY_WARNING, "Radio Failsafe - Continuing Guided Mode")
		return
	}
	v.say(mav.MAV_SEVERITY_WARNING, "Radio Failsafe")
	v.react(returns)
}

// watchEstimator is the failsafe for the loss of the position.
func (v *Autopilot) watchEstimator() {
	g := &v.guard
	switch {
	case g.lost == 0:
		g.adrift = false
	case !g.adrift && v.body.flying && v.value("FS_EKF_ACTION") != 0 && v.mode.conduct != sticks &&
		v.now-g.lost >= ekfTime:
		g.adrift = true
		v.say(mav.MAV_SEVERITY_CRITICAL, "EKF variance")
		v.say(mav.MAV_SEVERITY_CRITICAL, "EKF Failsafe: changed to LAND Mode")
		v.react(lands)
	}
}

// breachText names the kind of a breach.
func (v *Autopilot) breachText(breach byte) string {
	switch kinds, _, over := v.limits(); {
	case breach == breachAltitude:
		return "Max Alt fence breached"
	case kinds&fenceCircle != 0 && v.body.distance(v.home) > over:
		return "Circle fence breached"
	}
	return "Polygon fence breached"
}
