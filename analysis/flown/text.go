package flown

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
)

// Text describes what the answers of the instant show of signals and relations.
func (m *Moment) Text() string { return m.text(func(int32, string) bool { return true }) }

// Brief is Text without what free actions do not do, and without relations to values that are kept.
func (m *Moment) Brief() string {
	kept := func(signal string) bool { return strings.HasPrefix(signal, keeps) }
	return m.text(func(form int32, part string) bool {
		denied := func(d [2]string) bool { return strings.HasSuffix(part, d[1]) }
		return !slices.ContainsFunc(m.s.list[form].signals, kept) && !slices.ContainsFunc(denials, denied)
	})
}

func (m *Moment) text(counts func(form int32, part string) bool) string {
	w := m.s.w
	var parts []string
	for _, f := range slices.Compact(slices.Sorted(slices.Values(w.asked))) {
		if part := m.s.boundsText(f, &w.bounds[f]); part != "" && !m.s.forms.lasts(f) && counts(f, part) {
			parts = append(parts, part)
		}
	}
	return cmp.Or(strings.Join(parts, " and "), Always)
}

// Always is the text of an instant of which nothing is known.
const Always = "always"

// The propositions about a free action, behind its name: each may hold at any time.
const (
	Succeeds = " succeeds"
	Fails    = " fails"
	Idle     = " has nothing to do"
	Unable   = " cannot run"
)

// denials are these propositions, each with its contrary.
var denials = [][2]string{{Succeeds, " does not succeed"}, {Fails, " does not fail"}, {Idle, " has something to do"},
	{Unable, " can run"}}

// Denied returns the contrary of a proposition in words.
func Denied(proposition string) string {
	for _, d := range denials {
		if who, ok := strings.CutSuffix(proposition, d[0]); ok {
			return who + d[1]
		}
	}
	return "not " + proposition
}

// boundsText returns the bounds of a form as a text, "" if there are none.
func (s *Stepper) boundsText(f int32, b *interval) string {
	name := s.formText(f)
	if s.truthValue(f) {
		on, off := name, Denied(name)
		if l, ok := s.latches[s.atoms[s.list[f].terms[0].atom].signal]; ok {
			on, off = l.on, l.off
		}
		switch {
		case b.low == 1 && b.high == 1, slices.Contains(b.not, 0):
			return on
		case b.low == 0 && b.high == 0, slices.Contains(b.not, 1):
			return off
		}
		return ""
	}
	var parts []string
	if text := Range(name, b.low, b.high, b.lowOpen, b.highOpen); text != "" {
		parts = append(parts, text)
	}
	for _, x := range b.not {
		if b.low != b.high {
			parts = append(parts, name+" != "+Figure(x))
		}
	}
	return strings.Join(parts, " and ")
}

// Range describes the range of a quantity, "" if both ends are infinite.
func Range(name string, low, high float64, lowOpen, highOpen bool) string {
	sign := func(open bool, strict, other string) string {
		if open {
			return strict
		}
		return other
	}
	switch below, above := math.IsInf(low, -1), math.IsInf(high, 1); {
	case below && above:
		return ""
	case above:
		return name + sign(lowOpen, " > ", " >= ") + Figure(low)
	case below:
		return name + sign(highOpen, " < ", " <= ") + Figure(high)
	case low == high:
		return name + " = " + Figure(low)
	}
	from, to := Figure(low), Figure(high)
	if from == to { // they differ in the last digits
		from, to = diag.Number(low, -1), diag.Number(high, -1)
	}
	return name + " in " + sign(lowOpen, "(", "[") + from + ", " + to + sign(highOpen, ")", "]")
}

// truthValue reports whether a form is that of a leaf that may be true or false.
func (s *Stepper) truthValue(f int32) bool {
	x := &s.list[f]
	return len(x.terms) == 1 && strings.HasPrefix(s.atoms[x.terms[0].atom].signal, free)
}

// formText returns a form as it is written.
func (s *Stepper) formText(f int32) string {
	var b strings.Builder
	for i, t := range s.list[f].terms {
		c := t.coefficient
		switch {
		case i > 0 && c < 0:
			b.WriteString(" - ")
		case i > 0:
			b.WriteString(" + ")
		}
		if c = math.Abs(c); c != 1 {
			b.WriteString(Figure(c) + " * ")
		}
		b.WriteString(s.atomText(&s.atoms[t.atom]))
	}
	return b.String()
}

// atomText returns an atom as it is written; a value that a slot keeps has the name of the slot.
func (s *Stepper) atomText(a *atom) string {
	if strings.HasPrefix(a.signal, keeps) {
		kept := value{form: s.forms.signal(a.signal), scale: 1}
		for i := range s.p.Slots {
			if s.w.stored(i) == kept {
				return s.p.Slots[i].Name
			}
		}
	}
	if a.signal != "" {
		return strings.TrimPrefix(a.signal, free)
	}
	if a.operation == rounded {
		return s.valueText(a.args[0])
	}
	args := make([]string, len(a.args))
	for i, v := range a.args {
		args[i] = s.valueText(v)
	}
	return a.operation + "(" + strings.Join(args, ", ") + ")"
}

func (s *Stepper) valueText(v value) string {
	if v.known() {
		return Figure(v.offset)
	}
	text := s.formText(v.form)
	if v.scale != 1 {
		text = Figure(v.scale) + " * (" + text + ")"
	}
	if v.offset != 0 {
		text += " + " + Figure(v.offset)
	}
	return text
}

// Figure formats a number; rounding errors from the conversion of units are removed.
func Figure(x float64) string {
	short := strconv.FormatFloat(x, 'g', 12, 64)
	if r, err := strconv.ParseFloat(short, 64); err == nil && math.Abs(r-x) <= 1e-12*math.Abs(x) {
		x = r
	}
	return diag.Number(x, -1)
}
