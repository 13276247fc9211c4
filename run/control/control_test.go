package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/internal/cart"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
)

// listens opens the socket of a run in a folder of its own, until the test ends.
func listens(t *testing.T, check judge, feed *Feed) (*Server, Folder) {
	t.Helper()
	dir := t.TempDir()
	s, err := Listen(dir, check, 9, feed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, Folder(dir)
}

// client is a connection to a run, with its answers.
type client struct {
	net.Conn
	answers chan Response
}

// attach sends a request, and does not wait for the answers.
func attach(t *testing.T, at Endpoint, q Demand) client {
	t.Helper()
	c, d, _, err := at.open()
	if err == nil {
		err = json.NewEncoder(c).Encode(q)
	}
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan Response, 100)
	go func() {
		defer close(answers)
		for a := (Response{}); d.Decode(&a) == nil; a = (Response{}) {
			answers <- a
		}
	}()
	return client{c, answers}
}

// next returns the next answer to a client, while the run serves.
func (c client) next(s *Server, o *operated) Response {
	for {
		select {
		case a := <-c.answers:
			return a
		case do := <-s.Asks():
			do(o)
		}
	}
}

// TestAbandoned: while as many uploads are checked as there are places, another one is told that the run is busy, and
// stop and resume are carried out. A client that goes frees its place. The exchange of one that waits for a safe point
// is withdrawn when it goes; one that another request replaces is told so.
func TestAbandoned(t *testing.T) {
	o := standing(t, drive)
	s, at := listens(t, func(ctx context.Context, m *mission.Mission, _ float64) Review {
		if strings.Contains(m.Plan.Source.Text, "endless") {
			<-ctx.Done()
		}
		return Review{}
	}, NewFeed(o.Header()))
	plan := func(name string) Demand {
		q := upload(`<Action name="` + name + `" write="v := 1" done="false"/>`)
		q.Safe = true
		return q
	}
	begun := func(name string) client { // as soon as the server has noticed that those before are gone
		for {
			if c := attach(t, at, plan(name)); c.next(s, o).Progress == Checking {
				return c
			}
		}
	}
	for range 3 {
		var checked []client
		for range uploads {
			checked = append(checked, begun("endless"))
		}
		if a := attach(t, at, plan("push")).next(s, o); a.Progress != Refused || !strings.HasPrefix(a.Text, "busy: 4 uploads") {
			t.Errorf("%+v", a)
		}
		if a := attach(t, at, Demand{Verb: Stop}).next(s, o); a.Progress != Committed {
			t.Errorf("stop: %+v", a)
		}
		for _, c := range checked {
			_ = c.Close()
		}
		first := begun("first")
		if a := first.next(s, o); a.Progress != Waiting || !slices.Equal(a.Waiting, []string{"drive"}) {
			t.Fatalf("%+v", a)
		}
		second := begun("second")
		second.next(s, o)
		if a := first.next(s, o); a.Progress != Failed || !strings.Contains(a.Text, "replaced") {
			t.Errorf("%+v", a)
		}
		_ = second.Close()
		for under := true; under; _, _, under = o.Swapping() {
			(<-s.Asks())(o)
		}
		if n := len(o.verbs); o.verbs[n-1] != Withdraw || o.verbs[n-2] != Stop {
			t.Errorf("%v", o.verbs)
		}
	}
}

// TestOvertaken: an upload that was compared with a plan that another one replaces meanwhile is refused.
func TestOvertaken(t *testing.T) {
	o := standing(t, drive)
	gate := make(chan struct{})
	s, at := listens(t, func(_ context.Context, m *mission.Mission, _ float64) Review {
		if strings.Contains(m.Plan.Source.Text, "slow") {
			<-gate
		}
		return Review{}
	}, NewFeed(o.Header()))
	slow := attach(t, at, upload(`<Action name="slow" write="v := 1" done="false"/>`))
	slow.next(s, o)
	fast := attach(t, at, upload(`<Action name="fast" write="v := 1" done="false"/>`))
	fast.next(s, o)
	if a := fast.next(s, o); a.Progress != Committed {
		t.Fatalf("%+v", a)
	}
	close(gate)
	if a := slow.next(s, o); a.Progress != Refused || !strings.Contains(a.Text, "another plan has taken over") ||
		!strings.Contains(o.Mission().Plan.Source.Text, "fast") {
		t.Errorf("%+v", a)
	}
}

// operated is a run in simulation.
type operated struct {
	*run.Run
	verbs []Verb
	from  string
}

func (o *operated) Swap(next *mission.Mission, safe bool, from string) error {
	o.from = from
	return o.Exchange(next, safe)
}

func (o *operated) Command(v Verb, from string) error {
	o.from = from
	switch o.verbs = append(o.verbs, v); v {
	case Resume:
		return errors.New("nothing took over")
	case Withdraw:
		return o.Exchange(o.Mission(), true)
	}
	return nil
}

// ask sends a request to a run that stands at 20 s or, while it waits, goes on, and returns the answers.
func ask(t *testing.T, body string, q Demand) ([]Response, *operated) {
	t.Helper()
	return askAt(t, body, q, func(_ *Server, dir Folder) Endpoint { return dir })
}

