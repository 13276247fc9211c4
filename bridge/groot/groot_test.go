package groot

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/internal/oracle"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/run/cause"
	"github.com/canopy-uav/canopy/run/record"
)

// header returns the header of a run of a plan; nil: there is no such plan.
func header(text string) *record.Header {
	p, _ := plan.ReadFlown(&diag.Source{Name: record.PlanFile, Text: text})
	if p == nil {
		return nil
	}
	h := &record.Header{Plan: p.Name, Attachments: []record.Attachment{{Name: record.PlanFile, Data: []byte(p.Source.Text)}}}
	for i := range p.Tree.Len() {
		t := bt.Task(i)
		h.Tasks = append(h.Tasks, record.Task{Name: p.Tree.Name(t), Kind: p.Tree.Kind(t).String(), Parent: int(p.Tree.Parent(t)),
			Initial: bt.Status(i % 10)})
	}
	return h
}

// element is an element of the text that Groot2 gets.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// headers calls a function with headers of many plans: those of the repository, and random ones.
func headers(t *testing.T, visit func(name string, h *record.Header)) {
	t.Helper()
	var files []string
	for _, pattern := range []string{"missions/*.xml", "examples/*/*.xml", "document/plan/testdata/*/*.xml",
		"document/plan/testdata/*/*/*.xml"} {
		list, _ := filepath.Glob("../../" + pattern)
		files = append(files, list...)
	}
	count := 0
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if h := header(string(text)); h != nil {
			visit(name, h)
			count++
		}
	}
	r := rand.New(rand.NewPCG(28, 7))
	for i := range trees.Count(2000, 100) {
		if h := header(oracle.Random(r, oracle.All).Plan()); h != nil {
			visit(fmt.Sprint("random ", i), h)
			count++
		}
	}
	if count < 100 {
		t.Errorf("only %d plans", count)
	}
}

// TestTree: Groot2 gets each task of a plan once, under its own name and in a model of its form, and each use of a
// subtree once, with the tree that it stands for. Numbers are 1, 2, ..., and the statuses have the same ones.
func TestTree(t *testing.T) {
	uses := 0
	headers(t, func(name string, h *record.Header) {
		var m Monitor
		if err := m.Begin(h); err != nil {
			t.Fatal(name, err)
		}
		var root element
		if err := xml.Unmarshal(ask(t, &m, "T")[1], &root); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, m.tree.text)
		}
		p := cause.Plan(h)
		numbers, tasks, trees := map[string]bool{}, map[int]bool{}, map[string]bool{}
		forms, roots := map[string]string{}, map[string]string{}
		last := root.Children[len(root.Children)-1]
		for _, model := range last.Children {
			forms[model.attr("ID")+" "+model.XMLName.Local] = model.XMLName.Local
		}
		for _, tree := range root.Children[:len(root.Children)-1] {
			if path := tree.attr("_fullpath"); trees[path] || len(tree.Children) != 1 {
				t.Errorf("%s: a second tree %q, or %d roots", name, path, len(tree.Children))
			}
			trees[tree.attr("_fullpath")] = true
			roots[tree.attr("_fullpath")] = tree.Children[0].attr("_uid")
		}
		var visit func(e *element)
		visit = func(e *element) {
			uid := e.attr("_uid")
			var n int
			if _, err := fmt.Sscan(uid, &n); err != nil || numbers[uid] || n < 1 || n > len(m.tree.tasks) {
				t.Fatalf("%s: the number %q", name, uid)
			}
			numbers[uid] = true
			task := m.tree.tasks[n-1]
			if e.XMLName.Local == "SubTree" {
				uses++
				path := e.attr("_fullpath")
				var of int
				if _, err := fmt.Sscan(roots[path], &of); err != nil || path == "" || m.tree.tasks[of-1] != task {
					t.Errorf("%s: the use %q of a tree with the root %d", name, path, of)
				}
				delete(trees, path)
				return
			}
			role := plan.Composite
			if k, ok := bt.ParseKind(h.Tasks[task].Kind); ok {
				role = plan.RoleOf(k)
			}
			form := map[plan.Role]string{plan.Composite: "Control", plan.Parallel: "Control", plan.Decorator: "Decorator",
				plan.Condition: "Condition", plan.Action: "Action"}[role]
			if tasks[task] || p != nil && e.attr("name") != diag.Visible(p.Label(bt.Task(task))) ||
				forms[e.XMLName.Local+" "+form] == "" {
				t.Errorf("%s: the task %d, %s, is <%s name=%q>", name, task, h.Tasks[task].Name, e.XMLName.Local, e.attr("name"))
			}
			tasks[task] = true
			for i := range e.Children {
				visit(&e.Children[i])
			}
		}
		for _, tree := range root.Children[:len(root.Children)-1] {
			visit(&tree.Children[0])
		}
		if delete(trees, ""); len(tasks) != len(h.Tasks) || len(trees) != 0 || len(numbers) != len(m.tree.tasks) {
			t.Errorf("%s: %d tasks of %d, %d numbers, trees that are not used: %v", name, len(tasks), len(h.Tasks), len(numbers), trees)
		}
		for all := ask(t, &m, "S")[1]; len(all) > 0; all = all[3:] {
			delete(numbers, fmt.Sprint(binary.LittleEndian.Uint16(all)))
		}
		if len(numbers) > 0 {
			t.Errorf("%s: no statuses of %v", name, numbers)
		}
	})
	if uses < 50 {
		t.Errorf("only %d uses of subtrees", uses)
	}
}

