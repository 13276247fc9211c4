package model

import (
	"fmt"
	"math"

	"github.com/canopy-uav/canopy/diag"
)

// Range is the closed interval of meaningful values. The zero value has no bounds.
type Range struct {
	least, most float64
	bounded     bool
}

// Between returns the range from least to most; either may be infinite. It panics if the range is empty.
func Between(least, most float64) Range {
	if !(least <= most) {
		panic("model: empty range")
	}
	return Range{least, most, true}
}

// AtLeast returns the range with the minimum least and no maximum.
func AtLeast(least float64) Range { return Between(least, math.Inf(1)) }

// Bounds returns the minimum and maximum of the range, infinite where there is none.
func (r Range) Bounds() (least, most float64) {
	if !r.bounded {
		return math.Inf(-1), math.Inf(1)
	}
	return r.least, r.most
}

// Contains reports whether v lies in the range, ends included. No range contains NaN.
func (r Range) Contains(v float64) bool {
	least, most := r.Bounds()
	return least <= v && v <= most
}

// String returns "0 to 1", "at least 0", "at most 1", or nothing if there are no bounds.
func (r Range) String() string {
	least, most := r.Bounds()
	switch below, above := math.IsInf(least, -1), math.IsInf(most, 1); {
	case below && above:
		return ""
	case above:
		return "at least " + diag.Number(least, -1)
	case below:
		return "at most " + diag.Number(most, -1)
	}
	return diag.Number(least, -1) + " to " + diag.Number(most, -1)
}

// MarshalJSON writes the bounds as min and max, null where there is none.
func (r Range) MarshalJSON() ([]byte, error) {
	end := func(v float64) string {
		if math.IsInf(v, 0) {
			return "null"
		}
		return fmt.Sprintf("%g", v)
	}
	least, most := r.Bounds()
	return fmt.Appendf(nil, `{"min":%s,"max":%s}`, end(least), end(most)), nil
}