// standing returns a run that stands at 20 s.
func standing(t *testing.T, body string) *operated {
	t.Helper()
	m, list := cart.Read(body, "")
	if m == nil {
		t.Fatal(list)
	}
	r, err := simulated.New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	r.Attach(record.Nothing{})
	for r.T() < 20 {
		if _, err := r.Step(); err != nil {
			t.Fatal(err)
		}
	}
	return &operated{Run: r}
}

// askAt sends a request to a place of the server.
func askAt(t *testing.T, body string, q Demand, at func(s *Server, dir Folder) Endpoint) ([]Response, *operated) {
	t.Helper()
	o := standing(t, body)
	s, dir := listens(t, func(_ context.Context, m *mission.Mission, limit float64) (j Review) {
		if strings.Contains(m.Plan.Source.Text, "refuse") {
			j.Refuted = []string{"refuted"}
		}
		if limit != 9 {
			j.Open = []string{fmt.Sprint("not decided within ", limit)}
		}
		return j
	}, NewFeed(o.Header()))
	if info, err := os.Stat(filepath.Join(string(dir), SocketFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	var answers []Response
	end := make(chan error)
	place := at(s, dir)
	go func() {
		end <- Send(place, q, func(a Response) error {
			answers = append(answers, a)
			return nil
		})
	}()
	for {
		select {
		case err := <-end:
			if err != nil {
				t.Error(err)
			}
			return answers, o
		case do := <-s.Asks():
			do(o)
			if _, _, under := o.Swapping(); under {
				if _, err := o.Step(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

const (
	drive = `<Action name="drive" write="v := 2" done="x ge 100"/>`
	slow  = `<Action name="drive" write="v := 2" exit_time="3" done="x ge 100"/>`
)

func upload(body string) Demand {
	return Demand{Verb: Upload, Name: "next.xml", Plan: cart.Plan(body)}
}

// TestUpload: a plan that compiles and is not refuted takes over, at once or after exit procedures; others are refused,
// and nothing happens.
func TestUpload(t *testing.T) {
	both := `<Sequence name="both">` + drive + `<Action name="push" write="v := 1" done="false"/></Sequence>`
	for _, c := range []struct {
		name, from string
		q          Demand
		states     []Progress
		text       string
		kept       int
	}{
		{"the same", drive, upload(drive), []Progress{Checking, Committed}, "", 1},
		{"kept", drive, upload(both), []Progress{Checking, Committed}, "", 1},
		{"leaving", slow, upload(`<Action name="push" write="v := 1" done="false"/>`),
			[]Progress{Checking, Waiting, Committed}, "", 0},
		{"mistake", drive, upload(`<Action name="a" write="none := 1"/>`), []Progress{Refused}, "none", 0},
		{"no XML", drive, Demand{Verb: Upload, Name: "x", Plan: "<"}, []Progress{Refused}, "", 0},
		{"refuted", drive, upload(`<Action name="refuse"/>`), []Progress{Checking, Refused}, "refuted", 0},
		{"endless", drive, upload(`<Sequence><Script code="n := 1"/><Repeat num_cycles="-1"><Script code="n := 3 - n"/></Repeat></Sequence>`),
			[]Progress{Checking, Failed}, "settle", 0},
		{"too long", drive, upload(drive + strings.Repeat(" ", MostBytes)), []Progress{Refused}, "at most 1048576", 0},
		{"too many tasks", drive, upload(`<Sequence>` + strings.Repeat(`<AlwaysSuccess/>`, MostTasks) + `</Sequence>`),
			[]Progress{Refused}, "is not expanded beyond 5000 tasks", 0},
		{"many uses", drive, Demand{Verb: Upload, Name: "x", Plan: uses(14)}, []Progress{Refused},
			"is not expanded beyond 5000 tasks", 0},
	} {
		answers, o := ask(t, c.from, c.q)
		var states []Progress
		for _, a := range answers {
			if len(states) == 0 || states[len(states)-1] != a.Progress {
				states = append(states, a.Progress)
			}
		}
		last := Response{}
		if len(answers) > 0 {
			last = answers[len(answers)-1]
		}
		if strings.Join(strs(states), " ") != strings.Join(strs(c.states), " ") || !strings.Contains(last.Text, c.text) ||
			last.Kept != c.kept {
			t.Errorf("%s: %+v", c.name, answers)
		}
		took := o.Mission().Plan.Source.Text == c.q.Plan
		if took != (last.Progress == Committed) {
			t.Errorf("%s: taken over: %t", c.name, took)
		}
	}
	q := upload(both)
	q.Limit = 2
	if answers, o := ask(t, drive, q); len(answers) != 2 || answers[0].Limit != 2 || answers[1].Progress != Committed ||
		!slices.Equal(answers[1].Open, []string{"not decided within 2"}) || o.Mission().Plan.Source.Text != q.Plan {
		t.Errorf("with a limit: %+v", answers)
	}
	q.Limit = MostLimit + 1
	if answers, _ := ask(t, drive, q); len(answers) != 1 || answers[0].Progress != Refused {
		t.Errorf("with a limit that is too long: %+v", answers)
	}
	q.Limit, q.Dry = 0, true
	if answers, o := ask(t, drive, q); len(answers) != 2 || answers[0].Limit != 9 || answers[1].Progress != Staged ||
		o.Mission().Plan.Source.Text == q.Plan {
		t.Errorf("dry: %+v", answers)
	}
}

// uses returns a plan of a few lines whose tree has more than 2^n tasks.
func uses(n int) string {
	var b strings.Builder
	b.WriteString(`<root BTCPP_format="4" main_tree_to_execute="t0">`)
	for i := range n {
		fmt.Fprintf(&b, `<BehaviorTree ID="t%d"><Sequence><SubTree ID="t%d"/><SubTree ID="t%d"/></Sequence></BehaviorTree>`,
			i, i+1, i+1)
	}
	fmt.Fprintf(&b, `<BehaviorTree ID="t%d"><AlwaysSuccess/></BehaviorTree></root>`, n)
	return b.String()
}

// TestCompiledAlone: a flight's memory is enough for the compilation of one plan: the next one waits, while stop does
// not; a run does not rely on its clients for the length of a plan.
func TestCompiledAlone(t *testing.T) {
	o := standing(t, drive)
	if _, err := compiled(o.Mission(), Demand{Plan: strings.Repeat(" ", MostBytes+1)}); err == nil {
		t.Error("too long, and compiled")
	}
	s, at := listens(t, nil, NewFeed(o.Header()))
	s.compiling.Lock()
	c := attach(t, at, upload(drive))
	(<-s.Asks())(o) // for the mission
	if a := attach(t, at, Demand{Verb: Stop}).next(s, o); a.Progress != Committed {
		t.Errorf("%+v", a)
	}
	s.compiling.Unlock()
	if a := c.next(s, o); a.Progress != Committed {
		t.Errorf("%+v", a)
	}
}

// TestBusyAnswer: a run that answers before it has read the whole request is heard.
func TestBusyAnswer(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, SocketFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // a test
	go func() {
		if c, err := l.Accept(); err == nil {
			tell(c, Response{Progress: Refused, Text: "busy"})
			_ = c.Close()
		}
	}()
	var last Response
	q := upload(strings.Repeat(drive, 10_000))
	if err := Send(Folder(dir), q, func(a Response) error { last = a; return nil }); err != nil || last.Text != "busy" {
		t.Errorf("%v, %+v", err, last)
	}
	q.Plan = strings.Repeat(" ", MostBytes+1)
	if err := Send(Folder(dir), q, func(a Response) error { last = a; return nil }); err != nil ||
		!strings.Contains(last.Text, "at most 1048576") {
		t.Errorf("too long: %v, %+v", err, last)
	}
}

func strs(list []Progress) (texts []string) {
	for _, s := range list {
		texts = append(texts, string(s))
	}
	return texts
}

// TestCommands: stop and resume reach the run, with its answer.
func TestCommands(t *testing.T) {
	if answers, o := ask(t, drive, Demand{Verb: Stop}); len(answers) != 1 || answers[0].Progress != Committed ||
		len(o.verbs) != 1 {
		t.Errorf("%+v, %v", answers, o.verbs)
	}
	if answers, _ := ask(t, drive, Demand{Verb: Resume}); len(answers) != 1 || answers[0].Progress != Refused ||
		answers[0].Text != "nothing took over" {
		t.Errorf("%+v", answers)
	}
}

// TestNoRun: a folder without a run is reported.
func TestNoRun(t *testing.T) {
	if err := Send(Folder(t.TempDir()), Demand{Verb: Stop}, nil); !errors.Is(err, ErrNoRun) {
		t.Error(err)
	}
}

// FuzzParse: what is not a request is refused; a request that is read is one that can be carried out.
func FuzzParse(f *testing.F) {
	for _, text := range []string{`{"verb":"stop"}`, `{"verb":"upload","name":"a","plan":"<root/>","safe":true}`,
		`{"verb":"upload"}`, `{"verb":"upload","name":"a"}`, `{"verb":"resume","dry":true}`, `{"verb":"fly"}`,
		`{"verb":"stop","plan":"a"}`, `{"verb":"stop","x":1}`, `{}`, `[`, ``} {
		f.Add(text)
	}
	long := `{"verb":"upload","name":"a","plan":"` + strings.Repeat("x", most) + `"}`
	if _, err := Parse(strings.NewReader(long)); !errors.Is(err, ErrDemand) {
		f.Errorf("too long: %v", err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		q, err := Parse(strings.NewReader(text))
		switch {
		case err != nil && !errors.Is(err, ErrDemand):
			t.Error(err)
		case err != nil:
		case q.Verb == Upload:
			if q.Plan == "" || q.Name == "" {
				t.Errorf("%+v", q)
			}
		case q != (Demand{Verb: q.Verb}) || q.Verb != Stop && q.Verb != Resume && q.Verb != Watch:
			t.Errorf("%+v", q)
		}
	})
}
