package bt

import "testing"

// TestIncompleteRows refuses rows that would be read as some other kind: what a row leaves out must not be an answer.
func TestIncompleteRows(t *testing.T) {
	duration := []Param{{Name: "msec", Type: Duration}}
	for name, r := range map[string]row{
		"no family":            {children: one, symbol: "s"},
		"unknown family":       {family: Script + 1, children: one, symbol: "s"},
		"a leaf with children": {family: Leaf, children: one},
		"no children":          {family: Chain, verdict: same, symbol: "s"},
		"no verdict":           {family: Chain, children: some, symbol: "s"},
		"no thresholds":        {family: Count, children: some, symbol: "s"},
		"no states":            {family: Script, children: one, symbol: "s"},
		"a move back": {family: Script, children: one, symbol: "s",
			script: Automaton{states: []state{{on: [2]move{Failure: {says: Accept}}}}}},
		"a timer without a duration": {family: Script, children: one, symbol: "s",
			script: Automaton{states: []state{{on: asJudged, after: 1}, {child: nobody, says: Failure}}}},
		"a timer that leads nowhere": {family: Script, children: one, symbol: "s", params: duration,
			script: Automaton{states: []state{{on: asJudged, after: 1}}}},
	} {
		r.name, r.text = "Name", "Text."
		if r.fault() == "" {
			t.Errorf("%s: the row is accepted", name)
		}
	}
	if r := (row{family: Leaf}); r.fault() == "" {
		t.Error("a row without a name is accepted")
	}
}
