package frame

import (
	"maps"
	"slices"

	"canopy/snapshot"
)

// State passes the reader's variables to the codec. It is restored into one that was made alike, to which Verify was
// applied alike.
func (r *Reader) State(c *snapshot.Codec) {
	snapshot.Vars(c, &r.Broken, &r.Unknown, &r.Refused)
	snapshot.Bytes(c, &r.rest)
	table(c, &r.senders, func(c *snapshot.Codec, p **sender) {
		if c.Loading() {
			*p = &sender{}
		}
		snapshot.Vars(c, &(*p).last, &(*p).previous, &(*p).run)
	})
	if r.verify != nil {
		snapshot.Int(c, &r.verify.start)
		table(c, &r.verify.last, snapshot.Int[uint64])
	}
}

// table passes a table by senders, in the order of their addresses.
func table[V any](c *snapshot.Codec, p *map[address]V, value func(*snapshot.Codec, *V)) {
	keys := slices.SortedFunc(maps.Keys(*p), func(a, b address) int { return slices.Compare(a[:], b[:]) })
	snapshot.List(c, &keys, func(c *snapshot.Codec, k *address) { snapshot.Each(c, k[:], snapshot.Int[byte]) })
	if c.Loading() {
		*p = map[address]V{}
	}
	for _, k := range keys {
		v := (*p)[k]
		value(c, &v)
		(*p)[k] = v
	}
}

// State passes the writer's variables to the codec. It is restored into one that was made alike, to which Sign was
// applied alike.
func (w *Writer) State(c *snapshot.Codec) {
	snapshot.Int(c, &w.sequence)
	if w.sign != nil {
		snapshot.Int(c, &w.sign.last)
	}
}
