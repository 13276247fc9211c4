package frame_test

import (
	"bytes"
	"errors"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// FuzzRead: any bytes are read without a panic; each byte is part of a frame, or counted, or waits for the end of its
// frame; every message of a frame can be written.
func FuzzRead(f *testing.F) {
	w := plane()
	var all []byte
	for _, m := range []frame.Message{
		&mav.MessageHeartbeat{Type: 1, Autopilot: 3},
		&mav.MessageStatustext{Severity: 6, Text: "Ground start"},
		&mav.MessageCommandAck{Command: 192, Result: 4},
		&mav.MessageMissionItemInt{Seq: 1, Command: 16, X: 1, Y: 2, Z: 3},
		&mav.MessageParamValue{ParamId: "FS_LONG_ACTN", ParamValue: 1},
	} {
		raw, err := w.Write(m, 0)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, raw...)
		f.Add(raw, false)
	}
	f.Add(all, true)
	f.Add(all[:len(all)-3], true)
	f.Add([]byte{0xFD, 0, 2, 0xFE, 0xFD}, false)
	f.Fuzz(func(t *testing.T, data []byte, stream bool) {
		before := bytes.Clone(data)
		r := frame.Reader{Stream: stream}
		r.Verify(frame.SecretOf("secret"), 0)
		plain := frame.Reader{Stream: stream}
		n := 0
		out := plane()
		for _, g := range plain.Read(data) {
			n += len(g.Raw)
			plain.Strip(g)
			if _, err := out.Write(g.Message, 0); err != nil && !errors.Is(err, frame.ErrMessage) {
				t.Error(err)
			}
		}
		if n += int(plain.Broken); n > len(data) || !stream && n != len(data) {
			t.Errorf("%d of %d bytes", n, len(data))
		}
		r.Read(data)
		if !bytes.Equal(before, data) {
			t.Error("the bytes were changed")
		}
	})
}
