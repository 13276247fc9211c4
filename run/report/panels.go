package report

import (
	"fmt"
	"strings"

	"github.com/canopy-uav/canopy/run/record"
)

// Limits on panels and curves per panel for a log without plots in its header, so that the page stays readable.
const (
	mostPanels = 8
	mostCurves = 4
)

// panels returns the plots of a log. If its header has none, these are the recorded signals by unit, in the order of
// the header: first each unit gets a panel, then units with more signals get more, while panels are available; left
// lists the signals without a place.
func panels(h *record.Header) (list []record.Plot, left []string) {
	if len(h.Plots) > 0 {
		return h.Plots, nil
	}
	var units []string
	signals := map[string][]string{}
	for _, s := range h.Signals {
		u := s.UnitOrOne()
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

// unplotted describes the signals that are not plotted because the mission names no plots, with the names of some; ""
// if all are plotted.
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
