package record

import (
	"math"
	"strconv"
	"strings"

	"canopy/diag"
)

// appendNumber appends v in the shortest form that reads back as v, with an exponent only below 1e-6 and from
// 1e21, as ECMAScript and encoding/json write numbers.
func appendNumber(b []byte, v float64) []byte {
	a := math.Abs(v)
	if a == 0 || a >= 1e-6 && a < 1e21 || math.IsNaN(v) || math.IsInf(v, 0) {
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	}
	b = strconv.AppendFloat(b, v, 'e', -1, 64)
	if n := len(b); b[n-2] == '0' && b[n-3] == '-' { // strconv writes at least two digits of exponent
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// appendJSONNumber is appendNumber with null for the values JSON cannot express.
func appendJSONNumber(b []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(b, "null"...)
	}
	return appendNumber(b, v)
}

// appendField appends a text as a field of a CSV line (RFC 4180), escaped as by diag.Visible: a text that a spreadsheet
// would interpret as a formula gets an apostrophe before it, which marks text in spreadsheets.
func appendField(b []byte, s string) []byte {
	s = diag.Visible(s)
	if strings.IndexAny(s, "=+-@") == 0 {
		s = "'" + s
	}
	if !strings.ContainsAny(s, ",\"\r\n") {
		return append(b, s...)
	}
	b = append(b, '"')
	b = append(b, strings.ReplaceAll(s, `"`, `""`)...)
	return append(b, '"')
}
