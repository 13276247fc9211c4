package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/adapter"
	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/run/box"
	"github.com/canopy-uav/canopy/run/flight"
	"github.com/canopy-uav/canopy/run/record"
)

// flownDocuments are a mission with a plane, its plan, and another plan.
var flownDocuments = map[string]string{
	"up.yaml": "mission: up\nplan: up.xml\nvehicle: plane.yaml\nhorizon: 100\nrecord: {interval: 1, signals: [h]}\n",
	"plane.yaml": "vehicle: plane\nstates:\n  h: {unit: m, derivative: 0, text: height}\n" +
		"commands:\n  target_h: {unit: m, default: 0, hold: true}\n",
	"up.xml": `<root BTCPP_format="4"><BehaviorTree ID="T"><Parallel failure_count="1" success_count="2">
    <Condition name="high" on="h &gt; 50"/>
    <Action name="climb" write="target_h := 80"/>
  </Parallel></BehaviorTree></root>`,
	"other.xml": `<root BTCPP_format="4"><BehaviorTree ID="T"><Parallel failure_count="1" success_count="2">
    <Condition name="low" on="h &lt; 5"/>
    <Action name="descend" write="target_h := 20"/>
  </Parallel></BehaviorTree></root>`,
}

// recordFlight flies a mission over a link on which a plane sends heartbeats and positions, and returns the folder with
// its black box.
func recordFlight(t *testing.T, mission string) string {
	t.Helper()
	documents = map[string][]byte{}
	m, err := readMission(mission, nil, os.Stderr)
	check := func(err error) {
		t.Helper()
		must(t, err)
	}
	check(err)
	o := flight.Options{Options: adapter.Options{Ends: service.Ends{Us: service.Address{System: 1, Component: 191},
		Vehicle: service.Address{System: 1, Component: 1}}}}
	f, _, err := newFlight(m, o)
	check(err)
	f.Attach(record.Nothing{})
	start, err := describeFlight(mission, nil, o)
	check(err)
	const date = 1_800_000_000_000_000_000
	at := func(wall int64) service.Clock { return service.Clock{Wall: wall, Unix: date + wall} }
	dir := t.TempDir()
	w, err := box.Create(dir, flight.Input{Kind: flight.Start, At: at(0), Data: start}, box.Options{})
	check(err)
	plane := frame.Writer{System: 1, Component: 1}
	first := true
	step := func(kind flight.Kind, wall int64, data []byte) {
		t.Helper()
		in := flight.Input{Kind: kind, At: at(wall), Data: data}
		if !first {
			check(w.Append(in))
		}
		first = false
		out, err := f.Step(in)
		check(err)
		check(w.Out(out))
	}
	step(flight.Start, 0, start)
	step(flight.Open, 0, []byte("udp:127.0.0.1:14550"))
	for i := range int64(400) {
		wall := i * 50_000_000
		var m frame.Message = &ardupilotmega.MessageGlobalPositionInt{TimeBootMs: uint32(60_000 + wall/1e6), Lat: -353632610,
			Lon: 1491652300, Alt: 584_000 + int32(i)*300, RelativeAlt: int32(i) * 300, Vz: -600}
		if i%20 == 0 {
			m = &ardupilotmega.MessageHeartbeat{Type: 1, Autopilot: 3, SystemStatus: 3}
		}
		raw, err := plane.Write(m, 0)
		check(err)
		step(flight.Frame, wall, raw)
		step(flight.Wake, wall+1e7, nil)
	}
	step(flight.Operator, 21e9, []byte(flight.Stop))
	step(flight.End, 21e9, nil)
	check(w.Close())
	return dir
}

