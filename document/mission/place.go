package mission

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"canopy/diag"
	"canopy/expr"
	"canopy/vehicle/earth"
	"canopy/vehicle/fence"
)

// The signals that depend on the site, and those on its height.
var (
	geographic = []string{"lat", "lon", "home_lat", "home_lon", "home_meridian", "home_parallel"}
	altitudes  = []string{"alt", "home_alt"}
)

const (
	exchanged = "are lat and lon exchanged?"
	addSite   = "add `environment: {lat_deg: 48.0814, lon_deg: 11.2831}` with the place of home"
	addHeight = "add `alt: 590` to `environment`: the height of home above mean sea level [m]"
)

// places reports what the plan and the computed signals say of places on the earth although the mission does not say
// where home is, and places that are far from it.
func (b *builder) places() {
	if b.offer.Fenced == nil { // the vehicle has no contract
		return
	}
	for i := range b.m.Plan.Leaves {
		l := &b.m.Plan.Leaves[i]
		for _, e := range l.Expressions() {
			if text, hint := b.misplaced(e); text != "" {
				b.Diags = append(b.Diags, diag.Diagnostic{Source: b.m.Plan.Source, Offset: l.Offset, Length: l.Length,
					Code: "no-site", Text: text, Hint: hint})
				break
			}
		}
	}
	for _, s := range b.m.signals {
		if s.kind == computed && s.value != nil {
			if text, hint := b.misplaced(s.value); text != "" {
				b.Diags = append(b.Diags, diag.Diagnostic{Source: b.Source, Offset: s.at.offset, Length: s.at.length,
					Code: "no-site", Text: text, Hint: hint})
			}
		}
	}
}

// misplaced returns what is wrong with the places of an expression, "" if nothing is.
func (b *builder) misplaced(e *expr.Expr) (text, hint string) {
	const unset = "%s is read, but the mission does not set %s"
	for _, name := range e.Names() {
		switch {
		case !b.m.placed && slices.Contains(geographic, name):
			return fmt.Sprintf(unset, name, "the place of home"), addSite
		case !b.leveled && slices.Contains(altitudes, name):
			return fmt.Sprintf(unset, name, "the height of home"), addHeight
		}
	}
	for _, at := range e.Places() {
		if _, far := b.local(at[0], at[1]); far != "" {
			return far, exchanged
		}
	}
	return "", ""
}

// local returns metres from the site of a place [deg], and what is wrong if it is too far away.
func (b *builder) local(lat, lon float64) (at fence.Coordinates, far string) {
	siteLat, siteLon, _ := b.m.Site()
	at.North, at.East = earth.NewPlane(earth.Position{Lat: siteLat, Lon: siteLon}).Local(earth.Position{Lat: lat, Lon: lon})
	if math.Abs(at.North) > fence.Farthest || math.Abs(at.East) > fence.Farthest {
		far = fmt.Sprintf("the place %s is more than %d km from the site, %.7g, %.7g",
			strings.ReplaceAll(fmt.Sprintf("%.7g, %.7g", lat, lon), "NaN", "?"), fence.Farthest/1000, siteLat, siteLon)
	}
	return at, far
}
