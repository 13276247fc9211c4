package expr

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/diag"
)

// Unit is a unit of measurement: an SI dimension and a factor to the coherent unit. Angles are dimensionless, as in the
// SI: the radian is 1, the degree pi/180. The zero value is not a unit; use One, AnyUnit or ParseUnit.
//
// Units are comparable, but one unit written in two ways (Pa and N/m^2) gives two values; Same compares dimensions.
type Unit struct {
	dimension  dimension
	scale, per float64 // value in SI = value * scale / per; two numbers keep 99.6 [%] == 0.996 exact
	text       string  // as written, blanks collapsed; empty for a computed unit
	any        bool    // unknown, fits every unit
}

// dimension holds the exponents of m, kg, s, A, K, mol, cd, as multiples of 1/whole.
type dimension [7]int32

// whole is the exponent 1 in a dimension: fractions with up to three decimals, and halves to tenths, are exact.
const whole = 126_000

var baseUnits = [7]string{"m", "kg", "s", "A", "K", "mol", "cd"}

var (
	// AnyUnit is the unit of bare numbers and of signals with unknown unit; it fits every other.
	AnyUnit = Unit{scale: 1, per: 1, any: true}
	// One is the unit of dimensionless quantities.
	One = Unit{scale: 1, per: 1, text: "1"}
)

// Same reports whether the units measure the same dimension, or one of them fits every unit.
func (u Unit) Same(v Unit) bool { return u.any || v.any || u.dimension == v.dimension }

// Coherent reports whether the unit is coherent in the SI, as the units of all signals must be.
func (u Unit) Coherent() bool { return u.scale == u.per }

// Base returns the exponents of the base units, by their symbols, and the factor to the coherent unit; ok is false if
// an exponent is a fraction, or the unit is not known.
func (u Unit) Base() (exponents map[string]int, factor float64, ok bool) {
	exponents = map[string]int{}
	for i, e := range u.dimension {
		if e%whole != 0 {
			return nil, 0, false
		}
		if e != 0 {
			exponents[baseUnits[i]] = int(e / whole)
		}
	}
	return exponents, u.scale / u.per, !u.any
}

// SI returns a value given in this unit in the coherent SI unit.
func (u Unit) SI(value float64) float64 { return value * u.scale / u.per }

// Factor returns the two numbers by which SI multiplies and divides.
func (u Unit) Factor() (scale, per float64) { return u.scale, u.per }

// Of returns a value given in the coherent SI unit in this unit.
func (u Unit) Of(value float64) float64 { return value * u.per / u.scale }

// InSI returns the unit of the same quantity in SI.
func (u Unit) InSI() Unit {
	if u == AnyUnit || u == One {
		return u
	}
	return u.Per(One)
}

// Per returns the coherent unit of u/v. Per(One) is the coherent unit of u's dimension.
func (u Unit) Per(v Unit) Unit { return u.times(v, -1) }

// times returns the coherent unit of u^1 v^n, for n = 1 or -1. With moderate units no exponent overflows; the caller
// must check that the result is moderate.
func (u Unit) times(v Unit, n int32) Unit {
	w := u.product(v, n)
	w.scale, w.per = 1, 1
	return w
}

// product returns u^1 v^n with the factors, for n = 1 or -1.
func (u Unit) product(v Unit, n int32) (w Unit) {
	for i := range w.dimension {
		w.dimension[i] = u.dimension[i] + n*v.dimension[i]
	}
	if n < 0 {
		v.scale, v.per = v.per, v.scale
	}
	w.scale, w.per = u.scale*v.scale, u.per*v.per
	return w
}

// maxExponent bounds the exponents that a unit may have.
const maxExponent = 20

// moderate reports whether the unit's exponents are within maxExponent.
func (u Unit) moderate() bool {
	return !slices.ContainsFunc(u.dimension[:], func(e int32) bool { return max(e, -e) > maxExponent*whole })
}

// power returns the coherent unit of u^x, if its exponents are of moderate size and multiples of 1/whole.
func (u Unit) power(x float64) (Unit, bool) {
	w := Unit{scale: 1, per: 1}
	for i, e := range u.dimension {
		p := x * float64(e)
		r := math.Round(p)
		if moderate := math.Abs(r) <= maxExponent*whole; !moderate || math.Abs(p-r) > 1e-6 {
			return Unit{}, false
		}
		w.dimension[i] = int32(r)
	}
	return w, true
}

