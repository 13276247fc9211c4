// Package control lets an operator command a running mission: a socket in the run's folder, which the user who flies
// may use, addresses for others, and the clients of both.
//
// The run has one goroutine, which owns all its state. The server never touches it: requests are read, and plans
// compiled and checked, beside it; what the run must do waits until the run's loop calls [Server.Serve] or Wait.
//
// A connection carries one request, a JSON object, and its answers, one JSON object per line; the last one has no
// successor in [Response.Progress].
package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"canopy/diag"
	"canopy/document/mission"
)

// SocketFile is the name of the socket in the folder of a run.
const SocketFile = "run.sock"

const (
	most     = 16 << 20 // bytes of a request
	patience = 10 * time.Second
	poll     = 50 * time.Millisecond
	atOnce   = 4 // connections
)

// ErrDemand is wrapped by the errors of a request that cannot be read.
var ErrDemand = errors.New("not a request")

// ErrNoRun is wrapped by the errors of a folder in which no run listens.
var ErrNoRun = errors.New("no run listens there")

// Verb is what a request asks for.
type Verb string

// The verbs.
const (
	Upload Verb = "upload" // exchange the plan
	Stop   Verb = "stop"   // end the run: its exit procedures, then as the run's options say
	Watch  Verb = "watch"  // be told what happens, as News
	Resume Verb = "resume" // the plan commands the vehicle again
)

// Demand is a request to a running mission.
type Demand struct {
	Verb Verb   `json:"verb"`
	Name string `json:"name,omitempty"` // of the plan's document
	Plan string `json:"plan,omitempty"` // the document
	Safe bool   `json:"safe,omitempty"` // wait until no action that would be removed runs, and interrupt none
	Dry  bool   `json:"dry,omitempty"`  // compile, check and compare only
	// Limit is the time that the check may take [s]; 0: the run's own limit.
	Limit float64 `json:"limit,omitempty"`
}

// MostLimit is the longest time that a request may give the check [s].
const MostLimit = 600

// Review is what the check of a plan has found.
type Review struct {
	Refuted []string // what is refuted and not accepted: such a plan is refused
	Open    []string // what is not decided
}

// Progress is how far a request has come.
type Progress string

// The states.
const (
	Refused   Progress = "refused"   // nothing has happened
	Staged    Progress = "staged"    // the plan is accepted, not more (Demand.Dry)
	Waiting   Progress = "waiting"   // for the end of actions; more follows
	Committed Progress = "committed" // done
	Failed    Progress = "failed"    // the new plan could not take over: the old one goes on
)

// Response is an answer to a request.
type Response struct {
	Progress Progress `json:"progress"`
	T        float64  `json:"t"`                 // time of the run [s]
	Text     string   `json:"text,omitempty"`    // the reason, or mistakes in the plan
	Kept     int      `json:"kept,omitempty"`    // tasks
	Removed  []string `json:"removed,omitempty"` // tasks
	Added    []string `json:"added,omitempty"`   // tasks
	Waiting  []string `json:"waiting,omitempty"` // actions that must end before
	Open     []string `json:"open,omitempty"`    // what the check has not decided
}

// Controlled is a running mission as its operator commands it. Only the run's loop calls it.
type Controlled interface {
	T() float64 // [s]
	// Mission is that with the present plan.
	Mission() *mission.Mission
	// Swap requests an exchange of the plan; safe: without interrupting an action. The request came over the network
	// from an address; "" is the user of the run.
	Swap(src *diag.Source, safe bool, from string) (diag.List, error)
	// Swapping returns an exchange that is under way, and the actions that must end before.
	Swapping() (document string, engaged []string, ok bool)
	// Refusal is why the last exchange did not take place; "" if it did.
	Refusal() string
	// Command carries out Stop or Resume, for whom Swap describes.
	Command(v Verb, from string) error
}

// Server listens for operators.
type Server struct {
	listeners []net.Listener
	judge     func(m *mission.Mission, limit float64) Review
	feed      *Feed
	asks      chan func(Controlled)
	closed    chan struct{}
}

