package record

import (
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/bt"
)

// A name that a spreadsheet would take for a formula is written as a text, and what cannot be seen is escaped; ordinary
// names stay as they are.
func TestNamesInCSV(t *testing.T) {
	h := Header{Tasks: []Task{{Name: "=HYPERLINK(\"x\")", Kind: "Action", Parent: -1}},
		Signals: []Signal{{Name: "+x", Unit: "m"}, {Name: "-x"}, {Name: "@x"}, {Name: "=1,2"}, {Name: "a=b"}, {Name: "\t=x\u202e"}}}
	var status, signals strings.Builder
	w, err := NewWriter(h, Files{Status: &status, Signals: &signals})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Status(0, 1, bt.Change{Task: 0, From: bt.Accept, To: bt.Activating}); err != nil {
		t.Fatal(err)
	}
	if err := w.Sample(0, []float64{-1, 2, 3, 4, 5, 6}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(Summary{}); err != nil {
		t.Fatal(err)
	}
	if want := "t,micro,task,from,to\n0.000000000,1,\"'=HYPERLINK(\"\"x\"\")\",Accept,Activating\n"; status.String() != want {
		t.Errorf("status.csv\n%s\nwant\n%s", status.String(), want)
	}
	if want := "t,'+x [m],'-x [1],'@x [1],\"'=1,2 [1]\",a=b [1],\\t=x\\u202e [1]\n0,-1,2,3,4,5,6\n"; signals.String() != want {
		t.Errorf("signals.csv\n%s\nwant\n%s", signals.String(), want)
	}
}

// pieces takes what is written one by one.
type pieces []string

func (p *pieces) Write(b []byte) (int, error) {
	*p = append(*p, string(b))
	return len(b), nil
}

// Whenever a CSV file is written out, it ends with a whole line, however long the lines are.
func TestWholeLines(t *testing.T) {
	var status, signals pieces
	h := Header{Tasks: []Task{{Name: strings.Repeat("a", 5000), Kind: "Action", Parent: -1}}, Signals: []Signal{{Name: "x"}}}
	w, err := NewWriter(h, Files{Status: &status, Signals: &signals})
	must(t, err)
	for i := range 2000 {
		must(t, w.Status(float64(i), 1, bt.Change{Task: 0, From: bt.Accept, To: bt.Activating}))
		must(t, w.Sample(float64(i), []float64{1 / float64(i+3)}))
	}
	must(t, w.Close(Summary{}))
	for _, file := range []pieces{status, signals} {
		for i, piece := range file {
			if !strings.HasSuffix(piece, "\n") {
				t.Errorf("piece %d of %d ends with %.20q", i, len(file), piece[len(piece)-min(len(piece), 20):])
			}
		}
	}
}
