// Package messages makes random MAVLink messages for tests.
package messages

import (
	"math"
	"math/rand/v2"
	"reflect"
)

// Random returns a message of the same type as another one, a pointer to a structure. Its values are at random, many of
// them not finite or at the limits of their types; texts are empty or among those given.
func Random[M any](random *rand.Rand, like M, texts ...string) M {
	x := reflect.New(reflect.TypeOf(like).Elem())
	fill(random, x.Elem(), append(texts, ""))
	m, _ := x.Interface().(M)
	return m
}

func fill(random *rand.Rand, v reflect.Value, texts []string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(random, v.Field(i), texts)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(random, v.Index(i), texts)
		}
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), -3e38, random.NormFloat64() * 100}[random.IntN(7)])
	case reflect.String:
		v.SetString(texts[random.IntN(len(texts))])
	default:
		x := []int64{0, 1, -1, math.MaxInt64, math.MinInt64, int64(random.Uint64()), random.Int64N(1e6) << 44}[random.IntN(7)]
		if bits := 64 - v.Type().Bits(); v.CanInt() {
			v.SetInt(x >> bits)
		} else {
			v.SetUint(uint64(x) >> bits)
		}
	}
}
