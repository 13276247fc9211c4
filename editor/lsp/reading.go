package lsp

import (
	"path"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/formalism/stategraph"
	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/syntax/xmltree"
	"github.com/canopy-uav/canopy/vehicle/equations"
)

// kind is the kind of a document.
type kind uint8

const (
	other kind = iota
	planKind
	missionKind
	vehicleKind
	graphKind
)

// kindOf returns the kind of a document by its name, and of YAML by its keys. An editor may show other YAML, too.
func kindOf(name, text string) kind {
	if isPlan(name) {
		return planKind
	}
	for line := range strings.Lines(text) {
		key, _, found := strings.Cut(line, ":")
		if k, known := keyKinds[key]; found && known {
			return k
		}
	}
	return other
}

var keyKinds = map[string]kind{"steps": graphKind, "states": vehicleKind, "plan": missionKind}

// read returns the mistakes in a document, and in those that it names.
func (s *server) read(name string) diag.List {
	text := s.text(name)
	src := &diag.Source{Name: name, Text: text}
	var list diag.List
	switch kindOf(name, text) {
	case planKind:
		_, list = plan.ReadFiles(src, nil, s.open)
	case missionKind:
		var m *mission.Mission
		if m, list = mission.Read(name, s.open, equations.Offers(), nil); m != nil {
			_, more := run.Graph(m)
			list = append(list, more...)
		}
	case vehicleKind:
		_, list = equations.Read(src)
	case graphKind:
		_, list = stategraph.Read(src, nil)
	}
	return list
}

// missions returns the missions of the document's folder that name it; a mission is its own.
func (s *server) missions(name string) (list []string) {
	if kindOf(name, s.text(name)) == missionKind {
		return []string{name}
	}
	folder := path.Dir(name)
	for _, file := range s.files.List(folder) {
		file = path.Join(folder, file)
		if ext := path.Ext(file); ext != ".yaml" && ext != ".yml" {
			continue
		}
		text := s.text(file)
		if strings.Contains(text, path.Base(name)) && kindOf(file, text) == missionKind &&
			slices.Contains(s.parts(file), name) {
			list = append(list, file)
		}
	}
	return list
}

// parts returns the documents that a mission or a plan names.
func (s *server) parts(name string) (list []string) {
	text := s.text(name)
	src := &diag.Source{Name: name, Text: text}
	add := func(file string) {
		if !path.IsAbs(file) {
			file = path.Join(path.Dir(name), file)
		}
		list = append(list, file)
	}
	if isPlan(name) {
		if doc, _ := xmltree.Parse(src); doc.Root != nil {
			for e := range doc.Root.Elements() {
				if a := e.Find("path"); a != nil && e.Name == "include" {
					add(a.Value)
				}
			}
		}
		return list
	}
	for line := range strings.Lines(text) { // also of a document that is half typed
		key, value, _ := strings.Cut(line, ":")
		value, _, _ = strings.Cut(value, " #")
		value = strings.Trim(strings.TrimSpace(value), `"'`)
		if key == "plan" || key == "graph" || key == "vehicle" && equations.IsFile(value) {
			add(value)
		}
	}
	return list
}

// group returns a document with those that share names with it.
func (s *server) group(name string) []string {
	group := []string{name}
	if list := s.missions(name); len(list) > 0 && list[0] != name {
		group = append(group, list[0])
	}
	for i := 0; i < len(group) && len(group) < maxGroup; i++ {
		for _, file := range s.parts(group[i]) {
			if !slices.Contains(group, file) {
				group = append(group, file)
			}
		}
	}
	return group
}

// maxGroup bounds the documents that are searched for a name.
const maxGroup = 100

// noPlan is a plan that needs no signals.
const noPlan = `<root BTCPP_format="4"><BehaviorTree ID="Main"><AlwaysSuccess/></BehaviorTree></root>`

// vocabulary returns the signals of the mission of a document. A plan that is half typed does not change them, and
// while the mission is, they are the last ones.
func (s *server) vocabulary(name string) plan.Vocabulary {
	list := s.missions(name)
	if len(list) == 0 {
		return nil
	}
	of := list[0]
	m, _ := mission.Read(of, s.open, equations.Offers(), nil)
	if m == nil {
		m, _ = mission.Read(of, func(file string) ([]byte, error) {
			if isPlan(file) {
				return []byte(noPlan), nil
			}
			return s.open(file)
		}, equations.Offers(), nil)
	}
	if m != nil {
		v := m.Vocabulary()
		for _, e := range m.Plan.Entries {
			v[e.Name] = plan.Signal{Type: e.Type, Slot: true, Entry: true, Text: "an entry of the plan"}
		}
		s.known[of] = v
	}
	return s.known[of]
}
