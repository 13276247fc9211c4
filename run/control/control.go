// Package control lets an operator command a running mission: a socket in the run's folder, which the user who flies
// may use, addresses for others, and the clients of both.
//
// The run has one goroutine, which owns all its state. The server never touches it: requests are read, and plans
// compiled and checked, beside it; what the run must do waits until the run's loop calls [Server.Wait].
//
// A connection carries one request, a JSON object, and its answers, one JSON object per line; the last one has no
// successor in [Response.Progress]. A client that closes it, or ends what it sends, before that has gone: its exchange
// that waits for a safe point is withdrawn.
package control

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/canopy-uav/canopy/autopilot/link"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
)

// SocketFile is the name of the socket in the folder of a run.
const SocketFile = "run.sock"

const (
	most     = 8 << 20 // bytes of a request: a plan of MostBytes, each of which JSON may write as six
	patience = 10 * time.Second
	poll     = 50 * time.Millisecond
	atOnce   = 16 // connections
	uploads  = 4  // that are checked or wait, of all connections: stop and resume find a place beside them
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

	Withdraw Verb = "withdraw" // end an exchange that waits: no client can ask for that
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
	Checking  Progress = "checking"  // the plan is compiled, and is checked now; more follows
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
	Limit    float64  `json:"limit,omitempty"`   // that of the check that begins [s]
}

// Controlled is a running mission as its operator commands it. Only the run's loop calls it.
type Controlled interface {
	T() float64 // [s]
	// Mission is that with the present plan.
	Mission() *mission.Mission
	// Swap requests an exchange of the plan for that of a mission, which Mission().WithPlan has returned; safe: without
	// interrupting an action. The request came over the network from an address; "" is the user of the run.
	Swap(next *mission.Mission, safe bool, from string) error
	// Swapping returns an exchange that is under way, and the actions that must end before.
	Swapping() (document string, engaged []string, ok bool)
	// Refusal is why the last exchange did not take place; "" if it did.
	Refusal() string
	// Command carries out Stop, Resume or Withdraw, for whom Swap describes.
	Command(v Verb, from string) error
}

// judge checks a mission with a new plan, beside the run, for a time [s] or until the context is done.
type judge = func(ctx context.Context, m *mission.Mission, limit float64) Review

// Server listens for operators.
type Server struct {
	listeners []net.Listener
	judge     judge
	limit     float64 // of the check, unless the request says otherwise [s]
	feed      *Feed
	places    chan struct{} // of uploads
	compiling sync.Mutex    // the memory is enough for one plan at a time
	asks      chan func(Controlled)
	closed    chan struct{}
	last      *mission.Mission // that of the last exchange; only the run's loop uses it
}

// Listen opens the socket of a run in its folder, which only this user can use. check may be nil; limit is its time [s]
// unless a request says otherwise. feed is what watchers are told; its End ends that, before Close.
func Listen(dir string, check judge, limit float64, feed *Feed) (*Server, error) {
	name := filepath.Join(dir, SocketFile)
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) { // of a run that was killed
		return nil, err
	}
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		return errors.Join(c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o600) }), err)
	}}
	l, err := config.Listen(context.Background(), "unix", name)
	if err != nil {
		if len(name) > 100 {
			err = fmt.Errorf("its path is too long, %d bytes: %s; name a shorter folder by --out", len(name), name)
		}
		return nil, fmt.Errorf("the socket of the run: %w", link.Plain(err))
	}
	s := &Server{listeners: []net.Listener{l}, judge: check, limit: limit, feed: feed,
		places: make(chan struct{}, uploads), asks: make(chan func(Controlled)), closed: make(chan struct{})}
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
			if c.LocalAddr().Network() == "unix" { // others expect a greeting
				tell(c, Response{Progress: Refused, Text: fmt.Sprintf("busy: %d requests are being read", most)})
			}
			_ = c.Close()
		}
	}
}

// tell sends an answer, and reports whether it could.
func tell(c net.Conn, a Response) bool {
	_ = c.SetWriteDeadline(time.Now().Add(patience))
	return json.NewEncoder(c).Encode(a) == nil
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
	say := func(a Response) bool { return tell(c, a) }
	from := ""
	if a, ok := c.RemoteAddr().(*net.TCPAddr); ok {
		from = a.String()
	}
	switch {
	case err != nil:
		say(Response{Progress: Refused, Text: err.Error()})
	case q.Verb == Upload:
		select {
		case s.places <- struct{}{}:
			s.upload(attended(c), q, from, say)
			<-s.places
		default:
			say(Response{Progress: Refused,
				Text: fmt.Sprintf("busy: %d uploads are checked or wait; interrupt one, or try again later", uploads)})
		}
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

// attended returns a context that is done when the client has gone.
func attended(c net.Conn) context.Context {
	_ = c.SetReadDeadline(time.Time{})
	ctx, gone := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, c)
		gone()
	}()
	return ctx
}

// Parse reads a request, of at most 8 MiB.
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

