package lsp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/vehicle/equations"

	"pgregory.net/rapid"
)

// client talks to a server over pipes.
type client struct {
	t     testing.TB
	in    *io.PipeWriter
	out   chan []byte // the bodies of messages
	done  chan error
	id    int
	found map[string][]diagnostic // by file
}

// start connects to a server of some files.
func start(t testing.TB, files map[string]string) *client {
	t.Helper()
	toServer, in := io.Pipe()
	out, fromServer := io.Pipe()
	c := &client{t: t, in: in, out: make(chan []byte, 10_000), done: make(chan error, 1), found: map[string][]diagnostic{}}
	go func() {
		c.done <- Serve(toServer, fromServer, memory(files))
		_ = fromServer.Close()
	}()
	go func() {
		defer close(c.out)
		for r := bufio.NewReader(out); ; {
			body, err := readFrame(r)
			if err != nil {
				return
			}
			c.out <- body
		}
	}()
	return c
}

// memory is files that are only in memory, all in one folder.
func memory(files map[string]string) Files {
	return Files{
		Open: func(name string) ([]byte, error) {
			if text, ok := files[name]; ok {
				return []byte(text), nil
			}
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		},
		List: func(folder string) (names []string) {
			for _, name := range slices.Sorted(maps.Keys(files)) {
				if path.Dir(name) == folder {
					names = append(names, path.Base(name))
				}
			}
			return names
		},
	}
}

func (c *client) send(v any) {
	c.t.Helper()
	if err := writeFrame(c.in, v); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) notify(method string, params any) {
	c.t.Helper()
	c.send(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
}

// call makes a request, and returns the result and the error of its response.
func (c *client) call(method string, params any) (result json.RawMessage, wrong *fault) {
	c.t.Helper()
	c.id++
	c.send(map[string]any{"jsonrpc": "2.0", "id": c.id, "method": method, "params": params})
	for {
		body, open := <-c.out
		if !open {
			c.t.Fatal(method, "the server has ended")
		}
		var m struct {
			ID     *int
			Method string
			Result json.RawMessage
			Error  *fault
			Params struct {
				URI         string
				Diagnostics []diagnostic
			}
		}
		if err := json.Unmarshal(body, &m); err != nil {
			c.t.Fatal(err)
		}
		if m.Method == "textDocument/publishDiagnostics" {
			c.found[fileOf(m.Params.URI)] = m.Params.Diagnostics
			continue
		}
		if m.ID == nil || *m.ID != c.id {
			c.t.Fatalf("a response to %v, not to %d: %s", m.ID, c.id, body)
		}
		return m.Result, m.Error
	}
}

// initialize opens the connection.
func (c *client) initialize() {
	c.t.Helper()
	if _, wrong := c.call("initialize", map[string]any{"capabilities": map[string]any{}}); wrong != nil {
		c.t.Fatal(wrong)
	}
	c.notify("initialized", map[string]any{})
}

func (c *client) opens(file, text string) {
	c.t.Helper()
	c.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uriOf(file), "text": text}})
}

func (c *client) changes(file, text string) {
	c.t.Helper()
	c.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uriOf(file)},
		"contentChanges": []any{map[string]any{"text": text}}})
}

// ask makes a request at the first place of a text, marked there with a bar.
func (c *client) ask(method, file, text, around string, more ...string) (json.RawMessage, *fault) {
	c.t.Helper()
	before, after, _ := strings.Cut(around, "|")
	at := strings.Index(text, before+after)
	if at < 0 {
		c.t.Fatalf("%q is not in the text", around)
	}
	params := map[string]any{"textDocument": map[string]any{"uri": uriOf(file)},
		"position": place(text, at+len(before)), "context": map[string]any{"includeDeclaration": true}}
	if len(more) > 0 {
		params["newName"] = more[0]
	}
	return c.call(method, params)
}

// ends shuts the server down.
func (c *client) ends() {
	c.t.Helper()
	if _, wrong := c.call("shutdown", nil); wrong != nil {
		c.t.Fatal(wrong)
	}
	c.notify("exit", nil)
	if err := <-c.done; err != nil {
		c.t.Fatal(err)
	}
}

