package fake_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/fake"

	"github.com/google/go-cmp/cmp"
)

// sent passes datagrams with the numbers 0 to n-1 as their bytes, one each millisecond, and returns what arrives.
func sent(seed uint64, p fake.Scenario, n int) [][]byte {
	c := fake.NewWire(seed, p)
	var got [][]byte
	for i := range int64(n) {
		now := i * 1e6
		c.Send(fake.FromVehicle, []byte{byte(i), byte(i >> 8)}, now)
		got = append(got, c.Arrived(fake.FromVehicle, now)...)
	}
	return append(got, c.Arrived(fake.FromVehicle, 1e15)...)
}

func TestChannel(t *testing.T) {
	const n = 10000
	all := sent(1, fake.Scenario{}, n)
	if len(all) != n {
		t.Errorf("a perfect channel delivers %d of %d", len(all), n)
	}
	for _, c := range []struct {
		name        string
		p           fake.Scenario
		least, most int // datagrams that arrive
		same        bool
	}{
		{"loss", fake.Scenario{Loss: 0.2}, 7800, 8200, false},
		{"repeat", fake.Scenario{Repeat: 0.1}, 10800, 11200, false},
		{"join", fake.Scenario{Join: 0.5}, 4800, 5200, false},
		{"broken", fake.Scenario{Broken: 0.5}, n, n, false},
		{"delay", fake.Scenario{Delay: 1e8}, n, n, false},
		{"silence of the other way", fake.Scenario{Silences: []fake.Silence{{Way: fake.ToVehicle, To: 1e10}}}, n, n, true},
		{"silence", fake.Scenario{Silences: []fake.Silence{{Way: fake.FromVehicle, From: 1e9, To: 2e9}}}, 9000, 9000, false},
	} {
		got := sent(1, c.p, n)
		if len(got) < c.least || len(got) > c.most {
			t.Errorf("%s: %d datagrams arrive, not %d to %d", c.name, len(got), c.least, c.most)
		}
		if slices.EqualFunc(got, all, bytes.Equal) != c.same {
			t.Errorf("%s: unchanged is %v", c.name, !c.same)
		}
		if !slices.EqualFunc(got, sent(1, c.p, n), bytes.Equal) {
			t.Errorf("%s: the second run differs", c.name)
		}
		if c.p.Join > 0 && !bytes.Equal(bytes.Join(got, nil), bytes.Join(all, nil)[:len(bytes.Join(got, nil))]) {
			t.Errorf("%s: the bytes differ", c.name)
		}
	}
}

func TestEventsInTheirOrder(t *testing.T) {
	var p fake.Scenario
	for _, text := range []string{"reboot@3", "battery=0.5@1", "loss=0.1", "mute=2@5"} {
		if err := p.Add(text); err != nil {
			t.Error(err)
		}
	}
	want := fake.Scenario{Loss: 0.1,
		Silences: []fake.Silence{{Way: fake.FromVehicle, From: 5e9, To: 7e9}},
		Events: []fake.Incident{{T: 3e9, Event: fake.Event{Kind: fake.Reboot}},
			{T: 1e9, Event: fake.Event{Kind: fake.Battery, Value: 0.5}}}}
	if diff := cmp.Diff(want, p); diff != "" {
		t.Error(diff)
	}
	c := fake.NewWire(1, p)
	for _, step := range []struct {
		now  int64
		want int
	}{{0, 0}, {1e9, 1}, {2e9, 0}, {4e9, 1}, {9e9, 0}} {
		if got := c.Events(step.now); len(got) != step.want {
			t.Errorf("at %d: %v", step.now, got)
		}
	}
}

// The clock runs at half its rate from 10 s on, stands still from 40 s to 50 s, and runs as before.
func TestRates(t *testing.T) {
	var p fake.Scenario
	for _, text := range []string{"rate=0.5@10", "rate=0@40", "rate=1@50"} {
		if err := p.Add(text); err != nil {
			t.Error(err)
		}
	}
	for nominal, want := range map[int64]int64{0: 0, 10e9: 10e9, 20e9: 15e9, 40e9: 25e9, 45e9: 25e9, 60e9: 35e9} {
		if got := p.Time(nominal); got != want {
			t.Errorf("at %d: %d, want %d", nominal, got, want)
		}
	}
	if err := p.Add("rate=1@49"); err == nil {
		t.Error("a rate that begins before the last one")
	}
}

func TestWrongFaults(t *testing.T) {
	for text, want := range map[string]string{
		"los=0.1":     `did you mean "loss"`,
		"loss":        "loss=VALUE",
		"loss=2":      "up to 1",
		"loss=-1":     "not a number",
		"loss=NaN":    "not a number",
		"loss=0.1@3":  "loss=VALUE",
		"mute=1":      "mute=SECONDS@TIME",
		"rate=0.5":    "rate=FACTOR@TIME",
		"rate=1e6@3":  "up to 100",
		"reboot":      "reboot@TIME",
		"reboot=1@3":  "reboot@TIME",
		"battery@3":   "battery=VALUE@TIME",
		"battery=1@x": "not a time",
		"mute=1km@3":  "13:57:06",
		"":            "unknown fault",
	} {
		var p fake.Scenario
		if err := p.Add(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