// upload compiles, checks and compares a plan from an address, lets it take over, and waits for the outcome, as long as
// the client does.
func (s *Server) upload(ctx context.Context, q Demand, from string, say func(Response) bool) {
	var m *mission.Mission
	a := Response{Progress: Refused}
	if !s.in(func(o Controlled) { m, a.T = o.Mission(), o.T() }) {
		return
	}
	s.compiling.Lock()
	next, err := compiled(m, q)
	s.compiling.Unlock()
	if err != nil {
		a.Text = err.Error()
		say(a)
		return
	}
	if s.check(ctx, q, next, &a, say); ctx.Err() != nil {
		return
	}
	if a.Kept, a.Removed, a.Added = m.Exchange(next).Difference(); a.Text != "" || q.Dry {
		if a.Text == "" {
			a.Progress = Staged
		}
		say(a)
		return
	}
	if !s.in(func(o Controlled) {
		if o.Mission() != m {
			err = errors.New("another plan has taken over meanwhile: look at it, and upload again")
		} else if err = o.Swap(next, q.Safe, from); err == nil {
			s.last = next
			a.outcome(o)
		}
	}) {
		return
	}
	if err != nil {
		a.Text = err.Error()
	}
	s.follow(ctx, next, &a, say)
	if q.Safe && a.Progress == Waiting {
		go s.in(func(o Controlled) { // its client has gone: it is withdrawn, unless it is over
			if _, _, under := o.Swapping(); under && s.last == next {
				s.last = nil
				_ = o.Command(Withdraw, from)
			}
		})
	}
}

// Limits of a plan that is uploaded: what takes over in flight must not delay the flight.
const (
	MostBytes = 1 << 20
	MostTasks = 5000
)

// tooLong is the error of a request whose plan is too long.
func (q *Demand) tooLong() error {
	if len(q.Plan) <= MostBytes {
		return nil
	}
	return fmt.Errorf("the plan has %d bytes; in flight at most %d are accepted", len(q.Plan), MostBytes)
}

// compiled returns the mission with the plan of a request.
func compiled(m *mission.Mission, q Demand) (*mission.Mission, error) {
	if err := q.tooLong(); err != nil {
		return nil, err
	}
	next, list := m.WithPlanWithin(&diag.Source{Name: q.Name, Text: q.Plan}, MostTasks)
	if next == nil {
		return nil, list
	}
	return next, nil
}

// check enters what the check of a mission with a new plan finds.
func (s *Server) check(ctx context.Context, q Demand, next *mission.Mission, a *Response, say func(Response) bool) {
	if s.judge == nil {
		return
	}
	limit := cmp.Or(q.Limit, s.limit)
	say(Response{Progress: Checking, T: a.T, Limit: limit})
	j := s.judge(ctx, next, limit)
	for _, text := range j.Refuted {
		a.Text += text + "\n"
	}
	a.Open = j.Open
}

// follow tells the client how far an exchange has come, until there is no more.
func (s *Server) follow(ctx context.Context, next *mission.Mission, a *Response, say func(Response) bool) {
	for said := ""; ; {
		if text := fmt.Sprint(*a); text != said && !say(*a) || a.Progress != Waiting {
			return
		} else {
			said = text
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(poll):
		}
		t := a.T
		if !s.in(func(o Controlled) {
			if a.outcome(o); s.last != next {
				a.Progress, a.Text, a.Waiting = Failed, "another request has replaced this one", nil
			}
		}) {
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

// Endpoint is where a run listens: a Folder or a Remote.
type Endpoint interface {
	// open connects, and returns what is received and how a request is sent.
	open() (net.Conn, *json.Decoder, sealer, error)
}

// sealer returns a request in the form in which it is sent.
type sealer = func(Demand) (any, error)

// Folder is the folder of a run, which has its socket.
type Folder string

// why says why the socket of a folder cannot be opened, and what to do.
func (f Folder) why(err error) string {
	const hint = "; name the folder (--out) of a run that is under way, or the HOST:PORT of its --serve"
	info, wrong := os.Stat(string(f))
	switch {
	case errors.Is(wrong, os.ErrNotExist):
		return "there is no such folder" + hint
	case wrong == nil && !info.IsDir():
		return "it is a file" + hint
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return "the folder has no run that is under way" + hint
	}
	return link.Plain(err).Error()
}

// open implements Endpoint.
func (f Folder) open() (net.Conn, *json.Decoder, sealer, error) {
	c, err := net.Dial("unix", filepath.Join(string(f), SocketFile))
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %s", ErrNoRun, f.why(err))
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
	if err != nil {
		return err
	}
	sent := json.NewEncoder(c).Encode(x) // a run that is busy answers before it has read all
	for more := true; more && err == nil; {
		if more, err = tell(d); errors.Is(err, io.EOF) {
			err = cmp.Or(sent, io.ErrUnexpectedEOF) // the run has ended
		}
	}
	return err
}

// Send sends a request to a run, and passes each answer to tell. The error wraps ErrNoRun or ErrUnreached if there is
// no such run, or is that of the connection or of tell.
func Send(at Endpoint, q Demand, tell func(Response) error) error {
	if err := q.tooLong(); err != nil {
		return tell(Response{Progress: Refused, Text: err.Error()})
	}
	return request(at, q, func(d *json.Decoder) (bool, error) {
		var a Response
		if err := d.Decode(&a); err != nil {
			return false, err
		}
		return a.Progress == Waiting || a.Progress == Checking, tell(a)
	})
}
