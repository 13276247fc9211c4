package preprocess

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// A survey of a polygon is the use of a tree that does not exist: when the plan is assembled, a sequence of the
// library's tree for one line stands in its place.
const (
	survey     = "survey"
	surveyLine = "survey_line"

	attrPolygon = "polygon"
	attrLatLon  = "polygon_lat_lon"
	attrSpacing = "spacing"
	attrHeading = "heading"
	attrSpeed   = "to_speed"
)

var metre, _ = expr.ParseUnit("m")

// linePorts are the attributes of a survey that each of its lines has.
var linePorts = []string{"to_h", "to_radius"}

// altitudes are the attributes of a survey that give to_h above mean sea level.
var altitudes = []string{"to_alt", "alt"}

// The bounds of surveys.
const (
	maxCorners  = 100
	maxLines    = 1_000  // of one survey
	maxSurveyed = 10_000 // lines of all surveys of a plan
	maxAway     = 1e5    // distance from home, north or east [m]
)

// surveys returns the changes that expand the surveys of a document which includes a library, and write places on the
// earth as metres from home.
func (a *assembler) surveys(doc *xmltree.Document) (all []change) {
	class := ""
	for e := range doc.Root.Elements() {
		if file := e.Find("path"); e.Name == ElementInclude && file != nil && strings.HasPrefix(file.Value, Library) {
			class = strings.TrimPrefix(file.Value, Library)
		}
	}
	if class == "" {
		return nil
	}
	names := libraryNames(class)
	var visit func(e *xmltree.Element)
	visit = func(e *xmltree.Element) {
		for c := range e.Elements() {
			if id := c.Find("ID"); c.Name == ElementSubTree && id != nil && id.Value == survey {
				all = append(all, change{Edit: doc.Replace(c, a.survey(doc, c, class))})
			} else {
				all = append(all, a.places(doc, c, names)...)
				visit(c)
			}
		}
	}
	for e := range doc.Root.Elements() {
		if e.Name == ElementTree {
			visit(e)
		}
	}
	return all
}

// surveyor reads one survey.
type surveyor struct {
	*assembler
	doc   *xmltree.Document
	e     *xmltree.Element
	bad   bool
	plane *earth.Plane // at the first corner, of a polygon in degrees
}

// survey returns the sequence that a survey stands for; one that always fails if it has mistakes.
func (a *assembler) survey(doc *xmltree.Document, e *xmltree.Element, class string) *xmltree.Markup {
	s := &surveyor{assembler: a, doc: doc, e: e}
	segments, heading := s.segments()
	if s.bad {
		return &xmltree.Markup{Name: "AlwaysFailure"}
	}
	all := &xmltree.Markup{Name: "Sequence"}
	if e.Find("name") == nil {
		all.Add("name", survey)
	}
	if speed := e.Find(attrSpeed); speed != nil && strings.TrimSpace(speed.Value) != "" {
		all.With(xmltree.New("set_speed", attrSpeed, speed.Value))
	}
	own := slices.Concat([]string{"ID", attrPolygon, attrLatLon, attrSpacing, attrHeading, attrSpeed}, linePorts,
		altitudes)
	for _, given := range e.Attributes {
		if !slices.Contains(own, given.Name) {
			all.Add(given.Name, given.Value)
		}
	}
	for i, l := range segments {
		m := xmltree.New(ElementSubTree, "ID", surveyLine, "name", fmt.Sprintf("line_%d", i+1))
		s.place(m, "from", l.from)
		s.place(m, "to", l.to)
		if class == "plane" { // which must be on its course at the beginning
			course := heading
			if (l.to.north-l.from.north)*math.Cos(heading)+(l.to.east-l.from.east)*math.Sin(heading) < 0 {
				course += math.Pi
			}
			degrees := math.Round(math.Mod(course+4*math.Pi, 2*math.Pi)*180e6/math.Pi) / 1e6
			m.Add("course", strconv.FormatFloat(degrees, 'f', -1, 64)+" [deg]")
		}
		for _, name := range linePorts {
			if p := e.Find(name); p != nil {
				m.Add(name, p.Value)
			}
		}
		for _, name := range altitudes {
			if p := e.Find(name); p != nil {
				m.Add("to_h", geographic["alt"].before+p.Value+geographic["alt"].after)
			}
		}
		all.Children = append(all.Children, m)
	}
	return all
}

// place adds a place to the attributes of a line.
func (s *surveyor) place(m *xmltree.Markup, prefix string, at point) {
	north, east := metres(at.north), metres(at.east)
	if s.plane != nil {
		p := s.plane.Global(at.north, at.east)
		north, east = fmt.Sprintf("north_of(%.9f)", p.Lat), fmt.Sprintf("east_of(%.9f)", p.Lon)
	}
	m.Add(prefix+"_north", north)
	m.Add(prefix+"_east", east)
}

// metres writes a length to the millimetre.
func metres(v float64) string {
	return strconv.FormatFloat(math.Round(v*1000)/1000+0, 'f', -1, 64) + " [m]"
}

