package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/analysis/rates"
	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/internal/cputime"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/monitor"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/simulated"
	"github.com/canopy-uav/canopy/temporal"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

var (
	campaignFlag = flag.Int("campaign", 0, "how many random missions of whole length are flown; 0: a few")
	campaignDir  = flag.String("campaign.dir", "", "a folder for the files of the first mission of the campaign")
	campaignFrom = flag.Uint64("campaign.from", 0, "the first mission of the campaign")
)

const flightsEach = 6

var digits = regexp.MustCompile(`[0-9][0-9.]*|"[^"]*"`)

// campaign counts answers and contradictions.
type campaign struct {
	*testing.T
	counts map[string]int
	seed   uint64
	blamed *verify.Finding
	files  func(initial string, horizon float64) map[string]string // of the mission, with initial values
	open   fs.FS                                                   // for other files; nil: there are none
}

// read reads the mission with initial values, up to another horizon if that is not 0.
func (c *campaign) read(initial string, horizon float64) (*mission.Mission, diag.List) {
	files := c.files(initial, horizon)
	return mission.Read("m.yaml", func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}
		if c.open == nil {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return fs.ReadFile(c.open, name)
	}, equations.Offers(), nil)
}

// text returns the files of the mission as one text.
func (c *campaign) text(initial string) string {
	var b strings.Builder
	files := c.files(initial, 0)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		b.WriteString("--- " + name + "\n" + strings.ReplaceAll(files[name], "><", ">\n<") + "\n")
	}
	return b.String()
}

// flownLog is a flight with the verdicts on its assertions.
type flownLog struct {
	m       *mission.Mission
	log     *record.Log
	summary record.Summary
	rows    []record.Property
	err     error
}

// both records a log and judges it.
type both struct {
	*record.Log
	*monitor.Monitor
}

func (b both) Event(e record.Event) error { return errors.Join(b.Log.Event(e), b.Monitor.Event(e)) }
func (b both) Plan(p record.Takeover) error {
	return errors.Join(b.Log.Plan(p), b.Monitor.Plan(p))
}
func (b both) Sample(t float64, values []float64) error {
	return errors.Join(b.Log.Sample(t, values), b.Monitor.Sample(t, values))
}
func (b both) Status(t float64, micro int, c bt.Change) error {
	return errors.Join(b.Log.Status(t, micro, c), b.Monitor.Status(t, micro, c))
}
func (b both) Message(record.Channel, []byte) error { return nil }
func (b both) SetDate(int64)                        {}

// fly flies the mission from a start, up to another horizon if that is not 0; the relations of the goal are events, too.
func (c *campaign) fly(initial string, horizon float64) *flownLog {
	m, list := c.read(initial, horizon)
	if m == nil {
		c.Fatal(list, c.text(initial))
	}
	w := m.Watch()
	if g := m.Declared.Goal; g != nil {
		w.Assertions = append(w.Assertions, temporal.Assertion{Text: "goal", Formula: temporal.Invariant(g.Parts)})
	}
	r, err := simulated.New(m.Judging(w), run.Continuous{}, math.Inf(1))
	if err != nil {
		c.Fatal(err, c.text(initial))
	}
	h := r.Header()
	f := &flownLog{m: m, log: &record.Log{}}
	f.log.Begin(&h)
	judge := monitor.New(&h, w)
	r.Attach(both{f.log, judge})
	f.err = r.Fly(c.Context(), nil)
	f.summary = r.Summary()
	if f.rows, err = judge.Judge(&record.End{Told: r.T(), Summary: &f.summary}); err != nil {
		c.Fatal(err)
	}
	f.rows = slices.DeleteFunc(f.rows, func(p record.Property) bool { return p.Property == "goal" })
	return f
}

// broken returns an assumption that the flight violates; nil if there is none.
func (f *flownLog) broken() *record.Property {
	i := slices.IndexFunc(f.rows, func(r record.Property) bool {
		return r.Verdict == record.PropertyViolated && r.Kind != "" && r.Kind != "always"
	})
	if i < 0 {
		return nil
	}
	return &f.rows[i]
}

// span is a stretch of a flight in which nothing changes but signals.
type span struct {
	at     float64
	status []bt.Status
	values []float64 // in the middle
	root   bt.Status // the result of the plan: Accept if it has none
}

// instant is the length of a stretch that says nothing of states [s].
const instant = 1e-6

