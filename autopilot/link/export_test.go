package link

import "time"

// Tests wait for no time before a connection is made again.
func init() { pause = 0 }

// Silence sets how long nothing of the vehicle must have come from where it was, until end is called.
func Silence(d time.Duration) (end func()) {
	was := silence
	silence = d
	return func() { silence = was }
}