// TestReplay: a replay is the flight; each change in the black box is found.
func TestReplay(t *testing.T) {
	docs := write(t, flownDocuments)
	run := recordFlight(t, filepath.Join(docs, "up.yaml"))
	if err := os.Remove(filepath.Join(docs, "up.yaml")); err != nil { // the box contains it
		t.Fatal(err)
	}
	again := filepath.Join(t.TempDir(), "again")
	stdout, stderr, status := canopy("replay", run, "--out", again, "--tlog")
	if status != exitOK || stderr != "" {
		t.Fatalf("%d\n%s%s", status, stdout, stderr)
	}
	says(t, "the replay", stdout, "the same datagrams")
	read := func(dir, name string) []byte {
		t.Helper()
		data, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		return data
	}
	if len(read(again, "run.tlog")) < 400*20 {
		t.Error("the tlog is too short")
	}
	must(t, os.WriteFile(filepath.Join(run, "status.csv"), read(again, "status.csv"), 0o666))
	third := filepath.Join(t.TempDir(), "third")
	stdout, stderr, status = canopy("replay", run, "--out", third, "--json")
	var result replayed
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || status != exitOK {
		t.Fatalf("%v, %d\n%s%s", err, status, stdout, stderr)
	}
	if !result.Same || result.Inputs != 804 || result.Datagrams < 20 || result.Missing != "" {
		t.Errorf("%+v", result)
	}
	for _, name := range []string{"run.mcap", "status.csv", "signals.csv"} {
		if !bytes.Equal(read(again, name), read(third, name)) {
			t.Errorf("two replays write different files %s", name)
		}
	}

	// Another status.csv.
	edit := func(dir, name string, data []byte) {
		t.Helper()
		must(t, os.WriteFile(filepath.Join(dir, name), data, 0o666))
	}
	refuted := func(dir string, status int, text string) {
		t.Helper()
		if out, stderr, got := canopy("replay", dir, "--out", third); got != status || !strings.Contains(out, text) {
			t.Errorf("%d\n%s%s", got, out, stderr)
		}
	}
	edit(run, "status.csv", []byte("t,micro,task,from,to\n1,1,high,Accept,Running\n"))
	refuted(run, exitRefute, "status.csv differs from line 2")
	edit(run, "status.csv", read(again, "status.csv"))
	refuted(changedBox(t, run), exitRefute, "a datagram differs: input ")
	data, cut := read(run, box.File), t.TempDir()
	edit(cut, box.File, data[:len(data)/2])
	refuted(cut, exitOK, "is cut off")
}

// changedBox writes a black box again, with another tenth datagram, and returns its folder.
func changedBox(t *testing.T, run string) string {
	t.Helper()
	var w *box.Writer
	dir, n := t.TempDir(), 0
	_, err := box.Each(run, func(r box.Record) (err error) {
		switch {
		case w == nil:
			w, err = box.Create(dir, r.Input(), box.Options{})
		case r.Kind == box.Out:
			if n++; n == 10 {
				r.Data[len(r.Data)-1] ^= 1
			}
			err = w.Out([][]byte{r.Data})
		default:
			err = w.Append(r.Input())
		}
		return err
	})
	if err != nil || w.Close() != nil {
		t.Fatal(err)
	}
	return dir
}

// TestReplayInput: what cannot be replayed.
func TestReplayInput(t *testing.T) {
	dir := t.TempDir()
	simulated := filepath.Join(dir, "simulated")
	if _, stderr, status := canopy("run", "../../missions/circuit.yaml", "--until", "5", "--out", simulated); status != exitOK {
		t.Fatal(stderr)
	}
	for _, name := range []string{"text", "empty"} {
		must(t, os.MkdirAll(filepath.Join(dir, name), 0o777))
		text := map[string]string{"text": "not a box", "empty": box.Magic}[name]
		save(t, filepath.Join(dir, name, box.File), text)
	}
	for args, want := range map[string]string{
		"":                      "1 given",
		simulated:               `"canopy run" simulates its mission again`,
		filepath.Join(dir, "x"): "no such file",
		filepath.Join(dir, "text") + " --out " + dir:        "does not begin like one",
		filepath.Join(dir, "empty") + " --out " + dir:       "has no record",
		simulated + " --out " + simulated + "/../simulated": "a replay does not change",
		filepath.Join(dir, "empty"):                         "--out is missing",
		simulated + " --out " + dir + " --plan no.xml":      "simulates",
	} {
		line := append([]string{"replay"}, strings.Fields(args)...)
		if len(line) == 2 && line[1] != filepath.Join(dir, "empty") {
			line = append(line, "--out", filepath.Join(dir, "new"))
		}
		_, stderr, status := canopy(line...)
		if status != exitInput || !strings.Contains(stderr, want) && args != "" {
			t.Errorf("%q: %d\n%s", args, status, stderr)
		}
	}
}
