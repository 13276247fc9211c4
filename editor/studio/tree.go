package studio

import (
	"net/http"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/editor/planedit"
	"github.com/canopy-uav/canopy/internal/files"
)

// box is an element of a plan as the editor draws it. Places in the text count UTF-16 code units, as browsers do.
type box struct {
	Element    string      `json:"element"`
	Label      string      `json:"label"` // its name, else its ID, else its element's name
	Symbol     string      `json:"symbol"`
	Role       plan.Role   `json:"role"`
	Parent     int         `json:"parent"` // -1: none
	Attributes []attribute `json:"attributes"`
	Disabled   bool        `json:"disabled"`
	At         int         `json:"at"`
	From       int         `json:"from"` // with the comments that belong to it, and the blanks before these
	To         int         `json:"to"`
}

// attribute is an attribute of an element.
type attribute struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	At    int    `json:"at"` // of the value
}

// edit is a change of a text.
type edit struct {
	At  int    `json:"at"` // as in box
	End int    `json:"end"`
	New string `json:"new"`
}

// changed is what an operation changes.
type changed struct {
	Edits  []edit `json:"edits"`
	Select int    `json:"select"` // the box that a person goes on with
}

// change tells which edits of a plan do what a person wants.
func (s *Studio) change(w http.ResponseWriter, x request) {
	p, err := planedit.Read(x.Text)
	var c *planedit.Change
	if err == nil {
		c, err = p.Do(x.Op, func(text string) (string, error) {
			m, _, found, err := s.Read(nil, x.with(text))
			if err == nil {
				err = found.Err()
			}
			if err != nil {
				return "", err
			}
			return planedit.Meaning(m.Plan)
		})
	}
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	answer, in := changed{[]edit{}, c.Select}, units(x.Text)
	for _, e := range c.Edits {
		answer.Edits = append(answer.Edits, edit{in(e.At), in(e.End), e.New})
	}
	send(w, answer)
}

// palette sends what a person may add to a plan.
func (s *Studio) palette(w http.ResponseWriter, x request) {
	texts, class := x.with(x.Text), ""
	if m, _, _, _ := s.Read(nil, nil); m != nil { // as it was saved: that has fewer mistakes
		class = m.Vehicle.Name
	}
	send(w, planedit.Palette(&diag.Source{Name: x.Name, Text: x.Text}, class, func(name string) ([]byte, error) {
		if text, edited := texts[name]; edited {
			return []byte(text), nil
		}
		return files.Read(name, mostText)
	}))
}

// boxes returns the elements of a plan; none: the text is not a well-formed one.
func boxes(text string) []box {
	list := []box{}
	p, err := planedit.Read(text)
	if err != nil {
		return list
	}
	in := units(text)
	for i, e := range p.Elements {
		block := p.Block(e)
		from := len(strings.TrimRight(text[:block.At], " \t"))
		if !strings.HasSuffix(text[:from], "\n") {
			from = block.At
		}
		b := box{Element: e.Name, Role: plan.Action, Parent: p.Parents[i], Attributes: []attribute{},
			Disabled: p.Disabled(i), At: in(e.At), From: in(from), To: in(block.End)}
		named := map[string]string{}
		for _, a := range e.Attributes {
			b.Attributes = append(b.Attributes, attribute{a.Name, a.Value, in(a.Raw.At)})
			named[a.Name] = a.Value
		}
		kind, known := bt.ParseKind(e.Name)
		if id, is := bt.ParseKind(named["ID"]); is && !known {
			kind, known = id, true
		}
		switch {
		case known:
			b.Symbol, b.Role = kind.Symbol(), plan.RoleOf(kind)
		case i == 0 || p.Parents[i] == 0 || hasElements(p, i):
			b.Role = plan.Composite
		}
		b.Label = label(named, e.Name)
		list = append(list, b)
	}
	return list
}

func hasElements(p *planedit.Plan, i int) bool { return i+1 < len(p.Parents) && p.Parents[i+1] == i }

// label returns the name of a task that has none but those of its attributes and of its element.
func label(attributes map[string]string, element string) string {
	for _, name := range []string{"name", "ID"} {
		if text := attributes[name]; text != "" {
			return text
		}
	}
	return element
}

// units returns what counts the UTF-16 code units before a byte of a text.
func units(text string) func(at int) int {
	before, n := make([]int, len(text)+1), 0
	for i, r := range text {
		for k := range utf8.RuneLen(r) {
			before[min(i+k, len(text))] = n
		}
		n += max(1, utf16.RuneLen(r))
	}
	before[len(text)] = n
	return func(at int) int { return before[at] }
}
