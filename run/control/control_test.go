package control

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"canopy/bt"
	"canopy/diag"
	"canopy/document/mission"
	"canopy/internal/cart"
	"canopy/run"
	"canopy/run/record"
	"canopy/run/simulated"
)

// silent is a recorder of nothing.
type silent struct{}

func (silent) Sample(float64, []float64) error      { return nil }
func (silent) Status(float64, int, bt.Change) error { return nil }
func (silent) Event(record.Event) error             { return nil }

// operated is a run in simulation.
type operated struct {
	*run.Run
	verbs []Verb
	from  string
}

func (o *operated) Swap(src *diag.Source, safe bool, from string) (diag.List, error) {
	o.from = from
	return o.Run.Swap(src, safe)
}

func (o *operated) Command(v Verb, from string) error {
	o.from = from
	if o.verbs = append(o.verbs, v); v == Resume {
		return errors.New("nothing took over")
	}
	return nil
}

// ask sends a request to a run that stands at 20 s or, while it waits, goes on, and returns the answers.
func ask(t *testing.T, body string, q Demand) ([]Response, *operated) {
	t.Helper()
	return askAt(t, body, q, func(_ *Server, dir string) Endpoint { return Folder(dir) })
}

// askAt sends a request to a place of the server.
func askAt(t *testing.T, body string, q Demand, at func(s *Server, dir string) Endpoint) ([]Response, *operated) {
	t.Helper()
	m, list := cart.Read(body, "")
	if m == nil {
		t.Fatal(list)
	}
	r, err := simulated.New(m, run.Continuous{}, math.Inf(1))
	if err != nil {
		t.Fatal(err)
	}
	r.Attach(silent{})
	for r.T() < 20 {
		if _, err := r.Step(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	s, err := Listen(dir, func(m *mission.Mission, limit float64) (j Review) {
		if strings.Contains(m.Plan.Source.Text, "refuse") {
			j.Refuted = []string{"refuted"}
		}
		if limit > 0 {
			j.Open = []string{fmt.Sprint("not decided within ", limit)}
		}
		return j
	}, NewFeed(r.Header()))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // a test
	if info, err := os.Stat(filepath.Join(dir, SocketFile)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	o := &operated{Run: r}
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
		{"the same", drive, upload(drive), []Progress{Committed}, "", 1},
		{"kept", drive, upload(both), []Progress{Committed}, "", 1},
		{"leaving", slow, upload(`<Action name="push" write="v := 1" done="false"/>`), []Progress{Waiting, Committed}, "", 0},
		{"mistake", drive, upload(`<Action name="a" write="none := 1"/>`), []Progress{Refused}, "none", 0},
		{"no XML", drive, Demand{Verb: Upload, Name: "x", Plan: "<"}, []Progress{Refused}, "", 0},
		{"refuted", drive, upload(`<Action name="refuse"/>`), []Progress{Refused}, "refuted", 0},
		{"endless", drive, upload(`<Repeat num_cycles="-1"><Action name="a" done="true"/></Repeat>`), []Progress{Failed},
			"settle", 0},
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
	if answers, o := ask(t, drive, q); len(answers) != 1 || answers[0].Progress != Committed ||
		!slices.Equal(answers[0].Open, []string{"not decided within 2"}) || o.Mission().Plan.Source.Text != q.Plan {
		t.Errorf("with a limit: %+v", answers)
	}
	q.Limit = MostLimit + 1
	if answers, _ := ask(t, drive, q); len(answers) != 1 || answers[0].Progress != Refused {
		t.Errorf("with a limit that is too long: %+v", answers)
	}
	q.Limit, q.Dry = 0, true
	if answers, o := ask(t, drive, q); len(answers) != 1 || answers[0].Progress != Staged ||
		o.Mission().Plan.Source.Text == q.Plan {
		t.Errorf("dry: %+v", answers)
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
		`{"verb":"upload"}`, `{"verb":"resume","dry":true}`, `{"verb":"fly"}`, `{"verb":"stop","x":1}`, `[`, ``} {
		f.Add(text)
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

// TestParse: requests without a plan, of an unknown verb, or too long are refused.
func TestParse(t *testing.T) {
	long := `{"verb":"upload","name":"a","plan":"` + strings.Repeat("x", most) + `"}`
	for _, text := range []string{`{"verb":"upload","name":"a"}`, `{"verb":"fly"}`, `{"verb":"stop","plan":"a"}`, `{}`,
		long} {
		if _, err := Parse(strings.NewReader(text)); !errors.Is(err, ErrDemand) {
			t.Errorf("%.50s: %v", text, err)
		}
	}
}
