package link_test

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/link"
)

// end closes what may be closed already.
func end(c io.Closer) { _ = c.Close() }

func open(t *testing.T, address string) link.Link {
	t.Helper()
	return openFor(t, address, link.Guard{})
}

func openFor(t *testing.T, address string, g link.Guard) link.Link {
	t.Helper()
	l, err := link.Open(address, g)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { end(l) })
	return l
}

func read(t *testing.T, l link.Link) string {
	t.Helper()
	buf := make([]byte, link.Datagram)
	n, err := l.Read(buf)
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

// beats returns two heartbeats: bytes of a vehicle.
func beats(t *testing.T) (first, second []byte) {
	t.Helper()
	w := &frame.Writer{System: 1, Component: 1}
	first, err := w.Write(&mav.MessageHeartbeat{Type: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	second, err = w.Write(&mav.MessageHeartbeat{Type: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	return first, second
}

func write(t *testing.T, l link.Link, data []byte) {
	t.Helper()
	if err := l.Write(data); err != nil {
		t.Fatal(err)
	}
}

// A vehicle sends first; the answer goes to where its valid frames come from. While they come, nothing else counts:
// neither other programs' bytes, nor the beginning of a frame, nor another vehicle, nor the same one elsewhere.
func TestUDP(t *testing.T) {
	first, second := beats(t)
	ground := openFor(t, "udp::0", link.Guard{System: 1})
	if !strings.HasPrefix(ground.String(), "udp:127.0.0.1:") || strings.HasSuffix(ground.String(), ":0") || ground.Stream() {
		t.Errorf("the address is %v", ground)
	}
	address := "udpout:" + strings.TrimPrefix(ground.String(), "udp:")
	vehicle, again, stranger := open(t, address), open(t, address), open(t, address)
	broken := slices.Clone(first)
	broken[len(broken)-1]++
	other, err := (&frame.Writer{System: 2, Component: 1}).Write(&mav.MessageHeartbeat{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	camera, err := (&frame.Writer{System: 1, Component: 100}).Write(&mav.MessageHeartbeat{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	unknown := []byte("\xfd\x00\x00\x00\x00\x01\x01\x39\x30\x00??") // a message that the dialect does not contain
	hostile := [][]byte{other, camera, broken, unknown, []byte("\xfd\x00\x00"), first[:8]}
	for _, d := range hostile { // they are heard, and not answered
		write(t, stranger, d)
		if got := read(t, ground); got != string(d) {
			t.Errorf("read %q", got)
		}
		if err := ground.Write(first); !errors.Is(err, link.ErrUnheard) {
			t.Errorf("writing before a vehicle is heard: %v", err)
		}
	}
	answered := func(vehicle link.Link, d []byte) {
		t.Helper()
		write(t, vehicle, d)
		if got := read(t, ground); got != string(d) {
			t.Errorf("read %q, want %q", got, d)
		}
		write(t, ground, first)
		if got := read(t, vehicle); got != string(first) {
			t.Errorf("the vehicle reads %q", got)
		}
	}
	answered(vehicle, first)
	for _, d := range append(hostile, []byte("GET / HTTP/1.1"), first) {
		write(t, stranger, d)
	}
	answered(vehicle, second)

	// The vehicle is silent: the same one is heard elsewhere, others still are not.
	defer link.Silence(0)()
	for _, d := range hostile {
		write(t, stranger, d)
	}
	write(t, again, second)
	if _, err := ground.Read(make([]byte, 100)); !errors.Is(err, link.ErrBroken) ||
		!strings.Contains(err.Error(), "the vehicle is silent at 127.0.0.1:") {
		t.Errorf("the place of the vehicle changes: %v", err)
	}
	if n, err := ground.Read(make([]byte, 100)); n != 0 || err != nil {
		t.Errorf("opening again: %d, %v", n, err)
	}
	if got := read(t, ground); got != string(second) {
		t.Errorf("read %q", got)
	}
	write(t, ground, first)
	if got := read(t, again); got != string(first) {
		t.Errorf("the vehicle that was started again reads %q", got)
	}
}

// A datagram may have many frames.
func TestLongDatagram(t *testing.T) {
	first, _ := beats(t)
	ground := open(t, "udp::0")
	vehicle := open(t, "udpout:"+strings.TrimPrefix(ground.String(), "udp:"))
	long := strings.Repeat(string(first), 100)
	write(t, vehicle, []byte(long))
	if got := read(t, ground); got != long {
		t.Errorf("%d of %d bytes", len(got), len(long))
	}
}

// A ground station that starts before the vehicle gets errors at most for what it writes.
func TestUDPOutBeforeTheVehicle(t *testing.T) {
	first, second := beats(t)
	port := open(t, "udp::0")
	address := strings.TrimPrefix(port.String(), "udp:")
	if err := port.Close(); err != nil {
		t.Fatal(err)
	}
	ground := open(t, "udpout:"+address)
	for range 3 {
		if err := ground.Write(first); err != nil && !errors.Is(err, link.ErrUnheard) {
			t.Fatal(err)
		}
	}
	vehicle := open(t, "udp:"+address)
	for ground.Write(first) != nil { // errors of earlier datagrams
	}
	if got := read(t, vehicle); got != string(first) {
		t.Errorf("the vehicle reads %q", got)
	}
	write(t, vehicle, second)
	if got := read(t, ground); got != string(second) {
		t.Errorf("read %q", got)
	}
}

func TestTCP(t *testing.T) {
	simulator, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer end(simulator)
	ground := open(t, "tcp:"+simulator.Addr().String())
	if !ground.Stream() || ground.String() != "tcp:"+simulator.Addr().String() {
		t.Errorf("%v, stream %v", ground, ground.Stream())
	}
	accept := func() net.Conn {
		conn, err := simulator.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	conn := accept()
	say := func(text string) {
		if _, err := conn.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := read(t, ground); got != text {
			t.Errorf("read %q, want %q", got, text)
		}
	}
	say("one")
	write(t, ground, []byte("two"))
	buf := make([]byte, 10)
	if n, err := conn.Read(buf); err != nil || string(buf[:n]) != "two" {
		t.Errorf("the simulator reads %q, %v", buf[:n], err)
	}

	// The simulator ends the connection: one error, then the next Read connects again.
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ground.Read(buf); !errors.Is(err, link.ErrBroken) {
		t.Errorf("reading a lost connection: %v", err)
	}
	if err := ground.Write([]byte("lost")); !errors.Is(err, link.ErrBroken) {
		t.Errorf("writing to a lost connection: %v", err)
	}
	if n, err := ground.Read(buf); n != 0 || err != nil {
		t.Errorf("connecting again: %d, %v", n, err)
	}
	conn = accept()
	defer end(conn)
	say("three")
}

// A simulator waits for one connection at a time; the next one is served when it has ended.
func TestTCPIn(t *testing.T) {
	simulator := open(t, "tcpin::0")
	address := "tcp:" + strings.TrimPrefix(simulator.String(), "tcpin:")
	if !simulator.Stream() || !errors.Is(simulator.Write([]byte("lost")), link.ErrBroken) {
		t.Errorf("%v writes without a connection", simulator)
	}
	for range 2 {
		ground := open(t, address)
		if n, err := simulator.Read(make([]byte, 10)); n != 0 || err != nil {
			t.Fatalf("the connection: %d, %v", n, err)
		}
		write(t, simulator, []byte("one"))
		write(t, ground, []byte("two"))
		if a, b := read(t, ground), read(t, simulator); a != "one" || b != "two" {
			t.Errorf("read %q and %q", a, b)
		}
		end(ground)
		if _, err := simulator.Read(make([]byte, 10)); !errors.Is(err, link.ErrBroken) {
			t.Errorf("reading a lost connection: %v", err)
		}
	}
}

// A connection that sends nothing of the vehicle gives way to another one; the vehicle's does not.
func TestTCPInGivesWay(t *testing.T) {
	first, _ := beats(t)
	defer link.Silence(0)()
	ground := openFor(t, "tcpin::0", link.Guard{System: 1})
	address := "tcp:" + strings.TrimPrefix(ground.String(), "tcpin:")
	for _, says := range []string{"", "GET / HTTP/1.1"} {
		silent := open(t, address)
		if n, err := ground.Read(make([]byte, 10)); n != 0 || err != nil {
			t.Fatalf("the connection: %d, %v", n, err)
		}
		if says != "" {
			write(t, silent, []byte(says))
			read(t, ground)
		}
		vehicle := open(t, address)
		write(t, vehicle, first)
		if _, err := ground.Read(make([]byte, 10)); !errors.Is(err, link.ErrBroken) || !strings.Contains(err.Error(), "another") {
			t.Errorf("a connection that gives way: %v", err)
		}
		if n, err := ground.Read(make([]byte, 10)); n != 0 || err != nil {
			t.Fatalf("the next connection: %d, %v", n, err)
		}
		link.Silence(1 << 60)
		if got := read(t, ground); got != string(first) {
			t.Errorf("read %q", got)
		}
		late := open(t, address)
		write(t, vehicle, first)
		if got := read(t, ground); got != string(first) {
			t.Errorf("read %q", got)
		}
		end(late)
		end(vehicle)
		if _, err := ground.Read(make([]byte, 10)); !errors.Is(err, link.ErrBroken) {
			t.Errorf("reading a lost connection: %v", err)
		}
		if n, err := ground.Read(make([]byte, 10)); n != 0 || err != nil { // the late one
			t.Fatalf("the next connection: %d, %v", n, err)
		}
		if _, err := ground.Read(make([]byte, 10)); !errors.Is(err, link.ErrBroken) {
			t.Errorf("reading a lost connection: %v", err)
		}
		link.Silence(0)
	}
}

// With a secret, what is sent is signed, and what arrives without a valid signature, or twice, is refused, on each kind
// of channel. The frames that are read have no signatures.
func TestSignedLinks(t *testing.T) {
	secret, other := frame.SecretOf("secret"), frame.SecretOf("other")
	first, second := beats(t)
	for _, kind := range []string{"udp", "tcp"} {
		far := openFor(t, map[string]string{"udp": "udp::0", "tcp": "tcpin::0"}[kind], link.Guard{Secret: &secret})
		_, place, _ := strings.Cut(far.String(), ":")
		near := openFor(t, map[string]string{"udp": "udpout:", "tcp": "tcp:"}[kind]+place, link.Guard{System: 1, Secret: &secret})
		if kind == "tcp" {
			read(t, far)
		}
		for _, d := range [][]byte{first, second} {
			write(t, near, d)
			if got := read(t, far); got != string(d) {
				t.Errorf("%s: read %q", kind, got)
			}
		}
	}
	ground := openFor(t, "udp::0", link.Guard{System: 1, Secret: &secret})
	vehicle := open(t, "udpout:"+strings.TrimPrefix(ground.String(), "udp:"))
	sign := func(s frame.Secret, back time.Duration) []byte {
		w := frame.Writer{}
		w.Sign(s, 0, 0)
		return w.Signed(first, time.Now().Add(-back).UnixNano())
	}
	radio, err := (&frame.Writer{System: 1, Component: 1}).Write(&mav.MessageRadioStatus{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	write(t, vehicle, radio) // which nobody signs; it is passed on, and not answered
	if got := read(t, ground); got != string(radio) || !errors.Is(ground.Write(first), link.ErrUnheard) {
		t.Errorf("read %q, and it is answered", got)
	}
	good := sign(secret, 0)
	for _, d := range [][]byte{first, sign(other, 0), sign(secret, 80*time.Second)} {
		write(t, vehicle, d)
	}
	if _, err := ground.Read(make([]byte, 100)); !errors.Is(err, link.ErrBroken) || !strings.Contains(err.Error(), "--signing-key") {
		t.Errorf("unsigned frames: %v", err)
	}
	write(t, vehicle, first)
	write(t, vehicle, good) // before which the channel is not open again
	if n, err := ground.Read(make([]byte, 100)); n != 0 || err != nil {
		t.Errorf("opening again: %d, %v", n, err)
	}
	for _, d := range [][]byte{good, good, sign(secret, time.Second/2), first, sign(secret, -time.Second)} {
		write(t, vehicle, d)
	}
	for range 2 { // the first one, and the last one
		if got := read(t, ground); got != string(first) {
			t.Errorf("read %q", got)
		}
	}
	write(t, ground, first)
	if got := read(t, vehicle); got == string(first) || len(got) != len(first)+13 {
		t.Errorf("the vehicle reads %q, which is not signed", got)
	}
}

// Close ends a Read that waits, and one that waits for a connection.
func TestClose(t *testing.T) {
	simulator, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"udp::0", "udpout:127.0.0.1:9", "tcpin::0", "tcp:" + simulator.Addr().String()} {
		l := open(t, address)
		ended := make(chan error)
		go func() {
			_, err := l.Read(make([]byte, 10))
			ended <- err
		}()
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s: reading ends with %v", address, err)
		}
	}
	l := open(t, "tcp:"+simulator.Addr().String())
	conn, err := simulator.Accept() // of the one that was closed, or this one
	if err != nil {
		t.Fatal(err)
	}
	next, err := simulator.Accept()
	if err != nil {
		t.Fatal(err)
	}
	end(simulator)
	end(conn)
	end(next)
	if _, err := l.Read(make([]byte, 10)); !errors.Is(err, link.ErrBroken) {
		t.Errorf("reading a lost connection: %v", err)
	}
	ended := make(chan error)
	go func() {
		_, err := l.Read(make([]byte, 10))
		ended <- err
	}()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("connecting again ends with %v", err)
	}
}

// TestPlainErrors: no error of a network is shown as the system writes it, and each is still what it was.
func TestPlainErrors(t *testing.T) {
	raw := regexp.MustCompile(`dial |listen |lookup |(read|write) tcp|connect:|bind:|i/o timeout|syscall`)
	_, refused := net.Dial("tcp", "127.0.0.1:1")
	_, unknown := net.ResolveIPAddr("ip", "no.such.host.invalid")
	_, foreign := net.Listen("tcp", "8.8.8.8:5555")
	_, late := net.DialTimeout("tcp", "127.0.0.1:1", time.Nanosecond)
	list := []error{refused, unknown, foreign, late}
	for number := syscall.Errno(1); number < 133; number++ {
		list = append(list, &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", number)})
	}
	for _, err := range list {
		got := link.Plain(fmt.Errorf("to somewhere: %w", err))
		if raw.MatchString(got.Error()) || !errors.Is(got, err) || link.Plain(got).Error() != got.Error() {
			t.Errorf("%v: %v", err, got)
		}
	}
	if link.Plain(nil) != nil || link.Plain(io.EOF).Error() != "EOF" {
		t.Error("another error is changed")
	}
}

// TestCheck: an address that cannot be one is found without opening it.
func TestCheck(t *testing.T) {
	for address, wrong := range map[string]bool{"": true, "udp": true, "udp:127.0.0.1:1": false, "tcp:127.0.0.1:1": false,
		"tcpin::0": false, "tcp:127.0.0.1": true, "tcp:no.such.host.invalid:1": true, "udpout:127.0.0.1:70000": true,
		"serial:" + os.DevNull: false, "serial:/dev/none": true, "serial:" + os.DevNull + ":slow": true, "com:1": true} {
		if err := link.Check(address); (err != nil) != wrong {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	busy := open(t, "udp::0")
	none := filepath.Join(t.TempDir(), "ttyUSB0")
	for address, want := range map[string]string{
		"":                         "not the address of a link",
		"udp":                      "is not HOST:PORT, as in 127.0.0.1:14550",
		"udp:14550":                "is not HOST:PORT",
		"udp:127.0.0.1:http":       `the port "http" is not a number`,
		"udp:127.0.0.1:65536":      "is not a number from 0 to 65535",
		"upd:127.0.0.1:14550":      `did you mean "udp"?`,
		"bluetooth:1":              "write udp:HOST:PORT, udpout:HOST:PORT, tcp:HOST:PORT, tcpin:HOST:PORT, serial:DEVICE[:BAUD]",
		"tcp:127.0.0.1:1":          "no program waits there",
		"serial:" + none + ":fast": "not a number of baud, as in serial:" + none + ":57600",
		"serial:" + none:           "this computer has",
		busy.String():              "the port is in use",
	} {
		l, err := link.Open(address, link.Guard{})
		if err == nil {
			end(l)
			t.Errorf("%s is open", address)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), address) {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, kind := range []string{"udp", "udpout", "tcp", "tcpin", "serial"} {
		if !strings.Contains(link.Forms(), kind+":") {
			t.Errorf("the forms do not name %s", kind)
		}
	}
}
