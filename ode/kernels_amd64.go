package ode

import "golang.org/x/sys/cpu"

// kernel is the version of the kernels for this processor.
var kernel = kernelsHere()

func kernelsHere() kernels {
	if !cpu.X86.HasAVX2 {
		return portable
	}
	return kernels{combineFast, weighFast, residualFast, updateFast, shiftFast, squaresFast, momentsFast, axpyFast,
		substituteFast, withinFast}
}

// The functions ending in AVX2 process n components, a multiple of eight. The portable version processes the others.

//go:noescape
func combineAVX2(dst, base, rows *float64, stride int, weights *float64, count, n int)

//go:noescape
func weighAVX2(y, y0, atol, w, per *float64, relative float64, n int) (moved float64)

//go:noescape
func residualAVX2(f, psi, delta *float64, c float64, n int) (finite bool)

//go:noescape
func updateAVX2(step, delta, base, y, per *float64, relax float64, n int) (sum float64)

//go:noescape
func shiftAVX2(rows *float64, stride int, next *float64, q, n int)

//go:noescape
func squaresAVX2(x, per *float64, n int) (sum float64)

//go:noescape
func momentsAVX2(u, less, per *float64, n int) (square, image, mixed float64)

//go:noescape
func axpyAVX2(y *float64, a float64, x *float64, n int)

//go:noescape
func substituteAVX2(bundles *bundle, val *float64, col *int32, inv, w *float64, count int)

//go:noescape
func withinAVX2(x, low, high *float64, n int) bool

func combineFast(dst, base, rows []float64, stride int, weights []float64) {
	n := len(dst) &^ 7
	if n > 0 && len(weights) > 0 {
		_ = rows[(len(weights)-1)*stride+n-1]
		var from *float64
		if base != nil {
			from, base = &base[:n][0], base[n:]
		}
		combineAVX2(&dst[0], from, &rows[0], stride, &weights[0], len(weights), n)
		dst, rows = dst[n:], rows[n:]
	}
	combine(dst, base, rows, stride, weights)
}

func weighFast(y, y0, atol, w, per []float64, relative float64) float64 {
	n := len(y) &^ 7
	moved := weigh(y[n:], y0[n:], atol[n:], w[n:], per[n:], relative)
	if n > 0 {
		moved = weighAVX2(&y[0], &y0[0], &atol[0], &w[0], &per[0], relative, n) + moved
	}
	return moved
}

func residualFast(f, psi, delta []float64, c float64) bool {
	n := len(f) &^ 7
	finite := residual(f[n:], psi[n:], delta[n:], c)
	return (n == 0 || residualAVX2(&f[0], &psi[0], &delta[0], c, n)) && finite
}

func updateFast(step, delta, base, y, per []float64, relax float64) float64 {
	n := len(step) &^ 7
	sum := update(step[n:], delta[n:], base[n:], y[n:], per[n:], relax)
	if n > 0 {
		sum = updateAVX2(&step[0], &delta[0], &base[0], &y[0], &per[0], relax, n) + sum
	}
	return sum
}

func shiftFast(rows []float64, stride int, next []float64, q int) {
	n := len(next) &^ 7
	if n > 0 {
		_ = rows[(q+1)*stride+n-1]
		shiftAVX2(&rows[0], stride, &next[0], q, n)
	}
	shift(rows[n:], stride, next[n:], q)
}

func squaresFast(x, per []float64) float64 {
	n := len(x) &^ 7
	sum := squares(x[n:], per[n:])
	if n > 0 {
		sum = squaresAVX2(&x[0], &per[0], n) + sum
	}
	return sum
}

func momentsFast(u, g, per []float64) (square, image, mixed float64) {
	n := len(u) &^ 7
	square, image, mixed = moments(u[n:], g[n:], per[n:])
	if n > 0 {
		a, b, c := momentsAVX2(&u[0], &g[0], &per[0], n)
		square, image, mixed = a+square, b+image, c+mixed
	}
	return square, image, mixed
}

func axpyFast(y []float64, a float64, x []float64) {
	n := len(x) &^ 7
	if n > 0 {
		axpyAVX2(&y[:n][0], a, &x[0], n)
	}
	axpy(y[n:], a, x[n:])
}

func substituteFast(t *triangle, w []float64) {
	if len(t.val) == 0 {
		substitute(t, w)
		return
	}
	substituteAVX2(&t.bundles[0], &t.val[0], &t.col[0], &t.inv[0], &w[0], len(t.bundles))
}

func withinFast(x, low, high []float64) bool {
	n := len(x) &^ 7
	low, high = low[:len(x)], high[:len(x)]
	return (n == 0 || withinAVX2(&x[0], &low[0], &high[0], n)) && within(x[n:], low[n:], high[n:])
}
