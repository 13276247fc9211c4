package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"canopy/autopilot/adapter"
	"canopy/autopilot/fake"
	"canopy/autopilot/frame"
	"canopy/autopilot/link"
	"canopy/autopilot/service"
	"canopy/diag"
	"canopy/document/mission"
	"canopy/run/box"
	"canopy/run/control"
	"canopy/run/driver"
	"canopy/run/flight"
	"canopy/run/folder"
	"canopy/run/record"
	"canopy/run/report"

	"github.com/spf13/cobra"
	"golang.org/x/term"
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

func flyCommand() *cobra.Command {
	var address, out, atEnd string
	var set []string
	var system uint8
	var speed float64
	var remote serving
	var signing signingKey
	var limit int64
	var arm, ground, refuse, unfenced, resume, asJSON, quiet, withReport, tlog bool
	c := &cobra.Command{
		Use:   "fly MISSION",
		Short: "Fly a mission on an autopilot",
		Long: `Fly a mission on an autopilot over MAVLink, by the same plan that "canopy run" simulates.

The mission's vehicle must be plane or copter. The link is one of

  fake:VEHICLE          a fake autopilot in this program: ` +
			strings.Join(fake.FirmwareNames(), ", ") + `
` + indented(link.Forms()) + `
The flight attaches to the vehicle and reads its parameters: findings of the checklist are printed, and with --refuse,
grave ones keep the vehicle from being commanded. Then the plan begins. A vehicle that is already in the air is only
observed until the operator resumes. The plan enables the motors only with --arm,
and neither while the autopilot is in failsafe nor, unless --without-fence is given, without the mission's fence.

While a pilot, a failsafe or another station has the vehicle, and after it rebooted, the plan is suspended until the
operator resumes. While the link is lost, the plan goes on with unknown signals. The line "resume" or "stop" on a
terminal's standard input is a command of the operator.

The output folder has a socket, run.sock, which only this user can use: canopy upload exchanges the plan in flight,
canopy stop and resume command it, and canopy watch shows what happens. Nothing else listens, unless --serve names an
address. There a flight can be watched on this computer. All else needs a token, with which requests are signed, and
from other computers TLS.

Ctrl-C ends the plan: its exit procedures run, then a vehicle in the air is told to hold or to return, as --at-end says.

The same command with --resume continues a flight whose program was killed. It is restored from its black box, and the
plan goes on with the vehicle as it is now. Until then the autopilot flies alone. A flight that is over, whose black box
is damaged, or whose recording stopped because of a full disk, is not continued.

The output folder receives the files of "canopy run" and
  run.box         everything that was received and sent, up to --box-limit; run.box.old is the part before

Beside the outcome of the plan, the table and summary.json say what became of the vehicle: not begun, not asked to fly,
never armed, never left the ground, still armed, landed, in the air, taken over, only observed, or not heard.

Exit status: 0 the mission was flown to its end, the plan did not fail, no property or assumption was violated, and the
vehicle landed, is in the air as it was told, or was not asked to fly, 1 the flight failed or was interrupted (its
records are complete up to that time), 2 wrong input, nothing was flown, 3 the mission was flown to its end, but the
plan failed, a property or an assumption was violated, the vehicle never armed, never left the ground, is still armed on
the ground, was taken over, is only observed or not heard, something was refused, or the fence was breached.`,
		Example: `  canopy fly missions/circuit-plane.yaml --link fake:plane
  canopy fly missions/circuit-plane.yaml --link fake:plane --speed 1
  canopy fly missions/circuit-plane.yaml --link udp:127.0.0.1:14550 --arm --at-end return`,
		Args: arguments,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer syscall.Umask(syscall.Umask(0o077)) // what a flight shows is for its user
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			stderr := cmd.ErrOrStderr()
			pretended := strings.HasPrefix(address, fakePrefix)
			for _, c := range []struct {
				wrong bool
				text  string
			}{
				{address == "", "--link is needed: " + fakePrefix + strings.Join(fake.FirmwareNames(), ", "+fakePrefix) +
					", or the address of a vehicle"},
				{limit < box.MinLimit>>20, fmt.Sprintf("--box-limit is at least %d", box.MinLimit>>20)},
				{atEnd != atEndHold && atEnd != atEndReturn, "--at-end is " + atEndHold + " or " + atEndReturn},
				{system == 0, "--system is a number from 1 to 255; 0 addresses all vehicles"},
				{!(speed >= 0) || math.IsInf(speed, 0), "--speed is a multiple of real time, or 0: as fast as possible"},
				{speed > 0 && !pretended, "--speed is for a " + fakePrefix + "VEHICLE: another one has its own time"},
			} {
				if c.wrong {
					return &usageError{c.text}
				}
			}
			guard := link.Guard{System: system}
			var err error
			if guard.Secret, err = signing.secret(); err != nil {
				return err
			}
			if guard.Secret != nil && pretended {
				return &usageError{"--signing-key is for the link to a vehicle, or to canopy fake: a " + fakePrefix +
					"VEHICLE has none"}
			}
			m, err := readMission(args[0], set, stderr)
			if err != nil {
				return err
			}
			ends := service.Ends{Us: service.Address{System: system, Component: onboard},
				Vehicle: service.Address{System: system, Component: autopilotPart}}
			if ground {
				ends.Us = service.Address{System: groundSystem, Component: groundStation}
			}
			o := flight.Options{Options: adapter.Options{Ends: ends, Ground: ground, Refuse: refuse, Unfenced: unfenced,
				Return: atEnd == atEndReturn}, Arm: arm || pretended}
			f, watch, err := newFlight(m, o)
			if err != nil {
				return err
			}
			describe, err := describeFlight(args[0], set, o)
			if err != nil {
				return err
			}
			if out == "" {
				out = filepath.Join("out", folder.Name(args[0]))
			}
			offer, err := remote.offer(m.Name)
			if err != nil {
				return err
			}
			if offer != nil {
				defer offer.Release()
			}
			boxed := box.Options{Limit: limit << 20}
			var again driver.Box
			now, release := service.Clock{Wall: 1}, func() error { return nil }
			if resume {
				free, err := continued(address, out, describe)
				if err != nil {
					return err
				}
				release = sync.OnceValue(free)
				defer release() //nolint:errcheck // only an empty file remains
				if again, now, err = continuation(f, out, boxed); err != nil {
					return err
				}
				guard.After = frame.Stamp(now.Unix)
			} else if err := unflown(address, out); err != nil {
				return err
			}
			channel, err := openFarEnd(address, m, guard, speed, now.Wall)
			if err != nil {
				return err
			}
			var d *driver.Driver
			signal.Ignore(syscall.SIGPIPE) // whoever reads the messages may go: the flight goes on
			messages := newAside(stderr)
			allShown := sync.OnceFunc(messages.close)
			defer allShown()
			bar := newProgress(stderr, f.Until())
			bar.to = messages
			tell := func(e record.Event) {
				if text, ok := told(e, fmt.Sprintf("system %d at %s", system, channel)); ok && !quiet {
					bar.clear()
					fmt.Fprintf(messages, "canopy: %s  %s\n", clockOf(d), text)
				}
			}
			var frames io.Writer
			if tlog && !resume {
				file := &lateFile{name: filepath.Join(out, tlogFile)}
				defer file.Close() //nolint:errcheck // each frame was written with an error of its own
				frames = file
			}
			feed := control.NewFeed(f.Header())
			d = driver.New(f, channel, driver.Options{Describe: describe, Tell: tell, Continue: again, Box: func(
				start flight.Input,
			) (driver.Box, error) {
				return box.Create(out, start, boxed)
			}, Tlog: frames, Listen: func() (*control.Server, error) {
				server, err := control.Listen(out, checked, checkLimit, feed)
				if err != nil && offer != nil {
					return nil, err
				} else if err != nil { // such as a path that is too long for a socket
					fmt.Fprintf(messages, "canopy: %v; the flight goes without it\n", err)
					return nil, nil //nolint:nilnil // nothing listens
				}
				listen(server, offer, messages)
				return server, nil
			}})
			operate(cmd.InOrStdin(), d)
			shown := ""
			show := func() {
				if state := stateOf(d); state != shown && !quiet {
					bar.clear()
					fmt.Fprintf(messages, "canopy: %s  %s\n", clockOf(d), state)
					shown = state
				}
				bar.show(d.T(), d.Events)
			}
			fo := folder.Options{Bare: !withReport, Guard: &unfinished, Watch: watch, Observe: show, Also: feed}
			var table bytes.Buffer
			if !asJSON && !quiet {
				fo.Table = &table
			}
			var summary *record.Summary
			if resume {
				summary, err = flyOn(ctx, d, release, out, tlog, fo, func() (*flight.Flight, error) {
					again, _, err := newFlight(m, o)
					return again, err
				})
			} else {
				summary, err = folder.Fly(ctx, d, out, fo)
			}
			feed.End(summary)
			bar.clear()
			allShown()
			if errors.Is(err, record.ErrHeader) {
				return err
			}
			if err != nil && summary != nil && !errors.Is(err, folder.ErrLog) {
				err = fmt.Errorf("%w\ncanopy: the results up to %s are in %s", err, report.Clock(d.T()), out)
			}
			err = errors.Join(err, printed(cmd.OutOrStdout(), summary, table.Bytes(), out, asJSON, withReport))
			if err != nil {
				return failed(err)
			}
			return judged(stderr, summary, "flight")
		},
	}
	c.Flags().StringVar(&address, "link", "", "`address` of the link: see above")
	c.Flags().StringVar(&out, "out", "", "output `folder` (default out/ followed by the mission's file name)")
	c.Flags().StringArrayVar(&set, "set", nil,
		"set `name=value`: a parameter of the vehicle, horizon, tolerance or method; may be repeated")
	c.Flags().BoolVar(&arm, "arm", false, "the plan may enable the motors; always so with a fake")
	c.Flags().StringVar(&atEnd, "at-end", atEndHold, "how a vehicle in the air goes on at the end: hold or return")
	c.Flags().Uint8Var(&system, "system", 1, "`number` of the vehicle's MAVLink system")
	c.Flags().BoolVar(&ground, "gcs", false, "be a ground station (255/190), whose loss the autopilot may guard, and "+
		"which hides the loss of another one; otherwise a computer on board")
	c.Flags().BoolVar(&refuse, "refuse", false, "grave findings of the checklist keep the vehicle from being commanded")
	c.Flags().BoolVar(&unfenced, "without-fence", false, "the vehicle may be armed although the mission's fence is not "+
		"in effect")
	c.Flags().BoolVar(&resume, "resume", false, "continue the flight in the output folder, whose program was killed")
	c.Flags().Int64Var(&limit, "box-limit", box.DefaultLimit>>20, "the largest size of the black box, in `MiB`; what is "+
		"older than that is dropped")
	c.Flags().BoolVar(&tlog, "tlog", false, "write "+tlogFile+": all frames, for MAVLink tools")
	c.Flags().Float64Var(&speed, "speed", 0, "`multiple` of real time of a fake; 0: as fast as possible")
	signing.flag(c)
	remote.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the summary as JSON instead of the table")
	c.Flags().BoolVar(&withReport, "report", true, "write report.html")
	c.Flags().BoolVarP(&quiet, "quiet", "q", false, "do not print the table")
	return c
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
		firmware, known := fake.FirmwareNamed(name)
		if !known {
			return nil, errors.New(unknownWord("fake vehicle", name, fake.FirmwareNames()))
		}
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

