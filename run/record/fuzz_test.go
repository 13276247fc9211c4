package record

import (
	"bytes"
	"errors"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/snapshot"
)

// FuzzResume: for any checkpoint and files, a log continues with whole rows, or is refused.
func FuzzResume(f *testing.F) {
	var whole files
	h := small()
	w, err := NewWriter(h, whole.destinations())
	if err != nil {
		f.Fatal(err)
	}
	err = errors.Join(w.Sample(1, []float64{1, 2, 3}), w.Status(1, 1, bt.Change{}))
	p, pointErr := w.Point()
	if err = errors.Join(err, pointErr); err != nil {
		f.Fatal(err)
	}
	point := snapshot.Save(nil, &p)
	if err := w.Close(Summary{}); err != nil {
		f.Fatal(err)
	}
	f.Add(point, whole.mcap.Bytes(), whole.status.Bytes(), whole.signals.Bytes())
	f.Add(point, []byte{}, []byte{}, []byte{})
	f.Add([]byte{}, whole.mcap.Bytes(), whole.status.Bytes(), whole.signals.Bytes())
	f.Fuzz(func(t *testing.T, point, mcap, status, signals []byte) {
		var p Point
		if snapshot.Load(point, &p) != nil {
			return
		}
		var again files
		w, err := Resume(h, again.destinations(), p, Earlier{MCAP: bytes.NewReader(mcap),
			Status: bytes.NewReader(status), Signals: bytes.NewReader(signals)})
		if err != nil {
			return
		}
		_ = errors.Join(w.Sample(2, []float64{1, 2, 3}), w.Close(Summary{})) // may fail, must not panic
	})
}
