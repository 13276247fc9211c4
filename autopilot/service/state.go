package service

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"canopy/snapshot"
)

// Machines are saved after Out was called: messages to be sent are not part of a state. A machine is restored into one
// that was made with the same arguments.

func clock(k *snapshot.Codec, p *Clock) {
	snapshot.Int(k, &p.Wall)
	snapshot.Int(k, &p.Unix)
	snapshot.Int(k, &p.Vehicle)
}

func (t *timer) state(k *snapshot.Codec) {
	clock(k, &t.at)
	snapshot.Int(k, &t.after)
	snapshot.Int(k, &t.floor)
	snapshot.Bool(k, &t.on)
}

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
	snapshot.Int(k, &c.boot)
	snapshot.Int(k, &c.newest)
	snapshot.Int(k, &c.arrived)
	snapshot.Int(k, &c.skipped)
	snapshot.Bool(k, &c.known)
	snapshot.Each(k, c.blocks[:], func(k *snapshot.Codec, s *sample) {
		snapshot.Int(k, &s.wall)
		snapshot.Int(k, &s.vehicle)
	})
	snapshot.Within(k, &c.filled, 0, mapBlocks)
	snapshot.Int(k, &c.started)
	snapshot.Float(k, &c.rate)
	snapshot.Float(k, &c.offset)
	snapshot.Int(k, &c.candidate)
	snapshot.Int(k, &c.candidateSince)
	snapshot.Int(k, &c.candidates)
	snapshot.Int(k, &c.boots)
	snapshot.Int(k, &c.steps)
	c.sync.state(k)
	snapshot.Int(k, &c.asked)
}

// State passes the machine's variables to the codec.
func (c *Commands) State(k *snapshot.Codec) {
	snapshot.Int(k, &c.last)
	pointers(k, &c.queue, func(k *snapshot.Codec, e *errand) {
		snapshot.Int(k, &e.ID)
		snapshot.Within(k, &e.Repeat, Idempotent, Guarded)
		snapshot.Bool(k, &e.Int)
		snapshot.Int(k, &e.Frame)
		snapshot.Each(k, e.Params[:], snapshot.Float)
		snapshot.Int(k, &e.ticket)
		snapshot.Int(k, &e.tries)
		snapshot.Bool(k, &e.turned)
		snapshot.Bool(k, &e.progress)
		e.wait.state(k)
		e.limit.state(k)
	})
	snapshot.List(k, &c.replies, func(k *snapshot.Codec, r *Reply) {
		snapshot.Int(k, &r.Ticket)
		snapshot.Int(k, &r.ID)
		snapshot.Int(k, &r.Answer)
		snapshot.Int(k, &r.Tries)
	})
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
		snapshot.Text(k, &q.name)
		snapshot.Bool(k, &q.write)
		snapshot.Float(k, &q.value)
		snapshot.Bool(k, &q.setting)
		snapshot.Int(k, &q.tries)
		snapshot.Int(k, &q.rounds)
		snapshot.Bool(k, &q.heard)
		q.wait.state(k)
	})
	snapshot.List(k, &p.settings, func(k *snapshot.Codec, s *Setting) {
		snapshot.Text(k, &s.Name)
		snapshot.Float(k, &s.Value)
		snapshot.Within(k, &s.Knowledge, Found, Unanswered)
	})
}

// State passes the machine's variables to the codec.
func (s *Streams) State(k *snapshot.Codec) {
	snapshot.Each(k, s.streams, func(k *snapshot.Codec, t *stream) {
		snapshot.Int(k, &t.tries)
		snapshot.Int(k, &t.answer)
		snapshot.Bool(k, &t.seen)
		clock(k, &t.at)
		snapshot.Bool(k, &t.pending)
		t.patient.state(k)
	})
	snapshot.Within(k, &s.asked, -1, len(s.streams)-1)
	s.wait.state(k)
}

func (n *Notice) state(k *snapshot.Codec) {
	clock(k, &n.At)
	snapshot.Int(k, &n.From.System)
	snapshot.Int(k, &n.From.Component)
	snapshot.Int(k, &n.Severity)
	snapshot.Text(k, &n.Text)
}

// State passes the machine's variables to the codec.
func (t *Texts) State(k *snapshot.Codec) {
	snapshot.List(k, &t.open, func(k *snapshot.Codec, x *chunks) {
		x.Notice.state(k)
		snapshot.Int(k, &x.id)
		snapshot.List(k, &x.parts, snapshot.Text)
		snapshot.Within(k, &x.last, -1, len(x.parts)-1)
		x.wait.state(k)
		snapshot.Bool(k, &x.done)
	})
	snapshot.List(k, &t.notices, func(k *snapshot.Codec, n *Notice) { n.state(k) })
}

func items(k *snapshot.Codec, p *[]Item) {
	snapshot.List(k, p, func(k *snapshot.Codec, i *Item) {
		snapshot.Int(k, &i.Command)
		snapshot.Int(k, &i.Frame)
		snapshot.Bool(k, &i.Continue)
		for _, p := range []*float32{&i.Params[0], &i.Params[1], &i.Params[2], &i.Params[3], &i.Z} {
			v := float64(*p)
			snapshot.Float(k, &v)
			*p = float32(v)
		}
		snapshot.Int(k, &i.X)
		snapshot.Int(k, &i.Y)
	})
}

// State passes the machine's variables to the codec.
func (t *Transfers) State(k *snapshot.Codec) {
	pointers(k, &t.queue, func(k *snapshot.Codec, x *transfer) {
		snapshot.Int(k, &x.list)
		snapshot.Bool(k, &x.write)
		items(k, &x.items)
		snapshot.Within(k, &x.phase, waiting, fetching)
		x.wait.state(k)
		snapshot.Int(k, &x.tries)
		snapshot.Int(k, &x.rounds)
		snapshot.Int(k, &x.last)
		snapshot.Bool(k, &x.all)
		snapshot.Bool(k, &x.accepted)
		items(k, &x.got)
		snapshot.Int(k, &x.count)
	})
	snapshot.List(k, &t.ended, func(k *snapshot.Codec, e *Transfer) {
		snapshot.Int(k, &e.List)
		items(k, &e.Items)
		failed, reason := e.Err != nil, ""
		if failed {
			reason = strings.TrimSuffix(e.Err.Error(), ": "+ErrTransfer.Error())
		}
		snapshot.Bool(k, &failed)
		snapshot.Text(k, &reason)
		if e.Err = nil; failed {
			e.Err = fmt.Errorf("%s: %w", reason, ErrTransfer)
		}
	})
}
