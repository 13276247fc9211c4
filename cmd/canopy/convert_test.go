package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConvert(t *testing.T) {
	dir := write(t, map[string]string{
		"old.xml":  `<root><BehaviorTree ID="a"><SequenceStar><Near/><Action ID="Fly" name="go"/></SequenceStar></BehaviorTree></root>`,
		"own.xml":  `<root BTCPP_format="4"><BehaviorTree ID="a"><ReactiveParallel><Action name="b c" write="x := 1"/></ReactiveParallel></BehaviorTree></root>`,
		"gone.xml": `<root BTCPP_format="4"><BehaviorTree ID="a"><SubTree ID="gone"/></BehaviorTree></root>`,
		"bad.json": `[{"element": "root", "atributes": {}}]`,
		"bad.xml":  `<root BTCPP_format="4"><BehaviorTree ID="a"><Repeat num_cycle="3"><Action done="x gt"/></Repeat></BehaviorTree></root>`,
		"cut.xml":  `<root BTCPP_format="4"><BehaviorTree ID="a">`,
	})
	at := func(name string) string { return filepath.Join(dir, name) }
	const modern = `<root BTCPP_format="4"><BehaviorTree ID="a"><SequenceWithMemory><Near/><Action ID="Fly" name="go"/></SequenceWithMemory></BehaviorTree></root>`
	stdout, stderr, status := canopy("convert", at("old.xml"), "--to", "xml")
	if status != exitOK || stdout != modern {
		t.Errorf("%d\n%s", status, stdout)
	}
	says(t, "the differences", stderr, "missing-format", `"SequenceStar" of format 3 is "SequenceWithMemory" in format 4`)
	stdout, _, status = canopy("convert", at("old.xml"))
	if status != exitOK {
		t.Errorf("%d", status)
	}
	says(t, "btcpp", stdout, `<Near/><Fly name="go"/>`, `<Action ID="Near"/>`, `<Action ID="Fly"/>`)
	stdout, stderr, status = canopy("convert", at("own.xml"), "--to", "btcpp")
	if status != exitRefute {
		t.Errorf("%d", status)
	}
	says(t, "btcpp", stdout, `<b_c name="b c" write="x := 1"/>`, `<input_port name="write"/>`)
	says(t, "what is lost", stderr, "own.xml:1:46", "no ReactiveParallel")

	stdout, stderr, status = canopy("convert", at("own.xml"), "--json")
	var converted conversion
	if err := json.Unmarshal([]byte(stdout), &converted); err != nil || status != exitRefute || stderr != "" {
		t.Errorf("%v, %d, %q", err, status, stderr)
	}
	if n := converted.Notes[0]; converted.Form != "btcpp" || !strings.Contains(converted.Text, "<b_c ") ||
		n.File != at("own.xml") || n.Line != 1 || n.Column != 46 || n.Code != "not-in-btcpp" {
		t.Errorf("%+v", converted)
	}
	if stdout, stderr, status = canopy("convert", at("bad.xml"), "--json"); status != exitInput || stdout != "" || stderr == "" {
		t.Errorf("%d\n%s", status, stdout)
	}

	if stdout, stderr, status = canopy("convert", at("gone.xml")); status != exitRefute || !strings.Contains(stdout, `<SubTree ID="gone"/>`) {
		t.Errorf("%d\n%s", status, stdout)
	}
	says(t, "what is lost", stderr, "gone.xml:1:46", `there is no tree "gone" [not-in-btcpp]`)

	stdout, stderr, status = canopy("convert", at("bad.xml"))
	if status != exitInput || stdout != "" {
		t.Errorf("%d\n%s", status, stdout)
	}
	says(t, "mistakes", stderr, `Repeat has no attribute "num_cycle"`, "[bad-count]", "[syntax]")

	stdout, _, status = canopy("convert", at("own.xml"), "--to", "json")
	if status != exitOK {
		t.Errorf("%d", status)
	}
	if err := os.WriteFile(at("own.json"), []byte(stdout), 0o666); err != nil {
		t.Fatal(err)
	}
	says(t, "JSON", stdout, `{"element": "ReactiveParallel", "content": [`)
	shown, _, _ := canopy("show", at("own.xml"))
	if again, stderr, _ := canopy("show", at("own.json")); again != shown {
		t.Errorf("%s%s", again, stderr)
	}
	back, _, status := canopy("convert", at("own.json"), "--to", "xml")
	if status != exitOK {
		t.Errorf("%d\n%s", status, back)
	}
	says(t, "XML", back, "  <BehaviorTree ID=\"a\">\n    <ReactiveParallel>\n")

	_, stderr, status = canopy("convert", at("bad.json"))
	if status != exitInput {
		t.Errorf("%d", status)
	}
	says(t, "JSON", stderr, "bad.json:1:22", `did you mean "attributes"?`)
	for _, args := range [][]string{{at("cut.xml")}, {at("cut.xml"), "--to", "json"}, {at("none.xml")}, {at("own.xml"), "--to", "jsn"}, nil} {
		if stdout, stderr, status := canopy(append([]string{"convert"}, args...)...); status != exitInput || stdout != "" || stderr == "" {
			t.Errorf("%v: %d, %q, %q", args, status, stdout, stderr)
		}
	}
}
