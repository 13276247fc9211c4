package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// fiveGuards returns a mission of five guards with hysteresis over a sequence of legs with exit times: eleven actions if
// there are five legs.
func fiveGuards(legs int) map[string]string {
	tour := ""
	for n := range legs {
		tour += leg(n + 1)
	}
	return map[string]string{
		"five.yaml": `mission: five
plan: five.xml
vehicle: craft.vehicle.yaml
horizon: 20 [min]
check:
  facts: [soc >= 0 and soc <= 1]
  written: [h_cmd]
  properties:
    - never both(leg1, leg2)
    - leg1 before leg2
    - always (low -> within 20 [s] (hover or come_home))
`,
		"five.xml": `<root BTCPP_format="4"><BehaviorTree><ReactiveFallback name="r">` +
			guard("storm", "wind ge 12", "wind lt 9", "hover", 20) +
			guard("low", "soc le 0.3", "soc gt 0.4", "come_home", 21) + guard("hot", "T ge 320", "T lt 310", "cool", 22) +
			guard("wet", "rain ge 0.8", "rain lt 0.6", "shelter", 23) + guard("lost", "link le 0.2", "link gt 0.4", "climb", 24) +
			`<Sequence name="tour">` + tour +
			`<Action name="stay" write="h_cmd := 10 [m]"/></Sequence></ReactiveFallback></BehaviorTree></root>`,
		"craft.vehicle.yaml": `vehicle: craft
states:
  x: {unit: m, min: -5000, max: 5000, derivative: "moving * 10 [m/s]"}
  soc: {unit: 1, initial: 1, min: 0, max: 1, derivative: "-1 / 3600 [s]"}
  wind: {unit: m/s, initial: 3, min: 0, max: 30, derivative: "0.03 [m/s^2] * cos(0.01 [1/s] * t)"}
  T: {unit: K, initial: 290, min: 250, max: 350, derivative: "0.1 [K/s] * cos(0.02 [1/s] * t)"}
  rain: {unit: 1, initial: 0, min: 0, max: 1, derivative: "0.001 [1/s] * sin(0.01 [1/s] * t)"}
  link: {unit: 1, initial: 1, min: 0, max: 1, derivative: "-0.001 [1/s] * sin(0.01 [1/s] * t)"}
outputs:
  distance: {unit: m, value: "abs(waypoint * 200 [m] - x)"}
commands:
  h_cmd: {unit: m, default: 0, min: 0, max: 120, hold: true}
  moving: {unit: 1, default: 0, min: -1, max: 1}
  waypoint: {unit: 1, default: 0, min: 0, max: 300, hold: true}
`,
	}
}

func guard(name, on, off, action string, height int) string {
	return fmt.Sprintf(`<ReactiveSequence name="g_%s"><Condition name="%s" on="%s" off="%s"/>`+
		`<Action name="%s" write="h_cmd := %d [m]"/></ReactiveSequence>`, name, name, on, off, action, height)
}

func leg(n int) string {
	return fmt.Sprintf(`<Action name="leg%d" entry="waypoint := %d" write="moving := 1; h_cmd := 60 [m]" exit_time="2"`+
		` done="distance le 15 [m]"/>`, n, n)
}

// All questions about such a mission are decided: the search visits all states.
func TestFiveGuardsAreDecided(t *testing.T) {
	decided(t, fiveGuards(5), 18)
}

// A tour of 100 legs has 13 states for each leg in one search, and 40 in another: not their square.
func TestHundredLegsAreDecided(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: fifteen seconds")
	}
	decided(t, fiveGuards(100), 113)
}

// Where all five guards have exit times of different lengths, and no leg has one, the clocks make many more states.
func TestSlowGuardsAreDecided(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: forty seconds")
	}
	files := fiveGuards(5)
	plan := strings.ReplaceAll(files["five.xml"], ` exit_time="2"`, "")
	for i, action := range []string{"hover", "come_home", "cool", "shelter", "climb"} {
		name := fmt.Sprintf(`name="%s"`, action)
		plan = strings.Replace(plan, name, fmt.Sprintf(`%s exit_time="%d"`, name, i+1), 1)
	}
	files["five.xml"] = plan
	decided(t, files, 18)
}

func decided(t *testing.T, files map[string]string, tasks int) {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		save(t, filepath.Join(folder, name), text)
	}
	stdout, stderr, status := canopy("check", filepath.Join(folder, "five.yaml"), "--from-anywhere", "--budget", "600")
	if status != exitRefute || stderr != "" {
		t.Errorf("status %d, %s", status, stderr)
	}
	for _, text := range []string{
		"proved      complete    in every state some action is active, or the plan has succeeded",
		fmt.Sprintf("proved      dead        each of %d tasks can become active", tasks),
		"holds in every run: never both(leg1, leg2)",
		"does not hold: leg1 before leg2",
		"holds in every run: always (low -> within 20 [s] (hover or come_home)), at the rates that are known",
		"proved      conflict    no two active tasks share one of 3 slots",
		"proved      chatter     no two tasks take turns on conditions with hysteresis faster than every 200 s",
		"proved      command     h_cmd is written in every state",
		"proved      reaction ",
		"cannot be concluded from the rules: rule 6, true -> tour; its action is not active",
	} {
		says(t, "the answers", stdout, text)
	}
	for _, short := range []string{"did not find all states", "did not visit all states", "proved if"} {
		if strings.Contains(stdout, short) {
			t.Errorf("%q in\n%s", short, stdout)
		}
	}
}
