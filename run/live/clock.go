package live

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"time"
)

// Never is a time at which no alarm is due.
const Never = time.Duration(math.MaxInt64)

// Clock is the source of time of an execution.
type Clock interface {
	// Now returns the time since a fixed instant. It never goes back.
	Now() time.Duration
	// Alarm replaces the alarm of the clock. The result is a channel from which a value can be received at the time due or
	// later, at least once; it may be nil if due is Never. The execution calls Alarm, in the goroutine of Run, each time
	// before it waits.
	Alarm(due time.Duration) <-chan time.Time
}

// wall is the clock of the computer, with one timer.
type wall struct {
	start time.Time
	timer *time.Timer
	due   time.Duration
}

func newWall() *wall { return &wall{start: time.Now(), due: Never} }

// Now implements Clock.
func (c *wall) Now() time.Duration { return time.Since(c.start) }

// Alarm implements Clock. A timer that is set already is left alone.
func (c *wall) Alarm(due time.Duration) <-chan time.Time {
	switch {
	case due == Never:
		if c.timer != nil && c.due != Never {
			c.timer.Stop()
		}
	case c.timer == nil:
		c.timer = time.NewTimer(due - c.Now())
	default:
		if now := c.Now(); due != c.due || due <= now {
			c.timer.Reset(due - now)
		}
	}
	c.due = due
	if c.timer == nil {
		return nil
	}
	return c.timer.C
}

// Virtual is a clock for tests and simulations. Its time begins at 0 and jumps: whenever the execution waits, to the
// next alarm or the next scheduled call, whichever comes first. If there is neither, the execution waits for an input.
// A test thus runs as fast as its code, and always in the same way, if all that happens outside of the plan is
// scheduled on the clock. The zero value is ready to use, by one execution.
type Virtual struct {
	mu    sync.Mutex
	now   time.Duration
	calls []scheduled // by time, those of one time in the order of their scheduling
	ring  chan time.Time
}

type scheduled struct {
	at time.Duration
	f  func()
}

// Now implements Clock.
func (c *Virtual) Now() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// At schedules a call, in the goroutine of Run. Calls at one time are made together, before the plan reacts. A time in
// the past is now.
func (c *Virtual) At(t time.Duration, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t = max(t, c.now)
	at, _ := slices.BinarySearchFunc(c.calls, t+1, func(s scheduled, t time.Duration) int { return cmp.Compare(s.at, t) })
	c.calls = slices.Insert(c.calls, at, scheduled{t, f})
}

// After schedules a call after a time from now.
func (c *Virtual) After(d time.Duration, f func()) { c.At(c.Now()+d, f) }

// Alarm implements Clock: time jumps.
func (c *Virtual) Alarm(due time.Duration) <-chan time.Time {
	c.mu.Lock()
	next := due
	if len(c.calls) > 0 {
		next = min(next, c.calls[0].at)
	}
	if next == Never {
		c.mu.Unlock()
		return nil
	}
	c.now = max(c.now, next)
	n := 0
	for n < len(c.calls) && c.calls[n].at <= c.now {
		n++
	}
	calls := slices.Clone(c.calls[:n])
	c.calls = slices.Delete(c.calls, 0, n)
	if c.ring == nil {
		c.ring = make(chan time.Time, 1)
	}
	ring := c.ring
	c.mu.Unlock()
	for _, s := range calls {
		s.f()
	}
	select {
	case ring <- time.Time{}:
	default:
	}
	return ring
}
