package link

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"go.bug.st/serial"
)

// pause is the time between two attempts to connect again.
var pause = time.Second

// patience is how long a Write may take. Then the connection counts as lost: the loop that decides must not wait.
const patience = 200 * time.Millisecond

// stream is a connection that is opened again when it is lost.
type stream struct {
	name   string
	open   func() (io.ReadWriteCloser, error)
	closed chan struct{}
	waits  *net.TCPListener // what connections are waited for with; nil: they are made
	next   *net.TCPConn     // has come meanwhile; nil: none has
	heard  time.Time        // the last frame of the vehicle, or the connection

	mu   sync.Mutex
	conn io.ReadWriteCloser // nil: lost
}

// connect opens a stream for the first time.
func connect(name string, open func() (io.ReadWriteCloser, error)) (channel, error) {
	conn, err := open()
	if err != nil {
		return nil, err
	}
	return &stream{name: name, open: open, closed: make(chan struct{}), conn: conn}, nil
}

func (s *stream) current() io.ReadWriteCloser {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// lose closes a connection, unless it is another one by now.
func (s *stream) lose(conn io.Closer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == conn {
		s.conn = nil
	}
	conn.Close() //nolint:errcheck // it is lost
}

func (s *stream) isClosed() bool {
	select {
	case <-s.closed:
		return true
	default:
		return false
	}
}

func (s *stream) Read(buf []byte) (int, error) {
	conn := s.current()
	if conn == nil {
		return 0, s.again()
	}
	n, err := s.part(conn, buf)
	switch {
	case n > 0:
		return n, nil
	case s.isClosed():
		return 0, fmt.Errorf("%v: %w", s, net.ErrClosed)
	case err == nil: // a serial line whose device was removed
		err = io.EOF
	}
	s.lose(conn)
	return 0, fmt.Errorf("%v: %w (%w)", s, ErrBroken, err)
}

// errSilent is why a connection gives way to another.
var errSilent = errors.New("it sent nothing of the vehicle, and another one came")

// part reads a part of the stream. A connection that was waited for gives way to another one if it is silent.
func (s *stream) part(conn io.Reader, buf []byte) (int, error) {
	c, ok := conn.(*net.TCPConn)
	for s.waits != nil && ok {
		if err := c.SetReadDeadline(time.Now().Add(max(silence, nextWait))); err != nil {
			return 0, err
		}
		n, err := c.Read(buf)
		late := errors.Is(err, os.ErrDeadlineExceeded)
		if time.Since(s.heard) >= silence {
			if e := s.waits.SetDeadline(time.Now().Add(nextWait)); e != nil {
				return 0, e
			}
			if s.next, _ = s.waits.AcceptTCP(); s.next != nil { // the error is that none came, or Close
				return 0, errSilent
			}
		}
		if !late {
			return n, err
		}
	}
	return conn.Read(buf)
}

// nextWait is how long the next connection is waited for while there is one.
const nextWait = 10 * time.Millisecond

func (s *stream) judge(ours bool) (drop bool, moved error) {
	if ours {
		s.heard = time.Now()
	}
	return false, nil
}

// again connects again, at most once in a pause.
func (s *stream) again() error {
	first := s.waits != nil // there is nothing to spare
	for {
		wait := pause
		if first {
			wait, first = 0, false
		}
		select {
		case <-s.closed:
			return fmt.Errorf("%v: %w", s, net.ErrClosed)
		case <-time.After(wait):
		}
		conn, err := s.open()
		if err != nil {
			continue
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.isClosed() {
			conn.Close() //nolint:errcheck // it is not used
			return fmt.Errorf("%v: %w", s, net.ErrClosed)
		}
		s.conn, s.heard = conn, time.Now()
		return nil
	}
}

func (s *stream) Write(data []byte) error {
	conn := s.current()
	if conn == nil {
		return fmt.Errorf("%v: %w", s, ErrBroken)
	}
	if c, ok := conn.(net.Conn); ok {
		if err := c.SetWriteDeadline(time.Now().Add(patience)); err != nil {
			return fmt.Errorf("%v: %w (%w)", s, ErrBroken, err)
		}
	}
	switch _, err := conn.Write(data); {
	case errors.Is(err, ErrStuck):
		return fmt.Errorf("%v: %w", s, err)
	case err != nil:
		s.lose(conn)
		return fmt.Errorf("%v: %w (%w)", s, ErrBroken, err)
	}
	return nil
}

func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isClosed() {
		return net.ErrClosed
	}
	close(s.closed)
	var errs []error
	if s.waits != nil {
		errs = append(errs, s.waits.Close())
	}
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	return errors.Join(errs...)
}

func (*stream) Stream() bool     { return true }
func (s *stream) String() string { return s.name }

func dialTCP(address string) (channel, error) {
	return connect("tcp:"+address, func() (io.ReadWriteCloser, error) {
		conn, err := net.DialTimeout("tcp", address, 5*time.Second)
		if errors.Is(err, syscall.ECONNREFUSED) {
			err = plain{"no program waits there; ArduPilot's simulator waits at port 5760", err}
		}
		return conn, err
	})
}

// listenTCP waits for one connection at a time.
func listenTCP(address string) (channel, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, occupied(err, "tcp:"+address)
	}
	l := listener.(*net.TCPListener) //nolint:forcetypeassert // the network is tcp
	s := &stream{name: "tcpin:" + l.Addr().String(), closed: make(chan struct{}), waits: l}
	s.open = func() (io.ReadWriteCloser, error) {
		if next := s.next; next != nil {
			s.next = nil
			return next, nil
		}
		if err := l.SetDeadline(time.Time{}); err != nil {
			return nil, err
		}
		return l.Accept()
	}
	return s, nil
}

