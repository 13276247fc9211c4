package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Every document is read up to a limit: a device that never ends is refused, a pipe that ends is read.
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
		says(t, args[0], stderr, zero, "longer than 16 MiB")
	}

	pipe := filepath.Join(dir, "pipe.xml")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("there are no named pipes:", err)
	}
	sent := make(chan error)
	go func() {
		text, err := os.ReadFile("../../missions/solar-day.xml")
		if err == nil {
			err = os.WriteFile(pipe, text, 0)
		}
		sent <- err
	}()
	stdout, stderr, status := canopy("show", pipe)
	if err := <-sent; err != nil || status != exitOK {
		t.Errorf("exit status %d, %v: %s", status, err, stderr)
	}
	says(t, "show", stdout, "harvest")
}