const (
	missionFile, planFile = "/m/test.yaml", "/m/plan.xml"

	missionText = `# 😀 a mission
plan: plan.xml
vehicle: copter
horizon: 60 [s]
signals:
  light: {type: boolean, text: the light is on}
  limit: {unit: m, value: "20 [m]"}
record:
  signals: [h, light]
check:
  always: ["Climb -> h >= -100 [m]"]
`
	planText = `<root BTCPP_format="4" main_tree_to_execute="Main">
  <BehaviorTree ID="Main">
    <Sequence name="😀 all">
      <SubTree ID="Up"/>
      <Condition name="high" on="h gt limit"/>
    </Sequence>
  </BehaviorTree>
  <BehaviorTree ID="Up">
    <Action name="Climb" write="light := true" done="h gt 10 [m]"/>
  </BehaviorTree>
</root>
`
)

func testFiles() map[string]string {
	return map[string]string{missionFile: missionText, planFile: planText}
}

// labels returns the labels of the proposals at a place.
func (c *client) labels(file, text, around string) (labels []string) {
	c.t.Helper()
	result, wrong := c.ask("textDocument/completion", file, text, around)
	var items []item
	if err := json.Unmarshal(result, &items); err != nil || wrong != nil {
		c.t.Fatal(err, wrong)
	}
	for _, i := range items {
		labels = append(labels, i.Label)
	}
	return labels
}

// Proposals are those of the place, also in a document that is half typed.
func TestCompletion(t *testing.T) {
	c := start(t, testFiles())
	c.initialize()
	for _, x := range []struct{ file, text, around, has, lacks string }{
		{planFile, planText, "<Seq|uence", "Fallback", "h"},
		{planFile, planText, `<Sequence |name="😀`, "_skipIf", "on"},
		{planFile, planText, `on="h gt |limit`, "light", "Sequence"},
		{planFile, planText, `on="h gt |limit`, "Climb", "Sequence"},
		{planFile, planText, `h gt 10 [|m]`, "m/s", "light"},
		{planFile, planText, `<SubTree ID="|Up`, "Main", "Climb"},
		{planFile, "<root BTCPP_format=\"4\"><BehaviorTree><Condition on=\"h", `on="h|`, "light", "Sequence"},
		{missionFile, missionText + "hor", "\nhor|", "ends_with_plan", "steps"},
		{missionFile, missionText + "method: x", "method: x|", "explicit", "h"},
		{missionFile, missionText + "record:\n  in", "record:\n  in|", "interval", "horizon"},
		{missionFile, missionText + "plots:\n  - title: x\n    s", "    s|", "signals", "horizon"},
		{missionFile, missionText, "vehicle: |copter", "plane", "h"},
		{missionFile, missionText + "  goal: h", "  goal: h|", "light", "horizon"},
	} {
		c.opens(x.file, x.text)
		labels := c.labels(x.file, x.text, x.around)
		if !slices.Contains(labels, x.has) || slices.Contains(labels, x.lacks) {
			t.Errorf("%s: %q", x.around, labels)
		}
		c.opens(x.file, testFiles()[x.file])
	}
	c.ends()
}

// Hover tells the purpose of an element, and the unit and the text of a signal.
func TestHover(t *testing.T) {
	c := start(t, testFiles())
	c.initialize()
	for around, want := range map[string]string{"<Sequ|ence": "child", `"li|ght :=`: "the light is on", `gt lim|it"`: "[m]",
		`😀 a|ll`: "null"} {
		result, wrong := c.ask("textDocument/hover", planFile, planText, around)
		if wrong != nil || !strings.Contains(string(result), want) {
			t.Errorf("%s: %s, %v", around, result, wrong)
		}
	}
	c.ends()
}

// Definitions and references are found across the documents of a mission, with positions in UTF-16.
func TestNames(t *testing.T) {
	c := start(t, testFiles())
	c.initialize()
	for _, x := range []struct{ method, file, around, want string }{
		{"definition", planFile, `SubTree ID="U|p`, "plan.xml 7:20 "},
		{"references", planFile, `Tree ID="U|p">`, "plan.xml 3:19 plan.xml 7:20 "},
		{"definition", planFile, `li|ght :=`, "test.yaml 5:2 "},
		{"references", planFile, `li|ght :=`, "plan.xml 8:32 test.yaml 5:2 test.yaml 8:15 "},
		{"references", planFile, `"Cl|imb`, "plan.xml 8:18 test.yaml 10:12 "},
		{"definition", missionFile, `"Cl|imb`, "plan.xml 8:18 "},
		{"definition", planFile, `"h |gt lim`, ""},
	} {
		result, wrong := c.ask("textDocument/"+x.method, x.file, testFiles()[x.file], x.around)
		var list []location
		if err := json.Unmarshal(result, &list); err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		got := ""
		slices.SortFunc(list, func(a, b location) int { return strings.Compare(a.URI, b.URI) })
		for _, l := range list {
			got += fmt.Sprintf("%s %d:%d ", path.Base(l.URI), l.Range.Start.Line, l.Range.Start.Character)
		}
		if got != x.want {
			t.Errorf("%s of %s: %s, want %s", x.method, x.around, got, x.want)
		}
	}
	c.ends()
}

