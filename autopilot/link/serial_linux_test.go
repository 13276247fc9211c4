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

	"canopy/autopilot/link"
)

// A pseudo terminal is a serial line without a cable.
func TestSerial(t *testing.T) {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("no /dev/ptmx on this machine")
	}
	defer end(master)
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
	radio := open(t, fmt.Sprintf("serial:/dev/pts/%d", number))
	if want := fmt.Sprintf("serial:/dev/pts/%d:57600", number); radio.String() != want || !radio.Stream() {
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
	if _, err := link.Open("serial:" + os.DevNull); err == nil || !strings.Contains(err.Error(), "the device is no serial line") {
		t.Errorf("%v", err)
	}
}