// ask asks a monitor, and checks the head of the answer.
func ask(t testing.TB, m *Monitor, letter string, more ...string) [][]byte {
	t.Helper()
	request := [][]byte{[]byte("\x02" + letter + "\x01\x02\x03\x04")}
	for _, f := range more {
		request = append(request, []byte(f))
	}
	a := m.Answer(request)
	if len(a) == 0 || !bytes.Equal(a[0], append(request[0][:6:6], m.id...)) || len(a[0]) != 22 {
		t.Fatalf("%s %q: %q", letter, more, a)
	}
	return a
}

// text is a plan with a subtree that is used twice.
const text = `<root BTCPP_format="4" main_tree_to_execute="main">
<BehaviorTree ID="main"><Sequence name="top"><SubTree ID="part" name="one"/><SubTree ID="part"/></Sequence></BehaviorTree>
<BehaviorTree ID="part"><ReactiveSequence name="both"><Condition name="ok" on="x ge 1"/><Action name="go" write="u := 1"/>
</ReactiveSequence></BehaviorTree></root>`

// The statuses of Groot2 are those of the table of docs/bridges.md, in the two forms of the protocol, along random
// changes.
func TestStatuses(t *testing.T) {
	table := map[bt.Status]byte{bt.Accept: 0, bt.Activating: 1, bt.Running: 1, bt.Deactivating: 1, bt.Success: 2, bt.Finished: 2,
		bt.Failure: 3, bt.Aborted: 3, bt.Skipped: 4, bt.Dropped: 4}
	var m Monitor
	h := header(text)
	if err := m.Begin(h); err != nil {
		t.Fatal(err)
	}
	now, all := map[int]bt.Status{}, map[int]byte{}
	for i, task := range m.tree.tasks {
		now[task] = h.Tasks[task].Initial
		all[i+1] = table[now[task]]
	}
	r := rand.New(rand.NewPCG(1, 2))
	at := 100.
	if a := ask(t, &m, "r", "start"); string(a[1]) != "0" {
		t.Errorf("the recording begins at %s", a[1])
	}
	for range 2000 {
		task, to := r.IntN(len(h.Tasks)), bt.Status(r.IntN(10))
		at += .25
		if err := m.Status(at, 1, bt.Change{Task: bt.Task(task), From: now[task], To: to}); err != nil {
			t.Fatal(err)
		}
		var moved []byte
		for i, of := range m.tree.tasks {
			if from := table[now[of]]; of == task && from != table[to] {
				if all[i+1] = table[to]; table[to] == 0 {
					all[i+1] = 10 + from
				}
				moved = binary.LittleEndian.AppendUint64(moved, uint64(at*1e6))[:len(moved)+6]
				moved = append(binary.LittleEndian.AppendUint16(moved, uint16(i+1)), table[to])
			}
		}
		now[task] = to
		if a := ask(t, &m, "t"); !bytes.Equal(a[1], moved) {
			t.Fatalf("transitions % x, wanted % x", a[1], moved)
		}
		got := ask(t, &m, "S")[1]
		for ; len(got) > 0; got = got[3:] {
			if n := int(binary.LittleEndian.Uint16(got)); all[n] != got[2] {
				t.Fatalf("after %s of %d, the status of %d is %d, wanted %d", to, task, n, got[2], all[n])
			}
		}
	}
	for i := range 3000 {
		_ = m.Status(at+float64(i), 1, bt.Change{To: []bt.Status{bt.Success, bt.Failure}[i%2]})
	}
	if a := ask(t, &m, "t"); len(a[1]) != 9*mostRecorded {
		t.Errorf("%d bytes of transitions", len(a[1]))
	}
	ask(t, &m, "r", "stop")
	_ = m.Status(at, 1, bt.Change{To: bt.Accept})
	if a := ask(t, &m, "t"); len(a[1]) != 0 {
		t.Errorf("%d bytes are recorded although nothing is", len(a[1]))
	}
}

