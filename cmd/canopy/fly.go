package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/link"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/run/box"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/driver"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"

	"github.com/spf13/cobra"
)

// fakePrefix begins the addresses with which a flight needs no vehicle.
const fakePrefix = "fake:"

// The ways in which a flight leaves a vehicle in the air.
const (
	atEndHold   = "hold"
	atEndReturn = "return"
)

// The components of our addresses: a computer on board, and a ground station with its usual system.
const (
	onboard       = 191
	groundStation = 190
	groundSystem  = 255
	autopilotPart = 1
)

// flying is the command line of a flight.
type flying struct {
	results
	address, atEnd                              string
	set                                         []string
	system                                      uint8
	speed                                       float64
	remote                                      serving
	signing                                     signingKey
	limit                                       int64 // MiB
	arm, ground, refuse, unfenced, resume, tlog bool
}

func flyCommand() *cobra.Command {
	var f flying
	c := &cobra.Command{Use: "fly", RunE: f.run}
	flags := c.Flags()
	flags.StringVar(&f.address, "link", "", "`address` of the link: see above")
	setFlag(c, &f.set)
	flags.BoolVar(&f.arm, "arm", false, "let the plan enable the motors; implied with a fake")
	flags.StringVar(&f.atEnd, "at-end", atEndHold, "what a vehicle in the air does at the end: hold or return")
	flags.Uint8Var(&f.system, "system", 1, "`number` of the vehicle's MAVLink system")
	flags.BoolVar(&f.ground, "gcs", false, "be a ground station (255/190), not a computer on board: the autopilot "+
		"notices the loss of this program, but no longer that of another station")
	flags.BoolVar(&f.refuse, "refuse", false, "do not command a vehicle with grave findings of the checklist")
	flags.BoolVar(&f.unfenced, "without-fence", false, "allow arming although the mission's fence is not in effect")
	flags.BoolVar(&f.resume, "resume", false, "continue the flight in the output folder, whose program was killed")
	flags.Int64Var(&f.limit, "box-limit", box.DefaultLimit>>20, "the largest size of the black box, in `MiB`; what is "+
		"older than that is dropped")
	flags.BoolVar(&f.tlog, "tlog", false, "write "+tlogFile+": all frames, for MAVLink tools")
	flags.Float64Var(&f.speed, "speed", 0, "`multiple` of real time of a fake; 0: as fast as possible")
	f.signing.flag(c)
	f.remote.flags(c)
	f.results.flags(c, usualFolder)
	return c
}

// pretended reports whether the vehicle is a fake one in this program.
func (f *flying) pretended() bool { return strings.HasPrefix(f.address, fakePrefix) }

// guard checks the flags, and returns what guards the link.
func (f *flying) guard() (g link.Guard, err error) {
	for _, c := range []struct {
		wrong bool
		text  string
	}{
		{f.address == "", "--link is missing: the address of a vehicle, or " + fakePrefix +
			strings.Join(fake.FirmwareNames(), ", "+fakePrefix)},
		{f.limit < box.MinLimit>>20, fmt.Sprintf("--box-limit is at least %d", box.MinLimit>>20)},
		{f.atEnd != atEndHold && f.atEnd != atEndReturn, fmt.Sprintf("--at-end is %s or %s, not %q", atEndHold, atEndReturn,
			f.atEnd)},
		{f.system == 0, "--system is a number from 1 to 255; 0 addresses all vehicles"},
		{!(f.speed >= 0) || math.IsInf(f.speed, 0), fmt.Sprintf("--speed %g: write a multiple of "+
			"real time, or 0 for as fast as possible", f.speed)},
		{f.speed > 0 && !f.pretended(), "--speed is for a " + fakePrefix + "VEHICLE: another one has its own time"},
	} {
		if c.wrong {
			return g, &usageError{c.text}
		}
	}
	if err = f.link(); err != nil {
		return g, err
	}
	g.System = f.system
	if g.Secret, err = f.signing.secret(); err == nil && g.Secret != nil && f.pretended() {
		err = &usageError{"--signing-key is for the link to a vehicle, or to canopy fake: a " + fakePrefix +
			"VEHICLE has none"}
	}
	return g, err
}

// link checks the address of the link, before anything else is read.
func (f *flying) link() error {
	kind, name, _ := strings.Cut(f.address, ":")
	_, alone := fake.FirmwareNamed(kind)
	if alone {
		name = kind
	}
	_, known := fake.FirmwareNamed(name)
	switch {
	case f.pretended() && known:
		return nil
	case kind+":" == fakePrefix:
		return errors.New("--link " + f.address + ": " + unknownWord("fake vehicle", name, fake.FirmwareNames()))
	case alone || diag.Nearest(kind, []string{"fake"}) != "":
		return fmt.Errorf("--link %s: not the address of a link; did you mean \"%s%s\"?", f.address, fakePrefix, name)
	}
	if err := link.Check(f.address); err != nil {
		return fmt.Errorf("--link %w", err)
	}
	return nil
}

// options are the settings of the flight.
func (f *flying) options() flight.Options {
	ends := service.Ends{Us: service.Address{System: f.system, Component: onboard},
		Vehicle: service.Address{System: f.system, Component: autopilotPart}}
	if f.ground {
		ends.Us = service.Address{System: groundSystem, Component: groundStation}
	}
	return flight.Options{Options: adapter.Options{Ends: ends, Ground: f.ground, Refuse: f.refuse, Unfenced: f.unfenced,
		Return: f.atEnd == atEndReturn}, Arm: f.arm || f.pretended()}
}

