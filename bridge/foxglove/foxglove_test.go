package foxglove

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/record"

	"github.com/coder/websocket"
)

// client is a sender that keeps what it is sent.
type client struct{ got []string }

func (c *client) Write(_ context.Context, kind websocket.MessageType, data []byte) error {
	if kind == websocket.MessageBinary {
		c.got = append(c.got, hex.EncodeToString(data))
	} else {
		c.got = append(c.got, string(data))
	}
	return nil
}

func header() *record.Header {
	return &record.Header{Mission: "m", Tasks: []record.Task{{Name: "a", Kind: "Action", Parent: -1, Initial: bt.Accept}},
		Signals: []record.Signal{{Name: "x", Unit: "m"}, {Name: `"`}}}
}

// newSession returns a session about a run, in progress or recorded, whose client has subscribed to all channels.
func newSession(t testing.TB, h *record.Header, recorded bool) (*session, *client) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	c := &client{}
	x := &session{ctx: ctx, cancel: cancel, to: c, changed: make(chan struct{}, 1)}
	if recorded {
		x.playback = playback{bar: true, touched: true, speed: 1}
		x.rewind(h, h.Start+100)
		_, err := x.left(h.Start) // which is there
		must(t, err)
	} else {
		_, err := x.live(h)
		must(t, err)
	}
	must(t, x.asked([]byte(`{"op": "subscribe", "subscriptions": [{"id": 258, "channelId": 1}, {"id": 2, "channelId": 2},
		{"id": 3, "channelId": 3}]}`)))
	c.got = nil
	return x, c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Each message is laid out as the protocol has it: data behind kind, subscription and time; the time; JSON without NaN.
func TestBytes(t *testing.T) {
	x, c := newSession(t, header(), false)
	must(t, x.Sample(1.5, []float64{-0.25, math.NaN()}))
	must(t, x.Status(1.5, 1, bt.Change{To: bt.Activating, From: bt.Accept}))
	must(t, x.Event(record.Event{T: 2, Micro: 1, Kind: "state", Text: "x > 1 becomes false", Relation: "x > 1"}))
	must(t, x.asked([]byte(`{"op": "unsubscribe", "subscriptionIds": [258, 3]}`)))
	must(t, x.Sample(3, []float64{1, 2}))
	time := func(ns string) string { return "02" + ns }
	data := func(id, ns, text string) string { return "01" + id + ns + hex.EncodeToString([]byte(text)) }
	want := []string{time("002f685900000000"), data("02010000", "002f685900000000", `{"t":1.5,"x":-0.25,"\"":null}`),
		data("02000000", "002f685900000000", `{"t":1.5,"micro":1,"task":"a","from":"Accept","to":"Activating"}`),
		time("0094357700000000"), data("03000000", "0094357700000000",
			`{"t":2,"micro":1,"kind":"state","text":"x \u003e 1 becomes false","relation":"x \u003e 1","holds":false}`),
		time("005ed0b200000000")}
	if !slices.Equal(c.got, want) {
		t.Errorf("sent\n%s\nwanted\n%s", strings.Join(c.got, "\n"), strings.Join(want, "\n"))
	}
}

// A flight has Unix times, and a channel for where the vehicle is.
func TestFlight(t *testing.T) {
	h := header()
	h.Date, h.Start = 1_800_000_000_000_000_000, 40
	x, c := newSession(t, h, false)
	must(t, x.asked([]byte(`{"op": "subscribe", "subscriptions": [{"id": 4, "channelId": 4}, {"id": 5, "channelId": 5}]}`)))
	must(t, x.Event(record.Event{T: 41.5, Kind: "unknown", Text: "lost"}))
	must(t, x.Message(record.Locations, []byte(`{"latitude":1}`)))
	must(t, x.Message(record.Incoming, []byte(`{}`)))
	now := binary.LittleEndian.AppendUint64(nil, 1_800_000_001_500_000_000)
	for _, want := range []string{"0104000000" + hex.EncodeToString(now) + hex.EncodeToString([]byte(
		`{"timestamp":{"sec":1800000001,"nsec":500000000},"level":3,"message":"lost","name":"unknown","file":"","line":0}`)),
		"0105000000" + hex.EncodeToString(now) + hex.EncodeToString([]byte(`{"latitude":1}`))} {
		if !slices.Contains(c.got, want) {
			t.Errorf("no %s in\n%s", want, strings.Join(c.got, "\n"))
		}
	}
	if s := x.view.seconds(1_800_000_001_500_000_000); s != 41.5 {
		t.Errorf("%g s", s)
	}
}

