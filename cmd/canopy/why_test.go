package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/run/folder"
)

// TestWhy explains each task of a flight, at many times: every explanation begins with the last change of that task up to
// then, and ends at a leaf with the values of its signals, or at the begin or the end of the run.
func TestWhy(t *testing.T) {
	out := filepath.Join(t.TempDir(), "circuit")
	if _, stderr, status := canopy("run", "../../missions/circuit.yaml", "--until", "300", "--out", out); status != exitOK {
		t.Fatal(stderr)
	}
	log := fileText(t, filepath.Join(out, folder.StatusFile))
	page := causesOf(t, filepath.Join(out, folder.ReportFile))
	count := 0
	for _, until := range []string{"", "0", "100", "101", "120", "284 [s]", "5min"} {
		for _, task := range []string{"circuit", "gain_altitude", "altitude", "take_off", "round", "waypoint", "reached",
			"fly", "next", "advance", "reset"} {
			args := []string{"why", out, task}
			if until != "" {
				args = append(args, until)
			}
			stdout, stderr, status := canopy(args...)
			if status != exitOK {
				if !strings.Contains(stderr, "does not change") || strings.Contains(log, ","+task+",") && until == "" {
					t.Errorf("%v: %s", args, stderr)
				}
				continue
			}
			count++
			lines := strings.Split(strings.TrimSpace(stdout), "\n")
			last := lines[len(lines)-1]
			if len(lines) < 3 || !strings.HasPrefix(lines[1], task+": ") || !strings.HasPrefix(last, "  because ") ||
				strings.Contains(last, "->") {
				t.Errorf("%v:\n%s", args, stdout)
			}
			for i, line := range lines[1:] {
				if strings.HasPrefix(line, " ") {
					continue
				}
				if got := page.chain(lines[0], line); !slices.Equal(got, lines[1+i:min(len(lines), 1+i+len(got))]) {
					t.Errorf("%v: the report has\n%s\ninstead of\n%s", args, strings.Join(got, "\n"), stdout)
				}
			}
			if !strings.Contains(last, " = ") && !strings.Contains(last, "the run begins") &&
				!strings.Contains(last, "the run ends: ") {
				t.Errorf("%v: no reason: %s", args, last)
			}
		}
	}
	if count < 50 {
		t.Errorf("%d explanations", count)
	}
	for want, args := range map[string][]string{
		"did you mean \"fly\"?":  {out, "flyy"},
		"TIME":                   {out, "fly", "soon"},
		"does not change":        {out, "advance", "10"},
		"give the output folder": {filepath.Join(out, "nothing"), "fly"},
	} {
		if _, stderr, status := canopy(append([]string{"why"}, args...)...); status != exitInput || !strings.Contains(stderr, want) {
			t.Errorf("%v: status %d, %s", args, status, stderr)
		}
	}
}

// causes are what the data of a report say about status changes.
type causes struct {
	Statuses []string
	Tasks    []struct{ Name string }
	Changes  struct {
		Back, Task, From, To []int
		Why                  []string
		T                    []float64
	}
}

func causesOf(t *testing.T, report string) (c causes) {
	t.Helper()
	_, data, _ := strings.Cut(fileText(t, report), `id="run">`)
	data, _, _ = strings.Cut(data, "</script>")
	must(t, json.Unmarshal([]byte(data), &c))
	return c
}

// chain writes, as canopy why does, the causes of the change that a line names, at the time in another line.
func (c *causes) chain(head, line string) (list []string) {
	said := func(k int) string {
		to := &c.Changes
		return fmt.Sprintf("%s: %s -> %s", c.Tasks[to.Task[k]].Name, c.Statuses[to.From[k]], c.Statuses[to.To[k]])
	}
	for k := len(c.Changes.T) - 1; k >= 0; k-- {
		if !strings.Contains(head, fmt.Sprintf(", %.3f s", c.Changes.T[k])) || said(k) != line {
			continue
		}
		for list = []string{line}; c.Changes.Back[k] > 0; list = append(list, "  because "+said(k)) {
			k -= c.Changes.Back[k]
		}
		return append(list, "  because "+c.Changes.Why[k])
	}
	return []string{"no such change"}
}

// TestWhyShowsWhatDecided: the values are those that a leaf was judged by, not those that its successor writes at the
// same instant.
func TestWhyShowsWhatDecided(t *testing.T) {
	dir := t.TempDir()
	leg := func(k string) string {
		return `<Action name="leg` + k + `" entry="waypoint := ` + k + `" done="distance le 60 [m]"
			write="navigate := 1; V_cmd := 16 [m/s]; h_cmd := 250 [m]"/>`
	}
	files := map[string]string{
		"tour.xml":  `<root BTCPP_format="4"><BehaviorTree ID="tour"><Sequence>` + leg("1") + leg("2") + `</Sequence></BehaviorTree></root>`,
		"tour.yaml": "mission: Tour\nplan: tour.xml\nvehicle: circuit\nhorizon: 600\n",
	}
	for name, text := range files {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	out := filepath.Join(dir, "out")
	if _, stderr, status := canopy("run", filepath.Join(dir, "tour.yaml"), "--out", out); status != exitOK {
		t.Fatal(stderr)
	}
	if stdout, stderr, _ := canopy("why", out, "leg1"); !strings.Contains(stdout, "(distance = 60 m)") {
		t.Errorf("%s%s", stdout, stderr)
	}
}