// String returns the unit as it was written, else a short product of SI units.
func (u Unit) String() string {
	switch {
	case u.any:
		return "any"
	case u.text != "":
		return u.text
	}
	best, least := factors("", u.dimension)
	for _, name := range [...]string{"W", "J", "N", "Pa", "V", "Ohm", "C"} {
		rest := u.times(Unit{dimension: symbols[name].dimension}, -1).dimension
		if rest[1] != 0 { // N/kg for m/s^2 is short but unusual: a named unit must include the mass
			continue
		}
		if text, length := factors(name, rest); length < least {
			best, least = text, length
		}
	}
	return best
}

// factors writes a product of base units, after a named unit if one is given, and returns a measure of its length:
// the number of factors, then their exponents.
func factors(first string, d dimension) (text string, length int) {
	var over, under []string
	if first != "" {
		over, length = append(over, first), whole
	}
	for _, i := range [...]int{1, 0, 2, 3, 4, 5, 6} { // kg m is customary
		e, symbol := d[i], baseUnits[i]
		length += max(int(e), int(-e))
		if size := max(e, -e); size != whole {
			symbol += "^" + exponentText(size)
		}
		switch {
		case e > 0:
			over = append(over, symbol)
		case e < 0:
			under = append(under, symbol)
		}
	}
	text = cmp.Or(strings.Join(over, " "), "1")
	switch len(under) {
	case 0:
	case 1:
		text += "/" + under[0]
	default:
		text += "/(" + strings.Join(under, " ") + ")"
	}
	return text, length + (len(over)+len(under))<<20
}

// exponentText returns an exponent as a decimal, or as a fraction if it is none: 2, 0.5, (1/3).
func exponentText(size int32) string {
	text := strconv.FormatFloat(float64(size)/whole, 'f', -1, 64)
	if _, decimals, _ := strings.Cut(text, "."); len(decimals) <= 3 {
		return text
	}
	r := big.NewRat(int64(size), whole)
	return "(" + r.String() + ")"
}

// symbol is a unit with its own symbol.
type symbol struct {
	dimension  dimension
	scale, per float64
	prefixes   bool // takes the SI prefixes
}

// dim builds a dimension from whole exponents of m, kg, s, A, K, mol, cd.
func dim(exponents ...int32) (d dimension) {
	for i, e := range exponents {
		d[i] = whole * e
	}
	return d
}

// symbols lists the units: the SI, the units accepted for use with it, and those of aviation (ICAO Annex 5).
var symbols = map[string]symbol{
	"m": {dim(1), 1, 1, true}, "g": {dim(0, 1), 1, 1000, true}, "s": {dim(0, 0, 1), 1, 1, true},
	"A": {dim(0, 0, 0, 1), 1, 1, true}, "K": {dim(0, 0, 0, 0, 1), 1, 1, true},
	"mol": {dim(0, 0, 0, 0, 0, 1), 1, 1, true}, "cd": {dim(0, 0, 0, 0, 0, 0, 1), 1, 1, true},

	"Hz": {dim(0, 0, -1), 1, 1, true}, "N": {dim(1, 1, -2), 1, 1, true}, "Pa": {dim(-1, 1, -2), 1, 1, true},
	"J": {dim(2, 1, -2), 1, 1, true}, "W": {dim(2, 1, -3), 1, 1, true}, "C": {dim(0, 0, 1, 1), 1, 1, true},
	"V": {dim(2, 1, -3, -1), 1, 1, true}, "F": {dim(-2, -1, 4, 2), 1, 1, true},
	"Ohm": {dim(2, 1, -3, -2), 1, 1, true}, "Ω": {dim(2, 1, -3, -2), 1, 1, true},
	"S": {dim(-2, -1, 3, 2), 1, 1, true}, "Wb": {dim(2, 1, -2, -1), 1, 1, true},
	"T": {dim(0, 1, -2, -1), 1, 1, true}, "H": {dim(2, 1, -2, -2), 1, 1, true},
	"Nm": {dim(2, 1, -2), 1, 1, false}, "Wh": {dim(2, 1, -2), 3600, 1, true}, "Ah": {dim(0, 0, 1, 1), 3600, 1, true},

	"1": {dim(), 1, 1, false}, "%": {dim(), 1, 100, false}, "rad": {dim(), 1, 1, true}, "sr": {dim(), 1, 1, false},
	"deg": {dim(), math.Pi, 180, false}, "°": {dim(), math.Pi, 180, false}, "rev": {dim(), 2 * math.Pi, 1, false},
	"rpm": {dim(0, 0, -1), 2 * math.Pi, 60, false},

	"min": {dim(0, 0, 1), 60, 1, false}, "h": {dim(0, 0, 1), 3600, 1, false}, "d": {dim(0, 0, 1), 86400, 1, false},
	"L": {dim(3), 1, 1000, true}, "t": {dim(0, 1), 1000, 1, false}, "bar": {dim(-1, 1, -2), 1e5, 1, true},
	"ft": {dim(1), 0.3048, 1, false}, "in": {dim(1), 0.0254, 1, false}, "nmi": {dim(1), 1852, 1, false},
	"kt": {dim(1, 0, -1), 1852, 3600, false}, "lb": {dim(0, 1), 0.45359237, 1, false},
}

