package diag

import (
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	src := &Source{Name: "plan.xml", Text: "first\n\tübel <Clibm/>\r\nlast"}
	at := strings.Index(src.Text, "Clibm")
	list := List{
		{Source: src, Offset: len(src.Text), Severity: Warning, Code: "end", Text: "nothing follows"},
		{Source: src, Offset: at, Length: 5, Code: "unknown-node", Text: `there is no node "Clibm"`, Hint: `did you mean "Climb"?`},
	}
	want := "plan.xml:2:8: error: there is no node \"Clibm\" [unknown-node]\n" +
		"    2 | \tübel <Clibm/>\n" +
		"      | \t      ^~~~~\n" +
		"  hint: did you mean \"Climb\"?\n" +
		"plan.xml:3:5: warning: nothing follows [end]\n" +
		"    3 | last\n" +
		"      |     ^"
	if got := list.Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !list.HasErrors() || list[:1].HasErrors() || list[:1].Err() != nil || list.Err() == nil {
		t.Error("only a list with an error is an error")
	}
	var b strings.Builder
	list.Write(&b, true)
	if plain := strings.NewReplacer(red, "", yellow, "", cyan, "", reset, "").Replace(b.String()); strings.TrimSpace(plain) != want || plain == b.String() {
		t.Errorf("colours change the text:\n%s", plain)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"battery.E_Wh", "battery.R0", "soc", "h", "T"}
	for word, want := range map[string]string{
		"batery.E_Wh": "battery.E_Wh", "BATTERY.r0": "battery.R0", "sco": "soc", "sox": "soc", "s": "", "y": "", "": "",
		"altitude": "", "H": "h", "hh": "h",
	} {
		if got := Nearest(word, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
