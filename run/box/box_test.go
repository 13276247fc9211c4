package box

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/run/flight"
)

// disk is a file in memory.
type disk struct {
	bytes.Buffer
	synced int // number of calls of Sync
}

var errNoSpace = errors.New("no space left on device")

func (d *disk) Sync() error  { d.synced++; return nil }
func (d *disk) Close() error { return nil }

func input(kind flight.Kind, wall int64, data string) flight.Input {
	at := service.Clock{Wall: wall, Unix: wall + 1e18, Vehicle: wall / 2}
	return flight.Input{Kind: kind, At: at, Data: []byte(data)}
}

// script are the inputs of a small flight, and what it sends after each.
func script(n int) (inputs []flight.Input, out [][][]byte) {
	rnd := rand.New(rand.NewPCG(1, uint64(n)))
	inputs, out = []flight.Input{input(flight.Start, 0, "plan")}, [][][]byte{nil}
	for i := range n {
		in := input(flight.Frame, int64(i+1)*3e8, string(make([]byte, rnd.IntN(40))))
		for k := range in.Data {
			in.Data[k] = byte(rnd.Uint32())
		}
		inputs = append(inputs, in)
		var sent [][]byte
		for range rnd.IntN(3) {
			sent = append(sent, fmt.Appendf(nil, "frame %d", rnd.IntN(1000)))
		}
		out = append(out, sent)
	}
	return append(inputs, input(flight.End, int64(n+1)*3e8, "")), append(out, nil)
}

// write records a script, except its start, and returns the first error.
func write(w *Writer, inputs []flight.Input, out [][][]byte) error {
	for i, in := range inputs {
		if err := errors.Join(w.Append(in), w.Out(out[i])); err != nil {
			return err
		}
	}
	return nil
}

// records are those of a script.
func records(inputs []flight.Input, out [][][]byte) (list []Record) {
	for i, in := range inputs {
		list = append(list, Record{Kind: Kind(in.Kind), At: in.At, Data: in.Data})
		for _, d := range out[i] {
			list = append(list, Record{Kind: Out, At: in.At, Data: d})
		}
	}
	return list
}

// read returns the records before the first broken one, where each begins, and the error.
func read(t *testing.T, data []byte) (list []Record, places []int64, err error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data))
	for err == nil {
		places = append(places, r.at)
		var record Record
		if record, err = r.Next(); err == nil {
			list = append(list, record)
		}
	}
	return list, places, err
}

func same(a, b []Record) bool {
	for i := range min(len(a), len(b)) {
		if a[i].Kind != b[i].Kind || a[i].At != b[i].At || !bytes.Equal(a[i].Data, b[i].Data) {
			return false
		}
	}
	return len(a) == len(b)
}

// small is a box in memory.
func small(t *testing.T, n int) (data []byte, all []Record) {
	t.Helper()
	inputs, out := script(n)
	d := &disk{}
	w := newWriter(d, "", Options{})
	w.begin(inputs[0])
	if err := write(w, inputs[1:], out[1:]); err != nil {
		t.Fatal(err)
	}
	return d.Bytes(), records(inputs, out)
}

func TestRoundTrip(t *testing.T) {
	data, want := small(t, 20)
	got, _, err := read(t, data)
	if !errors.Is(err, io.EOF) || !same(got, want) {
		t.Fatalf("%d records of %d, then %v", len(got), len(want), err)
	}
}

// TestDamage cuts a box at every byte and flips every bit: everything before the damage is read, and nothing else.
func TestDamage(t *testing.T) {
	data, want := small(t, 12)
	_, places, _ := read(t, data)
	before := func(at int) (n int) { // the number of records that end at or before a byte
		for n+1 < len(places) && places[n+1] <= int64(at) {
			n++
		}
		return n
	}
	check := func(damaged []byte, at int, what string) {
		t.Helper()
		got, _, err := read(t, damaged)
		whole := len(damaged) >= len(Magic) && string(damaged[:len(Magic)]) == Magic
		switch {
		case !whole && (len(got) > 0 || !errors.Is(err, ErrFormat)):
			t.Errorf("%s: %d records, %v", what, len(got), err)
		case whole && !same(got, want[:before(at)]):
			t.Errorf("%s: %d records, there are %d before", what, len(got), before(at))
		case whole:
			var d *Damage
			clean := errors.Is(err, io.EOF) && int64(len(damaged)) == places[len(got)]
			if !clean && (!errors.As(err, &d) || d.At != places[len(got)] || d.Record != int64(len(got))) {
				t.Errorf("%s: %v, the damage is at byte %d", what, err, places[len(got)])
			}
		}
	}
	for at := range data {
		check(data[:at], at, fmt.Sprintf("cut at byte %d", at))
		for bit := range 8 {
			damaged := bytes.Clone(data)
			damaged[at] ^= 1 << bit
			check(damaged, at, fmt.Sprintf("bit %d of byte %d", bit, at))
		}
	}
	// Zeros after a power cut, a record that is missing, and one that appears twice.
	check(append(bytes.Clone(data), make([]byte, 100)...), len(data), "zeros")
	a, b := places[3], places[4]
	check(append(bytes.Clone(data[:a]), data[b:]...), int(a), "a record is missing")
	check(append(bytes.Clone(data[:b]), data[a:]...), int(b), "a record appears twice")
}

