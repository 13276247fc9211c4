package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/canopy-uav/canopy/run"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/run/simulated"
)

// bridged starts a bridge, and returns the address that it prints. It ends with the test, as by Ctrl-C.
func bridged(t *testing.T, args ...string) (address string) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), "CANOPY_ARGS="+strings.Join(append([]string{"bridge"}, args...), "\n"))
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() {
		if err := errors.Join(c.Process.Signal(syscall.SIGINT), c.Wait()); err != nil {
			t.Error(err, stderr.String())
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	_, address, _ = strings.Cut(strings.TrimSpace(line), ": ")
	return address
}

// TestBridgeGroot: libzmq itself gets the tree, the statuses and the transitions of a run that is replayed, and of one
// that is in progress.
func TestBridgeGroot(t *testing.T) {
	client := filepath.Join(t.TempDir(), "client")
	if out, err := exec.Command("cc", "-o", client, "../../bridge/groot/testdata/client.c", "-lzmq").CombinedOutput(); err != nil {
		t.Skipf("libzmq is not asked: apt-get install gcc libzmq3-dev (%v)\n%s", err, out)
	}
	dir := filepath.Join(t.TempDir(), "day")
	if _, stderr, status := canopy("run", solarDay, "--until", "14h", "-q", "--out", dir); status != exitOK {
		t.Fatal(stderr)
	}
	alone := dir
	groot := newZMQ(t, client, bridged(t, "groot", dir, "--speed", "1e9", "--listen", "127.0.0.1:0"))
	groot.ask("r start")
	groot.sees("the replay")

	m, err := readMission(solarDay, nil, io.Discard)
	must(t, err)
	r, err := simulated.New(m.Judging(m.Watch()), run.Continuous{}, 14*3600)
	must(t, err)
	feed := control.NewFeed(r.Header())
	dir = t.TempDir()
	s, err := control.Listen(dir, nil, 0, feed)
	must(t, err)
	defer s.Close() //nolint:errcheck // a test
	groot = nil
	summary, err := folder.Fly(t.Context(), r, dir, folder.Options{Also: feed, Watch: m.Watch(), Observe: func() {
		if groot == nil && r.T() > 3600 {
			groot = newZMQ(t, client, bridged(t, "groot", dir, "--listen", "127.0.0.1:0"))
			groot.ask("r start")
			for !strings.Contains(groot.ask("B solar_day")[1], "\xa1h\xcb") { // it has joined the run
			}
		}
	}})
	must(t, err)
	feed.End(summary)
	groot.sees("the run in progress")
	for _, name := range logFiles {
		a, err := os.ReadFile(filepath.Join(alone, name))
		must(t, err)
		b, err := os.ReadFile(filepath.Join(dir, name))
		must(t, err)
		if !bytes.Equal(a, b) {
			t.Errorf("%s of the run that was watched differs", name)
		}
	}
}

// sees checks the answers about the solar day, up to the climb of the morning.
func (z *zmq) sees(what string) {
	z.t.Helper()
	text := z.ask("T")
	if len(text) != 2 || !strings.Contains(text[1], `<SubTree ID="longitudinal" _fullpath="longitudinal::2" _uid="2"/>`) ||
		strings.Count(text[1], "_uid=") != 16 || !strings.Contains(text[1], `<climb name="climb" _uid="8"`) {
		z.t.Errorf("%s: the tree is %q", what, text)
	}
	for seen := false; !seen; {
		all := z.ask("S")
		if len(all) != 2 || len(all[1]) != 3*16 || all[0][:6] != "\x02Sabcd" || all[0][6:] != text[0][6:] {
			z.t.Fatalf("%s: the statuses are %q", what, all)
		}
		values := z.ask("B solar_day")[1]
		if !strings.HasPrefix(values, "\x81\xa9solar_day") || !strings.Contains(values, "\xb0status of loiter") {
			z.t.Errorf("%s: the blackboard is %q", what, values)
		}
		for moves := z.ask("t")[1]; len(moves) > 0; moves = moves[9:] {
			seen = seen || moves[6:9] == "\x08\x00\x01"
		}
	}
	if refused := z.ask(`I {"uid": 1}`); len(refused) != 2 || refused[0] != "error" {
		z.t.Errorf("%s: a hook is answered by %q", what, refused)
	}
}

// zmq is a client of libzmq.
type zmq struct {
	t    *testing.T
	to   io.WriteCloser
	from *bufio.Reader
}

func newZMQ(t *testing.T, program, address string) *zmq {
	t.Helper()
	host, text, err := net.SplitHostPort(address)
	must(t, err)
	port, err := strconv.Atoi(text)
	must(t, err)
	c := exec.Command(program, "tcp://"+address, fmt.Sprintf("tcp://%s:%d", host, port+1))
	to, err := c.StdinPipe()
	must(t, err)
	from, err := c.StdoutPipe()
	must(t, err)
	must(t, c.Start())
	t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
	return &zmq{t, to, bufio.NewReader(from)}
}

// ask returns the frames of the answer.
func (z *zmq) ask(request string) (frames []string) {
	z.t.Helper()
	_, err := fmt.Fprintln(z.to, request)
	must(z.t, err)
	for {
		line, err := z.from.ReadString('\n')
		must(z.t, err)
		text, more := strings.CutPrefix(strings.TrimSpace(line), ">")
		if !more {
			return frames
		}
		frame, err := hex.DecodeString(text)
		must(z.t, err)
		frames = append(frames, string(frame))
	}
}

// TestBridgeFoxglove: a client that shares no code with the bridge gets what run.mcap has, by a reader that shares none
// with its writer; it moves through time; and it follows a run in progress to its end.
func TestBridgeFoxglove(t *testing.T) {
	const checker = "../../internal/mcapcheck"
	if _, err := os.Stat(filepath.Join(checker, "node_modules", "ws")); err != nil {
		t.Skip("no client of Foxglove's protocol is asked: cd internal/mcapcheck && npm ci")
	}
	program := func(address string, more ...string) *exec.Cmd {
		c := exec.Command("node", append([]string{"foxglove.mjs", address}, more...)...)
		c.Dir, c.Stderr = checker, os.Stderr
		return c
	}
	dir := filepath.Join(t.TempDir(), "day")
	if _, stderr, status := canopy("run", solarDay, "-q", "--out", dir); status != exitOK {
		t.Fatal(stderr)
	}
	if out, err := program(bridged(t, "foxglove", dir, "--listen", "127.0.0.1:0"), dir).Output(); err != nil || string(out) != "ok\n" {
		t.Errorf("%v, %s", err, out)
	}

	m, err := readMission(solarDay, nil, io.Discard)
	must(t, err)
	r, err := simulated.New(m, run.Continuous{}, 14*3600)
	must(t, err)
	feed := control.NewFeed(r.Header())
	dir = t.TempDir()
	s, err := control.Listen(dir, nil, 0, feed)
	must(t, err)
	defer s.Close() //nolint:errcheck // a test
	var said *bufio.Reader
	summary, err := folder.Fly(t.Context(), r, dir, folder.Options{Also: feed, Observe: func() {
		if said != nil || r.T() < 3600 {
			return
		}
		c := program(bridged(t, "foxglove", dir, "--listen", "127.0.0.1:0"))
		out, err := c.StdoutPipe()
		must(t, errors.Join(err, c.Start()))
		t.Cleanup(func() { _, _ = c.Process.Kill(), c.Wait() })
		said = bufio.NewReader(out)
		line, err := said.ReadString('\n')
		if err != nil || line != "joined\n" {
			t.Errorf("%v, %q", err, line)
		}
	}})
	must(t, err)
	feed.End(summary)
	line, err := said.ReadString('\n')
	must(t, err)
	last := map[string]string{}
	must(t, json.Unmarshal([]byte(line), &last))
	log := readLog(t, dir)
	for i, task := range log.Tasks {
		want := task.Initial
		for _, c := range log.Changes {
			if int(c.Task) == i {
				want = c.To
			}
		}
		if last[task.Name] != want.String() {
			t.Errorf("%s is %s at last, wanted %s", task.Name, last[task.Name], want)
		}
	}
}

// TestBridgeRefuses: what cannot be bridged, and addresses that other computers reach.
func TestBridgeRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "day")
	if _, stderr, status := canopy("run", solarDay, "--until", "1h", "-q", "--out", dir); status != exitOK {
		t.Fatal(stderr)
	}
	for _, c := range []struct{ args, says string }{
		{"groot " + dir + " --listen 0.0.0.0:0", "other computers reach this address"},
		{"groot " + dir + " --listen :0", "other computers reach this address"},
		{"groot " + dir + " --listen [::]:0", "other computers reach this address"},
		{"groot " + dir + " --listen 192.0.2.1:0", "other computers reach this address"},
		{"groot " + dir + " --speed 0", "--speed is a positive number"},
		{"groot " + t.TempDir(), "give the output folder"},
		{"foxglove " + dir + " --listen 0.0.0.0:0", "other computers reach this address"},
		{"foxglove " + t.TempDir(), "give the output folder"},
		{"grot " + dir, `did you mean "groot"`},
		{"groot", "TOOL RUN"},
	} {
		if _, stderr, status := canopy(append([]string{"bridge"}, strings.Fields(c.args)...)...); status != exitInput ||
			!strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit status %d, %s", c.args, status, stderr)
		}
	}
}
