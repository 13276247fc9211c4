//go:build !amd64

package ode

// kernel is the version of the kernels for this processor.
var kernel = portable