// spans returns the stretches between neighbouring samples that are at least this long, before the plan is stopped.
func (f *flownLog) spans(least float64) []span {
	var list []span
	status := make([]bt.Status, len(f.log.Tasks))
	for i, t := range f.log.Tasks {
		status[i] = t.Initial
	}
	changes := f.log.Changes
	if f.summary.Planned > 0 {
		changes = changes[:f.summary.Planned]
	}
	end := f.summary.Ended
	if f.summary.Stopped > 0 {
		end = f.summary.Stopped
	}
	held := bt.Accept
	n := 0
	for i := 0; i+1 < len(f.log.T) && f.log.T[i+1] <= end; i++ {
		from, to := f.log.T[i], f.log.T[i+1]
		if to-from <= 0 || to-from < least {
			continue
		}
		for ; n < len(changes) && changes[n].T <= from; n++ {
			status[changes[n].Task] = changes[n].To
			if int(changes[n].Task) == len(status)-1 {
				switch changes[n].To {
				case bt.Finished:
					held = bt.Success
				case bt.Aborted:
					held = bt.Failure
				case bt.Dropped:
					held = bt.Skipped
				}
			}
		}
		if n < len(changes) && changes[n].T < to {
			continue
		}
		s := span{at: (from + to) / 2, status: slices.Clone(status), root: held}
		if last := status[len(status)-1]; last != bt.Accept && last != bt.Deactivating {
			if last == bt.Skipped && held != bt.Accept {
				continue // which result it then has, runs and proofs say differently
			}
			s.root = last.Judgement()
		}
		for _, v := range f.log.Values {
			s.values = append(s.values, (v[i]+v[i+1])/2)
		}
		list = append(list, s)
	}
	return list
}

func (s *span) active(t bt.Task) bool {
	return s.status[t] == bt.Activating || s.status[t] == bt.Running
}

// goal returns a function that evaluates the goal: a condition of the plan, or one of signals.
func (f *flownLog) goal() func(s *span) (holds, sure bool) {
	if f.m.Declared.Goal == nil || len(f.m.Sources()) > 0 { // a source that is lost decides otherwise
		return nil
	}
	subject := f.m.Subject()
	e := f.m.Declared.Goal.Parts[0]
	if tasks := e.Propositions(); len(tasks) > 0 {
		if t, ok := f.m.Plan.Tree.Find(tasks[0].Name()); ok && f.m.Declared.Goal.Text == tasks[0].Name() {
			return func(s *span) (holds, sure bool) { return s.status[t] == bt.Success, true }
		}
	}
	code := subject.Compiler.Clone().CompileFor(e, expr.Variable{Type: expr.Boolean})
	r := rand.New(rand.NewPCG(27, 27))
	return func(s *span) (holds, sure bool) {
		values := make([]float64, len(subject.Signals))
		for i, name := range subject.Signals {
			if k := slices.IndexFunc(f.log.Signals, func(s record.Signal) bool { return s.Name == name }); k >= 0 {
				values[i] = s.values[k]
			} else if name == "t" {
				values[i] = s.at
			}
		}
		holds, sure = code.Bool(values, nil), true
		for range 16 { // the errors of the integration do not decide
			near := slices.Clone(values)
			for i := range near {
				near[i] += 10 * f.m.Tolerance * (1 + math.Abs(near[i])) * float64(2*r.IntN(2)-1)
			}
			sure = sure && code.Bool(near, nil) == holds
		}
		return holds, sure
	}
}

func (c *campaign) wrong(f *verify.Finding, initial, format string, args ...any) {
	if c.counts["CONTRADICTION "+f.Question]++; c.blamed == f {
		return
	}
	c.blamed = f
	c.Errorf("seed %d: %s %s: %s: %s\n%s%s\n", c.seed, f.Question, f.Word(), f.Text, fmt.Sprintf(format, args...), f.Script,
		c.text(initial))
}

// startOf returns the start of the flight that shows what is refuted, as initial values for a flight.
func startOf(x *verify.Finding) string {
	if x.Start == "" {
		return ""
	}
	return x.Start + "\n"
}

