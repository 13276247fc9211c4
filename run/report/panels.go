package report

import (
	"fmt"
	"strings"

	"canopy/run/record"
)

// Without plots in its header, a log is plotted in so many panels of so many curves: what a page and an eye can hold.
const (
	mostPanels = 8
	mostCurves = 4
)

// panels returns the plots of a log. If its header has none, these are the recorded signals by unit, in the order of
// the header: first each unit gets a panel, then those with more signals get more, as long as there are panels; left
// are the signals that found no place.
func panels(log *record.Log) (list []record.Plot, left []string) {
	if len(log.Plots) > 0 {
		return log.Plots, nil
	}
	var units []string
	signals := map[string][]string{}
	for _, s := range log.Signals {
		u := unit(s)
		if signals[u] == nil {
			units = append(units, u)
		}
		signals[u] = append(signals[u], s.Name)
	}
	panelsOf := map[string]int{}
	for total, grown := 0, true; grown; {
		grown = false
		for _, u := range units {
			if total < mostPanels && panelsOf[u]*mostCurves < len(signals[u]) {
				panelsOf[u]++
				total++
				grown = true
			}
		}
	}
	for _, u := range units {
		names := signals[u]
		for range panelsOf[u] {
			n := min(mostCurves, len(names))
			list = append(list, record.Plot{Title: "Signals", Signals: names[:n]})
			names = names[n:]
		}
		left = append(left, names...)
	}
	return list, left
}

// unplotted says which signals are not plotted for want of plots in the mission, naming some; "" if all are.
func unplotted(left []string, some int) string {
	if len(left) == 0 {
		return ""
	}
	text := "The mission names no plots. Not shown, but in signals.csv: " + strings.Join(left[:min(some, len(left))], ", ")
	if more := len(left) - some; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + "."
}