// TestSync: a box is on the disk once in each second, and when it is told so.
func TestSync(t *testing.T) {
	d := &disk{}
	w := newWriter(d, "", Options{})
	w.begin(input(flight.Start, 0, ""))
	began := d.synced
	for i := range 101 {
		if err := w.Append(input(flight.Frame, int64(i)*1e8, "x")); err != nil {
			t.Fatal(err)
		}
	}
	if n := d.synced - began; n != 10 {
		t.Errorf("%d times in 10 s", n)
	}
	if err := w.Sync(); err != nil || d.synced-began != 11 {
		t.Errorf("%v, %d times", err, d.synced-began)
	}
}

// folder reads the box of a folder.
func folder(t *testing.T, dir string) (list []Record, end Ending) {
	t.Helper()
	end, err := Each(dir, func(r Record) error { list = append(list, r); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return list, end
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestContinue kills a program in each record and continues: the box is what it would have been.
func TestContinue(t *testing.T) {
	inputs, out := script(10)
	all := records(inputs, out)
	data, _ := small(t, 10)
	_, places, _ := read(t, data)
	for n := 1; n < len(all); n++ {
		for _, half := range []int64{0, 5} {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, File), data[:places[n]+half], 0o666))
			var seen []Record
			w, end, err := Continue(dir, Options{}, func(r Record) error { seen = append(seen, r); return nil })
			must(t, err)
			if !same(seen, all[:n]) || end.Records != int64(n) || (half > 0) != (end.Damage != nil) || end.Ended {
				t.Fatalf("killed in record %d: %d records, %+v", n, len(seen), end)
			}
			for _, r := range all[n:] {
				w.add(r)
			}
			must(t, w.Close())
			again, err := os.ReadFile(filepath.Join(dir, File))
			if must(t, err); !bytes.Equal(again, data) {
				t.Fatalf("killed in record %d, the box is another one", n)
			}
		}
	}
}

// TestLimit: a box with checkpoints stays below its limit, and what it has is complete from a checkpoint on; without
// checkpoints, it reports that it is full.
func TestLimit(t *testing.T) {
	const limit = 4000
	inputs, out := script(400)
	dir := t.TempDir()
	w, err := Create(dir, inputs[0], Options{Limit: limit})
	must(t, err)
	all, made := records(inputs[:1], out[:1]), map[int]bool{}
	inputs, out = inputs[:len(inputs)-1], out[:len(out)-1] // the flight goes on
	for i := 1; i < len(inputs); i++ {
		must(t, write(w, inputs[i:i+1], out[i:i+1]))
		all = append(all, records(inputs[i:i+1], out[i:i+1])...)
		if w.full() {
			must(t, w.Checkpoint(fmt.Appendf(nil, "state after %d", len(all))))
			made[len(all)] = true
		}
		if i%17 == 0 || i == len(inputs)-1 {
			list, end := folder(t, dir)
			points := 0
			list = slices.DeleteFunc(list, func(r Record) bool {
				if r.Kind == Checkpoint {
					points++
				}
				return r.Kind == Checkpoint && points > 1
			})
			size := int64(0)
			for _, name := range []string{File, Old} {
				if info, err := os.Stat(filepath.Join(dir, name)); err == nil {
					size += info.Size()
				}
			}
			if size > limit || end.Records != int64(len(all)) || end.Damage != nil {
				t.Fatalf("after input %d: %d bytes, %+v", i, size, end)
			}
			if end.Dropped == 0 {
				continue
			}
			state, before, ok := list[1].State()
			if !ok || !made[int(before)] || string(state) != fmt.Sprintf("state after %d", before) ||
				end.Dropped != before-1 || !same(list[2:], all[before:]) || !same(list[:1], all[:1]) {
				t.Fatalf("after input %d: %d records after a checkpoint at %d, %+v", i, len(list), before, end)
			}
		}
	}
	must(t, w.Close())
	if len(made) < 5 {
		t.Fatalf("%d checkpoints: it tests little", len(made))
	}
	// A program killed while it makes a checkpoint has left one file of the two.
	list, _ := folder(t, dir)
	must(t, os.Rename(filepath.Join(dir, File), filepath.Join(dir, Old)))
	var seen []Record
	w, _, err = Continue(dir, Options{}, func(r Record) error { seen = append(seen, r); return nil })
	must(t, err)
	must(t, w.Close())
	list = slices.DeleteFunc(list, func(r Record) bool { return r.Kind == Checkpoint })
	if n := len(seen); n < 2 || !same(seen[2:], list[len(list)-n+2:]) {
		t.Errorf("a checkpoint was being made: %d records", n)
	}

	w, err = Create(t.TempDir(), inputs[0], Options{Limit: limit})
	must(t, err)
	if err := write(w, inputs[1:], out[1:]); !errors.Is(err, ErrFull) {
		t.Errorf("without checkpoints: %v", err)
	}
	_ = w.Close()
}

