package link

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// listener receives the datagrams of a vehicle and answers to where its valid frames come from. A simulator that is
// started again has another port: a new place counts after a silence of the old one.
type listener struct {
	conn  *net.UDPConn
	peer  atomic.Pointer[netip.AddrPort] // nil: none was heard
	from  netip.AddrPort                 // of the last datagram
	heard time.Time                      // the last frame of the vehicle
}

func listen(address string) (channel, error) {
	at, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, err
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return nil, occupied(err, "udpout:"+address)
	}
	return &listener{conn: conn}, nil
}

// occupied explains why this program cannot wait at an address; sends is the address of a link that would send there.
func occupied(err error, sends string) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return plain{"the port is in use: another ground station may wait there; give another port", err}
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return plain{"this computer does not have this address; to send there, write " + sends, err}
	}
	return err
}

func (l *listener) Read(buf []byte) (int, error) {
	for {
		n, from, err := l.conn.ReadFromUDPAddrPort(buf)
		if err != nil {
			return 0, err
		}
		if peer := l.peer.Load(); peer != nil && *peer != from && time.Since(l.heard) < silence {
			continue
		}
		if frame.Size(buf[:n]) > 0 {
			l.from = from
			return n, nil
		}
	}
}

func (l *listener) judge(ours bool) (drop bool, moved error) {
	peer := l.peer.Load()
	if !ours {
		return peer != nil && *peer != l.from, nil
	}
	l.heard = time.Now()
	if peer == nil || *peer != l.from {
		at := l.from
		l.peer.Store(&at)
	}
	if peer != nil && *peer != l.from {
		moved = fmt.Errorf("%v: %w: the vehicle is silent at %v, and is heard at %v", l, ErrBroken, peer, l.from)
	}
	return false, moved
}

func (l *listener) Write(data []byte) error {
	peer := l.peer.Load()
	if peer == nil {
		return fmt.Errorf("%v: %w", l, ErrUnheard)
	}
	_, err := l.conn.WriteToUDPAddrPort(data, *peer)
	return err
}

func (l *listener) Close() error   { return l.conn.Close() }
func (*listener) Stream() bool     { return false }
func (l *listener) String() string { return "udp:" + l.conn.LocalAddr().String() }

// sender sends datagrams to one address, and receives from there.
type sender struct{ conn *net.UDPConn }

func dialUDP(address string) (channel, error) {
	to, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, err
	}
	conn, err := net.DialUDP("udp", nil, to)
	if err != nil {
		return nil, err
	}
	return &sender{conn}, nil
}

// Read ignores that no program waits at the other end: each datagram that was sent there gives one such error, and a
// vehicle that is started later receives the next one.
func (s *sender) Read(buf []byte) (int, error) {
	for {
		n, err := s.conn.Read(buf)
		if !errors.Is(err, syscall.ECONNREFUSED) {
			return n, err
		}
	}
}

func (s *sender) Write(data []byte) error {
	_, err := s.conn.Write(data)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return fmt.Errorf("%v: no program waits there: %w", s, ErrUnheard)
	}
	return err
}

func (*sender) judge(bool) (bool, error) { return false, nil }

func (s *sender) Close() error   { return s.conn.Close() }
func (*sender) Stream() bool     { return false }
func (s *sender) String() string { return "udpout:" + s.conn.RemoteAddr().String() }