// radio is the rate of telemetry radios.
const radio = 57600

// device completes and checks the address of a serial line.
func device(rest string) (at string, err error) {
	name, rate, given := strings.Cut(rest, ":")
	baud := radio
	if name == "" {
		return "", fmt.Errorf("%q is not DEVICE[:BAUD], as in /dev/ttyUSB0:%d", rest, radio)
	}
	if given {
		if baud, err = strconv.Atoi(rate); err != nil || baud <= 0 {
			return "", fmt.Errorf("the rate %q is not a number of baud, as in serial:%s:%d", rate, name, radio)
		}
	}
	if _, err = os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no such device: %s", present())
	}
	return fmt.Sprintf("%s:%d", name, baud), nil
}

func openSerial(at string) (channel, error) {
	name, rate, _ := strings.Cut(at, ":")
	baud, _ := strconv.Atoi(rate)
	return connect("serial:"+at, func() (io.ReadWriteCloser, error) {
		port, err := serial.Open(name, &serial.Mode{BaudRate: baud})
		var e *serial.PortError
		switch {
		case err == nil:
			return &bounded{port, make(chan struct{}, 1)}, nil
		case errors.Is(err, fs.ErrPermission) || errors.As(err, &e) && e.Code() == serial.PermissionDenied:
			return nil, plain{"this user may not use it: on Linux, the group that may is often dialout", err}
		case errors.As(err, &e) && e.Code() == serial.PortBusy:
			return nil, plain{"another program uses the line", err}
		case errors.Is(err, fs.ErrNotExist) || errors.As(err, &e) && e.Code() == serial.PortNotFound:
			return nil, fmt.Errorf("there is no such device: %s", present())
		case errors.As(err, &e) && e.Code() == serial.InvalidSerialPort:
			return nil, plain{"the device is not a serial line", err}
		}
		return nil, err
	})
}

// present names the serial lines of this computer.
func present() string {
	ports, err := serial.GetPortsList()
	if err != nil || len(ports) == 0 {
		return "this computer has no serial lines; is the radio plugged in?"
	}
	return "this computer has " + strings.Join(ports, ", ")
}
