// Package foxglove shows runs in Foxglove and its relatives, over their WebSocket protocol.
//
// Each connection has a session of its own, which follows the run in progress or replays the log: a tool that is slow
// or moves through time disturbs no other. docs/bridges.md lists the topics.
package foxglove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/relay"

	"github.com/coder/websocket"
)

const (
	mostSessions = 16
	mostRequest  = 1 << 16 // bytes
	patience     = 5 * time.Second
)

// protocols are the names of the protocol, the present one first.
var protocols = []string{"foxglove.sdk.v1", "foxglove.websocket.v1"}

// Server serves the run in a folder.
type Server struct {
	Dir     string
	Speed   float64  // of a replay, unless the client asks for another one
	Origins []string // of pages that may connect, beside those of this computer and Foxglove's own
	Exposed bool     // other computers may connect, too: any name of the host is right

	slots chan struct{}
	once  sync.Once
}

// Serve serves until the listener is closed.
func (s *Server) Serve(l net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: patience, MaxHeaderBytes: 1 << 14}
	err := server.Serve(l)
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// foreign returns why a request is refused, "" if it is not. A browser sends requests for any page that it shows.
func (s *Server) foreign(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.Host)
	if !s.Exposed && (err != nil || !local(host)) {
		return "the address is 127.0.0.1, [::1] or localhost"
	}
	for _, origin := range r.Header.Values("Origin") {
		at, err := url.Parse(origin)
		if origin == "https://app.foxglove.dev" || origin == "file://" || slices.Contains(s.Origins, origin) {
			continue
		}
		if err != nil || at.Scheme != "http" && at.Scheme != "https" || !local(at.Hostname()) {
			return fmt.Sprintf("a page of %q may not read runs, unless --origin names it", origin)
		}
	}
	return ""
}

// local reports whether a host is this computer.
func local(host string) bool { return host == "127.0.0.1" || host == "::1" || host == "localhost" }

// ServeHTTP begins a session.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.once.Do(func() { s.slots = make(chan struct{}, mostSessions) })
	if why := s.foreign(r); why != "" {
		http.Error(w, why, http.StatusForbidden)
		return
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	default:
		http.Error(w, "too many sessions", http.StatusServiceUnavailable)
		return
	}
	c, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: protocols, InsecureSkipVerify: true})
	if err != nil {
		return // it has answered
	}
	defer c.CloseNow() //nolint:errcheck // there is nobody to be told
	if c.Subprotocol() == "" {
		_ = c.Close(websocket.StatusPolicyViolation, "the subprotocol is "+protocols[0])
		return
	}
	c.SetReadLimit(mostRequest)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	x := &session{ctx: ctx, cancel: cancel, to: c, changed: make(chan struct{}, 1),
		playback: playback{bar: c.Subprotocol() == protocols[0], speed: s.Speed}}
	go x.listen(c)
	err = relay.Live(s.Dir, x.live)
	if errors.Is(err, control.ErrNoRun) {
		err = x.replay(s.Dir)
	}
	reason := "the run has ended: connect again to replay it"
	if err != nil {
		reason = "the run cannot be shown"
	}
	_ = c.Close(websocket.StatusGoingAway, reason)
}

// session is a connection with what it shows. It is a recorder of the run.
type session struct {
	record.Nothing
	ctx     context.Context
	cancel  context.CancelFunc
	to      sender
	changed chan struct{} // has an element after a wish of the client

	mutex         sync.Mutex
	view          *view             // nil: the run has not begun
	subscriptions map[uint32]uint32 // by channel
	err           error             // of sending
	told          uint64            // the time that was sent last [ns]
	silent        bool              // what is recorded is passed over
	playback
}

// sender sends messages; a WebSocket is one.
type sender interface {
	Write(ctx context.Context, kind websocket.MessageType, data []byte) error
}

// listen receives messages until the connection ends.
func (x *session) listen(c *websocket.Conn) {
	defer x.cancel()
	for {
		kind, data, err := c.Read(x.ctx)
		if err != nil {
			return
		}
		x.mutex.Lock()
		if kind == websocket.MessageText {
			err = x.asked(data)
		} else {
			err = x.wished(data)
		}
		if err != nil {
			x.say(map[string]any{"op": "status", "level": 1, "message": err.Error()})
		}
		err = x.err
		x.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

// send sends a message. The mutex must be locked. A client that takes nothing ends the session.
func (x *session) send(kind websocket.MessageType, data []byte) {
	if x.err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(x.ctx, patience)
	defer cancel()
	if x.err = x.to.Write(ctx, kind, data); x.err != nil {
		x.cancel()
	}
}

// say sends a JSON object.
func (x *session) say(message any) { x.send(websocket.MessageText, encoded(message)) }

// begin tells the client what there is.
func (x *session) begin(h *record.Header, more map[string]any) {
	x.view, x.subscriptions = newView(h), map[uint32]uint32{}
	info := map[string]any{"op": "serverInfo", "name": "canopy: " + h.Mission, "capabilities": []string{"time"},
		"supportedEncodings": []string{"json"}, "metadata": map[string]string{}}
	for key, value := range more {
		info[key] = value
	}
	x.say(info)
	x.say(map[string]any{"op": "advertise", "channels": x.view.channels})
}

// live begins to show a run in progress.
func (x *session) live(h *record.Header) (record.Recorder, error) {
	x.mutex.Lock()
	defer x.mutex.Unlock()
	x.begin(h, nil)
	return x, x.err
}

// errUnknown is wrapped by the errors of messages that are not understood.
var errUnknown = errors.New("this message is not understood")

// asked receives a message in JSON.
func (x *session) asked(data []byte) error {
	var m struct {
		Op              string
		Subscriptions   []struct{ ID, ChannelID uint32 }
		SubscriptionIDs []uint32
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("%w: %w", errUnknown, err)
	}
	switch {
	case x.view == nil:
		return errors.New("the run has not begun")
	case m.Op == "subscribe":
		for _, s := range m.Subscriptions {
			if s.ChannelID == 0 || int(s.ChannelID) > len(x.view.channels) {
				return fmt.Errorf("there is no channel %d", s.ChannelID)
			}
			if _, twice := x.subscriptions[s.ChannelID]; twice {
				return fmt.Errorf("there is a subscription to channel %d", s.ChannelID)
			}
			x.subscriptions[s.ChannelID] = s.ID
			x.state(s.ChannelID)
		}
		if x.recorded && !x.touched {
			x.play(true, x.speed)
		}
	case m.Op == "unsubscribe":
		for channel, id := range x.subscriptions {
			if slices.Contains(m.SubscriptionIDs, id) {
				delete(x.subscriptions, channel)
			}
		}
	default:
		return fmt.Errorf("%w: %.40q", errUnknown, m.Op)
	}
	return nil
}
