package link_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/canopy-uav/canopy/autopilot/link"
)

// terminal opens a pseudo terminal, and returns the name of its other end.
func terminal(t *testing.T) (master *os.File, name string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no /dev/ptmx on this machine")
	}
	control := func(request uintptr, value *int32) {
		t.Helper()
		_, _, e := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), request, uintptr(unsafe.Pointer(value)))
		if e != 0 {
			t.Skip("no pseudo terminals on this machine: ", e)
		}
	}
	var unlocked, number int32
	control(syscall.TIOCSPTLCK, &unlocked)
	control(syscall.TIOCGPTN, &number)
	return master, fmt.Sprintf("/dev/pts/%d", number)
}

// A pseudo terminal is a serial line without a cable.
func TestSerial(t *testing.T) {
	master, name := terminal(t)
	defer end(master)
	radio := open(t, "serial:"+name)
	if want := "serial:" + name + ":57600"; radio.String() != want || !radio.Stream() {
		t.Errorf("%v, stream %v; want %s", radio, radio.Stream(), want)
	}
	raw := "\x00\xfd\r\n\x03\x11\x13" // nothing is converted, no byte controls the flow
	if _, err := master.WriteString(raw); err != nil {
		t.Fatal(err)
	}
	for got := ""; got != raw; {
		part := read(t, radio)
		if got += part; len(got) > len(raw) || got != raw[:len(got)] {
			t.Fatalf("read %q, want %q", got, raw)
		}
	}
	write(t, radio, []byte(raw))
	buf := make([]byte, 20)
	if n, err := master.Read(buf); err != nil || string(buf[:n]) != raw {
		t.Errorf("the other end reads %q, %v", buf[:n], err)
	}
	ended := make(chan error)
	go func() {
		_, err := radio.Read(buf)
		ended <- err
	}()
	if err := radio.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("reading ends with %v", err)
	}
}

// A device that is no serial line is refused.
func TestNoSerialLine(t *testing.T) {
	if _, err := link.Open("serial:"+os.DevNull, link.Guard{}); err == nil || !strings.Contains(err.Error(), "the device is not a serial line") {
		t.Errorf("%v", err)
	}
}

// A line whose output is suspended takes no bytes: no Write waits for it, what arrives is read, and it is written to
// again when it takes bytes. Close does not wait either.
func TestSerialThatTakesNothing(t *testing.T) {
	master, name := terminal(t)
	defer end(master)
	radio := open(t, "serial:"+name)
	frame := make([]byte, 250)
	fill := func() {
		t.Helper()
		for n := 0; ; n++ {
			err := radio.Write(frame)
			if errors.Is(err, link.ErrStuck) && errors.Is(err, link.ErrBroken) {
				break
			}
			if err != nil || n > 10_000 {
				t.Fatalf("after %d frames: %v", n, err)
			}
		}
	}
	fill()
	if err := radio.Write(frame); !errors.Is(err, link.ErrStuck) {
		t.Errorf("the next frame: %v", err)
	}
	if _, err := master.WriteString("telemetry"); err != nil {
		t.Fatal(err)
	}
	for got := ""; got != "telemetry"; {
		got += read(t, radio)
	}
	buf := make([]byte, 1<<16)
	for radio.Write(frame) != nil { // the other end reads what there is; a Write that waited may not have returned yet
		var there int32
		const waiting = 0x541B // FIONREAD
		_, _, e := syscall.Syscall(syscall.SYS_IOCTL, master.Fd(), waiting, uintptr(unsafe.Pointer(&there)))
		if e != 0 {
			t.Fatal(e)
		}
		if there == 0 {
			continue
		}
		if _, err := master.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	fill()
	end(radio)
}
