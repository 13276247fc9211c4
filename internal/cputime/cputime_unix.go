//go:build unix

package cputime

import "syscall"

// Now returns the CPU time that the process has used, user and system [s].
func Now() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) * 1e-9
}