// judge holds answers against a flight.
func (c *campaign) judge(found []verify.Finding, f *flownLog, initial string) {
	broken := f.broken()
	if broken != nil {
		if c.counts["broken "+broken.Kind]++; c.counts["broken "+broken.Kind] < 3 {
			c.Logf("seed %d broken %s %s at %v", c.seed, broken.Kind, broken.Property, *broken.At)
		}
		if broken.Kind != temporal.OfSliding.String() {
			return
		}
	}
	of := map[string][]*verify.Finding{}
	for i := range found { // that the plan settles, and that the motion does not slide, are assumptions
		if x := &found[i]; (f.summary.Outcome != record.Failed || !slices.Contains(x.Assumes, verify.Settles)) &&
			(broken == nil || !slices.Contains(x.Assumes, verify.NoSliding)) {
			of[x.Question] = append(of[x.Question], x)
		}
	}
	declared := initial == "" || strings.HasSuffix(initial, among)
	everywhere := func(x *verify.Finding) bool { return proved(x, initial) }
	if !declared && !slices.ContainsFunc(of["conflict"], everywhere) { // others may only be excluded from the declared start
		delete(of, "conflict")
	}
	c.runs(of, f, initial)
	for _, r := range f.rows {
		c.counts["row "+r.Kind+" "+r.Verdict]++
		for _, x := range slices.Concat(of["property"], of["always"]) {
			if same := r.Property == x.About || r.Property == "always ("+x.About+")"; same && initial == startOf(x) &&
				x.Verdict == verify.Refuted && r.Verdict != record.PropertyViolated {
				c.wrong(x, initial, "it is %s", r.Verdict)
			}
			if r.Verdict != record.PropertyViolated || r.Property != x.About && r.Property != "always ("+x.About+")" || !proved(x, initial) {
				continue
			}
			if c.counts["rows judged"]++; r.Margin != nil && math.Abs(*r.Margin) < 1e-9 {
				c.counts["rounded"]++
				continue
			}
			c.wrong(x, initial, "violated at %v, margin %v", *r.At, r.Margin)
		}
	}
	c.states(of, f, initial)
	c.regression(of, f, initial)
	c.chatter(of, f, initial)
	for _, x := range of["dead"] {
		for _, ch := range f.log.Changes {
			if x.Verdict == verify.Refuted && len(x.Unwatched()) == 0 && strings.Contains(x.Text, "never active") &&
				ch.To == bt.Activating && slices.Contains(x.Tasks, ch.Task) {
				c.wrong(x, initial, "%s is active at %g", f.m.Plan.Tree.Name(ch.Task), ch.T)
				break
			}
		}
	}
}

// reach judges on a long flight whether the goal is reached.
func (c *campaign) reach(found []verify.Finding, initial string) {
	for i := range found {
		x := &found[i]
		if x.Question != "reach" || !proved(x, initial) || !strings.HasPrefix(x.Text, "the goal is reached from every state") {
			continue
		}
		f := c.fly(initial, 400)
		if f.broken() != nil || f.summary.Ended < 400 {
			c.counts["reach not judged"]++
			continue
		}
		c.counts["reach judged"]++
		goal, there, spans := f.goal(), false, f.spans(0)
		if len(spans) == 0 || spans[len(spans)-1].at < 390 { // of what comes later, it is not known what the plan returns
			continue
		}
		for _, s := range spans {
			if goal == nil {
				return
			}
			holds, sure := goal(&s)
			there = there || holds || !sure
		}
		if !there {
			c.wrong(x, initial, "not reached in 400 s")
		}
	}
}

// regression judges whether each rule leads to an earlier one. What is refuted, the flight shows.
func (c *campaign) regression(of map[string][]*verify.Finding, f *flownLog, initial string) {
	rules, err := plan.Rules(f.m.Plan.Tree, f.m.Plan.Tree.Root())
	if err != nil {
		return
	}
	first := func(s *span) int {
		return slices.IndexFunc(rules, func(r plan.Rule) bool {
			return !slices.ContainsFunc(r.Conditions, func(t bt.Task) bool { return s.status[t] != bt.Success })
		})
	}
	all, shown := f.spans(0), map[string]bool{}
	for i := 1; i <= len(all); i++ {
		from, to := first(&all[i-1]), -1
		if i < len(all) {
			to = first(&all[i])
		}
		if from < 0 || to >= 0 && to <= from {
			continue
		}
		if shown[fmt.Sprintf("rule %d", from+1)] = true; i == len(all) {
			break
		}
		for _, x := range of["regression"] {
			if proved(x, initial) && strings.Contains(x.Text, fmt.Sprintf("rule %d,", from+1)) {
				c.wrong(x, initial, "after %g rule %d is followed by %d", all[i-1].at, from+1, to+1)
			}
		}
	}
	last := span{status: make([]bt.Status, len(f.log.Tasks))}
	for i, t := range f.log.Tasks {
		last.status[i] = t.Initial
	}
	for _, change := range f.log.Changes { // a run may end with an action that takes no time, in no span
		last.status[change.Task] = change.To
		for i, r := range rules {
			if change.Task == r.Action && change.T >= f.summary.Ended-1e-9 {
				shown[fmt.Sprintf("rule %d", i+1)] = true
			}
		}
	}
	shown[fmt.Sprintf("rule %d", first(&last)+1)] = true
	for _, x := range of["regression"] {
		rule, _, refuted := strings.Cut(x.Text, " does not lead to")
		if refuted && initial == startOf(x) && f.summary.Outcome != record.Failed && !shown[strings.Split(rule, ",")[0]] {
			c.wrong(x, initial, "every rule leads to an earlier one but %v", shown)
		}
	}
}