func (f *flying) run(cmd *cobra.Command, args []string) error {
	defer syscall.Umask(syscall.Umask(0o077)) // what a flight shows is for its user
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	guard, err := f.guard()
	if err != nil {
		return err
	}
	m, err := readMission(args[0], f.set, cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	o := f.options()
	flown, watch, err := newFlight(m, o)
	if err != nil {
		return err
	}
	describe, err := describeFlight(args[0], f.set, o)
	if err != nil {
		return err
	}
	f.of(args[0])
	offer, err := f.remote.offer(m.Name)
	if err != nil {
		return err
	}
	if offer != nil {
		defer offer.Release()
	}
	begin, err := f.begin(flown, describe)
	if err != nil {
		return err
	}
	defer begin.release() //nolint:errcheck // only an empty file remains
	guard.After = frame.Stamp(begin.now.Unix)
	channel, err := openFarEnd(f.address, m, guard, f.speed, begin.now.Wall)
	if err != nil {
		return err
	}
	signal.Ignore(syscall.SIGPIPE) // whoever reads the messages may go: the flight goes on
	shown := newConsole(cmd.ErrOrStderr(), f.quiet, fmt.Sprintf("system %d at %s", f.system, channel), flown.Until())
	defer shown.close()
	feed := control.NewFeed(flown.Header())
	do := driver.Options{Describe: describe, Tell: shown.tell, Continue: begin.box,
		Box: func(start flight.Input) (driver.Box, error) { return box.Create(f.out, start, f.boxed()) },
		Listen: func() (*control.Server, error) {
			server, err := control.Listen(f.out, checked, checkLimit, feed)
			if err != nil && offer != nil {
				return nil, err
			} else if err != nil { // such as a path that is too long for a socket
				fmt.Fprintf(shown.to, "canopy: %v; the flight goes without it\n", err)
				return nil, nil //nolint:nilnil // nothing listens
			}
			listen(server, offer, shown.to)
			return server, nil
		}}
	if f.tlog && !f.resume {
		file := &lateFile{name: filepath.Join(f.out, tlogFile)}
		defer file.Close() //nolint:errcheck // each frame was written with an error of its own
		do.Tlog = file
	}
	d := driver.New(flown, channel, do)
	shown.d = d
	operate(cmd.InOrStdin(), d)
	fo := f.results.options(watch)
	fo.Observe, fo.Also = shown.show, feed
	var summary *record.Summary
	if f.resume {
		summary, err = flyOn(ctx, d, begin.release, f.out, f.tlog, fo, func() (*flight.Flight, error) {
			again, _, err := newFlight(m, o)
			return again, err
		})
	} else {
		summary, err = folder.Fly(ctx, d, f.out, fo)
	}
	feed.End(summary)
	shown.close()
	return f.end(cmd, summary, "flight", report.Clock(d.T()), func(error) string { return "" }, err)
}

// boxed are the settings of the black box.
func (f *flying) boxed() box.Options { return box.Options{Limit: f.limit << 20} }

// beginning is how a flight begins: with a black box that is continued or is not there yet, at a time.
type beginning struct {
	box     driver.Box
	now     service.Clock
	release func() error // gives back the folder of a flight that is continued
}

// begin returns how a flight begins, whose description is that of the command line.
func (f *flying) begin(flown *flight.Flight, describe []byte) (b beginning, err error) {
	b = beginning{now: service.Clock{Wall: 1}, release: func() error { return nil }}
	if !f.resume {
		return b, unflown(f.address, f.out)
	}
	free, err := continued(f.address, f.out, describe)
	if err != nil {
		return b, err
	}
	b.release = sync.OnceValue(free)
	if b.box, b.now, err = continuation(flown, f.out, f.boxed()); err != nil {
		_ = b.release()
	}
	return b, err
}

// unflown returns an error if a folder has the black box of a flight with a vehicle, and a vehicle is to be flown.
func unflown(address, out string) error {
	if strings.HasPrefix(address, fakePrefix) {
		return nil
	}
	for _, name := range []string{box.File, box.Old, box.Stopped} {
		switch _, err := os.Stat(filepath.Join(out, name)); {
		case err == nil:
			return fmt.Errorf("%s has the black box of an earlier flight, which is not overwritten: name another folder by "+
				"--out, remove that one, or continue a flight that was killed by --resume", diag.Visible(out))
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return err
		}
	}
	return nil
}

// openFarEnd opens the channel of an address, whose clock shows a wall time [ns]. A fake vehicle is at the site of the
// mission, if that sets one.
func openFarEnd(address string, m *mission.Mission, g link.Guard, speed float64, wall int64) (driver.FarEnd, error) {
	if name, ok := strings.CutPrefix(address, fakePrefix); ok {
		firmware, _ := fake.FirmwareNamed(name)
		if class := firmware.Class(); class != m.Vehicle.Name {
			return nil, fmt.Errorf("the mission's vehicle is %s; %s is a %s", m.Vehicle.Name, address, class)
		}
		unix := time.Now().UnixNano()
		o := fake.Options{Firmware: firmware, System: g.System, Unix: unix}
		if at, alt, given := m.Site(); given {
			o.Home, o.Altitude = at, alt
		}
		v := fake.New(o)
		v.Equip()
		return driver.Fake(address, v, unix, speed), nil
	}
	l, err := link.Open(address, g)
	if err != nil {
		return nil, err
	}
	return driver.Live(l, wall), nil
}
