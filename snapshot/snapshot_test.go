package snapshot

import (
	"errors"
	"math"
	"reflect"
	"testing"
)

type level int8

type thing struct {
	Level  level
	Big    uint64
	On     bool
	X      float64
	Fixed  [3]float64
	Name   string
	Raw    []byte
	Queue  []int32
	Nested []struct{ A, B float64 }
	Plain  plain
}

// plain is passed by Vars.
type plain struct {
	On    bool
	Level level
	Small uint8
	Big   [2]uint64
	X     float32
	Name  string
	In    struct{ T int64 }
	None  *int
	Some  *struct{ T int64 }
}

func (s *thing) State(c *Codec) {
	Int(c, &s.Level)
	Int(c, &s.Big)
	Bool(c, &s.On)
	Float(c, &s.X)
	Floats(c, s.Fixed[:])
	Text(c, &s.Name)
	Bytes(c, &s.Raw)
	List(c, &s.Queue, Int)
	List(c, &s.Nested, func(c *Codec, p *struct{ A, B float64 }) {
		Float(c, &p.A)
		Float(c, &p.B)
	})
	Vars(c, &s.Plain, &s.Plain.In.T)
}

func full() *thing {
	return &thing{Level: -3, Big: math.MaxUint64, On: true, X: math.Copysign(0, -1),
		Fixed: [3]float64{1, math.Inf(1), 0x1p-1074}, Name: "é\x00", Raw: []byte{0, 255}, Queue: []int32{5, -1 << 31},
		Nested: []struct{ A, B float64 }{{1, 2}}, Plain: plain{true, -3, 255, [2]uint64{1, math.MaxUint64}, 0.1, "é",
			struct{ T int64 }{math.MinInt64}, nil, &struct{ T int64 }{7}}}
}

func TestRoundTrip(t *testing.T) {
	want := full()
	data := Save(nil, want, want)
	got, second := &thing{Queue: []int32{1, 2, 3, 4}, Name: "old", Raw: []byte("old"), Plain: plain{None: new(int)}}, &thing{}
	if err := Load(data, got, second); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) || !reflect.DeepEqual(second, want) || !math.Signbit(got.X) {
		t.Errorf("%+v and %+v were read, %+v was written", got, second, want)
	}
}

// A number that its variable cannot hold is a mismatch.
func TestVarsOverflow(t *testing.T) {
	for _, s := range []Stateful{vars{new(uint8)}, vars{new(level)}} {
		for _, v := range []int64{-129, 256} {
			if err := Load(Save(nil, vars{&v}), s); !errors.Is(err, ErrMismatch) {
				t.Errorf("%d: error %v", v, err)
			}
		}
	}
}

type vars struct{ p any }

func (s vars) State(c *Codec) { Vars(c, s.p) }

// Bytes that were cut, prolonged or are of something else are an error, never a panic or an endless slice.
func TestMismatch(t *testing.T) {
	data := Save(nil, full())
	for n := range data {
		if err := Load(data[:n], &thing{}); !errors.Is(err, ErrMismatch) {
			t.Errorf("cut at %d: error %v", n, err)
		}
	}
	if err := Load(append(data, 0), &thing{}); !errors.Is(err, ErrMismatch) {
		t.Errorf("prolonged: error %v", err)
	}
	other := fixed{make([]float64, 2)}
	if err := Load(Save(nil, fixed{make([]float64, 3)}), other); !errors.Is(err, ErrMismatch) {
		t.Errorf("another length: error %v", err)
	}
}

type fixed struct{ x []float64 }

func (s fixed) State(c *Codec) { Floats(c, s.x) }

func FuzzLoad(f *testing.F) {
	f.Add(Save(nil, full()))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &thing{}
		if Load(data, s) != nil {
			return
		}
		again := &thing{}
		if err := Load(Save(nil, s), again); err != nil || !reflect.DeepEqual(Save(nil, s), Save(nil, again)) {
			t.Errorf("%+v does not survive: %v", s, err)
		}
	})
}
