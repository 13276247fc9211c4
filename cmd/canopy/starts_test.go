package main

import "fmt"

// ranges declares ranges of initial values.
func (k *whole) ranges() {
	for i := range k.starts {
		if s := &k.starts[i]; !s.discrete && k.chance(2) {
			s.among[0] = s.low + (s.high-s.low)*k.Float64()
			s.among[1], s.from = s.among[0]+(s.high-s.among[0])*k.Float64(), true
		}
	}
}

// declaredStart returns the initial values with the ranges that the mission declares.
func (k *whole) declaredStart() string {
	text := ""
	for _, s := range k.starts {
		if s.from {
			text += fmt.Sprintf("  %s: {value: %v, min: %v, max: %v}\n", s.name, (s.among[0]+s.among[1])/2, s.among[0], s.among[1])
		}
	}
	if text != "" {
		text = "initial:\n" + text
	}
	return text
}

// among is in a start that is one of those that the mission declares.
const among = "# as declared\n"

// startAmong returns initial values in the ranges that the mission declares; "" if it declares none.
func (k *whole) startAmong() string {
	text := ""
	for _, s := range k.starts {
		if s.from {
			text += fmt.Sprintf("  %s: %v\n", s.name, s.among[0]+(s.among[1]-s.among[0])*float64(k.IntN(5))/4)
		}
	}
	if text != "" {
		text = "initial:\n" + text + among
	}
	return text
}

// otherStart returns initial values for each state, in its range.
func (k *whole) otherStart() string {
	if len(k.starts) == 0 {
		return ""
	}
	text := "initial:\n"
	for _, s := range k.starts {
		value := k.between(s.low, s.high)
		if s.discrete {
			value = k.one("1", "0")
		}
		text += fmt.Sprintf("  %s: %s\n", s.name, value)
	}
	return text
}