// TestNoKey: a message that sets a key is recorded without it.
func TestNoKey(t *testing.T) {
	setup := append([]byte{0xfd, 42, 0, 0, 7, 255, 190, 0, 1, 0}, bytes.Repeat([]byte("secret"), 8)...)
	other := append([]byte{0xfd, 42, 0, 0, 7, 255, 190, 1, 1, 0}, bytes.Repeat([]byte("public"), 8)...)
	d := &disk{}
	w := newWriter(d, "", Options{})
	w.begin(input(flight.Start, 0, ""))
	must(t, w.Out([][]byte{setup, other}))
	if bytes.Contains(d.Bytes(), []byte("secret")) || !bytes.Contains(d.Bytes(), other) {
		t.Error("the key is in the box, or what is no key is not")
	}
}

// limited is a file whose disk becomes full.
type limited struct {
	*os.File
	space int
}

func (f *limited) Write(data []byte) (int, error) {
	n, err := f.File.Write(data[:min(f.space, len(data))])
	if f.space -= n; err == nil && n < len(data) {
		err = errNoSpace
	}
	return n, err
}

// TestStopped: when recording stops because the disk or the box is full, at any byte, the box is marked before the
// error is returned. What was written before is read, and the flight is not continued. Another flight may begin.
func TestStopped(t *testing.T) {
	inputs, out := script(6)
	all, _ := small(t, 6)
	dir := t.TempDir()
	step := 1
	if testing.Short() {
		step = 7
	}
	for space := 0; space < len(all); space += step {
		w, err := Create(dir, inputs[0], Options{})
		must(t, err)
		began, full := int(w.size), errNoSpace
		if began+space >= len(all) {
			must(t, w.Close())
			break
		}
		if space%2 == 0 {
			w.to = &limited{w.to.(*os.File), space}
		} else {
			w.limit, full = int64(began+space), ErrFull
		}
		err = write(w, inputs[1:], out[1:])
		before, unread := os.ReadFile(filepath.Join(dir, Stopped))
		if !errors.Is(err, full) || !errors.Is(w.Append(inputs[1]), full) || !errors.Is(w.Sync(), full) || unread != nil || w.Close() != nil {
			t.Fatalf("after %d bytes: %v, %v", space, err, unread)
		}
		list, end := folder(t, dir)
		whole := records(inputs, out)
		if !end.Stopped || end.Missing() != ErrStopped.Error() || len(list) == 0 || !same(list, whole[:len(list)]) {
			t.Fatalf("after %d bytes: %d records, %+v", space, len(list), end)
		}
		_, _, err = Continue(dir, Options{}, func(Record) error { t.Error("a record is fed"); return nil })
		after, unread := os.ReadFile(filepath.Join(dir, Stopped))
		if !errors.Is(err, ErrStopped) || unread != nil || !bytes.Equal(before, after) {
			t.Fatalf("after %d bytes, it is continued: %v", space, err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, Stopped)); err == nil {
		t.Error("the mark of an earlier flight remains")
	}
}

// TestUnmarked: a box that can be neither written nor marked says what must not be done.
func TestUnmarked(t *testing.T) {
	inputs, out := script(6)
	dir := t.TempDir()
	w, err := Create(dir, inputs[0], Options{Limit: 200})
	must(t, err)
	must(t, os.Remove(filepath.Join(dir, File)))
	if err := write(w, inputs[1:], out[1:]); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "do not continue") {
		t.Error(err)
	}
	must(t, w.Close())
}

