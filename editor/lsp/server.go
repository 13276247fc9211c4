package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Files is where documents that no editor has open are found, by names with slashes.
type Files struct {
	Open func(name string) ([]byte, error)
	List func(folder string) []string // the names of its files
}

// server is the state of a connection.
type server struct {
	files     Files
	out       io.Writer
	ready     bool                            // it was initialized
	down      bool                            // a shutdown was requested
	buffers   map[string]string               // the texts that editors have open, by name
	found     map[string]map[string]diag.List // by the document that was read, and by the file in which they are
	published map[string]bool                 // files for which the editor shows diagnostics
	known     map[string]plan.Vocabulary      // the last ones, by mission
}

// errNoShutdown is the error of a stream that ends, or an exit that is requested, before a shutdown.
var errNoShutdown = errors.New("lsp: the connection ended without a shutdown")

// Serve answers messages until the exit is requested or the stream ends.
func Serve(in io.Reader, out io.Writer, files Files) error {
	s := &server{files: files, out: out, buffers: map[string]string{}, found: map[string]map[string]diag.List{},
		published: map[string]bool{}, known: map[string]plan.Vocabulary{}}
	r := bufio.NewReader(in)
	for {
		body, err := readFrame(r)
		var m message
		switch {
		case errors.Is(err, io.EOF):
			return errNoShutdown
		case err != nil:
			return err
		case json.Unmarshal(body, &m) != nil:
			err = s.respond(nil, nil, &fault{codeParse, "the message is not a JSON object of JSON-RPC"})
		case m.Method == "exit" && s.down:
			return nil
		case m.Method == "exit":
			return errNoShutdown
		case m.Method != "":
			err = s.handle(&m)
		}
		if err != nil {
			return err
		}
	}
}

// handle handles a message; the error is that of the stream.
func (s *server) handle(m *message) error {
	if m.ID == nil {
		return s.notified(m)
	}
	answer := requests[m.Method]
	switch {
	case m.Method == "initialize":
		s.ready = true
		return s.respond(m.ID, capabilities, nil)
	case !s.ready || s.down:
		return s.respond(m.ID, nil, &fault{codeUninitialized, "the server is not initialized, or is shut down"})
	case m.Method == "shutdown":
		s.down = true
		return s.respond(m.ID, nil, nil)
	case answer == nil:
		return s.respond(m.ID, nil, &fault{codeNoMethod, "there is no method " + m.Method})
	}
	var at request
	if err := json.Unmarshal(m.Params, &at); err != nil {
		return s.respond(m.ID, nil, &fault{codeParams, err.Error()})
	}
	at.file = fileOf(at.Document.URI)
	text, err := s.open(at.file)
	if err != nil {
		return s.respond(m.ID, nil, &fault{codeParams, diag.OfFile(err)})
	}
	at.text = string(text)
	at.offset = offset(at.text, at.Position)
	result, wrong := answer(s, at)
	return s.respond(m.ID, result, wrong)
}

// request is what a request about a document asks.
type request struct {
	Document struct {
		URI string `json:"uri"`
	} `json:"textDocument"`
	Position position `json:"position"`
	NewName  string   `json:"newName"`

	file, text string
	offset     int
}

// requests are the requests about documents.
var requests = map[string]func(s *server, at request) (result any, wrong *fault){
	"textDocument/completion": func(s *server, at request) (any, *fault) { return s.complete(at), nil },
	"textDocument/hover":      func(s *server, at request) (any, *fault) { return s.hover(at), nil },
	"textDocument/definition": func(s *server, at request) (any, *fault) { return s.places(at, true), nil },
	"textDocument/references": func(s *server, at request) (any, *fault) { return s.places(at, false), nil },
	"textDocument/rename":     (*server).rename,
	"textDocument/formatting": func(_ *server, at request) (any, *fault) { return format(at.text), nil },
}

var capabilities = map[string]any{
	"serverInfo": map[string]string{"name": "canopy"},
	"capabilities": map[string]any{
		"positionEncoding": "utf-16", "textDocumentSync": map[string]any{"openClose": true, "change": 2},
		"completionProvider": map[string]any{"triggerCharacters": []string{"<", " ", "\"", "[", "."}},
		"hoverProvider":      true, "definitionProvider": true, "referencesProvider": true, "renameProvider": true,
		"documentFormattingProvider": true,
	},
}

func (s *server) respond(id *json.RawMessage, result any, wrong *fault) error {
	answer := map[string]any{"jsonrpc": "2.0", "id": id}
	if wrong != nil {
		answer["error"] = wrong
	} else {
		answer["result"] = result
	}
	return writeFrame(s.out, answer)
}