// What cannot be done is refused by the error frame, with the texts of BehaviorTree.CPP where it has one.
func TestRefused(t *testing.T) {
	var m Monitor
	if err := m.Begin(header(text)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		request []string
		why     string
	}{
		{nil, "wrong request header"}, {[]string{"\x02T123"}, "wrong request header"}, {[]string{"\x02T12345"}, "wrong request header"},
		{[]string{"\x02Q1234"}, "Request not recognized"}, {[]string{"\x02B1234"}, "must be 2 parts message"},
		{[]string{"\x02B1234", "main", "x"}, "must be 2 parts message"}, {[]string{"\x02r1234"}, "must be 2 parts message"},
		{[]string{"\x02I1234", "[]"}, "this run is only watched"}, {[]string{"\x02R1234", "{}"}, "Node ID not found"},
		{[]string{"\x02U1234", "{}"}, "Node ID not found"},
	} {
		var request [][]byte
		for _, f := range c.request {
			request = append(request, []byte(f))
		}
		if a := m.Answer(request); len(a) != 2 || string(a[0]) != "error" || !strings.HasPrefix(string(a[1]), c.why) {
			t.Errorf("%q: %q", c.request, a)
		}
	}
	for letter, want := range map[string]int{"A": 1, "X": 1, "D": 2} {
		if a := ask(t, &m, letter); len(a) != want || want == 2 && string(a[1]) != "[]" {
			t.Errorf("%s: %q", letter, a)
		}
	}
}

// unpack reads a value of MessagePack.
func unpack(b []byte) (v any, rest []byte) {
	kind, b := b[0], b[1:]
	text := func(n int) (any, []byte) { return string(b[:n]), b[n:] }
	entries := func(n int) (any, []byte) {
		m := map[string]any{}
		for range n {
			var key, value any
			key, b = unpack(b)
			value, b = unpack(b)
			m[key.(string)] = value
		}
		return m, b
	}
	switch {
	case kind>>5 == 5:
		return text(int(kind & 31))
	case kind>>4 == 8:
		return entries(int(kind & 15))
	case kind == 0xc0:
		return nil, b
	case kind == 0xc2, kind == 0xc3:
		return kind == 0xc3, b
	case kind == 0xcb:
		return math.Float64frombits(binary.BigEndian.Uint64(b)), b[8:]
	case kind == 0xd3:
		return int64(binary.BigEndian.Uint64(b)), b[8:]
	case kind == 0xdb:
		n := int(binary.BigEndian.Uint32(b))
		b = b[4:]
		return text(n)
	case kind == 0xdf:
		n := int(binary.BigEndian.Uint32(b))
		b = b[4:]
		return entries(n)
	}
	panic(fmt.Sprintf("the type %#x", kind))
}

// A blackboard has the statuses of the tasks in one use of a subtree; the first one has time and signals as well.
func TestBlackboards(t *testing.T) {
	var m Monitor
	h := header(text)
	h.Signals = []record.Signal{{Name: "x"}, {Name: "gone"}, {Name: "on", Type: "boolean"}, {Name: "n", Type: "integer"},
		{Name: "mode", Type: "enumeration", Values: []string{"HOLD", strings.Repeat("A", 40)}}}
	if err := m.Begin(h); err != nil {
		t.Fatal(err)
	}
	_ = m.Sample(12.5, []float64{-0.5, math.NaN(), 1, -3, 1})
	got, rest := unpack(ask(t, &m, "B", "main;one;nothing")[1])
	want := map[string]any{
		"main": map[string]any{"t": 12.5, "x": -0.5, "on": true, "n": int64(-3), "mode": strings.Repeat("A", 40),
			"status of top": h.Tasks[6].Initial.String()},
		"one": map[string]any{"status of one/both": "Accept", "status of one/ok": "Success", "status of one/go": "Failure"}}
	for key := range want["one"].(map[string]any) {
		delete(want["one"].(map[string]any), key)
	}
	for _, task := range h.Tasks[:3] {
		want["one"].(map[string]any)["status of "+task.Name] = task.Initial.String()
	}
	if !reflect.DeepEqual(got, want) || len(rest) > 0 {
		t.Errorf("%v, wanted %v", got, want)
	}
	for _, names := range []string{"", "nothing", ";;"} {
		if a := ask(t, &m, "B", names); hex.EncodeToString(a[1]) != "c0" {
			t.Errorf("%q: % x", names, a[1])
		}
	}
}

