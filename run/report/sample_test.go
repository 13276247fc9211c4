package report

import (
	"bytes"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"canopy/bt"
	"canopy/run/record"
)

var keep = flag.String("keep", "", "folder that keeps the files of the sample day, to look at")

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// node builds a plan's tree.
func node(kind bt.Kind, name string, children ...*bt.Node) *bt.Node {
	return &bt.Node{Kind: kind, Name: name, Children: children}
}

// dayPlan is the plan of the 2014 paper, section 6.
func dayPlan(t *testing.T) *bt.Tree {
	t.Helper()
	tree, err := bt.Compile(node(bt.ReactiveFallback, "longitudinal",
		node(bt.ReactiveSequence, "harvest",
			node(bt.Condition, "surplus"),
			node(bt.Inverter, "below_top", node(bt.Condition, "at_top")),
			node(bt.Action, "climb")),
		node(bt.ReactiveSequence, "save",
			node(bt.Condition, "critical"),
			node(bt.ReactiveFallback, "descend", node(bt.Condition, "at_bottom"), node(bt.Action, "sink")),
			node(bt.Action, "hold")),
		node(bt.Action, "mission")))
	must(t, err)
	return tree
}

func dayHeader(tree *bt.Tree, engine *bt.Engine) record.Header {
	h := record.Header{
		Mission: "solar-day", Text: "A day of a solar aircraft that stores energy as altitude", Plan: "solar-day.xml",
		Vehicle: "solar", Horizon: 86400, RelTol: 1e-6, Interval: 60,
		Signals: []record.Signal{
			{Name: "h", Unit: "m", Text: "altitude"}, {Name: "h_cmd", Unit: "m", Text: "commanded altitude"},
			{Name: "soc", Unit: "1", Text: "state of charge"},
			{Name: "P_solar", Unit: "W", Text: "power of the panels"},
			{Name: "P_prop", Unit: "W", Text: "power of the drives"},
			{Name: "P_payload", Unit: "W", Text: "power of the payload"},
			{Name: "I_solar", Unit: "A", Text: "current of the panels"},
			{Name: "I_load", Unit: "A", Text: "current of all loads"},
			{Name: "I_bat", Unit: "A", Text: "current into the battery"},
		},
		Plots: []record.Plot{
			{Title: "Altitude", Signals: []string{"h", "h_cmd"}},
			{Title: "State of charge", Signals: []string{"soc"}},
			{Title: "Power", Signals: []string{"P_solar", "P_prop", "P_payload"}},
			{Title: "Current", Signals: []string{"I_solar", "I_load", "I_bat"}},
		},
		Parameters: []record.Parameter{
			{Name: "airframe.mass", Unit: "kg", Value: 110, Default: 110, Tag: "D", Text: "all-up mass"},
			{Name: "motor.eta_ctrl", Unit: "1", Value: 0.97, Default: 0.97, Tag: "P", Text: "controller efficiency"},
			{Name: "battery.E_Wh", Unit: "Wh", Value: 14000, Default: 13000, Tag: "A", Text: "energy, full"},
			{Name: "site.lat_deg", Unit: "deg", Value: 28.1, Default: 28.1, Tag: "A", Text: "latitude"},
		},
		Attachments: []record.Attachment{
			{Name: "solar-day.xml", MediaType: "application/xml", Data: []byte("<root BTCPP_format=\"4\">\n</root>\n")},
		},
	}
	detail := map[string]string{"surplus": "soc >= 0.996, until soc < 0.994",
		"critical": "soc < 0.992, until soc > 0.993", "climb": "CL_cmd := 0.95; h_cmd := 13000 [m]"}
	for i := range tree.Len() {
		task := bt.Task(i)
		h.Tasks = append(h.Tasks, record.Task{Name: tree.Name(task), Kind: tree.Kind(task).String(),
			Parent: int(tree.Parent(task)), Detail: detail[tree.Name(task)], Initial: engine.Status(task)})
	}
	return h
}

// day is a crude model of the solar day: good for a picture, not for physics.
type day struct {
	t, h, hCmd, soc, payload float64
	rate, prop               float64 // climb rate [m/s] and drive power [W] of the active action
}

func (d *day) sun() float64 { return math.Max(0, math.Sin((d.t-7.83*3600)/(12.1*3600)*math.Pi)) }

