package report

import (
	"bytes"
	"compress/gzip"
	"errors"
	"flag"
	"io"
	"os"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"

	"github.com/google/go-cmp/cmp"
)

var keep = flag.String("keep", "", "folder that keeps the pages of the tests, to look at")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sampleLog is the log of a day of a solar aircraft that stores energy as altitude, by the plan of the 2014 paper: the
// grid of 60 s, both sides of each event, and a conflict at the end. Later versions read it, too.
func sampleLog(t *testing.T) *record.Log {
	t.Helper()
	log := &record.Log{}
	var err error
	log.End, err = record.Play(bytes.NewReader(sample(t)), log.Begin)
	must(t, err)
	return log
}

func sample(t *testing.T) []byte {
	t.Helper()
	f, err := os.Open("testdata/day.mcap.gz")
	must(t, err)
	defer f.Close() //nolint:errcheck // only read
	unpacked, err := gzip.NewReader(f)
	must(t, err)
	data, err := io.ReadAll(unpacked)
	must(t, err)
	return data
}

// watched is a gatherer that is asked for a digest before each instant.
type watched struct {
	*Gatherer
	t       float64
	digests int
	err     error
}

func (w *watched) Status(t float64, micro int, c bt.Change) error {
	if t > w.t {
		w.err = errors.Join(w.err, w.Digest(record.End{Told: t}).Data(io.Discard))
		w.t = t
		w.digests++
	}
	return w.Gatherer.Status(t, micro, c)
}

// TestDigestsOfRunsInProgress: a run that was looked at while it was in progress has the page of one that was not.
func TestDigestsOfRunsInProgress(t *testing.T) {
	var pages [2]bytes.Buffer
	var w *watched
	for i, begin := range []func(h *record.Header) record.Recorder{
		func(h *record.Header) record.Recorder { w = &watched{Gatherer: NewGatherer(h)}; return w.Gatherer },
		func(h *record.Header) record.Recorder { w = &watched{Gatherer: NewGatherer(h)}; return w },
	} {
		end, err := record.Play(bytes.NewReader(sample(t)), begin)
		must(t, err)
		must(t, errors.Join(w.err, w.Digest(end).Data(&pages[i])))
	}
	if w.digests < 10 || !bytes.Equal(pages[0].Bytes(), pages[1].Bytes()) {
		t.Errorf("after %d digests, the page differs:\n%s", w.digests, cmp.Diff(pages[0].String(), pages[1].String()))
	}
}