// chatter judges how fast tasks take turns: one that is proved to be switched on slowly is, and the same state of the plan is come back to no faster than is proved, apart
// from turns that alternate.
func (c *campaign) chatter(of map[string][]*verify.Finding, f *flownLog, initial string) {
	for _, x := range of["chatter"] {
		last := map[bt.Task]float64{}
		for _, ch := range f.log.Changes {
			if !proved(x, initial) || !strings.Contains(x.Text, "switched on no faster") || ch.To != bt.Activating ||
				!slices.Contains(x.Tasks, ch.Task) {
				continue
			}
			c.counts["switches judged"]++
			if before, known := last[ch.Task]; known && ch.T-before < x.Period*(1-1e-6) {
				c.wrong(x, initial, "%s is active again %g s later", f.m.Plan.Tree.Name(ch.Task), ch.T-before)
			}
			last[ch.Task] = ch.T
		}
	}
	if len(of["chatter"]) == 0 || slices.ContainsFunc(of["chatter"], func(x *verify.Finding) bool { return !proved(x, initial) }) {
		return
	}
	tree := f.m.Plan.Tree
	most := 2.0 // turns that may alternate
	for _, t := range tree.Leaves() {
		if !tree.Kind(t).Acts() {
			most++
		}
	}
	visits, changes := map[string][]float64{}, map[string]int{}
	change, before := 0, ""
	for _, s := range f.spans(instant) {
		active := ""
		for _, t := range tree.Leaves() {
			active += fmt.Sprint(tree.Kind(t).Acts() && s.active(t))
		}
		if active != before {
			change, before = change+1, active
		}
		key := fmt.Sprint(s.status)
		if n, known := changes[key]; !known || n < change {
			visits[key], changes[key] = append(visits[key], s.at), change
		}
	}
	for _, at := range visits {
		m := 8 * int(most)
		for i := 0; i+m < len(at); i++ {
			if took := (at[i+m] - at[i]) * most / (float64(m) - most); took < f.m.Declared.Period*0.99 {
				c.wrong(of["chatter"][0], initial, "%d turns from %g to %g", m, at[i], at[i+m])
				return
			}
		}
	}
}

// proved reports whether something is proved of a flight from a declared start, or from another one.
func proved(f *verify.Finding, initial string) bool {
	declared := initial == "" || strings.HasSuffix(initial, among)
	return f.Verdict == verify.Proved && len(f.Unwatched()) == 0 && (declared || !slices.Contains(f.Assumes, verify.Begins))
}

// runs judges what is proved of the end of runs.
func (c *campaign) runs(of map[string][]*verify.Finding, f *flownLog, initial string) {
	if f.summary.Outcome != record.Failed {
		c.counts["flights"]++
		return
	}
	c.counts["failed flights"]++
	if strings.HasPrefix(f.summary.Reason, "sim: chattering") {
		return // of the vehicle, or of what is written continuously
	}
	for _, q := range []string{"complete", "reaction"} {
		for _, x := range of[q] {
			if proved(x, initial) {
				c.wrong(x, initial, "the flight fails: %s", f.summary.Reason)
			}
		}
	}
}

