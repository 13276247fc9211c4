package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"
)

// FuzzMonitor: for any log with any mission, cut anywhere, properties are judged on it or it is refused.
func FuzzMonitor(f *testing.F) {
	header := []byte(`{"horizon":9,"signals":[{"name":"x","unit":"m"}],` +
		`"tasks":[{"name":"a","kind":"Action","parent":-1,"initial":"Accept"}]}`)
	f.Add(header, []byte("check: {properties: [always (x >= 1 [m])]}"), "", uint16(0), 1.0)
	f.Add(header, []byte("check: 3"), "always (a -> within 3 [s] (x > 0 [m]))", uint16(99), -1.0)
	f.Fuzz(func(_ *testing.T, header, mission []byte, property string, cut uint16, t float64) {
		var h record.Header
		if json.Unmarshal(header, &h) != nil {
			return
		}
		h.Attachments = []record.Attachment{{Name: "mission.yaml", Data: mission}}
		var file bytes.Buffer
		w, err := record.NewWriter(h, record.Files{MCAP: &file})
		if err != nil {
			return
		}
		row := make([]float64, len(h.Signals))
		err = w.Sample(h.Start, row)
		for i := range h.Tasks {
			err = errors.Join(err, w.Status(t/2, 1, bt.Change{Task: bt.Task(i), From: bt.Accept, To: bt.Status(cut % 8)}))
		}
		for i := range row {
			row[i] = t - float64(cut)
		}
		_ = errors.Join(err, w.Sample(t, row), w.Close(record.Summary{Ended: t, Outcome: record.Complete}))
		data := file.Bytes()
		data = data[:len(data)-min(len(data), int(cut))]
		var texts []string
		if property != "" {
			texts = []string{property}
		}
		_, _, _ = (&runLog{bytes.NewReader(data), "run.mcap"}).judge(texts)
	})
}
