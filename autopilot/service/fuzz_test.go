package service_test

import (
	"math"
	"reflect"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
)

// heard are the messages that the services read.
var heard = []frame.Message{
	&mav.MessageHeartbeat{}, &mav.MessageAttitude{}, &mav.MessageTimesync{},
	&mav.MessageCommandAck{}, &mav.MessageParamValue{}, &mav.MessageParamError{},
	&mav.MessageStatustext{}, &mav.MessageMissionRequest{}, &mav.MessageMissionRequestInt{},
	&mav.MessageMissionAck{}, &mav.MessageMissionCount{}, &mav.MessageMissionItem{},
	&mav.MessageMissionItemInt{},
}

// input gives numbers, which are 0 behind its end.
type input []byte

func (in *input) number(size int) (v uint64) {
	for i := range size {
		if len(*in) > 0 {
			v |= uint64((*in)[0]) << (8 * i)
			*in = (*in)[1:]
		}
	}
	return v
}

// fill sets the fields of a message.
func (in *input) fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct, reflect.Array:
		for i := range length(v) {
			if v.Kind() == reflect.Struct {
				in.fill(v.Field(i))
			} else {
				in.fill(v.Index(i))
			}
		}
	case reflect.String:
		v.SetString([]string{"", "A", "TKOFF_ALT", "NAN", "full text with fifty characters, exactly fifty here"}[in.number(1)%5])
	case reflect.Float32:
		v.SetFloat(float64(math.Float32frombits(uint32(in.number(4)))))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(in.number(1)) // enumerations, too
	case reflect.Uint16, reflect.Uint32:
		v.SetUint(in.number(2))
	default:
		v.SetInt(int64(int16(in.number(2))))
	}
}

func length(v reflect.Value) int {
	if v.Kind() == reflect.Struct {
		return v.NumField()
	}
	return v.Len()
}

// FuzzServices: whatever a vehicle sends, no machine panics, every exchange ends, and the messages are ones that can be
// sent.
func FuzzServices(f *testing.F) {
	f.Add([]byte{10, 0, 1, 3, 8, 81, 4, 3, 20, 3, 0, 176, 0, 0, 0, 30, 10, 1, 191, 2, 0, 0})
	f.Add([]byte{1, 7, 1, 191, 0, 0, 1, 8, 1, 191, 1, 0, 1, 9, 1, 191, 0, 1, 10, 1, 191, 1, 0, 1, 12, 1, 191, 0})
	f.Add([]byte{1, 4, 2, 0, 0, 160, 66, 9, 1, 5, 1, 191, 1, 0, 0, 2, 200, 6, 3, 4, 7, 0, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		in := input(data)
		writer, reader := &frame.Writer{System: 1, Component: 1}, &frame.Reader{}
		clocks, streams := service.NewClockMap(ends), service.NewStreams(ends, rates)
		commands, parameters := service.NewCommands(ends), service.NewParameters(ends, service.Encoding(in.number(1)%2))
		transfers := service.NewTransfers(ends)
		beats, texts := service.NewHeartbeat(ends, 18), service.NewTexts(ends)
		machines := []machine{clocks, streams, commands, parameters, transfers, beats, texts}
		now := service.Clock{Wall: 1}
		for i, repeat := range []service.Repeat{service.Idempotent, service.Guarded} {
			commands.Send(now, service.Order{ID: uint16(i), Repeat: repeat, Int: i == 1})
		}
		for _, name := range []string{"A", "TKOFF_ALT"} {
			if err := parameters.Write(now, name, 80); err != nil {
				t.Fatal(err)
			}
		}
		transfers.Upload(now, service.RallyList, make([]service.Item, 2))
		transfers.Download(now, service.FenceList)
		out := &frame.Writer{System: 1, Component: 191}
		step := func(f *frame.Frame) {
			now.Vehicle = clocks.Vehicle(now.Wall)
			for _, m := range machines {
				if f != nil {
					m.Receive(now, *f)
				} else {
					m.Wake(now)
				}
				for _, message := range m.Out() {
					if _, err := out.Write(message, 0); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for range 100 {
			if len(in) == 0 {
				break
			}
			now.Wall += int64(in.number(1)) * 10 * ms
			m := reflect.New(reflect.TypeOf(heard[in.number(1)%uint64(len(heard))]).Elem())
			in.fill(m.Elem())
			raw, err := writer.Write(m.Interface().(frame.Message), 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range reader.Read(raw) {
				step(&f)
			}
		}
		for range 400 {
			now.Wall += 500 * ms
			step(nil)
		}
		for _, m := range []machine{commands, parameters, transfers, texts} {
			if m.Due() != math.MaxInt64 {
				t.Errorf("%T does not end", m)
			}
		}
		if commands.Replies() == nil || len(transfers.Ended()) != 2 || len(parameters.Settings()) != 2 {
			t.Error("an exchange has no end")
		}
	})
}