// A plan that takes over is another tree, whose nodes have the statuses with which it begins, and then its own.
func TestTakeover(t *testing.T) {
	var m Monitor
	if err := m.Begin(header(text)); err != nil {
		t.Fatal(err)
	}
	before := m.id
	next := `<root BTCPP_format="4"><BehaviorTree ID="new"><Sequence name="top"><Action name="rest" write="u := 0"/></Sequence></BehaviorTree></root>`
	p := record.Takeover{T: 3, Name: "new", Tasks: header(next).Tasks, Source: next}
	p.Tasks[0].Initial, p.Tasks[1].Initial = bt.Running, bt.Activating
	if err := m.Plan(p); err != nil {
		t.Fatal(err)
	}
	if text := string(ask(t, &m, "T")[1]); bytes.Equal(before, m.id) || !strings.Contains(text, `name="rest"`) || strings.Contains(text, "both") {
		t.Errorf("%x, %s", m.id, text)
	}
	rest := bt.Task(slices.IndexFunc(m.log.Tasks, func(t record.Task) bool { return t.Name == "rest" }))
	if all := ask(t, &m, "S")[1]; hex.EncodeToString(all) != "010001"+"020001" {
		t.Errorf("% x", all)
	}
	_ = m.Status(4, 1, bt.Change{Task: rest, From: bt.Running, To: bt.Finished})
	_ = m.Status(4, 1, bt.Change{Task: 0, From: bt.Running, To: bt.Finished}) // of the plan before
	if all := ask(t, &m, "S")[1]; hex.EncodeToString(all) != "010001"+"020002" {
		t.Errorf("% x", all)
	}
}

// A plan of more nodes than the protocol can number is refused.
func TestTooLarge(t *testing.T) {
	h := &record.Header{Tasks: make([]record.Task, mostNodes)}
	for i := range h.Tasks {
		h.Tasks[i] = record.Task{Name: fmt.Sprint(i), Kind: "Action", Parent: mostNodes - 1}
	}
	h.Tasks[mostNodes-1] = record.Task{Name: "top", Kind: "Sequence", Parent: -1}
	var m Monitor
	if err := m.Begin(h); err != nil {
		t.Errorf("%d tasks: %v", len(h.Tasks), err)
	}
	h.Tasks = append(h.Tasks, record.Task{Name: "above", Kind: "Inverter", Parent: -1})
	h.Tasks[mostNodes-1].Parent = mostNodes
	if err := m.Begin(h); err != ErrSize { //nolint:errorlint // it is not wrapped
		t.Errorf("%d tasks: %v", len(h.Tasks), err)
	}
}

// FuzzAnswer: every request has an answer, of the right form.
func FuzzAnswer(f *testing.F) {
	f.Add([]byte("\x02B1234"), []byte("main;one"), true)
	f.Add([]byte("\x02T1234"), []byte(""), false)
	f.Add([]byte("\x02r1234"), []byte("start"), true)
	h := header(text)
	f.Fuzz(func(t *testing.T, head, second []byte, two bool) {
		var m Monitor
		if err := m.Begin(h); err != nil {
			t.Fatal(err)
		}
		request := [][]byte{head, second}
		if !two {
			request = request[:1]
		}
		a := m.Answer(request)
		switch {
		case len(a) == 2 && string(a[0]) == "error" && len(a[1]) > 0:
		case len(a) == 0, len(a) > 2, len(a[0]) != 22, !bytes.Equal(a[0][1:6], head[1:]), a[0][0] != version:
			t.Errorf("%q: %q", request, a)
		case head[1] == 'B':
			unpack(a[1])
		case head[1] == 'D' && !json.Valid(a[1]):
			t.Errorf("%q: %q", request, a)
		}
	})
}
