package vector

// AVX2 reports whether the processor and the system have AVX2: four numbers in a register, integers among them.
var AVX2 = hasAVX2()

func hasAVX2() bool
