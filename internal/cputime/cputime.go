// Package cputime returns the CPU time that the process has used.
package cputime
