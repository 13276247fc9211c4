// Package cputime tells how much CPU time the process has used.
package cputime