// operate passes lines from a terminal to the flight.
func operate(in io.Reader, d *driver.Driver) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return
	}
	go func() {
		for lines := bufio.NewScanner(f); lines.Scan(); {
			if command := strings.TrimSpace(lines.Text()); command == flight.Resume || command == flight.Stop {
				d.Operate(command)
			}
		}
	}()
}

// told returns what the operator is told of an event: what the vehicle and its link do, not each command and its proof.
func told(e record.Event, vehicle string) (text string, ok bool) {
	text = diag.Visible(e.Text)
	switch e.Kind {
	case adapter.Attaching.String():
		if strings.HasSuffix(text, "still nothing") {
			text += " from " + vehicle
		}
	case adapter.Checked.String(), adapter.Attached.String(), adapter.Observed.String(), adapter.Refused.String(),
		adapter.LinkLost.String(), adapter.LinkBack.String(), adapter.Rebooted.String(), adapter.ModeChanged.String(),
		adapter.PilotTook.String(), adapter.StationTook.String(), adapter.FailsafeTook.String(),
		adapter.Resumed.String(), adapter.Stored.String(), adapter.Text.String(), adapter.Jumped.String(),
		adapter.Waiting.String(), "end", driver.NotRecorded, flight.Connection, flight.Asked, flight.Undefined:
	default:
		return "", false
	}
	return e.Kind + ": " + text, true
}

// clockOf writes the time of the plan; in brackets, before the plan has begun, the time since the program was started.
func clockOf(d *driver.Driver) string {
	if d.Started() {
		return report.Clock(d.T())
	}
	return "(" + report.Clock(d.Waited()) + ")"
}

// stateOf describes the state of a flight in a few words.
func stateOf(d *driver.Driver) string {
	switch {
	case d.Over():
		return "the flight is over"
	case !d.Started() && d.Vehicle() == adapter.Attach:
		return "the plan waits until the vehicle is attached"
	case !d.Started():
		return d.Vehicle().String() + ": the plan waits"
	case d.Awaiting():
		return "the plan goes on when the vehicle's telemetry has arrived"
	case d.Suspended():
		return d.Vehicle().String() + ": the plan is suspended; the line \"resume\" continues it"
	case d.Vehicle() == adapter.Lost:
		return "the link is lost: the plan goes on"
	}
	return "the plan is flown"
}
