package service_test

import (
	"errors"
	"math"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
	"pgregory.net/rapid"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
)

// store is a vehicle with one parameter, TKOFF_ALT. Other names get no answer.
type store struct {
	mute
	kind     common.MAV_PARAM_TYPE
	bits     float32 // as it is sent
	whole    bool    // ArduPilot's integers: rounded
	readOnly bool
}

func (s *store) receive(_ int64, m frame.Message) {
	switch m := m.(type) {
	case *mav.MessageParamSet:
		if m.ParamId != "TKOFF_ALT" || m.ParamValue != m.ParamValue && s.kind == common.MAV_PARAM_TYPE_REAL32 {
			return
		}
		if s.kind == common.MAV_PARAM_TYPE_INT32 && m.ParamType != s.kind {
			return // PX4 refuses another type
		}
		if !s.readOnly {
			s.bits = m.ParamValue
		}
		if s.whole {
			s.bits = float32(math.Round(float64(s.bits)))
		}
	case *mav.MessageParamRequestRead:
		if m.ParamId != "TKOFF_ALT" || m.ParamIndex != -1 {
			return
		}
	default:
		return
	}
	s.out = append(s.out, &mav.MessageParamValue{
		ParamId: "TKOFF_ALT", ParamValue: s.bits, ParamType: s.kind, ParamCount: 1000, ParamIndex: math.MaxUint16})
}

// Every exchange ends, and a value that is reported as found is the vehicle's.
func TestParametersEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		encoding := service.Encoding(rapid.IntRange(0, 1).Draw(t, "encoding"))
		s := &store{kind: common.MAV_PARAM_TYPE_REAL32, bits: 50, readOnly: rapid.Bool().Draw(t, "read only")}
		value := func() float64 { return float64(s.bits) }
		if encoding == service.Bytewise {
			s.kind, s.bits = common.MAV_PARAM_TYPE_INT32, math.Float32frombits(50)
			value = func() float64 { return float64(int32(math.Float32bits(s.bits))) }
		} else {
			s.whole = rapid.Bool().Draw(t, "whole numbers")
		}
		p := service.NewParameters(ends, encoding)
		w := newWire(t, p, s)
		w.fresh = func() machine { return service.NewParameters(ends, encoding) }
		wanted := rapid.SampledFrom([]float64{50, 80, -1, 2.5, 1e6}).Draw(t, "value")
		write := rapid.Bool().Draw(t, "write")
		name := rapid.SampledFrom([]string{"TKOFF_ALT", "TKOFF_ALT", "FS_NO_SUCH"}).Draw(t, "name")
		var err error
		if write {
			err = p.Write(w.now(), name, wanted)
		} else {
			err = p.Read(w.now(), name)
		}
		if err != nil {
			t.Fatal(err)
		}
		if !w.run(60*sec, func() bool { return !p.Busy() }) {
			t.Fatal("no end")
		}
		w.run(10*sec, func() bool { return false })
		settings := p.Settings()
		if len(settings) != 1 || settings[0].Name != name || p.Due() != math.MaxInt64 {
			t.Fatalf("%+v", settings)
		}
		got := settings[0]
		good := w.loss == 0 && w.delay == 0
		refused := encoding == service.Bytewise && wanted == 2.5 // not a value of an integer
		switch {
		case got.Knowledge == service.Found && (name != "TKOFF_ALT" || got.Value != value() || write && got.Value != wanted):
			t.Fatalf("found %v; the vehicle has %v, wanted %v", got.Value, value(), wanted)
		case got.Knowledge == service.Different && (!write || got.Value == wanted):
			t.Fatalf("different, but %v was wanted", wanted)
		case !good:
		case name != "TKOFF_ALT" && got.Knowledge != service.Unanswered:
			t.Fatalf("a silent vehicle: %v", got.Knowledge)
		case name == "TKOFF_ALT" && !write && got.Knowledge != service.Found:
			t.Fatalf("reading: %v", got.Knowledge)
		case name == "TKOFF_ALT" && write && refused && got.Knowledge != service.Refused:
			t.Fatalf("not a number of this type: %v", got.Knowledge)
		case name == "TKOFF_ALT" && write && !refused && (got.Knowledge == service.Found) != (value() == wanted):
			t.Fatalf("writing %v: %v, the vehicle has %v", wanted, got.Knowledge, value())
		}
	})
}

// A vehicle that sends heartbeats but no answer has no such parameter; PARAM_ERROR says so at once.
func TestMissingParameter(t *testing.T) {
	var reader frame.Reader
	vehicle := &frame.Writer{System: 1, Component: 1}
	p := service.NewParameters(ends, service.Cast)
	if err := p.Read(service.Clock{}, "FS_NO_SUCH"); err != nil {
		t.Fatal(err)
	}
	for s := range int64(10) {
		p.Receive(service.Clock{Wall: s * sec}, frameOf(t, &reader, vehicle, &mav.MessageHeartbeat{}))
	}
	if got := p.Settings(); len(got) != 1 || got[0].Knowledge != service.Missing || !math.IsNaN(got[0].Value) {
		t.Errorf("without an answer: %+v", got)
	}
	for code, want := range map[common.MAV_PARAM_ERROR]service.Knowledge{
		common.MAV_PARAM_ERROR_DOES_NOT_EXIST: service.Missing, common.MAV_PARAM_ERROR_READ_ONLY: service.Refused,
	} {
		if err := p.Write(service.Clock{}, "FS_NO_SUCH", 1); err != nil {
			t.Fatal(err)
		}
		p.Receive(service.Clock{}, frameOf(t, &reader, vehicle, &mav.MessageParamError{
			TargetSystem: 1, TargetComponent: 191, ParamId: "FS_NO_SUCH", Error: code}))
		if got := p.Settings(); len(got) != 1 || got[0].Knowledge != want {
			t.Errorf("error %d: %+v", code, got)
		}
	}
}

func TestParameterMistakes(t *testing.T) {
	p := service.NewParameters(ends, service.Cast)
	for name, value := range map[string]float64{
		"": 1, "SEVENTEEN_LETTERS": 1, "NOT_A_NUMBER": math.NaN(), "INFINITE": math.Inf(1), "TOO_LARGE": 1e39,
	} {
		if err := p.Write(service.Clock{}, name, value); !errors.Is(err, service.ErrParameter) {
			t.Errorf("%q, %v: %v", name, value, err)
		}
	}
	if p.Busy() {
		t.Error("something was sent")
	}
	if err := p.Read(service.Clock{}, "SIXTEEN_LETTERS_"); err != nil {
		t.Error(err)
	}
}

// Many parameters are asked for, few at a time; two exchanges about the same one follow each other.
func TestManyParameters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &store{kind: common.MAV_PARAM_TYPE_REAL32, bits: 50}
		p := service.NewParameters(ends, service.Cast)
		w := newWire(t, p, s)
		w.fresh = func() machine { return service.NewParameters(ends, service.Cast) }
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"A", "B", "C", "D", "E", "TKOFF_ALT"}), 1, 12).Draw(t, "names")
		for _, n := range names {
			if err := p.Write(w.now(), n, 80); err != nil {
				t.Fatal(err)
			}
		}
		if !w.run(200*sec, func() bool { return !p.Busy() }) {
			t.Fatal("no end")
		}
		if n := len(p.Settings()); n != len(names) {
			t.Fatalf("%d of %d ended", n, len(names))
		}
	})
}