// TestContinueDamaged damages boxes of killed flights: with every bit that is flipped, and with bytes that are lost or
// added anywhere, they are refused and remain as they are. They are continued only after the whole records of the flight,
// if less than a record follows.
func TestContinueDamaged(t *testing.T) {
	whole, _ := small(t, 3)
	_, places, _ := read(t, whole)
	step, times := 1, 1000
	if testing.Short() {
		step, times = 8, 200
	}
	data := whole[:places[len(places)-2]] // without its end: the program was killed
	dir := t.TempDir()
	name := filepath.Join(dir, File)
	try := func(damaged []byte, what string) {
		t.Helper()
		must(t, os.WriteFile(name, damaged, 0o666))
		w, end, err := Continue(dir, Options{}, func(Record) error { return nil })
		after, unread := os.ReadFile(name)
		must(t, unread)
		n := end.Records
		if err == nil {
			w.ready()
			must(t, w.Close())
			after, unread = os.ReadFile(name)
			must(t, unread)
		}
		cut := len(damaged) < len(data) && bytes.Equal(damaged, data[:len(damaged)]) && n > 0
		switch {
		case err == nil:
			if !bytes.Equal(after, data[:places[n]]) || !cut && int64(len(damaged)) >= places[n+1] {
				t.Errorf("%s: it is continued after %d bytes of %d", what, len(after), len(damaged))
			}
		case cut || !errors.Is(err, ErrFormat) || !bytes.Equal(after, damaged):
			t.Errorf("%s: %v, %d bytes of %d", what, err, len(after), len(damaged))
		}
	}
	for at := range data {
		try(data[:at], fmt.Sprintf("cut at byte %d", at))
		for bit := at % step; bit < 8; bit += step {
			damaged := bytes.Clone(data)
			damaged[at] ^= 1 << bit
			try(damaged, fmt.Sprintf("bit %d of byte %d", bit, at))
		}
	}
	rnd := rand.New(rand.NewPCG(5, 6))
	for range times {
		at, n := rnd.IntN(len(data)), 1+rnd.IntN(60)
		if rnd.IntN(2) == 0 {
			damaged := append(bytes.Clone(data[:at]), make([]byte, 12+n)...) // the head of a record, and more
			try(append(damaged, data[at:]...), fmt.Sprintf("%d zeros at byte %d", 12+n, at))
		} else if at+n+12 < len(data) {
			try(append(bytes.Clone(data[:at]), data[at+n:]...), fmt.Sprintf("%d bytes lost at byte %d", n, at))
		}
	}
	must(t, os.WriteFile(name, whole, 0o666))
	if _, _, err := Continue(dir, Options{}, func(Record) error { return nil }); !errors.Is(err, ErrOver) {
		t.Errorf("a flight that is over: %v", err)
	}
}

// TestTime: after a restart, the wall clock continues as the Unix clock, and never goes back.
func TestTime(t *testing.T) {
	end := Ending{Last: service.Clock{Wall: 5e9, Unix: 1e18}}
	for unix, want := range map[int64]int64{1e18 + 2e9: 7e9, 1e18 - 2e9: 5e9} {
		if got := end.Time(unix); !reflect.DeepEqual(got, service.Clock{Wall: want, Unix: unix}) {
			t.Errorf("%+v", got)
		}
	}
}

// FuzzReader: what is read is written again to the same bytes.
func FuzzReader(f *testing.F) {
	d := &disk{}
	w := newWriter(d, "", Options{})
	w.begin(input(flight.Start, 0, "plan"))
	_ = w.Append(input(flight.Wake, 1, ""))
	_ = w.Out([][]byte{[]byte("abc")})
	f.Add(d.Bytes())
	f.Add([]byte(Magic + "\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte(Magic + "\xff\xff\xff\x03\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, places, err := read(t, data)
		if err == nil {
			t.Fatal("a reader without an end")
		}
		if len(places) == 0 {
			return
		}
		again, sum := []byte(Magic), uint32(0)
		for i := range list {
			again, sum = appendRecord(again, sum, &list[i])
		}
		if !bytes.Equal(again, data[:places[len(list)]]) {
			t.Error("what is read is not what is there")
		}
	})
}
