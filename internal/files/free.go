//go:build linux || darwin || freebsd

package files

import (
	"math"
	"syscall"
)

// Free returns the bytes of a folder's disk that are free, math.MaxInt64 where this is not known.
func Free(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return math.MaxInt64
	}
	return int64(float64(s.Bavail) * float64(s.Bsize))
}
