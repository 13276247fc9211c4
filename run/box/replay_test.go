package box

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/snapshot"
)

// echo is a machine whose datagrams follow from all inputs so far.
type echo struct {
	sum uint32
	say string // what its plan says
}

func (e *echo) Step(in flight.Input) (out [][]byte, err error) {
	e.sum = crc32.Update(e.sum, crc32.IEEETable, fmt.Appendf(nil, "%d %v %s", in.Kind, in.At, in.Data))
	for i := range e.sum % 3 {
		out = append(out, fmt.Appendf(nil, "%s %d %d", e.say, i, e.sum))
	}
	return out, nil
}

// State implements snapshot.Stateful.
func (e *echo) State(c *snapshot.Codec) { snapshot.Int(c, &e.sum) }

func (e *echo) System() byte { return 0 }

func (e *echo) Restore(state []byte) error { return snapshot.Load(state, e) }

// fly flies inputs into a box.
func fly(t *testing.T, m Replayable, inputs []flight.Input) []Record {
	t.Helper()
	d := &disk{}
	w := newWriter(d, "", Options{})
	for i, in := range inputs {
		if i == 0 {
			w.begin(in)
		} else {
			must(t, w.Append(in))
		}
		out, err := m.Step(in)
		must(t, err)
		must(t, w.Out(out))
	}
	list, _, _ := read(t, d.Bytes())
	return list
}

func replay(t *testing.T, m Replayable, free bool, list []Record, end *Ending) *Replayer {
	t.Helper()
	r := NewReplayer(m, free)
	for _, record := range list {
		must(t, r.Feed(record))
	}
	must(t, r.End(end))
	return r
}

// TestReplay: the same machine sends the same; another one differs from the first datagram on; each change of the
// record is found, with the input that caused it.
func TestReplay(t *testing.T) {
	inputs, _ := script(40)
	list := fly(t, &echo{say: "a"}, inputs)
	end := &Ending{Ended: true}
	r := replay(t, &echo{say: "a"}, false, list, end)
	if r.Difference != nil || r.Inputs != len(inputs) || r.Inputs+r.Frames != len(list) || r.Frames < 20 {
		t.Fatalf("%+v", r)
	}
	if r = replay(t, &echo{say: "b"}, true, list, end); r.Difference != nil {
		t.Errorf("another plan: %v", r.Difference)
	}
	cause, number := 0, -1 // the last input
	for i, record := range list {
		if record.Kind != Out {
			cause = i
			number++
			continue
		}
		for what, changed := range map[string][]Record{
			"another":  append(append(append([]Record{}, list[:i]...), Record{Kind: Out, Data: []byte("x")}), list[i+1:]...),
			"one less": append(append([]Record{}, list[:i]...), list[i+1:]...),
			"one more": append(append(append([]Record{}, list[:i]...), Record{Kind: Out, Data: []byte("x")}), list[i:]...),
		} {
			d := replay(t, &echo{say: "a"}, false, changed, end).Difference
			if d == nil || d.Number != number || !bytes.Equal(d.Input, list[cause].Data) || d.At != list[cause].At {
				t.Errorf("%s at record %d: %v", what, i, d)
			}
		}
	}
}

// TestReplayText shows a difference.
func TestReplayText(t *testing.T) {
	d := &Difference{Number: 7, Kind: flight.Wake, Place: 1, Recorded: []byte{0xfd, 1}}
	d.At.Wall = 1_500_000_000
	if got, want := d.String(), "input 7, wake at 1.500000000 s: datagram 2 was fd01, is nothing"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestReplayDropped: the replay of a box whose beginning was dropped begins at its first checkpoint, and finds each
// difference after it. Later checkpoints do not matter. Another plan is not replayed.
func TestReplayDropped(t *testing.T) {
	inputs, _ := script(40)
	m, dir := &echo{say: "a"}, t.TempDir()
	w, err := Create(dir, inputs[0], Options{Limit: 4000})
	must(t, err)
	for i, in := range inputs {
		if i > 0 {
			must(t, w.Append(in))
		}
		out, err := m.Step(in)
		must(t, err)
		must(t, w.Out(out))
		if w.full() || i%7 == 0 {
			must(t, w.Checkpoint(snapshot.Save(nil, m)))
		}
	}
	must(t, w.Close())
	list, end := folder(t, dir)
	again := &echo{say: "a"}
	r := replay(t, again, false, list, &end)
	if end.Dropped == 0 || !end.Ended || r.Difference != nil || r.Inputs >= len(inputs) || again.sum != m.sum {
		t.Errorf("%+v, %+v", end, r)
	}
	list[2].Data = append(list[2].Data, 'x')
	if r = replay(t, &echo{say: "a"}, false, list, &end); r.Difference == nil {
		t.Error("the difference is not found")
	}
	other := NewReplayer(&echo{say: "b"}, true)
	must(t, other.Feed(list[0]))
	if err := other.Feed(list[1]); !errors.Is(err, ErrDropped) {
		t.Error(err)
	}
	broken := NewReplayer(&echo{say: "b"}, false)
	must(t, broken.Feed(list[0]))
	list[1].Data = append(list[1].Data, 'x')
	if err := broken.Feed(list[1]); !errors.Is(err, snapshot.ErrMismatch) {
		t.Error(err)
	}
}
