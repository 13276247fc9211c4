package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/report"
)

// FuzzReport: for any log with any plan, cut anywhere, a page is made of it or it is refused.
func FuzzReport(f *testing.F) {
	header, err := json.Marshal((&count{}).Header())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(header, []byte(`<root BTCPP_format="4"><BehaviorTree ID="m"><Action name="act"/></BehaviorTree></root>`), uint16(0), 1.0)
	f.Add(header, []byte(`<root BTCPP_format="4"><BehaviorTree ID="m"><Condition ID="c"/></BehaviorTree></root>`), uint16(9), -1.0)
	f.Fuzz(func(_ *testing.T, header, plan []byte, cut uint16, t float64) {
		var h record.Header
		if json.Unmarshal(header, &h) != nil {
			return
		}
		h.Attachments = []record.Attachment{{Name: "plan.xml", Data: plan}}
		var file bytes.Buffer
		w, err := record.NewWriter(h, record.Files{MCAP: &file})
		if err != nil {
			return
		}
		err = w.Sample(t, make([]float64, len(h.Signals)))
		for i := range h.Tasks {
			err = errors.Join(err, w.Status(t, 1, bt.Change{Task: bt.Task(i), From: bt.Accept, To: bt.Status(cut % 8)}))
		}
		_ = errors.Join(err, w.Close(record.Summary{Ended: t, Outcome: record.Complete}))
		data := file.Bytes()
		data = data[:len(data)-min(len(data), int(cut))]
		if digest, err := report.Read(bytes.NewReader(data)); err == nil {
			_ = digest.HTML(io.Discard, nil)
		}
	})
}
