package link

import (
	"fmt"
	"io"
	"time"
)

// ErrStuck reports a line that takes no bytes. What is sent meanwhile is lost; what arrives is read.
var ErrStuck = fmt.Errorf("%w: it takes no bytes", ErrBroken)

// line is a serial line, whose writes have no deadline of their own.
type line interface {
	io.ReadWriteCloser
	ResetOutputBuffer() error
}

// bounded is a line on which no Write waits longer than patience.
type bounded struct {
	line
	busy chan struct{} // is full while a Write is under way
}

// Write sends a frame. One that the line does not take in time is under way until it does; others are lost meanwhile.
func (b *bounded) Write(data []byte) (int, error) {
	select {
	case b.busy <- struct{}{}:
	default:
		return 0, ErrStuck
	}
	own, done := append([]byte(nil), data...), make(chan error, 1)
	go func() {
		_, err := b.line.Write(own)
		<-b.busy
		done <- err
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case err := <-done:
		return len(data), err
	case <-late.C:
		return 0, ErrStuck
	}
}

// Close ends the line. What it did not take is dropped: otherwise the operating system waits for it.
func (b *bounded) Close() error {
	if len(b.busy) > 0 {
		_ = b.line.ResetOutputBuffer() // Close has the error that counts
	}
	return b.line.Close()
}