// The state of the playback answers a wish: kind, state, time, speed, whether the time was sought, and the request.
func TestWishes(t *testing.T) {
	x, c := newSession(t, header(), true)
	wish := func(hexadecimal string) error {
		b, err := hex.DecodeString(strings.ReplaceAll(hexadecimal, " ", ""))
		must(t, err)
		c.got = nil
		return x.wished(b)
	}
	must(t, wish("03 01 00000040 00 0000000000000000 02000000 7878"))
	if want := []string{"05" + "01" + "0000000000000000" + "00000040" + "00" + "02000000" + "7878"}; !slices.Equal(c.got, want) {
		t.Errorf("%q, wanted %q", c.got, want)
	}
	must(t, wish("03 01 00000040 01 00ca9a3b00000000 01000000 79")) // 1 s
	if _, err := x.left(0.5); !errors.Is(err, errSeek) || len(c.got) > 0 {
		t.Errorf("%v, %q", err, c.got)
	}
	x.rewind(header(), 100)
	must(t, x.Status(0.5, 1, bt.Change{To: bt.Running}))
	if left, err := x.left(0.5); left != 0 || err != nil || len(c.got) > 0 {
		t.Errorf("%v, %v, %q", left, err, c.got)
	}
	if left, err := x.left(1); left < time.Minute || err != nil {
		t.Errorf("%v, %v", left, err)
	}
	if len(c.got) != 3 || c.got[0] != "0200ca9a3b00000000" || c.got[2] != "05"+"01"+"00ca9a3b00000000"+"00000040"+"01"+"01000000"+"79" ||
		!strings.HasSuffix(c.got[1], hex.EncodeToString([]byte(`"from":"Running","to":"Running"}`))) {
		t.Errorf("%q", c.got)
	}
	for _, wrong := range []string{"", "03", "03 01 00000040 01 00ca9a3b00000000 02000000 79", "04 01 00000040 00 0000000000000000 00000000",
		"03 02 00000040 00 0000000000000000 00000000", "03 00 00000000 00 0000000000000000 00000000",
		"03 00 000080bf 00 0000000000000000 00000000", "03 00 0000c07f 00 0000000000000000 00000000",
		"03 00 0000807f 00 0000000000000000 00000000", "03 00 00000040 02 0000000000000000 00000000"} {
		if err := wish(wrong); !errors.Is(err, errUnknown) {
			t.Errorf("%s: %v, %q", wrong, err, c.got)
		}
	}
	live, _ := newSession(t, header(), false)
	if err := live.wished(unhex("0301000000400000000000000000000000000000")[:19]); err == nil || !strings.Contains(err.Error(), "nothing to control") {
		t.Errorf("in a run in progress: %v", err)
	}
}

// A client without controls sees a recorded run go by from its first subscription on, and is told of no playback.
func TestGoesBy(t *testing.T) {
	c := &client{}
	x := &session{ctx: t.Context(), cancel: func() {}, to: c, changed: make(chan struct{}, 1), playback: playback{speed: 1e9}}
	x.rewind(header(), 100)
	if left, err := x.left(0); left < time.Minute || err != nil {
		t.Errorf("before a subscription: %v, %v", left, err)
	}
	must(t, x.asked([]byte(`{"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 1}]}`)))
	must(t, x.wait(100))
	for _, m := range c.got {
		if strings.HasPrefix(m, "05") || strings.Contains(m, "playback") {
			t.Error(m)
		}
	}
}

func unhex(s string) []byte {
	b, _ := hex.DecodeString(s)
	return b
}

// FuzzClient: whatever a client sends, it is told what is wrong, or the playback stays within the run.
func FuzzClient(f *testing.F) {
	f.Add([]byte(`{"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 4}]}`), true)
	f.Add([]byte(`{"op": "unsubscribe", "subscriptionIds": [1, 258]}`), true)
	f.Add(unhex("030100000040000000000000000000020000007878"), false)
	f.Fuzz(func(t *testing.T, message []byte, text bool) {
		for _, recorded := range []bool{false, true} {
			x, c := newSession(t, header(), recorded)
			var err error
			if text {
				err = x.asked(message)
			} else {
				err = x.wished(message)
			}
			if len(x.subscriptions) > len(topics) || len(c.got) > len(topics) {
				t.Errorf("%q: %d subscriptions, %d messages", message, len(x.subscriptions), len(c.got))
			}
			if err == nil && recorded && !(x.at >= 0 && x.at <= 100 && x.target >= 0 && x.target <= 100 && x.speed > 0) {
				t.Errorf("%q: at %g, to %g, at speed %g", message, x.at, x.target, x.speed)
			}
			if left, err := x.left(50); err == nil && (left < 0 || left > time.Hour) {
				t.Errorf("%q: wait for %v", message, left)
			}
			x.say(map[string]any{"message": fmt.Sprint(err)})
			if last := c.got[len(c.got)-1]; !json.Valid([]byte(last)) {
				t.Errorf("%q", last)
			}
		}
	})
}