// applied returns documents with the edits of a result made to them.
func applied(t *testing.T, files map[string]string, changes map[string][]textEdit) map[string]string {
	t.Helper()
	files = maps.Clone(files)
	for uri, edits := range changes {
		text := files[fileOf(uri)]
		slices.SortFunc(edits, func(a, b textEdit) int {
			return offset(text, b.Range.Start) - offset(text, a.Range.Start)
		})
		for _, e := range edits {
			text = text[:offset(text, e.Range.Start)] + e.NewText + text[offset(text, e.Range.End):]
		}
		files[fileOf(uri)] = text
	}
	return files
}

// Renaming changes a name everywhere and nothing else, so that renaming it back gives the same documents; the mission
// is read without mistakes in between. A name with a mistake is refused.
func TestRename(t *testing.T) {
	for around, name := range map[string]string{`"Cl|imb`: "Rise", `li|ght :=`: "lamp", `SubTree ID="U|p`: "Upwards",
		`gt lim|it`: "ceiling"} {
		c := start(t, testFiles())
		c.initialize()
		var result struct{ Changes map[string][]textEdit }
		answer, wrong := c.ask("textDocument/rename", planFile, planText, around, name)
		if err := json.Unmarshal(answer, &result); err != nil || wrong != nil {
			t.Fatal(around, err, wrong)
		}
		files := applied(t, testFiles(), result.Changes)
		_, list := mission.Read(missionFile, memory(files).Open, equations.Offers(), nil)
		if list.HasErrors() || files[planFile] == planText {
			t.Errorf("%s: %v\n%s", around, list, files[planFile])
		}
		back := map[string]string{}
		for file, text := range files {
			word := map[string]string{"Rise": "Climb", "lamp": "light", "Upwards": "Up", "ceiling": "limit"}[name]
			back[file] = strings.ReplaceAll(text, name, word)
		}
		if !maps.Equal(back, testFiles()) {
			t.Errorf("%s: %q", around, back)
		}
		for _, bad := range []string{"", "a b <", "h"} {
			if _, wrong := c.ask("textDocument/rename", planFile, planText, around, bad); wrong == nil &&
				(bad != "h" || name == "lamp" || name == "ceiling") {
				t.Errorf("%s may be renamed to %q", around, bad)
			}
		}
		c.ends()
	}
}

// Diagnostics are those of the reader, for the text of the editor: with the same places, codes, texts and hints.
func TestDiagnostics(t *testing.T) {
	c := start(t, testFiles())
	c.initialize()
	c.opens(planFile, planText)
	for _, text := range []string{planText, strings.ReplaceAll(planText, "gt limit", "gt limits"),
		strings.ReplaceAll(planText, "name=", "nam="), planText[:len(planText)/2], strings.ReplaceAll(planText, "10 [m]", "10 [s]")} {
		c.changes(planFile, text)
		_, _ = c.call("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": uriOf(planFile)}})
		files := testFiles()
		files[planFile] = text
		_, list := mission.Read(missionFile, memory(files).Open, equations.Offers(), nil)
		want := map[diagnostic]bool{}
		for _, d := range list {
			if d.Source.Name != planFile {
				continue
			}
			line, column := d.Position()
			x := diagnostic{between(text, d.Offset, d.Offset+d.Length), 1 + int(d.Severity), d.Code, "canopy", diag.Visible(d.Text)}
			if d.Advice() != "" {
				x.Message += "\nhint: " + diag.Visible(d.Advice())
			}
			if lines := strings.Split(text, "\n"); x.Range.Start.Line != line-1 || !strings.Contains(lines[line-1], "😀") &&
				x.Range.Start.Character != column-1 {
				t.Errorf("%v is not at %d:%d", x, line, column)
			}
			want[x] = true
		}
		got := map[diagnostic]bool{}
		for _, d := range c.found[planFile] {
			got[d] = true
		}
		if !maps.Equal(got, want) || (text == planText) != (len(want) == 0) {
			t.Errorf("the server says\n%v\nthe reader\n%v", got, want)
		}
	}
	c.ends()
}

