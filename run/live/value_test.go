package live_test

import (
	"context"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/run/live"
)

// typed is a plan that reads and writes typed values.
const typed = `<root BTCPP_format="4"><BehaviorTree ID="main"><Sequence><Script code="%"/><Action ID="a"/></Sequence></BehaviorTree></root>`

func typedPlan(script string) (*live.Execution, live.Input[string]) {
	x := live.New("typed.xml", strings.Replace(typed, "%", script, 1))
	x.Action("a", live.Action{Start: func(a live.Activation) { a.Succeed() }})
	mode := x.Word("mode", "manual", "automatic")
	x.Whole("n")
	x.WholeOutput("out", func(int) {})
	x.WordOutput("state", []string{"manual", "automatic"}, func(string) {})
	return x, mode
}

// What a script does with a value of another type, or with one that only the program sets, is found before the run.
func TestTypedValuesAreChecked(t *testing.T) {
	for script, want := range map[string]string{
		`out := n + 1; state := mode`: "",
		`out := n == 1 ? 2 : 3`:       "",
		`state := mod`:                `typed.xml:1:`,
		`out := 1.5`:                  `typed.xml:1:`,
		`n := 3`:                      `"n" can be read but not written`,
		`state := n`:                  `typed.xml:1:`,
	} {
		x, _ := typedPlan(script)
		err := x.Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", script, err)
		}
	}
	x := live.New("typed.xml", typed)
	x.Word("none")
	x.Word("bad", "a b")
	if err := x.Check(); err == nil || !strings.Contains(err.Error(), `"none" has no words`) ||
		!strings.Contains(err.Error(), `"a b" of "bad"`) {
		t.Error(err)
	}
}

// A word that was not registered is a mistake in the program.
func TestUnknownWord(t *testing.T) {
	x, mode := typedPlan("out := 1")
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, `"auto" is not one of the words`) {
			t.Errorf("%q", text)
		}
		mode.Set("automatic")
		if err := x.Run(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	mode.Set("auto")
}
