package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/canopy-uav/canopy/bridge/foxglove"
	"github.com/canopy-uav/canopy/bridge/groot"
	"github.com/canopy-uav/canopy/bridge/zmtp"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run/control"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/run/relay"

	"github.com/spf13/cobra"
)

func bridgeCommand() *cobra.Command {
	var b bridge
	c := &cobra.Command{
		Use: "bridge",
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := relay.Header(args[1])
			switch {
			case errors.Is(err, os.ErrNotExist):
				return noRun(err)
			case err != nil:
				return err
			case !(b.speed > 0) || math.IsInf(b.speed, 1):
				return &usageError{"--speed is a positive number"}
			}
			switch args[0] {
			case "groot":
				return b.groot(cmd, args[1], h)
			case "foxglove":
				return b.foxglove(cmd, args[1])
			}
			return &usageError{unknownWord("tool", args[0], []string{"foxglove", "groot"})}
		},
	}
	c.Flags().StringVar(&b.listen, "listen", "", "`HOST:PORT` of this computer (default 127.0.0.1:1667 for groot, which "+
		"also uses the port after it, and 127.0.0.1:8765 for foxglove)")
	c.Flags().BoolVar(&b.exposed, "exposed", false, "permit an address that other computers reach: they can read the run")
	c.Flags().Float64Var(&b.speed, "speed", 1, "replay a run at this `number` of simulated seconds per second")
	c.Flags().StringArrayVar(&b.origins, "origin", nil,
		"with foxglove: permit pages of this `origin` (https://HOST), too; may be repeated")
	return c
}

// bridge is the flags of the command.
type bridge struct {
	listen  string
	exposed bool
	speed   float64
	origins []string
}

// open opens the address, or the usual one.
func (b *bridge) open(usual string) (net.Listener, error) {
	at := usual
	if b.listen != "" {
		at = b.listen
	}
	if b.exposed {
		return net.Listen("tcp", at)
	}
	return listenHere(at)
}

// groot serves a run to Groot2 until it is interrupted.
func (b *bridge) groot(cmd *cobra.Command, dir string, h *record.Header) error {
	var m groot.Monitor
	if err := m.Begin(h); err != nil {
		return err
	}
	requests, notices, err := b.pair()
	if err != nil {
		return err
	}
	defer requests.Close() //nolint:errcheck // there is nothing to be done
	defer notices.Close()  //nolint:errcheck // there is nothing to be done
	var once sync.Once
	asked := make(chan struct{})
	go zmtp.Serve(notices, nil)
	go zmtp.Serve(requests, func(frames [][]byte) [][]byte {
		once.Do(func() { close(asked) })
		return m.Answer(frames)
	})
	fmt.Fprintf(cmd.OutOrStdout(), "groot: %s\n", requests.Addr())
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	return b.show(ctx, cmd.ErrOrStderr(), dir, asked, func(h *record.Header) (record.Recorder, error) {
		return &m, m.Begin(h)
	})
}

// foxglove serves a run to Foxglove until it is interrupted.
func (b *bridge) foxglove(cmd *cobra.Command, dir string) error {
	l, err := b.open("127.0.0.1:8765")
	if err != nil {
		return err
	}
	s := foxglove.Server{Dir: dir, Speed: b.speed, Origins: b.origins, Exposed: b.exposed}
	served := make(chan error, 1)
	go func() { served <- s.Serve(l) }()
	fmt.Fprintf(cmd.OutOrStdout(), "foxglove: ws://%s\n", l.Addr())
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	select {
	case err = <-served:
	case <-ctx.Done():
		err = errors.Join(l.Close(), <-served)
	}
	return failed(err)
}

// pair opens the address and the port after it.
func (b *bridge) pair() (requests, notices net.Listener, err error) {
	for range 10 { // of any two ports, the second may be in use
		if requests, err = b.open("127.0.0.1:1667"); err != nil {
			return nil, nil, err
		}
		at := requests.Addr().(*net.TCPAddr)
		notices, err = net.Listen("tcp", net.JoinHostPort(at.IP.String(), strconv.Itoa(at.Port+1)))
		if err == nil {
			return requests, notices, nil
		}
		_ = requests.Close()
	}
	return nil, nil, err
}

// show shows the run in a folder until the context is done: the one in progress, and the next ones; before there is
// one, that of the log, as soon as somebody has asked for it.
func (b *bridge) show(ctx context.Context, stderr io.Writer, dir string, asked <-chan struct{},
	begin relay.Begin,
) error {
	for recorded := true; ; recorded = false {
		ended := make(chan error, 1)
		go func() { ended <- relay.Live(dir, begin) }()
		var err error
		select {
		case err = <-ended:
		case <-ctx.Done():
			return nil
		}
		none := errors.Is(err, control.ErrNoRun)
		if err != nil && !none && !errors.Is(err, io.ErrUnexpectedEOF) {
			return failed(err)
		}
		if none && recorded {
			fmt.Fprintf(stderr, "canopy: no run is in progress in %s: what it has recorded is replayed at speed %s as soon as "+
				"somebody asks\n", dir, diag.Number(b.speed, 6))
			select {
			case <-asked:
			case <-ctx.Done():
				return nil
			}
			if _, err := relay.Replay(ctx, dir, b.speed, begin); err != nil && ctx.Err() == nil {
				return failed(err)
			}
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return nil
		}
	}
}

// errExposed reports an address that other computers reach.
var errExposed = errors.New("other computers reach this address; listen on 127.0.0.1 or [::1] and, to use it from " +
	"another computer, forward the port: ssh -L 8080:127.0.0.1:8080 HOST")

// listenHere opens an address HOST:PORT of this computer; port 0: any that is free. The error wraps errExposed or is
// that of the network.
func listenHere(address string) (net.Listener, error) {
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	if !at.IP.IsLoopback() {
		return nil, fmt.Errorf("%s: %w", address, errExposed)
	}
	return net.ListenTCP("tcp", at)
}
