package fake

import (
	"slices"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

const (
	chunk   = 50 // characters in one STATUSTEXT
	textAge = 5 * second
)

// texts are those that wait to be sent: one chunk per turn of the loop.
type texts struct {
	waiting []text
	id      uint16 // of the last text with more than one chunk
}

type text struct {
	at       int64
	severity mav.MAV_SEVERITY
	id       uint16
	part     byte
	text     string
}

// add puts a text into the queue.
func (q *texts) add(now int64, severity mav.MAV_SEVERITY, s string) {
	if len(s) < chunk {
		q.waiting = append(q.waiting, text{now, severity, 0, 0, s})
		return
	}
	q.id = max(q.id+1, 1)
	for i := 0; ; i++ {
		n := min(chunk, len(s))
		q.waiting = append(q.waiting, text{now, severity, q.id, byte(i), s[:n]})
		if s = s[n:]; n < chunk {
			return // the last chunk is not full; it may be empty
		}
	}
}

// sendTexts sends the next chunk and drops those that have waited too long.
func (v *Autopilot) sendTexts() {
	q := &v.texts
	q.waiting = slices.DeleteFunc(q.waiting, func(t text) bool { return v.now-t.at > textAge })
	if len(q.waiting) == 0 {
		return
	}
	t := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	v.send(&mav.MessageStatustext{Severity: t.severity, Text: t.text, Id: t.id, ChunkSeq: t.part})
}
