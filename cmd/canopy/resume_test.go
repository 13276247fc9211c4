package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/run/box"
)

// placesOf returns where the records of a box begin, and where it ends.
func placesOf(data []byte) (list []int) {
	const head = 12 // bytes: length, two checksums
	for at := len(box.Magic); at < len(data); at += head + int(binary.LittleEndian.Uint32(data[at:])) {
		list = append(list, at)
	}
	return append(list, len(data))
}

// TestDamagedBox damages the black box of a killed flight at random places: --resume refuses each with its place and
// leaves it as it is, and a replay says how far it goes, and fails. A flight that is over, and one whose recording
// stopped, are not continued either.
func TestDamagedBox(t *testing.T) {
	docs := t.TempDir()
	for name, text := range flownDocuments {
		save(t, filepath.Join(docs, name), text)
	}
	mission := filepath.Join(docs, "up.yaml")
	run := recordFlight(t, mission)
	name := filepath.Join(run, box.File)
	whole, err := os.ReadFile(name)
	must(t, err)
	resume := func(want string) {
		t.Helper()
		stdout, stderr, status := canopy("fly", mission, "--link", "udp:127.0.0.1:1", "--out", run, "--resume")
		if status != exitInput || !strings.Contains(stderr, want) {
			t.Errorf("not %q: %d\n%s%s", want, status, stdout, stderr)
		}
	}
	resume("is over; there is nothing to continue")

	places := placesOf(whole)
	killed := whole[:places[len(places)-2]]
	rnd := rand.New(rand.NewPCG(7, 8))
	n := 60
	if testing.Short() {
		n = 12
	}
	for i := range n {
		at := places[1] + rnd.IntN(len(killed)-places[1])
		damaged := bytes.Clone(killed)
		switch i % 3 {
		case 0:
			damaged[at] ^= 1 << rnd.IntN(8)
		case 1:
			copy(damaged[at:], make([]byte, 512)) // a sector that was lost
		case 2:
			copy(damaged[at:], killed[places[1]:])
		}
		if bytes.Equal(damaged, killed) {
			continue
		}
		must(t, os.WriteFile(name, damaged, 0o666))
		resume(", at byte ")
		if after, err := os.ReadFile(name); err != nil || !bytes.Equal(after, damaged) {
			t.Fatalf("the refused box is another one: %v", err)
		}
		stdout, stderr, status := canopy("replay", run, "--out", filepath.Join(docs, "again"), "--report=false", "--quiet")
		if status != exitFailed || !strings.Contains(stdout, "the black box covers the plan from ") ||
			!strings.Contains(stdout, "\nfrom 0:00:0") || !strings.Contains(stderr, ", at byte ") {
			t.Errorf("the replay of a damaged box: %d\n%s%s", status, stdout, stderr)
		}
	}
	stdout, _, _ := canopy("replay", run, "--out", filepath.Join(docs, "again"), "--report=false", "--json")
	var result replayed
	if err := json.Unmarshal([]byte(stdout), &result); err != nil || result.Same || result.Missing == "" {
		t.Errorf("%v, %+v", err, result)
	}

	// A limit that was reached, or a full disk, in the middle of a record.
	must(t, os.WriteFile(name, killed[:len(killed)/2], 0o666))
	must(t, os.Rename(name, filepath.Join(run, box.Stopped)))
	resume("recording stopped before the end of the flight")
	stdout, stderr, status := canopy("replay", run, "--out", filepath.Join(docs, "again"), "--report=false", "--quiet")
	if status != exitOK || !strings.Contains(stdout, "recording stopped before the end of the flight") {
		t.Errorf("the replay of a stopped box: %d\n%s%s", status, stdout, stderr)
	}
}
