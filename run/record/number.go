package record

import (
	"math"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
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

// appendJSON appends a number written by appendNumber, with null for the values that JSON cannot express: NaN, +Inf
// and -Inf.
func appendJSON(b, number []byte) []byte {
	if last := number[len(number)-1]; last == 'N' || last == 'f' {
		return append(b, "null"...)
	}
	return append(b, number...)
}

// memo is a number with its text: many numbers of a line are those of the line before.
type memo struct {
	bits    uint64
	written []byte
}

// text returns the text of v by appendNumber. It is valid until the next call.
func (m *memo) text(v float64) []byte {
	if bits := math.Float64bits(v); bits != m.bits || len(m.written) == 0 {
		m.bits, m.written = bits, appendNumber(m.written[:0], v)
	}
	return m.written
}

// appendText appends a text as encoding/json writes it, without reflection if its characters are printable ASCII.
func appendText(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	start := len(b)
	b = append(b, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\':
			return append(b[:start], quote(s)...)
		case c == '<' || c == '>' || c == '&':
			b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// clock writes times that do not decrease: equal ones alike, different ones as different numbers in their order.
type clock struct {
	t, written float64 // the last time, and the number that was written for it [s]
	text       []byte  // of it; empty before the first
}

// write returns the text of t: nine decimals, or as many more as make it later than the time before. If that was
// rounded up to t or beyond, its text gets one more decimal, or is that of the next number if no decimal makes another.
// So a time is exact to about 1e-9 s, and no text has more than 50 decimals.
func (c *clock) write(t float64) []byte {
	if len(c.text) > 0 && t == c.t {
		return c.text
	}
	c.t = t
	const usual, most = 9, 30
	for n := usual; n <= most; n++ {
		text := strconv.AppendFloat(nil, t, 'f', n, 64)
		if v, _ := strconv.ParseFloat(string(text), 64); len(c.text) == 0 || v > c.written {
			c.written, c.text = v, text
			return text
		} else if v == t { // more decimals are the same number
			break
		}
	}
	next := math.Nextafter(c.written, math.Inf(1))
	c.text = append(c.text, '1')
	if c.written, _ = strconv.ParseFloat(string(c.text), 64); c.written < next {
		c.written, c.text = next, strconv.AppendFloat(nil, next, 'f', -1, 64)
	}
	return c.text
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
