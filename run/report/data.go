package report

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"

	"canopy/bt"
	"canopy/run/record"
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
	Outcome record.Outcome // for the colour: interrupted for a log without an end, failed also if the plan failed
	Word    string         // more specific than the outcome
	Reason  string         // may be empty
}

func judge(log *record.Log) verdict {
	s := log.Summary
	switch {
	case log.Damage != nil:
		return verdict{record.Interrupted, "Damaged", log.Damage.Error()}
	case s == nil:
		return verdict{record.Interrupted, "Cut off", "the log has no end"}
	case s.Outcome == record.Complete && s.Plan == record.PlanFailed:
		return verdict{record.Failed, "Plan failed", s.Reason}
	case s.Outcome == record.Complete:
		return verdict{s.Outcome, "Complete", s.Reason}
	case s.Outcome == record.Failed:
		return verdict{s.Outcome, "Failed", s.Reason}
	case s.Reason == string(record.Interrupted):
		return verdict{record.Interrupted, "Interrupted", ""}
	}
	return verdict{record.Interrupted, "Interrupted", s.Reason}
}

// ended is the simulated time [s] of the end of the log.
func ended(log *record.Log) float64 {
	if log.Summary != nil {
		return log.Summary.Ended
	}
	end := log.Start
	if n := len(log.T); n > 0 {
		end = math.Max(end, log.T[n-1])
	}
	if n := len(log.Changes); n > 0 {
		end = math.Max(end, log.Changes[n-1].T)
	}
	if n := len(log.Events); n > 0 {
		end = math.Max(end, log.Events[n-1].T)
	}
	return end
}

// lane is the history of one task: S[i] holds from T[i] to T[i+1], the last to the end of the log.
type lane struct {
	Task  bt.Task   `json:"task"`
	Depth int       `json:"depth"`
	T     []float64 `json:"t"`
	S     []int     `json:"s"` // bt.Status; as int, since encoding/json takes a slice of bytes for binary data
}

// lanes returns the histories of all tasks in reading order of the tree: parents first, children from left to right.
func lanes(log *record.Log) []lane {
	children := make(map[int][]int, len(log.Tasks))
	for i, t := range log.Tasks {
		children[t.Parent] = append(children[t.Parent], i)
	}
	list := make([]lane, 0, len(log.Tasks))
	place := make([]int, len(log.Tasks)) // of a task's lane
	var visit func(task, depth int)
	visit = func(task, depth int) {
		place[task] = len(list)
		list = append(list, lane{Task: bt.Task(task), Depth: depth, T: []float64{log.Start},
			S: []int{int(log.Tasks[task].Initial)}})
		for _, c := range children[task] {
			visit(c, depth+1)
		}
	}
	for _, root := range children[-1] {
		visit(root, 0)
	}
	for _, c := range log.Changes {
		l := &list[place[c.Task]]
		if len(l.T) == 1 {
			l.S[0] = int(c.From)
		}
		l.T = append(l.T, c.T)
		l.S = append(l.S, int(c.To))
	}
	return list
}

// activity is how long an action was active: in any non-transient status, its entry and exit procedures included.
type activity struct {
	Name    string
	Entries int
	Time    float64 // [s]
	Share   float64 // of the simulated time; 0 if none passed
}

// acts reports whether the kind of a log's task is a leaf that can be activated.
func acts(kind string) bool {
	k, known := bt.ParseKind(kind)
	return known && k.Acts()
}

// activities returns the actions in tree order.
func activities(log *record.Log) []activity {
	end := ended(log)
	var list []activity
	for _, l := range lanes(log) {
		if !acts(log.Tasks[l.Task].Kind) {
			continue
		}
		a := activity{Name: log.Tasks[l.Task].Name}
		for i, s := range l.S {
			if bt.Status(s) == bt.Activating {
				a.Entries++
			}
			if bt.Status(s).Transient() {
				continue
			}
			until := end
			if i+1 < len(l.T) {
				until = l.T[i+1]
			}
			a.Time += until - l.T[i]
		}
		if end > log.Start {
			a.Share = a.Time / (end - log.Start)
		}
		list = append(list, a)
	}
	return list
}

// extreme holds the minimum and maximum of a signal and when each was first reached.
type extreme struct {
	record.Signal
	Least, Greatest     float64 // NaN if the signal has no finite value
	LeastAt, GreatestAt float64 // [s]
}

// extremes returns the extremes of the plotted signals, in order of appearance.
func extremes(log *record.Log) []extreme {
	var list []extreme
	seen := map[string]bool{}
	plots, _ := panels(log)
	for _, p := range plots {
		for _, name := range p.Signals {
			for i, s := range log.Signals {
				if s.Name != name || seen[name] {
					continue
				}
				seen[name] = true
				nan := math.NaN()
				e := extreme{Signal: s, Least: nan, Greatest: nan, LeastAt: nan, GreatestAt: nan}
				for k, v := range log.Values[i] {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						continue
					}
					if !(v >= e.Least) {
						e.Least, e.LeastAt = v, log.T[k]
					}
					if !(v <= e.Greatest) {
						e.Greatest, e.GreatestAt = v, log.T[k]
					}
				}
				list = append(list, e)
			}
		}
	}
	return list
}

// float64s packs numbers as base64 of little-endian float64.
func float64s(values []float64) string {
	b := make([]byte, 0, 8*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(v))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// float32s packs numbers as base64 of little-endian float32: seven digits, more than any screen shows.
func float32s(values []float64) string {
	b := make([]byte, 0, 4*len(values))
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(v)))
	}
	return base64.StdEncoding.EncodeToString(b)
}
