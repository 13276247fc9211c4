package driver

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/link"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
)

// counted is a link that counts what is sent, and cuts what arrives.
type counted struct {
	link.Link
	piece   int // the most bytes that arrive at once; 0: any number
	written int
	stuck   bool
}

func (l *counted) Read(buf []byte) (int, error) {
	if l.piece > 0 {
		buf = buf[:l.piece]
	}
	return l.Link.Read(buf)
}

func (l *counted) Write(d []byte) error {
	if l.stuck {
		return link.ErrStuck
	}
	err := l.Link.Write(d)
	if err == nil {
		l.written += len(d)
	}
	return err
}

// pair is a flight and a fake vehicle with a socket each, in step: what one end sends has arrived before time passes.
type pair struct {
	t              *testing.T
	d              *Driver
	p              *page
	b              *tape
	near           *counted
	far            link.Link
	v              *fake.Autopilot
	wall           atomic.Int64
	sent, received int
	told           []string
}

func open(t *testing.T, address string) link.Link {
	t.Helper()
	return openFor(t, address, link.Guard{})
}

func openFor(t *testing.T, address string, g link.Guard) link.Link {
	t.Helper()
	l, err := link.Open(address, g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// openPair opens the sockets of a fake vehicle. Its flight is to begin.
func openPair(t *testing.T, kind string, v *fake.Autopilot) *pair {
	t.Helper()
	x := &pair{t: t, p: &page{}, b: &tape{}, v: v}
	switch kind {
	case "udp":
		near := open(t, "udp::0")
		x.near = &counted{Link: near}
		x.far = open(t, "udpout:"+strings.TrimPrefix(near.String(), "udp:"))
	case "signed":
		secret := frame.SecretOf("secret")
		near := openFor(t, "udp::0", link.Guard{System: 1, Secret: &secret})
		x.near = &counted{Link: near}
		x.far = openFor(t, "udpout:"+strings.TrimPrefix(near.String(), "udp:"), link.Guard{Secret: &secret})
	case "tcp":
		x.far = open(t, "tcpin::0")
		x.near = &counted{Link: open(t, "tcp:"+strings.TrimPrefix(x.far.String(), "tcpin:")), piece: 7}
		if n, err := x.far.Read(make([]byte, 1)); n != 0 || err != nil {
			t.Fatal(n, err)
		}
	}
	x.wall.Store(1)
	return x
}

// clock is that of the test.
func (x *pair) clock() service.Clock {
	return service.Clock{Wall: x.wall.Load(), Unix: 1e18 + x.wall.Load()}
}

func newPair(t *testing.T, kind string) *pair {
	t.Helper()
	x := openPair(t, kind, fake.New(fake.Options{}))
	m := north(t)
	x.p = newPage(m)
	x.d = New(newFlight(t, m, flight.Options{Arm: true}), newLive(x.near, x.clock), Options{Box: x.b.begin,
		Tell: func(e record.Event) { x.told = append(x.told, e.Kind) }})
	x.d.Attach(x.p)
	return x
}

// serve lets the vehicle receive what was sent to it, and fly until it sends something.
func (x *pair) serve() {
	if x.b.bytes < x.sent {
		return // it is under way
	}
	var all []byte
	for buf := make([]byte, link.Datagram); x.received < x.near.written; {
		n, err := x.far.Read(buf)
		if err != nil {
			x.t.Fatal(err)
		}
		all = append(all, buf[:n]...)
		x.received += n
	}
	x.v.Receive(all)
	for x.sent == x.b.bytes {
		x.v.Step(step)
		x.wall.Add(step)
		for _, d := range x.v.Out() {
			if err := x.far.Write(d); err != nil {
				x.t.Fatal(err)
			}
			x.sent += len(d)
		}
	}
}

// A plan flies over real sockets, by datagrams, with and without signatures, and by a stream whose frames arrive in
// pieces. The clock is the test's. The black box has no signatures: a replay needs no secret.
func TestSockets(t *testing.T) {
	for _, kind := range []string{"udp", "tcp", "signed"} {
		if kind == "udp" && testing.Short() { // so does TestConformance
			continue
		}
		x := newPair(t, kind)
		if err := x.d.Fly(context.Background(), func(bool) error { x.serve(); return nil }); err != nil {
			t.Fatal(err)
		}
		if s := x.d.Summary(); s.Plan != record.PlanSucceeded || s.Ended < 40 || s.Ended > 70 {
			t.Errorf("%s: %+v\n%s", kind, s, strings.Join(x.p.lines, "\n"))
		}
		if !slices.Contains(x.told, adapter.Attached.String()) || !x.b.closed || kind != "tcp" && x.b.signed || x.b.inputs[len(x.b.inputs)-1].Kind != flight.End {
			t.Errorf("%s: %v, %+v", kind, x.told, x.b)
		}
	}
}

// The link takes no bytes for some seconds in the air: the log says so, the plan goes on with what arrives.
func TestLinkThatTakesNothing(t *testing.T) {
	x := newPair(t, "tcp")
	err := x.d.Fly(context.Background(), func(bool) error {
		x.near.stuck = x.d.T() > 35 && x.d.T() < 40
		x.serve()
		return nil
	})
	all := strings.Join(x.p.lines, "\n")
	if err != nil || x.d.Summary().Plan != record.PlanSucceeded || strings.Count(all, "it takes no bytes") != 1 ||
		strings.Count(all, "the connection is there again") != 1 {
		t.Errorf("%v, %+v\n%s", err, x.d.Summary(), all)
	}
}
