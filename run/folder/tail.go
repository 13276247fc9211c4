package folder

import (
	"os"
	"sync"
	"time"

	"github.com/canopy-uav/canopy/run/record"
)

// TailFile has what the log of a run in progress does not have yet.
const TailFile = "run.tail"

// MostTail is more than the size of that file [bytes].
const MostTail = 1 << 28

// lag is half of the time after which what a step has recorded is in a file, at the latest.
var lag = 500 * time.Millisecond

// tail is the tail of the log. The goroutine of the run fills it, another one writes it out.
type tail struct {
	record.Tail
	mutex sync.Mutex
	fresh bool // it has what its file does not have
}

// follow takes what the last step has recorded.
func (t *tail) follow(w *record.Writer) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.fresh = t.Follow(w) || t.fresh
}

// taken returns what is to be written out, nil if it is nothing.
func (t *tail) taken() []byte {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if !t.fresh {
		return nil
	}
	t.fresh = false
	return t.Bytes()
}

// writeTails writes out the tail of the log again and again, until stop is called. A tail that cannot be written is of
// no consequence to the run.
func (f *flight) writeTails() (stop func()) {
	done := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		tick := time.NewTicker(lag)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if data := f.tail.taken(); data != nil {
					_ = f.save(TailFile, data)
				}
			}
		}
	})
	return func() {
		close(done)
		writing.Wait()
		_ = os.Remove(f.path(TailFile))
	}
}