// segments reads the polygon and returns the lines over it, with their direction [rad].
func (s *surveyor) segments() (segments []segment, heading float64) {
	polygon, degrees := s.e.Find(attrPolygon), s.e.Find(attrLatLon)
	switch {
	case polygon != nil && degrees != nil:
		s.fail(degrees, CodeConflictAttr, "leave one out", "the polygon is given twice")
		return nil, 0
	case degrees != nil:
		polygon = degrees
	case polygon == nil:
		s.fail(nil, CodeNoAttr, `write polygon="0, 0; 0, 300; 200, 300", metres north and east of home, or polygon_lat_lon`,
			"a survey needs %q", attrPolygon)
		return nil, 0
	}
	if !s.count(1, polygon) {
		return nil, 0
	}
	corners := s.corners(polygon)
	spacing := s.length(attrSpacing, metre, "50 [m]")
	if s.e.Find(attrHeading) != nil {
		heading = s.length(attrHeading, expr.One, "30 [deg]")
	}
	switch {
	case s.bad:
		return nil, 0
	case !(spacing > 0):
		s.fail(s.e.Find(attrSpacing), codeSurvey, "", "the spacing of the lines must be positive")
		return nil, 0
	case math.Abs(heading) > 2*math.Pi:
		s.fail(s.e.Find(attrHeading), codeSurvey, "write degrees as in 30 [deg]", "the heading is more than a whole turn")
		return nil, 0
	}
	if text, hint := flaw(corners); text != "" {
		s.fail(polygon, codeSurvey, hint, "%s", text)
		return nil, 0
	}
	sin, cos := math.Sincos(heading)
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range corners {
		c := p.east*cos - p.north*sin
		low, high = math.Min(low, c), math.Max(high, c)
	}
	width := high - low
	if spacing > width*(1+1e-9) {
		s.fail(s.e.Find(attrSpacing), codeSurvey, "write a smaller one, or another heading",
			"the spacing is %.4g m, but across the lines the polygon is %.4g m wide", spacing, width)
		return nil, 0
	}
	if width/spacing <= maxLines {
		segments = sweep(corners, heading, spacing)
	}
	if width/spacing > maxLines || len(segments) > maxLines {
		s.fail(s.e.Find(attrSpacing), xmltree.CodeTooLarge, "write a larger spacing", "the survey has more than %d lines",
			maxLines)
		return nil, 0
	}
	s.count(len(segments)-1, polygon)
	return segments, heading
}

// count adds to the lines of all surveys. If they are too many, this is reported once.
func (s *surveyor) count(lines int, polygon *xmltree.Attribute) bool {
	first := s.surveyed <= maxSurveyed
	if s.surveyed += lines; s.surveyed <= maxSurveyed {
		return true
	}
	if s.bad = true; first {
		s.fail(polygon, xmltree.CodeTooLarge, "", "the surveys of the plan have more than %d lines", maxSurveyed)
	}
	return false
}

// corners reads pairs of numbers: metres north and east of home, or degrees of latitude and longitude, which become
// metres from the first corner.
func (s *surveyor) corners(a *xmltree.Attribute) (corners []point) {
	hint := fmt.Sprintf("write corners as in 0, 0; 0, 300; 200, 300: metres north and east of home, up to %g", maxAway)
	if a.Name == attrLatLon {
		hint = "write corners as in 48.08, 11.28; 48.08, 11.29; 48.09, 11.29: degrees, the latitude first"
	}
	parts := strings.Split(strings.TrimSuffix(strings.TrimSpace(a.Value), ";"), ";")
	if n := len(parts); n < 3 || n > maxCorners {
		s.fail(a, codeSurvey, hint, "a polygon has 3 to %d corners, this one %d", maxCorners, n)
		return nil
	}
	for i, part := range parts {
		first, second, ok := strings.Cut(part, ",")
		north, err := strconv.ParseFloat(strings.TrimSpace(first), 64)
		east, err2 := strconv.ParseFloat(strings.TrimSpace(second), 64)
		if a.Name == attrLatLon {
			ok = ok && math.Abs(north) < 90 && math.Abs(east) <= 180
			if i == 0 {
				plane := earth.NewPlane(earth.Position{Lat: north, Lon: east})
				s.plane = &plane
			}
			north, east = s.plane.Local(earth.Position{Lat: north, Lon: east})
		}
		if !ok || err != nil || err2 != nil || !(math.Abs(north) <= maxAway) || !(math.Abs(east) <= maxAway) {
			s.fail(a, codeSurvey, hint, "corner %d, %q, is not a place", i+1, strings.TrimSpace(part))
			return nil
		}
		corners = append(corners, point{north, east})
	}
	return corners
}

// length reads an attribute that is a constant.
func (s *surveyor) length(name string, unit expr.Unit, example string) float64 {
	a := s.e.Find(name)
	if a == nil {
		s.fail(nil, CodeNoAttr, fmt.Sprintf("write %s=%q", name, example), "a survey needs %q", name)
		return 0
	}
	e, err := expr.ParseFor(a.Value, unit)
	if err == nil && len(e.Check(expr.Real, unit, nil)) == 0 {
		if v, ok := e.Constant(); ok && v-v == 0 {
			return v
		}
	}
	s.fail(a, codeSurvey, "write a number with its unit, as in "+example, "%s is %q, which is not a constant that fits",
		name, a.Value)
	return 0
}

// fail reports a mistake in an attribute, or of the whole element.
func (s *surveyor) fail(a *xmltree.Attribute, code, hint, format string, args ...any) {
	s.bad = true
	at := s.e.NameSpan()
	if a != nil {
		at = a.Raw
	}
	s.report(s.doc, at, code, hint, format, args...)
}
