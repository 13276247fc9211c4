package files

import (
	"math"

	"golang.org/x/sys/windows"
)

// Free returns the bytes of a folder's disk that are free, math.MaxInt64 where this is not known.
func Free(dir string) int64 {
	var free uint64
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil || windows.GetDiskFreeSpaceEx(path, &free, nil, nil) != nil {
		return math.MaxInt64
	}
	return int64(min(free, math.MaxInt64))
}