// notified handles a notification. One with wrong parameters is ignored: it has no response.
func (s *server) notified(m *message) error {
	var p struct {
		Document struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
		} `json:"textDocument"`
		Changes []struct {
			Range *span  `json:"range"`
			Text  string `json:"text"`
		} `json:"contentChanges"`
	}
	if json.Unmarshal(m.Params, &p) != nil || !s.ready {
		return nil
	}
	name := fileOf(p.Document.URI)
	switch m.Method {
	case "textDocument/didOpen":
		s.buffers[name] = p.Document.Text
	case "textDocument/didChange":
		text := s.buffers[name]
		for _, c := range p.Changes {
			if c.Range == nil {
				text = c.Text
				continue
			}
			from, to := offset(text, c.Range.Start), offset(text, c.Range.End)
			text = text[:from] + c.Text + text[max(from, to):]
		}
		s.buffers[name] = text
	case "textDocument/didClose":
		delete(s.buffers, name)
	case "textDocument/didSave":
	default:
		return nil
	}
	return s.publish(name)
}

// open returns the text of a document: that of the editor, else that of the file.
func (s *server) open(name string) ([]byte, error) {
	if text, ok := s.buffers[name]; ok {
		return []byte(text), nil
	}
	return s.files.Open(name)
}

// text returns the text of a document, empty if it cannot be read.
func (s *server) text(name string) string {
	text, _ := s.open(name)
	return string(text)
}

// publish reads what a changed document is a part of, and sends the diagnostics of the files whose diagnostics change.
func (s *server) publish(name string) error {
	roots := s.missions(name)
	if len(roots) == 0 || !isPlan(name) {
		roots = append(roots, name)
	}
	touched := map[string]bool{name: true}
	for _, root := range roots {
		for file := range s.found[root] {
			touched[file] = true
		}
		s.found[root] = map[string]diag.List{}
		for _, d := range s.read(root).Sorted() {
			touched[d.Source.Name] = true
			s.found[root][d.Source.Name] = append(s.found[root][d.Source.Name], d)
		}
	}
	for _, file := range slices.Sorted(maps.Keys(touched)) {
		list := s.diagnostics(file)
		if len(list) == 0 && !s.published[file] && file != name {
			continue
		}
		s.published[file] = len(list) > 0
		err := writeFrame(s.out, map[string]any{"jsonrpc": "2.0", "method": "textDocument/publishDiagnostics",
			"params": map[string]any{"uri": uriOf(file), "diagnostics": list}})
		if err != nil {
			return err
		}
	}
	return nil
}

// diagnostic is a mistake as editors show it.
type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"` // 1: error, 2: warning
	Code     string `json:"code"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

// diagnostics returns the mistakes in a file, each once.
func (s *server) diagnostics(file string) []diagnostic {
	list, seen := []diagnostic{}, map[diagnostic]bool{}
	for _, root := range slices.Sorted(maps.Keys(s.found)) {
		for _, d := range s.found[root][file] {
			x := diagnostic{between(d.Source.Text, d.Offset, d.Offset+d.Length), 1 + int(d.Severity), d.Code, "canopy",
				diag.Visible(d.Text)}
			if advice := d.Advice(); advice != "" {
				x.Message += "\nhint: " + diag.Visible(advice)
			}
			if !seen[x] {
				seen[x] = true
				list = append(list, x)
			}
		}
	}
	return list
}

// format returns the edits that give a plan the canonical layout; none if it is not well-formed.
func format(text string) []textEdit {
	doc, list := xmltree.Parse(&diag.Source{Text: text})
	if doc.Root == nil || list.HasErrors() {
		return []textEdit{}
	}
	laid := doc.Canonical()
	from := 0
	for from < min(len(text), len(laid)) && text[from] == laid[from] {
		from++
	}
	from = strings.LastIndexByte(text[:from], '\n') + 1
	end := 0
	for end < min(len(text), len(laid))-from && text[len(text)-1-end] == laid[len(laid)-1-end] {
		end++
	}
	for end > 0 && text[len(text)-end-1] != '\n' {
		end--
	}
	if text == laid {
		return []textEdit{}
	}
	return []textEdit{{between(text, from, len(text)-end), laid[from : len(laid)-end]}}
}

// fileOf returns the name of a document: its path, or the whole address if it is no file.
func fileOf(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Scheme == "file" {
		return path.Clean(u.Path)
	}
	return uri
}

func uriOf(name string) string {
	if !path.IsAbs(name) {
		return name
	}
	return (&url.URL{Scheme: "file", Path: name}).String()
}

func isPlan(name string) bool { return path.Ext(name) == ".xml" }
