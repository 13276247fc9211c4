package host

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/canopy-uav/canopy/vehicle/fmu"
)

// process is a process with an instance of an FMU. It ends when this is no longer referenced, since its input does.
type process struct {
	library, resources string

	of       *os.Process
	in, out  *os.File
	shared   []byte // small messages
	number   uint32 // of the request
	ended    chan string
	limit    time.Duration
	watchdog *time.Timer
	watched  bool // the watchdog runs
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
	memory, err := p.share()
	if err != nil {
		return err
	}
	defer memory.Close() //nolint:errcheck // it is mapped
	of, err := os.StartProcess(program, []string{"canopy-fmu"}, &os.ProcAttr{Env: os.Environ(),
		Files: []*os.File{theirIn, theirOut, stderr, memory}})
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
	status := uint32(0)
	if err = p.send(); err == nil {
		status, answer, err = p.receive()
	}
	late := p.watched && !p.watchdog.Stop()
	p.watched = false
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

// The memory that both processes see, as in program/host.c: for each direction the number of the last message, whether
// the one that waits for it sleeps, and whether that looks for it first; then the messages.
const (
	request, reply = 0, 64
	sleeps, looks  = 4, 8
	small          = 1 << 15
	asked, told    = 128, 128 + small
	large          = math.MaxUint32

	manyLooks = 400_000 // some hundred microseconds
)

// share makes the shared memory. A process looks for a message before it sleeps if there are processors for both.
func (p *process) share() (*os.File, error) {
	f, err := os.CreateTemp("", "canopy-fmu-")
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.Remove(f.Name()), f.Truncate(told+small))
	if err == nil {
		p.shared, err = syscall.Mmap(int(f.Fd()), 0, told+small, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	runtime.AddCleanup(p, func(memory []byte) { _ = syscall.Munmap(memory) }, p.shared)
	if runtime.NumCPU() > 1 {
		p.word(request + looks).Store(1)
		p.word(reply + looks).Store(1)
	}
	return f, nil
}

// word is a number in the shared memory.
func (p *process) word(at int) *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&p.shared[at])) }

// send sends the message, through the pipe if it is large.
func (p *process) send() error {
	through := len(p.message) > small
	if through {
		binary.LittleEndian.PutUint32(p.shared[asked:], large)
	} else {
		copy(p.shared[asked:], p.message)
	}
	p.number++
	p.word(request).Store(p.number)
	if p.word(request+sleeps).Swap(0) != 0 {
		if _, err := p.in.Write([]byte{0}); err != nil {
			return err
		}
	}
	if !through {
		return nil
	}
	p.watch()
	_, err := p.in.Write(p.message)
	return err
}

// watch lets the watchdog run, before what may take long.
func (p *process) watch() {
	p.watched = true
	p.watchdog.Reset(p.limit)
}

// receive waits for the answer.
func (p *process) receive() (status uint32, answer []byte, err error) {
	if err := p.wait(); err != nil {
		return 0, nil, err
	}
	head := p.shared[told:]
	size := binary.LittleEndian.Uint32(head)
	if size == large {
		return p.read()
	}
	p.answer = append(p.answer[:0], head[:8+min(size, small-8)]...)
	return binary.LittleEndian.Uint32(p.answer[4:]), p.answer[8:], nil
}

func (p *process) wait() error {
	number, sleeping := p.word(reply), p.word(reply+sleeps)
	for range manyLooks * int(p.word(reply+looks).Load()) {
		if number.Load() == p.number {
			return nil
		}
	}
	sleeping.Store(1)
	if number.Load() == p.number && sleeping.Swap(0) != 0 {
		return nil
	}
	p.watch()
	_, err := io.ReadFull(p.out, p.answer[:1])
	return err
}

// read reads a large message from the pipe.
func (p *process) read() (status uint32, answer []byte, err error) {
	p.answer = append(p.answer[:0], make([]byte, 8)...)
	if _, err := io.ReadFull(p.out, p.answer); err != nil {
		return 0, nil, err
	}
	p.answer = append(p.answer, make([]byte, binary.LittleEndian.Uint32(p.answer))...)
	_, err = io.ReadFull(p.out, p.answer[8:])
	return binary.LittleEndian.Uint32(p.answer[4:]), p.answer[8:], err
}
