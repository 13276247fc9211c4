package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Every document is a regular file, up to a limit: a device that never ends and a pipe that never begins are refused,
// also where a mission or a plan names them.
func TestInputIsBounded(t *testing.T) {
	if _, err := os.Stat("/dev/zero"); err != nil {
		t.Skip("there is no /dev/zero")
	}
	dir := write(t, map[string]string{
		"endless.yaml": "plan: zero.xml\nvehicle: solar\nhorizon: 1 [h]\n",
	})
	zero := filepath.Join(dir, "zero.")
	for _, kind := range []string{"xml", "yaml", "tr", "andor", "txt"} {
		if err := os.Symlink("/dev/zero", zero+kind); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	for _, args := range [][]string{
		{"show", zero + "xml"},
		{"show", zero + "yaml", "--dot"},
		{"trace", "../../missions/solar-day.xml", zero + "txt"},
		{"trace", zero + "xml", zero + "txt"},
		{"translate", zero + "xml"},
		{"translate", zero + "tr"},
		{"translate", zero + "andor"},
		{"backchain", zero + "xml", "--goal", "a"},
		{"vehicle", zero + "yaml"},
		{"diff", zero + "xml", "../../missions/solar-day.xml"},
		{"diff", "../../missions/solar-day.xml", zero + "xml"},
		{"check", zero + "xml"},
		{"check", zero + "yaml"},
		{"check", "../../missions/solar-day.xml", "--facts", zero + "yaml"},
		{"monitor", zero + "yaml"},
		{"reaction", zero + "yaml"},
		{"region", zero + "yaml", "--box", "x=0:1"},
		{"compare", zero + "yaml"},
		{"run", zero + "yaml", "--out", out},
		{"run", filepath.Join(dir, "endless.yaml"), "--out", out},
	} {
		_, stderr, status := canopy(args...)
		if status != exitInput {
			t.Errorf("%q: exit status %d", args, status)
		}
		says(t, args[0], stderr, zero, "not a regular file")
	}

	long := filepath.Join(dir, "long.xml")
	if err := errors.Join(os.WriteFile(long, nil, 0o666), os.Truncate(long, maxInput+1)); err != nil {
		t.Fatal(err)
	}
	_, stderr, status := canopy("show", long)
	if status != exitInput {
		t.Errorf("exit status %d", status)
	}
	says(t, "show", stderr, "longer than 16 MiB")

	pipe := filepath.Join(dir, "pipe.xml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("there are no named pipes:", err)
	}
	including := filepath.Join(dir, "including.xml")
	if err := os.WriteFile(including, []byte(`<root BTCPP_format="4" main_tree_to_execute="a"><include path="pipe.xml"/>
		<BehaviorTree ID="a"><AlwaysSuccess/></BehaviorTree></root>`), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{pipe, including} {
		_, stderr, status := canopy("show", name)
		if status != exitInput {
			t.Errorf("%s: exit status %d", name, status)
		}
		says(t, "show", stderr, "pipe.xml", "not a regular file")
	}
	flown := t.TempDir()
	for _, name := range []string{"run.box", "run.mcap", "run.lock"} {
		if err := syscall.Mkfifo(filepath.Join(flown, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	serve := []string{"--link", "udp:127.0.0.1:0", "--serve", "127.0.0.1:0"}
	for _, args := range [][]string{
		{"fly", circuit, "--link", "udp:127.0.0.1:0", "--signing-key", pipe},
		append([]string{"fly", circuit, "--token-file", pipe}, serve...),
		append([]string{"fly", circuit, "--tls-cert", "/dev/zero", "--tls-key", pipe}, serve...),
		{"fake", "plane", "--signing-key", pipe},
		{"fly", circuit, "--link", "fake:plane", "--out", flown},
		{"replay", flown, "--out", filepath.Join(dir, "again")},
		{"report", flown}, {"why", flown, "hold"}, {"monitor", flown},
	} {
		_, stderr, status := canopy(args...)
		if status != exitInput && status != exitFailed {
			t.Errorf("%v: exit status %d", args, status)
		}
		says(t, args[0], stderr, "not a regular file")
	}
}
