package main

import (
	"bufio"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// listening flies a mission that listens at an address until it has ended: then flown has its status, and told what its
// operator was told.
func listening(mission string, more ...string) (address string, told *strings.Builder, flown chan int) {
	read, stderr := io.Pipe()
	told, flown = &strings.Builder{}, make(chan int, 1)
	status := make(chan int, 1)
	go func() {
		status <- execute(append([]string{"fly", mission, "--link", "fake:plane", "--speed", "20", "--serve", "127.0.0.1:0",
			"--report=false"}, more...), io.Discard, stderr)
		stderr.Close() //nolint:errcheck // it never fails
	}()
	for lines := bufio.NewScanner(read); lines.Scan() && !strings.Contains(lines.Text(), "the plan is flown"); {
		if m := regexp.MustCompile(`listens at ([0-9.:]+):`).FindStringSubmatch(lines.Text()); m != nil {
			address = m[1]
		}
	}
	go func() {
		_, _ = io.Copy(told, read) // the pipe does not fail
		flown <- <-status
	}()
	return address, told, flown
}

// TestRemoteFlight: a flight that listens at an address is watched without a token, and commanded with it: the plan is
// exchanged, and the flight stopped. A client with another token changes nothing. Who commands is told, and in the black
// box: the replay is the same.
func TestRemoteFlight(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		must(t, os.WriteFile(name, []byte(text), 0o600))
		return name
	}
	plan := `<root BTCPP_format="4"><BehaviorTree ID="main"><Sequence>
  <Action name="first" done="elapsed ge 1 [s]"/><Action name="last" done="elapsed ge %s [s]"/>
</Sequence></BehaviorTree></root>`
	write("plan.xml", strings.Replace(plan, "%s", "3000", 1))
	next := write("next.xml", strings.Replace(plan, "%s", "2000", 1))
	mission := write("wait.yaml", "mission: wait\nplan: plan.xml\nvehicle: plane\nhorizon: 1 [h]\n"+
		"record: {interval: 1, signals: [h]}\n# canopy: accept command: the plan of this test only waits\n")
	good, bad := write("good", "0123456789abcdef0\n"), write("bad", "0123456789abcdef1\n")

	address, told, flown := listening(mission, "--out", filepath.Join(dir, "out"), "--token-file", good)
	var shown strings.Builder
	watched := make(chan int, 1)
	first := make(chan struct{})
	go func() {
		watched <- execute([]string{"watch", address, "--json"}, &opening{Writer: &shown, first: first}, io.Discard)
	}()
	<-first // the run tells what happens: it goes on

	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"upload", next, "--to", address, "--token-file", bad}, exitRefute, "not signed"},
		{[]string{"stop", address, "--token-file", bad}, exitRefute, "not signed"},
		{[]string{"resume", address}, exitRefute, "not signed"},
		{[]string{"upload", next, "--to", filepath.Join(dir, "out"), "--dry-run"}, exitOK, "staged"},
		{[]string{"resume", filepath.Join(dir, "out"), "--json"}, exitOK, "committed"},
		{[]string{"upload", next, "--to", address, "--token-file", good}, exitOK, "committed"},
		{[]string{"stop", address, "--token-file", good, "--json"}, exitOK, "committed"},
	} {
		var out, errs strings.Builder
		if got := execute(c.args, &out, &errs); got != c.status || !strings.Contains(out.String(), c.says) {
			t.Errorf("%s: exit status %d; %s%s", c.args[0], got, out.String(), errs.String())
		}
	}
	if got := <-flown; got != exitFailed {
		t.Errorf("fly: exit status %d", got)
	}
	for _, text := range []string{"operator: swap " + next + " from 127.0.0.1:", "operator: stop from 127.0.0.1:"} {
		says(t, "who commands is told", told.String(), text)
	}
	out, errs, status := canopy("replay", filepath.Join(dir, "out"), "--out", filepath.Join(dir, "again"), "--report=false")
	if status != exitOK {
		t.Errorf("replay: exit status %d; %s", status, errs)
	}
	says(t, "the replay", out, "the same datagrams and the same status.csv")
	if got := <-watched; got != exitFailed || !strings.Contains(shown.String(), `"outcome":"interrupted"`) {
		t.Errorf("watch: exit status %d; %s", got, shown.String())
	}
}

// TestRemoteMistakes: what would leave a run without protection, or cannot be understood, is refused before anything is
// flown.
func TestRemoteMistakes(t *testing.T) {
	open := filepath.Join(t.TempDir(), "open")
	must(t, os.WriteFile(open, []byte("0123456789abcdef"), 0o644))
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer taken.Close() //nolint:errcheck // a test
	fly := []string{"fly", "../../missions/circuit-plane.yaml", "--link", "fake:plane", "--out", filepath.Join(t.TempDir(), "o")}
	for _, c := range []struct {
		args []string
		says string
	}{
		{append(fly, "--serve", "0.0.0.0:0"), "it needs a token"},
		{append(fly, "--serve", "nowhere"), "--serve nowhere"},
		{append(fly, "--serve", taken.Addr().String()), "in use"},
		{append(fly, "--serve", "127.0.0.1:0", "--token-file", open), "chmod 600"},
		{append(fly, "--serve", "127.0.0.1:0", "--tls-cert", "a"), "belong together"},
		{append(fly, "--token-file", open), "need --serve"},
		{[]string{"watch", "127.0.0.1:1"}, "cannot be reached"},
		{[]string{"stop", "127.0.0.1:1", "--fingerprint", "12"}, "64 hexadecimal digits"},
		{[]string{"stop", t.TempDir()}, "no run listens"},
	} {
		var errs strings.Builder
		if got := execute(c.args, io.Discard, &errs); got != exitInput || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%v: exit status %d; %s", c.args, got, errs.String())
		}
	}
}