// Pages of other sites and names that lead here cannot connect; nor does a client of another protocol.
func TestGuard(t *testing.T) {
	s := &Server{Dir: t.TempDir(), Origins: []string{"https://tools.example"}}
	for _, c := range []struct {
		host, origin string
		status       int
	}{
		{"127.0.0.1:8765", "", 426}, {"localhost:8765", "", 426}, {"[::1]:8765", "https://app.foxglove.dev", 426},
		{"localhost:1", "file://", 426}, {"localhost:1", "http://localhost:8080", 426}, {"localhost:1", "https://tools.example", 426},
		{"localhost:1", "http://127.0.0.1:8080", 426},
		{"localhost:1", "null", 403}, {"localhost:1", "https://tools.example.evil.example", 403}, {"localhost:1", "http://evil.example", 403},
		{"localhost:1", "http://localhost.evil.example", 403}, {"localhost:1", "ftp://localhost", 403}, {"localhost:1", ":", 403},
		{"evil.example:8765", "", 403}, {"localhost", "", 403}, {"localhost6:8765", "", 403}, {"127.0.0.1.evil.example:8765", "", 403},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		if r.Host = c.host; c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != c.status {
			t.Errorf("%+v: %d", c, w.Code)
		}
	}
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.Host = "robot:8765"
	w := httptest.NewRecorder()
	if s = (&Server{Exposed: true}); s.foreign(r) != "" {
		t.Error(s.foreign(r))
	}
	if s.ServeHTTP(w, r); w.Code != 426 {
		t.Errorf("an exposed one: %d", w.Code)
	}
}

// connect connects to a server.
func connect(t *testing.T, l net.Listener, protocol string) *websocket.Conn {
	t.Helper()
	c, _, err := websocket.Dial(t.Context(), "ws://"+l.Addr().String(), &websocket.DialOptions{Subprotocols: []string{protocol}})
	must(t, err)
	c.SetReadLimit(1 << 20)
	return c
}

// serving returns the address of a server of the run in a folder.
func serving(t *testing.T, dir string) (*Server, net.Listener) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = l.Close() })
	s := &Server{Dir: dir}
	go func() { _ = s.Serve(l) }()
	return s, l
}

// Both names of the protocol are understood, and no other.
func TestProtocols(t *testing.T) {
	_, l := serving(t, t.TempDir())
	for _, name := range append(slices.Clone(protocols), "foxglove.sdk.v2") {
		c := connect(t, l, name)
		_, _, err := c.Read(t.Context())
		status := websocket.StatusGoingAway // there is no run
		if !slices.Contains(protocols, name) {
			status = websocket.StatusPolicyViolation
		}
		if websocket.CloseStatus(err) != status {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNeverReads: a client of a run in progress that takes nothing is dropped; another one misses nothing meanwhile, and
// the run does not wait for either.
func TestNeverReads(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes the server's patience")
	}
	h, dir := header(), t.TempDir()
	h.Mission = strings.Repeat("long ", 1000)
	for len(h.Signals) < 300 {
		h.Signals = append(h.Signals, record.Signal{Name: fmt.Sprint("signal ", len(h.Signals))})
	}
	file, err := os.Create(filepath.Join(dir, folder.LogFile))
	must(t, err)
	_, err = record.NewWriter(*h, record.Files{MCAP: file})
	must(t, errors.Join(err, file.Close()))
	feed := control.NewFeed(*h)
	run, err := control.Listen(dir, nil, 0, feed)
	must(t, err)
	defer run.Close() //nolint:errcheck // a test
	values := make([]float64, len(h.Signals))
	must(t, feed.Sample(0, values))
	s, l := serving(t, dir)
	subscribe := []byte(`{"op": "subscribe", "subscriptions": [{"id": 1, "channelId": 1}]}`)
	var clients [2]*websocket.Conn
	for i := range clients {
		clients[i] = connect(t, l, protocols[0])
		for range 2 { // what there is
			_, _, err := clients[i].Read(t.Context())
			must(t, err)
		}
		must(t, clients[i].Write(t.Context(), websocket.MessageText, subscribe))
	}
	reads := clients[1]
	next := func() float64 {
		for {
			_, data, err := reads.Read(t.Context())
			must(t, err)
			if data[0] == 1 {
				var m struct{ T float64 }
				must(t, json.Unmarshal(data[1+4+8:], &m))
				return m.T
			}
		}
	}
	var longest time.Duration
	for i, last := 1, next(); len(s.slots) == 2; i++ {
		began := time.Now()
		must(t, feed.Sample(float64(i), values))
		longest = max(longest, time.Since(began))
		if now := next(); now != last+1 {
			t.Fatalf("%g s comes after %g s", now, last)
		} else {
			last = now
		}
	}
	if longest > patience/2 {
		t.Errorf("the run has waited for %v", longest)
	}
}
