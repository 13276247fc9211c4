// Package cpu reports what the processor can do beyond what the compiler assumes.
package cpu
