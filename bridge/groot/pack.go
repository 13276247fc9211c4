package groot

import (
	"encoding/binary"
	"math"
)

// The types of MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md), with those of 32 bits where
// shorter ones do not fit in one byte.
const (
	packedNil     = 0xc0
	packedFalse   = 0xc2
	packedFloat64 = 0xcb
	packedInt64   = 0xd3
	packedText32  = 0xdb
	packedMap32   = 0xdf
	packedText    = 0xa0 // and the length, below 32
	packedMap     = 0x80 // and the number of entries, below 16
)

// packMap appends the head of a map.
func packMap(b []byte, entries int) []byte {
	if entries < 16 {
		return append(b, packedMap|byte(entries))
	}
	return binary.BigEndian.AppendUint32(append(b, packedMap32), uint32(entries))
}

func packText(b []byte, text string) []byte {
	if len(text) < 32 {
		b = append(b, packedText|byte(len(text)))
	} else {
		b = binary.BigEndian.AppendUint32(append(b, packedText32), uint32(len(text)))
	}
	return append(b, text...)
}

func packNumber(b []byte, v float64) []byte {
	return binary.BigEndian.AppendUint64(append(b, packedFloat64), math.Float64bits(v))
}

func packInteger(b []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(append(b, packedInt64), uint64(v))
}
