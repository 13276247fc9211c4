package adapter_test

import (
	"strings"
	"testing"

	"canopy/autopilot/adapter"
)

// A vehicle that is heard and answers nothing is not attached; the reasons are told. It is when it answers.
func TestNobodyAnswers(t *testing.T) {
	each(t, func(t *testing.T, begin func() *flown) {
		f := begin()
		f.deaf = true
		f.pass(90*sec, nil)
		if log := f.log.String(); f.Control() != adapter.Attach || !strings.Contains(log, "answers nothing: it drops frames without a signature") {
			t.Fatalf("%s\n%s", f.Control(), log)
		}
		f.deaf = false
		f.ready(60)
	})
}

// A command that nobody acknowledges is told as such, once, and is not said to have been accepted.
func TestUnacknowledged(t *testing.T) {
	each(t, func(t *testing.T, begin func() *flown) {
		f := begin()
		f.ready(60)
		f.pass(40*sec, nil)
		f.deaf = true
		f.want(60)
		f.pass(60*sec, nil)
		log := f.log.String()
		if strings.Contains(log, "had no effect") ||
			strings.Count(log, "nobody acknowledges it")+strings.Count(log, "refused: take-off height: the vehicle does not answer") != 1 {
			t.Errorf("%s", log)
		}
		f.deaf = false
		f.set("arm", 0)
		f.set("target_h", 61)
		f.set("arm", 1)
		f.run(90*sec, func() bool { return f.signals["h"] > 55 })
		f.deaf = true
		f.mode("rtl")
		f.pass(60*sec, nil)
		if log := f.log.String(); strings.Contains(log, "had no effect") ||
			strings.Count(log, "nobody acknowledges it")+strings.Count(log, "refused: take-off height: the vehicle does not answer") != 2 {
			t.Errorf("in the air\n%s", log)
		}
		f.deaf = false
		f.run(30*sec, func() bool { return f.in("rtl") })
	})
}
