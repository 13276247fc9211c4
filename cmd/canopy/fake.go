package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/link"
	"github.com/canopy-uav/canopy/vehicle/earth"

	"github.com/spf13/cobra"
)

// faking is the command line of a vehicle that does not exist.
type faking struct {
	addresses, settings, spoiled []string
	speed                        float64
	seed                         uint64
	signing                      signingKey
	home                         string
}

func fakeCommand() *cobra.Command {
	var o faking
	c := &cobra.Command{Use: "fake", RunE: o.run}
	c.Flags().StringArrayVar(&o.addresses, "link", nil, "an `address` to send to (repeatable); see above")
	c.Flags().Float64Var(&o.speed, "speed", 1, "the vehicle's clock runs so many `times` as fast")
	c.Flags().StringArrayVar(&o.settings, "set", nil, "a parameter, `NAME=NUMBER` (repeatable)")
	c.Flags().StringVar(&o.home, "home", oberpfaffenhofen,
		"`LAT,LON,ALT` where it is switched on, in degrees and metres above mean sea level")
	c.Flags().StringArrayVar(&o.spoiled, "fault", nil, "a `fault`, as above (repeatable)")
	o.signing.flag(c)
	c.Flags().Uint64Var(&o.seed, "seed", 0, "the `number` that chooses the faults")
	return c
}

func (o *faking) run(cmd *cobra.Command, args []string) error {
	v, err := o.vehicle(args[0])
	if err != nil {
		return err
	}
	for _, a := range o.addresses {
		if err := link.Check(a); err != nil {
			return fmt.Errorf("--link %w", err)
		}
	}
	var scenario fake.Scenario
	for _, f := range o.spoiled {
		if err := scenario.Add(f); err != nil {
			return &usageError{"--fault: " + err.Error()}
		}
	}
	secret, err := o.signing.secret()
	if err != nil {
		return err
	}
	var links []link.Link
	var wires []*fake.Wire
	out := cmd.OutOrStdout()
	for _, a := range o.addresses {
		l, err := link.Open(a, link.Guard{Secret: secret})
		if err != nil {
			return err
		}
		defer l.Close() //nolint:errcheck // nothing is buffered
		links, wires = append(links, l), append(wires, fake.NewWire(o.seed+uint64(len(links)), scenario))
		if _, err := fmt.Fprintf(out, "%s at %s\n", args[0], l); err != nil {
			return failed(err)
		}
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	begin, ticker := time.Now(), time.NewTicker(5*time.Millisecond)
	defer ticker.Stop()
	clock := func() int64 { return scenario.Time(int64(float64(time.Since(begin)) * o.speed)) }
	return failed(serve(ctx, v, wires, links, clock, ticker.C, out))
}

// vehicle returns the vehicle of a name, with its settings, and completes the addresses.
func (o *faking) vehicle(name string) (*fake.Autopilot, error) {
	if !(o.speed > 0 && o.speed <= 100) {
		return nil, &usageError{fmt.Sprintf("--speed %g: write a number above 0, at most 100", o.speed)}
	}
	firmware, ok := fake.FirmwareNamed(name)
	if !ok {
		return nil, errors.New(unknownWord("vehicle", name, fake.FirmwareNames()))
	}
	if o.addresses == nil {
		o.addresses = fake.Ports(firmware)
	}
	f := fake.Options{Firmware: firmware, Channels: len(o.addresses), Seed: o.seed, Unix: time.Now().UnixNano()}
	if f.Home, f.Altitude, ok = homeOf(o.home); !ok {
		return nil, &usageError{fmt.Sprintf("--home %s: write LAT,LON,ALT, in degrees and metres, as in %s", o.home,
			oberpfaffenhofen)}
	}
	v := fake.New(f)
	v.Equip()
	for _, s := range o.settings {
		name, value, _ := strings.Cut(s, "=")
		x, err := strconv.ParseFloat(value, 64)
		if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, &usageError{fmt.Sprintf("--set %s: write NAME=NUMBER", s)}
		}
		if !v.Set(name, x) {
			return nil, errors.New(unknownWord("parameter", name, v.Parameters()))
		}
	}
	return v, nil
}