func (d *day) row() []float64 {
	solar := 3100 * math.Pow(d.sun(), 0.8)
	load := d.prop + d.payload + 60
	if d.soc >= 0.9985 {
		solar = math.Min(solar, load)
	}
	volts := 90 + 20*d.soc
	return []float64{d.h, d.hCmd, d.soc, solar, d.prop, d.payload, solar / volts, load / volts, (solar - load) / volts}
}

func (d *day) step(dt float64) {
	row := d.row()
	d.soc += (row[3] - d.prop - d.payload - 60) * dt / (13000 * 3600)
	d.soc = math.Min(d.soc, 0.9985)
	d.h = math.Max(6000, math.Min(13000, d.h+d.rate*dt))
	d.t += dt
}

// flySample flies the day in steps of 5 s and records it as a mission does: the 60 s grid and both sides of each event.
func flySample(t *testing.T, files record.Files) {
	t.Helper()
	tree := dayPlan(t)
	find := func(name string) bt.Task {
		task, ok := tree.Find(name)
		if !ok {
			t.Fatalf("no task %q", name)
		}
		return task
	}
	engine := bt.NewEngine(tree, []bt.Input{bt.Set(find("at_bottom"), true)}, 0)
	w, err := record.NewWriter(dayHeader(tree, engine), files)
	must(t, err)
	d := &day{h: 6000, hCmd: 6000, soc: 0.62}
	modes := map[string][3]float64{ // climb rate, drive power, payload power
		"climb": {0.75, 2300, 0}, "sink": {-0.55, 120, 0}, "hold": {0, 520, 0}, "mission": {0, 1150, 90},
	}
	held := map[string]bool{"at_bottom": true}
	events := 0
	react := func(inputs []bt.Input) {
		instant, err := engine.Settle(inputs)
		must(t, err)
		for _, c := range instant.Changes {
			must(t, w.Status(d.t, int(c.Iteration), c))
		}
		for name, mode := range modes {
			if engine.Active(find(name)) {
				d.rate, d.prop, d.payload = mode[0], mode[1], mode[2]
				d.hCmd = map[string]float64{"climb": 13000, "sink": 6000, "hold": 6000, "mission": d.h}[name]
			}
		}
	}
	react(nil)
	must(t, w.Sample(d.t, d.row()))
	for i := 1; d.t < 86400; i++ {
		d.step(5)
		var inputs []bt.Input
		for _, c := range []struct {
			name    string
			on, off bool
		}{
			{"surplus", d.soc >= 0.996, d.soc < 0.994}, {"at_top", d.h >= 12980, d.h < 12980},
			{"critical", d.soc < 0.992, d.soc > 0.993}, {"at_bottom", d.h <= 6020, d.h > 6020},
		} {
			if now := c.on || held[c.name] && !c.off; now != held[c.name] {
				held[c.name] = now
				inputs = append(inputs, bt.Set(find(c.name), now))
				must(t, w.Event(record.Event{T: d.t, Kind: record.KindState, Text: c.name, Relation: c.name, Holds: now}))
				events++
			}
		}
		if inputs != nil || i%12 == 0 {
			must(t, w.Sample(d.t, d.row()))
		}
		if inputs != nil {
			react(inputs)
			must(t, w.Sample(d.t, d.row()))
		}
	}
	must(t, w.Event(record.Event{T: 86400, Micro: 1, Kind: "conflict", Text: "two tasks write h_cmd: climb counts"}))
	must(t, w.Close(record.Summary{Steps: 4211, RejectedSteps: 180, RHSEvaluations: 31022, Jacobians: 95,
		StateEvents: events, MaxEventIterations: 3, Ended: 86400,
		Outcome: record.Complete, Reason: "horizon reached"}))
}

// sampleLog is the sample day read back.
func sampleLog(t *testing.T) *record.Log {
	t.Helper()
	var mcap bytes.Buffer
	to := record.Files{MCAP: &mcap}
	if *keep != "" {
		for name, w := range map[string]*io.Writer{"status.csv": &to.Status, "signals.csv": &to.Signals} {
			f, err := os.Create(filepath.Join(*keep, name))
			must(t, err)
			defer f.Close() //nolint:errcheck // read by people only
			*w = f
		}
	}
	flySample(t, to)
	if *keep != "" {
		must(t, os.WriteFile(filepath.Join(*keep, "run.mcap"), mcap.Bytes(), 0o644))
	}
	log, err := record.Read(bytes.NewReader(mcap.Bytes()))
	must(t, err)
	return log
}