// states judges what is proved of states.
func (c *campaign) states(of map[string][]*verify.Finding, f *flownLog, initial string) {
	tree, goal := f.m.Plan.Tree, f.goal()
	seen := map[*verify.Finding]bool{}
	wrong := func(x *verify.Finding, format string, args ...any) {
		if !seen[x] {
			seen[x] = true
			c.wrong(x, initial, format, args...)
		}
	}
	users := map[string][]bt.Task{}
	for i := range f.m.Plan.Leaves {
		l := &f.m.Plan.Leaves[i]
		for _, a := range slices.Concat(l.Write, l.Entry) {
			if !a.Notes && !slices.Contains(users[a.Target], l.Task) {
				users[a.Target] = append(users[a.Target], l.Task)
			}
		}
	}
	for _, r := range f.m.Declared.Resources {
		users[r.Name] = r.Tasks
	}
	for _, s := range f.spans(instant) {
		under, occupied := false, false
		for t := range bt.Task(tree.Len()) {
			under = under || tree.Kind(t).Acts() && (s.status[t] == bt.Activating || s.status[t] == bt.Deactivating)
			occupied = occupied || tree.Kind(t).Acts() && !tree.Idle(t) && s.active(t) ||
				tree.Kind(t).Timer() && s.active(t) && !slices.ContainsFunc(tree.Children(t), s.active)
		}
		c.conflicts(of, f, &s, users, wrong)
		if under {
			continue
		}
		for _, x := range of["complete"] {
			if proved(x, initial) && !occupied && s.root != bt.Success {
				wrong(x, "nothing is active at %g", s.at)
			}
		}
		for i, x := range of["goal"] {
			if goal == nil {
				break
			}
			holds, sure := goal(&s)
			good := s.root == bt.Success
			if proved(x, initial) && sure && (i == 0 && good && !holds || i == 1 && holds && !good) {
				wrong(x, "at %g the plan is %s, goal %t", s.at, s.root, holds)
			}
		}
		for _, x := range of["reach"] {
			if goal == nil || initial != startOf(x) || x.Verdict != verify.Refuted {
				continue
			}
			if holds, sure := goal(&s); holds && sure {
				wrong(x, "the goal is reached at %g", s.at)
			}
		}
		for _, x := range of["command"] {
			if slices.Contains(f.m.Declared.Written, x.About) && proved(x, initial) && !slices.ContainsFunc(users[x.About], s.active) {
				wrong(x, "no task writes it at %g", s.at)
			}
		}
	}
	for _, x := range of["command"] { // from the declared start
		if initial == "" && strings.HasPrefix(x.Text, "no task ever writes") && x.Verdict == verify.Refuted && len(x.Unwatched()) == 0 {
			for _, ch := range f.log.Changes {
				if ch.To == bt.Activating && slices.Contains(users[x.About], ch.Task) {
					wrong(x, "%s does at %g", tree.Name(ch.Task), ch.T)
				}
			}
		}
	}
}

// conflicts judges which tasks use one slot together.
func (c *campaign) conflicts(of map[string][]*verify.Finding, f *flownLog, s *span, users map[string][]bt.Task,
	wrong func(x *verify.Finding, format string, args ...any),
) {
	if len(of["conflict"]) == 0 || slices.ContainsFunc(of["conflict"], func(x *verify.Finding) bool { return x.Verdict == verify.Undecided }) {
		return
	}
	known := func(name string, t, u bt.Task) bool {
		return slices.ContainsFunc(of["conflict"], func(x *verify.Finding) bool {
			if x.About != name || x.Verdict != verify.Refuted {
				return false
			}
			both := func(list []bt.Task) bool { return slices.Contains(list, t) && slices.Contains(list, u) }
			return both(x.Tasks) || slices.ContainsFunc(x.Units, both)
		})
	}
	for _, name := range slices.Sorted(maps.Keys(users)) {
		now := slices.DeleteFunc(slices.Clone(users[name]), func(t bt.Task) bool { return !s.active(t) })
		for i, t := range now {
			for _, u := range now[:i] {
				if !known(name, u, t) {
					wrong(of["conflict"][0], "%s and %s use %s at %g", f.m.Plan.Tree.Name(t), f.m.Plan.Tree.Name(u), name, s.at)
				}
			}
		}
	}
}