// prefixes lists the SI prefixes as scale and divisor.
var prefixes = map[string][2]float64{
	"n": {1, 1e9}, "u": {1, 1e6}, "µ": {1, 1e6}, "μ": {1, 1e6}, "m": {1, 1e3}, "c": {1, 100}, "d": {1, 10},
	"da": {10, 1}, "h": {100, 1}, "k": {1e3, 1}, "M": {1e6, 1}, "G": {1e9, 1}, "T": {1e12, 1},
}

// misnomers maps common wrong names of a unit to its symbol.
var misnomers = map[string]string{
	"sec": "s", "hr": "h", "hour": "h", "hours": "h", "day": "d", "meter": "m", "metre": "m", "meters": "m",
	"metres": "m", "degree": "deg", "degrees": "deg", "knot": "kt", "knots": "kt", "kts": "kt", "kn": "kt",
	"feet": "ft", "foot": "ft",
	"ohm": "Ohm", "NM": "nmi", "percent": "%", "watt": "W", "volt": "V", "l": "L",
}

// celsius lists the names of the only unit whose zero differs from that of the SI.
var celsius = []string{"degC", "°C", "celsius", "Celsius"}

// lookup finds a symbol, with or without a prefix.
func lookup(name string) (symbol, bool) {
	if s, ok := symbols[name]; ok {
		return s, true
	}
	for prefix, p := range prefixes {
		rest, ok := strings.CutPrefix(name, prefix)
		if s, known := symbols[rest]; ok && known && s.prefixes {
			s.scale, s.per = s.scale*p[0], s.per*p[1]
			return s, true
		}
	}
	return symbol{}, false
}

// ParseUnit reads a unit: symbols with SI prefixes and powers (m/s^2, kg m2, s^-1), products with a blank, * or ·, and
// one /, after which a product needs parentheses: W/(m^2 K). The empty text is One. Errors are *Error.
func ParseUnit(s string) (Unit, error) {
	u, err := parseUnit(s)
	if err != nil {
		return Unit{}, err
	}
	return u, nil
}

func parseUnit(s string) (Unit, *Error) {
	text := strings.Join(strings.Fields(s), " ")
	if text == "" || text == "1" {
		return One, nil
	}
	p := unitParser{text: s}
	u, err := p.quotient(0)
	switch {
	case err != nil:
		return Unit{}, err
	case p.at < len(s):
		return Unit{}, p.fail(p.at, len(s), fmt.Sprintf("the unit ends before %q", s[p.at:]), "")
	case !(u.SI(1) > 0) || math.IsInf(u.SI(1), 0):
		return Unit{}, p.fail(0, len(s), "the unit's factor is out of range", "")
	}
	u.text = text
	return u, nil
}

type unitParser struct {
	text string
	at   int
}

func (p *unitParser) fail(at, end int, text, hint string) *Error {
	return &Error{Offset: at, Length: end - at, Code: CodeUnit, Text: text, Hint: hint}
}

// peek skips blanks and returns the next character, 0 at the end.
func (p *unitParser) peek() rune {
	p.at += len(p.text[p.at:]) - len(strings.TrimLeftFunc(p.text[p.at:], unicode.IsSpace))
	r, size := utf8.DecodeRuneInString(p.text[p.at:])
	if size == 0 {
		return 0
	}
	return r
}

// quotient reads a product and, after a solidus, one more factor.
func (p *unitParser) quotient(depth int) (Unit, *Error) {
	u, err := p.factor(depth)
	for err == nil {
		start := p.at
		switch c := p.peek(); c {
		case 0, ')':
			return u, nil
		case '/':
			p.at++
			var v Unit
			if v, err = p.factor(depth); err != nil {
				return u, err
			}
			if c := p.peek(); c != 0 && c != ')' {
				// Whether m/s K is (m/s) K or m/(s K) is a matter of opinion; the SI asks for parentheses.
				return u, p.fail(start, len(p.text), "only one factor may follow the / of a unit",
					"put the divisors in parentheses, as in W/(m^2 K)")
			}
			return p.moderate(start, u.product(v, -1))
		case '*', '·':
			p.at += utf8.RuneLen(c)
		}
		var v Unit
		if v, err = p.factor(depth); err == nil {
			u, err = p.moderate(start, u.product(v, 1))
		}
	}
	return u, err
}

