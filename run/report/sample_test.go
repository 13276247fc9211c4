package report

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"testing"

	"github.com/canopy-uav/canopy/run/record"
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
	f, err := os.Open("testdata/day.mcap.gz")
	must(t, err)
	defer f.Close() //nolint:errcheck // only read
	unpacked, err := gzip.NewReader(f)
	must(t, err)
	data, err := io.ReadAll(unpacked)
	must(t, err)
	log := &record.Log{}
	log.End, err = record.Play(bytes.NewReader(data), log.Begin)
	must(t, err)
	return log
}