// TestCampaign: of random missions of whole length, no flight contradicts an answer, from the declared start or from
// another one. With -campaign it counts the answers, and why things are not concluded.
func TestCampaign(t *testing.T) {
	missions, largest := *campaignFlag, math.MaxInt
	if missions == 0 {
		missions, largest = trees.Count(300, 20), 12
	}
	c := &campaign{T: t, counts: map[string]int{}}
	var checking, flying, slowest time.Duration
	for n := range uint64(missions) {
		c.seed = *campaignFrom + n
		k := newWhole(c.seed)
		c.files = k.filesUntil
		m := c.withEffects(k)
		if m == nil || k.count > largest {
			c.counts["left out"]++
			if _, list := c.read("", 0); m == nil && len(list) > 0 {
				c.counts[fmt.Sprint("left out: ", list[0].Code)]++
			}
			continue
		}
		c.save(n)
		s, err := provable(m)
		must(t, err)
		begin := time.Now()
		found := c.firstAnswers(s)
		took := time.Since(begin)
		if checking += took; took > slowest {
			slowest = took
			t.Logf("seed %d: check takes %v", c.seed, took)
		}
		begin = time.Now()
		for i := range found {
			c.counts[found[i].Question+" "+found[i].Word()]++
			if *campaignFlag > 0 && found[i].Verdict == verify.Undecided {
				c.why(&found[i])
			}
		}
		for i := range flightsEach {
			initial := ""
			if i%2 == 1 {
				initial = k.startAmong()
			}
			if i > 0 && initial == "" {
				initial = k.otherStart()
			}
			if i == 0 || initial != "" {
				c.judge(found, c.fly(initial, 0), initial)
			}
			if i < 3 {
				c.reach(found, initial)
			}
		}
		for i := range found {
			if start := startOf(&found[i]); start != "" && slices.Contains([]string{"property", "always", "reach", "regression"}, found[i].Question) {
				c.counts["flights from corners"]++
				c.judge(found[i:i+1], c.fly(start, 0), start)
			}
		}
		flying += time.Since(begin)
	}
	for _, name := range slices.Sorted(maps.Keys(c.counts)) {
		t.Logf("%6d %s", c.counts[name], name)
	}
	t.Logf("checking %v, flying %v", checking, flying)
	if c.counts["flights"] < missions {
		t.Errorf("only %d flights", c.counts["flights"])
	}
}

// withEffects reads the mission, sometimes with declared effects that are true, for they contain what is derived.
func (c *campaign) withEffects(k *whole) *mission.Mission {
	m, _ := c.read("", 0)
	if m == nil || !k.chance(5) {
		return m
	}
	table, err := rates.Of(m)
	if err != nil {
		return nil
	}
	for _, r := range table.Rows() {
		name := m.Plan.Tree.Name(r.Task)
		if r.Known && !r.Found.Jumps && !math.IsInf(r.Found.High-r.Found.Low, 0) && k.chance(2) && slices.Contains(k.actions, name) {
			k.effects += fmt.Sprintf("    %s: {%s: [%.3f, %.3f]}\n", name, r.Signal, r.Found.Low-.01, r.Found.High+.01)
			k.actions = slices.DeleteFunc(k.actions, func(a string) bool { return a == name })
		}
	}
	m, _ = c.read("", 0)
	return m
}

// save writes the files of the first mission into the folder of -campaign.dir.
func (c *campaign) save(n uint64) {
	if *campaignDir == "" || n > 0 {
		return
	}
	for name, text := range c.files("", 0) {
		if err := os.WriteFile(filepath.Join(*campaignDir, name), []byte(text), 0o600); err != nil {
			c.Fatal(err)
		}
	}
}

// firstAnswers asks each question once, with the smallest bounds of searches.
func (c *campaign) firstAnswers(s declare.Subject) (all []verify.Finding) {
	defer func() {
		if r := recover(); r != nil {
			c.counts["PANIC"]++
			c.Errorf("seed %d: %v\n%s\n%s", c.seed, r, debug.Stack(), c.text(""))
		}
	}()
	left, end := len(verify.Questions()), cputime.Now()+3 // whatever else the computer does
	for _, found := range verify.Answers(s, 0, func() bool { return cputime.Now() < end }) {
		all = append(all, found...)
		if left--; left == 0 {
			break
		}
	}
	return all
}

// why counts the reason why something is not concluded.
func (c *campaign) why(f *verify.Finding) {
	text := f.Text
	if _, rest, ok := strings.Cut(text, "; "); ok && f.Question != "regression" {
		text = rest
	}
	c.counts["why "+f.Question+": "+digits.ReplaceAllString(text, "N")]++
}
