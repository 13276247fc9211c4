package frame

import (
	"maps"
	"slices"

	"github.com/canopy-uav/canopy/snapshot"
)

// State passes the reader's variables to the codec, without those of signatures.
func (r *Reader) State(c *snapshot.Codec) {
	snapshot.Vars(c, &r.Broken, &r.Unknown, &r.Refused)
	snapshot.Bytes(c, &r.rest)
	keys := slices.SortedFunc(maps.Keys(r.senders), func(a, b address) int { return slices.Compare(a[:], b[:]) })
	snapshot.List(c, &keys, func(c *snapshot.Codec, k *address) { snapshot.Vars(c, k) })
	if c.Loading() {
		r.senders = map[address]*sender{}
		for _, k := range keys {
			r.senders[k] = &sender{}
		}
	}
	for _, k := range keys {
		s := r.senders[k]
		snapshot.Vars(c, &s.last, &s.previous, &s.run)
	}
}

// State passes the writer's variables to the codec, without those of signatures.
func (w *Writer) State(c *snapshot.Codec) { snapshot.Int(c, &w.sequence) }