// Listen opens the socket of a run in its folder, which only this user can use. judge checks a mission with a new plan,
// beside the run; it may be nil. feed is what watchers are told; its End ends that, before Close.
func Listen(dir string, judge func(m *mission.Mission, limit float64) Review, feed *Feed) (*Server, error) {
	name := filepath.Join(dir, SocketFile)
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) { // of a run that was killed
		return nil, err
	}
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }), err)
	}}
	l, err := config.Listen(context.Background(), "unix", name)
	if err != nil {
		return nil, fmt.Errorf("the socket of the run: %w", err)
	}
	s := &Server{listeners: []net.Listener{l}, judge: judge, feed: feed, asks: make(chan func(Controlled)),
		closed: make(chan struct{})}
	go s.accept(l, atOnce, func(c net.Conn) (Demand, error) { return Parse(c) })
	return s, os.Chmod(name, 0o600)
}

// Close ends the server. Requests in progress end without an answer.
func (s *Server) Close() error {
	close(s.closed)
	var errs []error
	for _, l := range s.listeners {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}

// Asks are what the run's loop must call, for a loop that waits for several things at once.
func (s *Server) Asks() <-chan func(Controlled) { return s.asks }

// Serve does what waits, without waiting itself.
func (s *Server) Serve(o Controlled) {
	for {
		select {
		case ask := <-s.asks:
			ask(o)
		default:
			return
		}
	}
}

// Wait serves for a time, or until the context is done.
func (s *Server) Wait(ctx context.Context, d time.Duration, o Controlled) {
	end := time.NewTimer(d)
	defer end.Stop()
	for {
		select {
		case ask := <-s.asks:
			ask(o)
		case <-end.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// accept answers connections, some at once, until the listener is closed.
func (s *Server) accept(l net.Listener, most int, receive func(net.Conn) (Demand, error)) {
	slots := make(chan struct{}, most)
	for {
		c, err := l.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // such as too many open files: that passes
			time.Sleep(poll)
			continue
		}
		select {
		case slots <- struct{}{}:
			go func() {
				defer func() { <-slots }()
				s.answer(c, receive)
			}()
		default:
			_ = c.Close()
		}
	}
}

// in lets the run's loop do something, and reports whether it did.
func (s *Server) in(do func(Controlled)) bool {
	done := make(chan struct{})
	select {
	case s.asks <- func(o Controlled) { do(o); close(done) }:
		<-done
		return true
	case <-s.closed:
		return false
	}
}

// answer answers the request of a connection.
func (s *Server) answer(c net.Conn, receive func(net.Conn) (Demand, error)) {
	_ = c.SetDeadline(time.Now().Add(patience))
	q, err := receive(c)
	if q.Verb == Watch && err == nil {
		go s.feed.serve(c) // many can watch beside those who command
		return
	}
	defer c.Close() //nolint:errcheck // what was written before counts
	say := func(a Response) bool {
		_ = c.SetWriteDeadline(time.Now().Add(patience))
		return json.NewEncoder(c).Encode(a) == nil
	}
	from := ""
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		from = a.String()
	}
	switch {
	case err != nil:
		say(Response{Progress: Refused, Text: err.Error()})
	case q.Verb == Upload:
		s.upload(q, from, say)
	default:
		s.in(func(o Controlled) {
			a := Response{Progress: Committed, T: o.T()}
			if err := o.Command(q.Verb, from); err != nil {
				a.Progress, a.Text = Refused, err.Error()
			}
			say(a)
		})
	}
}

// Parse reads a request, of at most 16 MiB.
func Parse(r io.Reader) (Demand, error) {
	var q Demand
	d := json.NewDecoder(io.LimitReader(r, most))
	d.DisallowUnknownFields()
	if err := d.Decode(&q); err != nil {
		return q, fmt.Errorf("%w: %w", ErrDemand, err)
	}
	plan := q.Name != "" || q.Plan != "" || q.Safe || q.Dry || q.Limit != 0
	switch {
	case q.Verb == Upload && (q.Name == "" || q.Plan == ""):
		return q, fmt.Errorf("%w: it uploads no plan", ErrDemand)
	case q.Verb == Upload && (q.Limit < 0 || q.Limit > MostLimit):
		return q, fmt.Errorf("%w: a check takes at most %d s", ErrDemand, MostLimit)
	case q.Verb == Upload:
	case q.Verb != Stop && q.Verb != Resume && q.Verb != Watch:
		return q, fmt.Errorf("%w: there is no verb %.20q", ErrDemand, string(q.Verb))
	case plan:
		return q, fmt.Errorf("%w: %s takes no plan", ErrDemand, q.Verb)
	}
	return q, nil
}

// upload compiles, checks and compares a plan from an address, lets it take over, and waits for the outcome.
func (s *Server) upload(q Demand, from string, say func(Response) bool) {
	var m *mission.Mission
	a := Response{Progress: Refused}
	if !s.in(func(o Controlled) { m, a.T = o.Mission(), o.T() }) {
		return
	}
	src := &diag.Source{Name: q.Name, Text: q.Plan}
	next, list := m.WithPlan(src)
	if next == nil {
		a.Text = list.Error()
		say(a)
		return
	}
	if s.judge != nil {
		j := s.judge(next, q.Limit)
		for _, text := range j.Refuted {
			a.Text += text + "\n"
		}
		a.Open = j.Open
	}
	if a.compare(m, next); a.Text != "" || q.Dry {
		if a.Text == "" {
			a.Progress = Staged
		}
		say(a)
		return
	}
	var err error
	if !s.in(func(o Controlled) {
		if _, err = o.Swap(src, q.Safe, from); err == nil {
			a.outcome(o)
		}
	}) {
		return
	}
	if err != nil {
		a.Text = err.Error()
	}
	for said := ""; ; {
		if text := fmt.Sprint(a); text != said && !say(a) || a.Progress != Waiting {
			return
		} else {
			said = text
		}
		time.Sleep(poll)
		t := a.T
		if !s.in(func(o Controlled) { a.outcome(o) }) {
			return
		}
		if a.Progress == Waiting {
			a.T = t
		}
	}
}

// outcome enters how far an exchange has come.
func (a *Response) outcome(o Controlled) {
	a.T, a.Progress, a.Text = o.T(), Committed, ""
	var under bool
	if _, a.Waiting, under = o.Swapping(); under {
		a.Progress = Waiting
	} else if a.Text = o.Refusal(); a.Text != "" {
		a.Progress = Failed
	}
}

// compare enters the tasks that differ.
func (a *Response) compare(m, next *mission.Mission) {
	a.Kept, a.Removed, a.Added = m.Exchange(next).Difference()
}

// Endpoint is where a run listens: a Folder or a Remote.
type Endpoint interface {
	// open connects, and returns what is received and how a request is sent.
	open() (net.Conn, *json.Decoder, sealer, error)
}

// sealer returns a request in the form in which it is sent.
type sealer = func(Demand) (any, error)

// Folder is the folder of a run, which has its socket.
type Folder string

// open implements Endpoint.
func (f Folder) open() (net.Conn, *json.Decoder, sealer, error) {
	c, err := net.Dial("unix", filepath.Join(string(f), SocketFile))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w", ErrNoRun, err)
	}
	return c, json.NewDecoder(c), func(q Demand) (any, error) { return q, nil }, nil
}

// request sends a request to a run, and passes what it answers to tell, until that says that there is no more.
func request(at Endpoint, q Demand, tell func(d *json.Decoder) (more bool, err error)) error {
	c, d, seal, err := at.open()
	if err != nil {
		return err
	}
	defer c.Close() //nolint:errcheck // only read
	x, err := seal(q)
	if err == nil {
		err = json.NewEncoder(c).Encode(x)
	}
	for more := true; more && err == nil; {
		if more, err = tell(d); errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // the run has ended
		}
	}
	return err
}

// Send sends a request to a run, and passes each answer to tell. The error wraps ErrNoRun or ErrUnreached if there is
// no such run, or is that of the connection or of tell.
func Send(at Endpoint, q Demand, tell func(Response) error) error {
	return request(at, q, func(d *json.Decoder) (bool, error) {
		var a Response
		if err := d.Decode(&a); err != nil {
			return false, err
		}
		return a.Progress == Waiting, tell(a)
	})
}
