package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/canopy-uav/canopy/vehicle/fmu"
)

// process is a process with an instance of an FMU. It ends when this is no longer referenced, since its input does.
type process struct {
	library, resources string

	of       *os.Process
	in, out  *os.File
	ended    chan string
	limit    time.Duration
	watchdog *time.Timer
	message  []byte
	answer   []byte
	err      error
}

// grace is the time in which a process whose time is over may say what it was doing.
const grace = time.Second

func (p *process) start(program string, stderr *os.File) error {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirIn.Close() //nolint:errcheck // it is the process's
	out, theirOut, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirOut.Close() //nolint:errcheck // it is the process's
	of, err := os.StartProcess(program, []string{"canopy-fmu"}, &os.ProcAttr{Env: os.Environ(),
		Files: []*os.File{theirIn, theirOut, stderr}})
	if err != nil {
		return err
	}
	p.of, p.in, p.out, p.ended, p.answer = of, in, out, make(chan string, 1), make([]byte, 1<<16)
	ended, limit := p.ended, grace
	go func() {
		state, err := of.Wait()
		if err != nil {
			ended <- err.Error()
			return
		}
		ended <- state.String()
	}()
	p.watchdog = time.AfterFunc(time.Hour, func() {
		_ = of.Signal(syscall.SIGTERM)
		time.AfterFunc(limit, func() { _ = of.Kill() })
	})
	p.watchdog.Stop()
	return nil
}

// Library implements [fmu.Process].
func (p *process) Library() (library, resources string) { return p.library, p.resources }

// The statuses of answers.
const (
	warning = 1
	discard = 2
	failed  = 3
)

// Call implements [fmu.Process].
func (p *process) Call(op fmu.Operation, request []byte) (answer []byte, err error) {
	if p.err != nil {
		return nil, p.err
	}
	p.message = binary.LittleEndian.AppendUint32(p.message[:0], uint32(len(request)))
	p.message = append(binary.LittleEndian.AppendUint32(p.message, uint32(op)), request...)
	p.watchdog.Reset(p.limit)
	status := uint32(0)
	if _, err = p.in.Write(p.message); err == nil {
		status, answer, err = p.read()
	}
	late := !p.watchdog.Stop()
	switch {
	case err != nil:
		_ = p.of.Kill()
		p.err = fmt.Errorf("its process ended: %s", <-p.ended)
		if late {
			p.err = fmt.Errorf("no answer within %v; %w", p.limit, p.err)
		}
	case status <= warning:
		return answer, nil
	case status == discard:
		return nil, fmt.Errorf("%w: %s", fmu.ErrDiscard, answer)
	default:
		p.err = errors.New(string(answer))
		if late {
			p.err = fmt.Errorf("no answer within %v: %w", p.limit, p.err)
		}
	}
	_, _ = p.in.Close(), p.out.Close()
	return nil, p.err
}

// read reads a message.
func (p *process) read() (status uint32, answer []byte, err error) {
	n, err := io.ReadAtLeast(p.out, p.answer, 8)
	if err != nil {
		return 0, nil, err
	}
	size := 8 + int(binary.LittleEndian.Uint32(p.answer))
	if size > len(p.answer) {
		p.answer = append(make([]byte, 0, size), p.answer[:n]...)[:size]
	}
	if n < size {
		if _, err = io.ReadFull(p.out, p.answer[n:size]); err != nil {
			return 0, nil, err
		}
	}
	return binary.LittleEndian.Uint32(p.answer[4:]), p.answer[8:size], nil
}
