package service

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/snapshot"
)

// Machines are saved after Out was called: messages to be sent are not part of a state. A machine is restored into one
// that was made with the same arguments.

func (t *timer) state(k *snapshot.Codec) { snapshot.Vars(k, &t.at, &t.after, &t.floor, &t.on) }

// plain passes an element of a list.
func plain[T any](k *snapshot.Codec, p *T) { snapshot.Vars(k, p) }

// pointers passes a slice of pointers, none of which is nil.
func pointers[T any](k *snapshot.Codec, p *[]*T, element func(*snapshot.Codec, *T)) {
	snapshot.List(k, p, func(k *snapshot.Codec, q **T) {
		if k.Loading() {
			*q = new(T)
		}
		element(k, *q)
	})
}

// State passes the machine's variables to the codec.
func (h *Heartbeat) State(k *snapshot.Codec) {
	h.beat.state(k)
	h.silent.state(k)
	snapshot.Int(k, &h.heard)
	snapshot.Within(k, &h.state, Unheard, Lost)
}

// State passes the map's variables to the codec.
func (c *ClockMap) State(k *snapshot.Codec) {
	snapshot.Vars(k, &c.boot, &c.newest, &c.arrived, &c.skipped, &c.known, &c.started, &c.rate, &c.offset, &c.candidate,
		&c.candidateSince, &c.candidates, &c.boots, &c.steps, &c.asked)
	snapshot.Each(k, c.blocks[:], func(k *snapshot.Codec, s *sample) { snapshot.Vars(k, &s.wall, &s.vehicle) })
	snapshot.Within(k, &c.filled, 0, mapBlocks)
	c.sync.state(k)
}

// State passes the machine's variables to the codec.
func (c *Commands) State(k *snapshot.Codec) {
	snapshot.Int(k, &c.last)
	pointers(k, &c.queue, func(k *snapshot.Codec, e *errand) {
		snapshot.Vars(k, &e.ID, &e.Int, &e.Frame, &e.Params, &e.ticket, &e.tries, &e.turned, &e.progress)
		snapshot.Within(k, &e.Repeat, Idempotent, Guarded)
		e.wait.state(k)
		e.limit.state(k)
	})
	snapshot.List(k, &c.replies, plain)
}

// State passes the machine's variables to the codec.
func (p *Parameters) State(k *snapshot.Codec) {
	names := slices.Sorted(maps.Keys(p.kinds))
	snapshot.List(k, &names, snapshot.Text)
	for _, n := range names {
		kind := p.kinds[n]
		snapshot.Int(k, &kind)
		p.kinds[n] = kind
	}
	pointers(k, &p.queue, func(k *snapshot.Codec, q *inquiry) {
		snapshot.Vars(k, &q.name, &q.write, &q.value, &q.setting, &q.tries, &q.rounds, &q.heard)
		q.wait.state(k)
	})
	snapshot.List(k, &p.settings, func(k *snapshot.Codec, s *Setting) {
		snapshot.Vars(k, &s.Name, &s.Value)
		snapshot.Within(k, &s.Knowledge, Found, Unanswered)
	})
}

// State passes the machine's variables to the codec.
func (s *Streams) State(k *snapshot.Codec) {
	snapshot.Each(k, s.streams, func(k *snapshot.Codec, t *stream) {
		snapshot.Vars(k, &t.tries, &t.answer, &t.seen, &t.at, &t.pending)
		t.patient.state(k)
	})
	snapshot.Within(k, &s.asked, -1, len(s.streams)-1)
	s.wait.state(k)
}

// State passes the machine's variables to the codec.
func (t *Texts) State(k *snapshot.Codec) {
	snapshot.List(k, &t.open, func(k *snapshot.Codec, x *chunks) {
		snapshot.Vars(k, &x.Notice, &x.id, &x.done)
		snapshot.List(k, &x.parts, snapshot.Text)
		snapshot.Within(k, &x.last, -1, len(x.parts)-1)
		x.wait.state(k)
	})
	snapshot.List(k, &t.notices, plain)
}

// State passes the machine's variables to the codec.
func (t *Transfers) State(k *snapshot.Codec) {
	pointers(k, &t.queue, func(k *snapshot.Codec, x *transfer) {
		snapshot.Vars(k, &x.list, &x.write, &x.tries, &x.rounds, &x.last, &x.all, &x.accepted, &x.count)
		snapshot.Within(k, &x.phase, waiting, fetching)
		snapshot.List(k, &x.items, plain)
		snapshot.List(k, &x.got, plain)
		x.wait.state(k)
	})
	snapshot.List(k, &t.ended, func(k *snapshot.Codec, e *Transfer) {
		snapshot.List(k, &e.Items, plain)
		failed, reason := e.Err != nil, ""
		if failed {
			reason = strings.TrimSuffix(e.Err.Error(), ": "+ErrTransfer.Error())
		}
		snapshot.Vars(k, &e.List, &failed, &reason)
		if e.Err = nil; failed {
			e.Err = fmt.Errorf("%s: %w", reason, ErrTransfer)
		}
	})
}
