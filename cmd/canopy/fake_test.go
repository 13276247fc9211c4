package main

import (
	"bytes"
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/link"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// wire is a link in memory.
type wire struct {
	in     chan []byte
	out    [][]byte
	closed chan struct{}
}

func (w *wire) Read(buf []byte) (int, error) {
	select {
	case d := <-w.in:
		return copy(buf, d), nil
	case <-w.closed:
		return 0, net.ErrClosed
	}
}
func (w *wire) Write(d []byte) error { w.out = append(w.out, d); return nil }
func (w *wire) Close() error         { close(w.closed); return nil }
func (*wire) Stream() bool           { return false }
func (*wire) String() string         { return "wire" }

// A command that arrives in one datagram with another one is executed at the time of its arrival, and each link receives
// the same frames.
func TestServeAFakeVehicle(t *testing.T) {
	a, b := &wire{in: make(chan []byte), closed: make(chan struct{})}, &wire{in: make(chan []byte), closed: make(chan struct{})}
	v := fake.New(fake.Options{Channels: 2})
	var now atomic.Int64
	ticks := make(chan time.Time)
	ctx, cancel := context.WithCancel(context.Background())
	var out bytes.Buffer
	done := make(chan error)
	var scenario fake.Scenario
	must(t, scenario.Add("pilot-mode=5@20"))
	go func() {
		wires := []*fake.Wire{fake.NewWire(1, scenario), fake.NewWire(2, scenario)}
		done <- serve(ctx, v, wires, []link.Link{a, b}, now.Load, ticks, &out)
	}()
	tick := func(at int64) {
		now.Store(at * int64(time.Second))
		ticks <- time.Time{}
	}
	tick(10)
	ticks <- time.Time{} // it waits again: the ten seconds have passed
	w := frame.Writer{System: 255, Component: 190}
	var both []byte
	for _, m := range []frame.Message{
		&ardupilotmega.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: common.MAV_CMD_DO_SET_MODE,
			Param1: 1, Param2: 12},
		&ardupilotmega.MessageCommandLong{TargetSystem: 1, TargetComponent: 1, Command: common.MAV_CMD_NAV_TAKEOFF},
	} {
		raw, err := w.Write(m, 0)
		must(t, err)
		both = append(both, raw...)
	}
	a.in <- both
	a.in <- nil // the datagram before has been passed on
	tick(19)
	tick(21)
	ticks <- time.Time{}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if !bytes.Equal(bytes.Join(a.out, nil), bytes.Join(b.out, nil)) {
		t.Error("the links receive different frames")
	}
	var r frame.Reader
	var acks []string
	for _, f := range r.Read(bytes.Join(a.out, nil)) {
		if m, ok := f.Message.(*ardupilotmega.MessageCommandAck); ok {
			acks = append(acks, m.Command.String()+" "+m.Result.String())
		}
	}
	want := "MAV_CMD_DO_SET_MODE MAV_RESULT_ACCEPTED, MAV_CMD_NAV_TAKEOFF MAV_RESULT_FAILED"
	if got := strings.Join(acks, ", "); got != want {
		t.Errorf("answers %s, want %s", got, want)
	}
	for i, want := range []string{"MANUAL", "LOITER", "FBWA"} {
		if lines := strings.Split(out.String(), "\n"); i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Errorf("line %d is not about %s:\n%s", i+1, want, out.String())
		}
	}
}

func TestFakeRefusesWrongInput(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"fake", "plan"}, `did you mean "plane"`},
		{[]string{"fake", "plane", "--speed", "0"}, "above 0"},
		{[]string{"fake", "plane", "--fault", "los=1"}, `did you mean "loss"`},
		{[]string{"fake", "plane", "--set", "FS_GCS_ENABLE=1"}, `did you mean "FS_GCS_ENABL"`},
		{[]string{"fake", "plane", "--set", "FS_GCS_ENABL=x"}, "NAME=NUMBER"},
		{[]string{"fake", "plane", "--link", "udpot:1"}, "udpout"},
		{[]string{"fake", "plane", "--home", "48.08,11.28"}, "LAT,LON,ALT"},
		{[]string{"fake", "plane", "--home", "48.08,11.28,590,0"}, "LAT,LON,ALT"},
		{[]string{"fake", "plane", "--home", "90.5,11.28,590"}, "LAT,LON,ALT"},
		{[]string{"fake", "plane", "--home", "48.08,NaN,590"}, "LAT,LON,ALT"},
		{[]string{"fake", "plane", "--home", "0,0,0"}, "LAT,LON,ALT"},
	} {
		var out, errors bytes.Buffer
		if status := execute(c.args, &out, &errors); status != exitInput || !strings.Contains(errors.String(), c.want) {
			t.Errorf("%q: status %d, %q, want %q", c.args, status, errors.String(), c.want)
		}
	}
}

// A vehicle is switched on at the place that --home gives.
func TestFakeAtHome(t *testing.T) {
	station, err := net.ListenPacket("udp", "127.0.0.1:0")
	must(t, err)
	defer station.Close() //nolint:errcheck // nothing is buffered
	must(t, station.SetReadDeadline(time.Now().Add(time.Minute)))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := fakeCommand()
	c.SetArgs([]string{"px4-copter", "--home", "-33.5, 151.25,20", "--speed", "100", "--link",
		"udpout:" + station.LocalAddr().String()})
	c.SetOut(&bytes.Buffer{})
	done := make(chan error)
	go func() { done <- c.ExecuteContext(ctx) }()
	r, buf := frame.Reader{}, make([]byte, link.Datagram)
	for found := false; !found; {
		n, _, err := station.ReadFrom(buf)
		must(t, err)
		for _, f := range r.Read(buf[:n]) {
			if p, ok := f.Message.(*ardupilotmega.MessageGlobalPositionInt); ok && p.Lat != 0 {
				if found = true; p.Lat != -335000000 || p.Lon != 1512500000 || p.Alt != 20000 {
					t.Errorf("it is at %+v", p)
				}
			}
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
