package adapter

import (
	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// Missing returns the signals of a contract that no row gives, or several rows.
func Missing(c *contract.Contract) []string {
	given := map[string]int{}
	count := func(rows []row) {
		for _, r := range rows {
			given[r.signal]++
		}
	}
	for _, g := range groups {
		count(g.rows)
	}
	count(ownRows)
	count(wishRows)
	count(payloadRows)
	missing := []string{}
	for _, s := range c.Signals {
		if given[s.Name] != 1 {
			missing = append(missing, s.Name)
		}
	}
	return missing
}

// Wanted returns the wanted value of a slot.
func (a *Adapter) Wanted(slot string) float64 { return a.wanted(slot) }

// Number returns the number of a flight that began at a time [ns].
func Number(unix int64) int32 {
	var b beacon
	b.begin(service.Clock{Unix: unix})
	return b.number
}