const oberpfaffenhofen = "48.0814,11.2831,590"

// homeOf reads a place that home can be: not at a pole and, since MAVLink takes 0, 0 for no place, not there.
func homeOf(text string) (at earth.Position, alt float64, ok bool) {
	var v [3]float64
	parts := strings.Split(text, ",")
	for i, most := range [...]float64{89, 180, 9000} {
		if len(parts) != len(v) {
			return at, 0, false
		}
		x, err := strconv.ParseFloat(strings.TrimSpace(parts[i]), 64)
		if err != nil || !(math.Abs(x) <= most) {
			return at, 0, false
		}
		v[i] = x
	}
	at = earth.Position{Lat: v[0], Lon: v[1]}
	return at, v[2], at != earth.Position{}
}

// serve lets a vehicle fly until the context ends. Its time is that of the clock [ns], as often as there is a tick or
// something arrives. Each link is a channel of the vehicle, with the faults of a wire; what happens to the vehicle is
// that of the first one.
func serve(ctx context.Context, v *fake.Autopilot, wires []*fake.Wire, links []link.Link, clock func() int64,
	ticks <-chan time.Time, out io.Writer) error {
	arrived := make(chan arrival, 64)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, l := range links {
		go receive(ctx, l, i, arrived)
	}
	var shown fake.State
	for {
		var now int64
		select {
		case <-ctx.Done():
			return nil
		case <-ticks:
			now = clock()
		case a := <-arrived:
			now = clock()
			wires[a.link].Send(fake.ToVehicle, a.data, now)
		}
		for range len(arrived) {
			a := <-arrived
			wires[a.link].Send(fake.ToVehicle, a.data, now)
		}
		for t := v.Now(); ; {
			for _, e := range wires[0].Events(t) {
				v.Inject(e)
			}
			for i, w := range wires {
				for _, d := range w.Arrived(fake.ToVehicle, t) {
					v.ReceiveOn(i, d)
				}
			}
			for i, w := range wires {
				for _, d := range v.OutOn(i) {
					w.Send(fake.FromVehicle, d, t)
				}
				for _, d := range w.Arrived(fake.FromVehicle, t) {
					_ = links[i].Write(d) // a station that is not there loses it
				}
			}
			if t >= now {
				break
			}
			step := min(now-t, 20*int64(time.Millisecond))
			v.Step(step)
			t += step
		}
		s := v.State()
		if s.Mode != shown.Mode || s.Armed != shown.Armed || s.Flying != shown.Flying {
			shown = s
			if _, err := fmt.Fprintln(out, describeVehicle(v.Now(), s)); err != nil {
				return err
			}
		}
	}
}

// describeVehicle is a line of the progress.
func describeVehicle(now int64, s fake.State) string {
	armed, where := "disarmed", "on the ground"
	if s.Armed {
		armed = "armed"
	}
	if s.Flying {
		where = fmt.Sprintf("%.0f m above home", s.Height)
	}
	return fmt.Sprintf("%8.1f s  %-10s %-8s  %s", float64(now)/1e9, s.Mode, armed, where)
}

// arrival is a frame that arrived on a link.
type arrival struct {
	link int
	data []byte
}

// receive passes the frames that arrive on a link, with its number.
func receive(ctx context.Context, l link.Link, number int, arrived chan<- arrival) {
	r := frame.Reader{Stream: l.Stream()}
	buf := make([]byte, link.Datagram)
	for {
		n, err := l.Read(buf)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		for _, f := range r.Read(append([]byte(nil), buf[:n]...)) {
			select {
			case arrived <- arrival{number, f.Raw}:
			case <-ctx.Done():
				return
			}
		}
	}
}
