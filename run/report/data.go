package report

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"
)

// Clock writes a simulated time or a duration [s] as h:mm:ss; hours continue past 24. Only complete seconds count, as
// on a clock, with a tolerance of a millisecond for rounding.
func Clock(t float64) string {
	if math.IsNaN(t) || math.Abs(t) >= 1<<53 {
		return "-"
	}
	s := int64(math.Abs(t) + 1e-3)
	sign := ""
	if t < 0 && s > 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s%d:%02d:%02d", sign, s/3600, s/60%60, s%60)
}

// verdict is how a run ended.
type verdict struct {
	// Outcome gives the colour: interrupted for a log without an end, failed also if the plan failed or a property or
	// an assumption was violated.
	Outcome record.Outcome
	Word    string // more specific than the outcome
	Reason  string // may be empty
}

func judge(end *record.End) verdict {
	s := end.Summary
	switch {
	case end.Damage != nil:
		return verdict{record.Interrupted, "Damaged", end.Damage.Error()}
	case s == nil:
		return verdict{record.Interrupted, "Cut off", "the log has no end"}
	case s.Outcome == record.Complete && s.Plan == record.PlanFailed:
		return verdict{record.Failed, "Plan failed", s.Reason}
	case s.Outcome == record.Complete && len(s.Violations()) > 0:
		word := "Property violated"
		if s.Violations()[0].Kind != "" {
			word = "Assumption violated"
		}
		return verdict{record.Failed, word, s.Reason}
	case s.Outcome == record.Complete && s.Breached != nil:
		return verdict{record.Failed, "Fence breached", s.Reason}
	case s.Outcome == record.Complete && s.Sortie != nil && len(s.Sortie.Faults()) > 0:
		return verdict{record.Failed, "Complete, with faults", s.Reason}
	case s.Outcome == record.Complete:
		return verdict{s.Outcome, "Complete", s.Reason}
	case s.Outcome == record.Failed:
		return verdict{s.Outcome, "Failed", s.Reason}
	case s.Reason == string(record.Interrupted):
		return verdict{record.Interrupted, "Interrupted", ""}
	}
	return verdict{record.Interrupted, "Interrupted", s.Reason}
}

// lane is the history of one task: S[i] holds from T[i] to T[i+1], the last to the end of the log.
type lane struct {
	Task  bt.Task   `json:"task"`
	Depth int       `json:"depth"`
	T     []float64 `json:"t"`
	S     []int     `json:"s"` // bt.Status; as int, since encoding/json takes a slice of bytes for binary data
}

// activity is how long an action was active: in any non-transient status, its entry and exit procedures included.
type activity struct {
	Name    string
	Entries int
	Time    float64 // [s]
	Share   float64 // of the simulated time; 0 if none passed
}

// extreme holds the minimum and maximum of a signal and when each was first reached.
type extreme struct {
	record.Signal
	place               int     // of the signal in the header
	Least, Greatest     float64 // NaN if the signal has no finite value
	LeastAt, GreatestAt float64 // [s]
}

// add takes in a sample.
func (e *extreme) add(t, v float64) {
	if v-v != 0 {
		return
	}
	if !(v >= e.Least) {
		e.Least, e.LeastAt = v, t
	}
	if !(v <= e.Greatest) {
		e.Greatest, e.GreatestAt = v, t
	}
}

// float64s packs numbers as little-endian float64; encoding/json writes bytes as base64.
func float64s(values []float64) []byte {
	b := make([]byte, 0, 8*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return b
}

// float32s packs numbers as little-endian float32: seven digits, more than any screen shows.
func float32s(values []float64) []byte {
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return b
}
