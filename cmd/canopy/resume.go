package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/box"
	"github.com/canopy-uav/canopy/run/driver"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"
)

// continued locks the folder of a flight that is to go on until free is called. The description is that of the command
// line.
func continued(address, out string, describe []byte) (free func() error, err error) {
	if strings.HasPrefix(address, fakePrefix) {
		return nil, &usageError{"--resume needs a vehicle that flies on without this program; serve one by canopy fake"}
	}
	start, err := boxStart(out)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(start.Data, describe) {
		return nil, fmt.Errorf("the flight in %s has other options, another mission or another version of canopy; "+
			"--resume needs the same ones", diag.Visible(out))
	}
	return folder.Occupy(out)
}

// continuation makes a flight go on from the black box in a folder, and returns the box, and the present wall time of
// the flight with the calendar's time of its last input [ns].
func continuation(f *flight.Flight, out string, o box.Options) (b driver.Box, at service.Clock, err error) {
	b, err = driver.Restore(f, func(feed func(box.Record) error) (driver.Box, error) {
		w, end, err := box.Continue(out, o, feed)
		if err != nil {
			return nil, err
		}
		at = service.Clock{Wall: end.Time(time.Now().UnixNano()).Wall, Unix: end.Last.Unix}
		return w, nil
	})
	switch {
	case errors.Is(err, box.ErrOver):
		err = fmt.Errorf("the flight in %s is over; there is nothing to continue", diag.Visible(out))
	case err != nil:
		err = fmt.Errorf("the flight in %s cannot be continued: %w; to go on, fly the mission into another folder: "+
			"a vehicle in the air is only observed until you resume", diag.Visible(out), err)
	}
	return b, at, err
}

// flyOn flies a flight that was restored to its end. Then it writes its log from its black box, by another flight of
// the same mission; until then, the folder has the log of the program that was killed.
func flyOn(ctx context.Context, d *driver.Driver, release func() error, out string, tlog bool, o folder.Options,
	again func() (*flight.Flight, error),
) (*record.Summary, error) {
	d.Attach(o.Also)
	err := d.Fly(ctx, func(bool) error {
		o.Observe()
		return nil
	})
	if err != nil {
		err = errors.Join(err, d.Stop(err.Error()))
	}
	err = errors.Join(err, release())
	f, e := again()
	if e != nil {
		return nil, errors.Join(err, e)
	}
	o.Observe, o.Also = nil, nil
	_, summary, e := replayInto(context.Background(), out, out, f, false, tlog, o)
	return summary, errors.Join(err, e)
}

// replayInto replays the black box in a folder to a flight, whose log is written into the folder out. If free is set,
// the flight has another plan.
func replayInto(ctx context.Context, run, out string, f *flight.Flight, free, tlog bool, o folder.Options) (
	r *box.Replay, summary *record.Summary, err error,
) {
	fly := func(frames io.Writer) (err error) {
		if r, err = box.NewReplay(run, f, free, frames); err == nil {
			summary, err = folder.Fly(ctx, r, out, o)
		}
		return err
	}
	if tlog {
		err = files.Write(filepath.Join(out, tlogFile), fly)
	} else {
		err = fly(nil)
	}
	return r, summary, err
}

// lateFile is a file that begins to exist when something is written.
type lateFile struct {
	name string
	file *os.File
}

func (f *lateFile) Write(data []byte) (n int, err error) {
	if f.file == nil {
		if f.file, err = os.Create(f.name); err != nil {
			return 0, err
		}
	}
	return f.file.Write(data)
}

// Close closes the file, if there is one.
func (f *lateFile) Close() error {
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}