// factor reads a symbol or a product in parentheses, with its exponent.
func (p *unitParser) factor(depth int) (Unit, *Error) {
	first, start := p.peek(), p.at
	var u Unit
	switch {
	case first == '(' && depth < 4:
		p.at++
		var err *Error
		if u, err = p.quotient(depth + 1); err != nil {
			return u, err
		}
		if p.peek() != ')' {
			return u, p.fail(start, p.at, "a parenthesis of the unit is not closed", "")
		}
		p.at++
	case first == '1':
		p.at++
		u = One
	default:
		rest := strings.TrimLeftFunc(p.text[p.at:], func(r rune) bool { return unicode.IsLetter(r) || r == '%' || r == '°' })
		p.at = len(p.text) - len(rest)
		name := p.text[start:p.at]
		s, ok := lookup(name)
		if !ok {
			return u, p.unknown(start, name)
		}
		u = Unit{dimension: s.dimension, scale: s.scale, per: s.per}
	}
	n, err := p.exponent()
	if err != nil {
		return u, err
	}
	w, possible := u.power(n)
	if !possible {
		return u, p.outOfRange(start)
	}
	if n < 0 {
		u.scale, u.per, n = u.per, u.scale, -n
	}
	w.scale, w.per = math.Pow(u.scale, n), math.Pow(u.per, n)
	return w, nil
}

// moderate rejects a unit whose exponents are out of range.
func (p *unitParser) moderate(start int, u Unit) (Unit, *Error) {
	if u.moderate() {
		return u, nil
	}
	return u, p.outOfRange(start)
}

func (p *unitParser) outOfRange(start int) *Error {
	return p.fail(start, p.at, fmt.Sprintf("the unit's exponents must be from %d to %d, with three decimals or a "+
		"denominator up to 10", -maxExponent, maxExponent), "")
}

func (p *unitParser) unknown(start int, name string) *Error {
	unknown := fmt.Sprintf("unknown unit %q", name)
	switch {
	case name == "" && start == len(p.text):
		return p.fail(start, start, "a unit is missing at the end", "")
	case name == "":
		hint := ""
		if strings.HasSuffix(p.text[:start], "/") && unicode.IsDigit(rune(p.text[start])) {
			hint = "put an exponent that is a fraction in parentheses, as in m^(1/3)"
		}
		return p.fail(start, len(p.text), fmt.Sprintf("%q is not a unit", p.text[start:]), hint)
	case slices.Contains(celsius, name):
		return p.fail(start, p.at, name+" is not a unit here: its zero differs from that of the SI",
			"give temperatures in K, add 273.15")
	case misnomers[name] != "":
		return p.fail(start, p.at, unknown, fmt.Sprintf("did you mean %q?", misnomers[name]))
	case len(name) < 3: // every short word is similar to some symbol
		return p.fail(start, p.at, unknown, "")
	default:
		return p.fail(start, p.at, unknown, diag.DidYouMean(name, slices.Sorted(maps.Keys(symbols))))
	}
}

// power matches a power: ^2, ^-1, ^2.5, ^(1/3), 2, -1, ², ³.
var power = regexp.MustCompile(`^(?:[²³]|\^?-?\d+(?:\.\d+)?|\^\(-?\d+/\d+\))`)

// exponent reads a power; without one it is 1.
func (p *unitParser) exponent() (float64, *Error) {
	text := power.FindString(p.text[p.at:])
	if text == "" && !strings.HasPrefix(p.text[p.at:], "^") {
		return 1, nil
	}
	start := p.at
	p.at += max(len(text), 1)
	n, ok := new(big.Rat).SetString(strings.Trim(strings.NewReplacer("²", "2", "³", "3").Replace(text), "^()"))
	if !ok || n.Sign() == 0 || n.Num().CmpAbs(new(big.Int).Mul(big.NewInt(9), n.Denom())) > 0 {
		return 0, p.fail(start, p.at, "a unit's exponent is a number up to 9, not 0, as in m^2, m^-1, m^2.5 or m^(1/3)", "")
	}
	x, _ := n.Float64()
	return x, nil
}