// The layout is that of canopy fmt, by edits of the lines that differ; a text that is not well-formed stays.
func TestFormatting(t *testing.T) {
	c := start(t, testFiles())
	c.initialize()
	text := strings.Replace(planText, "    <Sequence", "<Sequence", 1)
	for text, want := range map[string]string{text: planText, planText: planText, text[:99]: text[:99]} {
		c.opens(planFile, text)
		var edits []textEdit
		result, wrong := c.call("textDocument/formatting", map[string]any{"textDocument": map[string]any{"uri": uriOf(planFile)}})
		if err := json.Unmarshal(result, &edits); err != nil || wrong != nil {
			t.Fatal(err, wrong)
		}
		if got := applied(t, map[string]string{planFile: text}, map[string][]textEdit{uriOf(planFile): edits}); got[planFile] != want {
			t.Errorf("got %s", got[planFile])
		}
	}
	c.ends()
}

// The order of the protocol is kept: nothing before initialize, an error for what the server cannot do.
func TestProtocol(t *testing.T) {
	c := start(t, testFiles())
	if _, wrong := c.call("textDocument/hover", nil); wrong == nil || wrong.Code != codeUninitialized {
		t.Error(wrong)
	}
	c.initialize()
	if _, wrong := c.call("textDocument/codeLens", nil); wrong == nil || wrong.Code != codeNoMethod {
		t.Error(wrong)
	}
	if _, wrong := c.call("textDocument/hover", []int{1}); wrong == nil || wrong.Code != codeParams {
		t.Error(wrong)
	}
	c.ends()
	if err := Serve(strings.NewReader(""), io.Discard, memory(nil)); !errors.Is(err, errNoShutdown) {
		t.Error(err)
	}
}

// A document that is typed letter by letter never stops the server: all requests are answered at every place of every
// beginning.
func TestHalfTyped(t *testing.T) {
	texts := map[string]string{planFile: planText, missionFile: missionText}
	if !testing.Short() {
		for _, name := range []string{"../../missions/circuit.xml", "../../missions/circuit.yaml"} {
			text, err := os.ReadFile(filepath.FromSlash(name))
			if err != nil {
				t.Fatal(err)
			}
			texts["/m/"+path.Base(name)] = string(text[:min(len(text), 1500)])
		}
	}
	for file, text := range texts {
		c := start(t, testFiles())
		c.initialize()
		for end := 0; end <= len(text); end += 1 + len(text)/150 {
			c.opens(file, text[:end])
			at := map[string]any{"textDocument": map[string]any{"uri": uriOf(file)}, "position": place(text, end), "newName": "z"}
			for _, method := range slices.Sorted(maps.Keys(requests)) {
				_, _ = c.call(method, at)
			}
		}
		c.ends()
	}
}

// A position and a byte convert to each other at the start of every character, and any position is inside the text.
func TestPositions(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "é", "😀", "\n", "\r\n", "\t", "\xff", "名"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		for i := range text {
			if got := offset(text, place(text, i)); got != i && text[i] != '\n' {
				t.Fatalf("%q: byte %d is %v, which is byte %d", text, i, place(text, i), got)
			}
		}
		p := position{rapid.IntRange(0, 9).Draw(t, "line"), rapid.IntRange(0, 9).Draw(t, "character")}
		at := offset(text, p)
		if at < 0 || at > len(text) || place(text, at).Line > p.Line {
			t.Fatalf("%q: %v is byte %d", text, p, at)
		}
	})
}

// Frames that are written are read, and no bytes stop the server other than by an error.
func FuzzFraming(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Length: 55\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}        "))
	f.Add([]byte("content-length:-1\n\n"))
	f.Add([]byte("Content-Length: 99999999999\r\n\r\nx"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var frame bytes.Buffer
		if err := writeFrame(&frame, string(data)); err != nil {
			t.Fatal(err)
		}
		length := frame.Len()
		if body, err := readFrame(bufio.NewReader(&frame)); err != nil || !bytes.HasSuffix(body, []byte(`"`)) || len(body) >= length {
			t.Fatalf("%q: %q, %v", data, body, err)
		}
		if err := Serve(bytes.NewReader(data), io.Discard, memory(testFiles())); err == nil &&
			!bytes.Contains(data, []byte("exit")) {
			t.Fatal("the server ended by itself")
		}
	})
}
