// Package qgc reads the plans of QGroundControl (.plan) as missions of Canopy, and writes the straight part of a
// plan as one. The format: QGroundControl developer guide, "Plan File Format", version 1 with mission version 2.
package qgc

import (
	"cmp"
	"math"
	"strconv"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/yamldoc"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// File is a plan of QGroundControl.
type File struct {
	PX4    bool          // the firmware; false: ArduPilot or another
	Copter bool          // the vehicle has rotors only; false: it has wings
	Home   Spot          // the planned home position; H is its altitude above mean sea level
	Items  []MissionItem // of complex items those into which QGroundControl has expanded them
	Fence  []Area
	Rally  []Spot

	source *diag.Source
	places map[string]*yamldoc.Node // of the fence and the rally points
}

// Spot is a place with a height.
type Spot struct {
	earth.Position
	H float64 // [m] above home, if not said otherwise
}

// MissionItem is an item of a mission (MAVLink, MISSION_ITEM).
type MissionItem struct {
	Command, Frame int        // MAV_CMD, MAV_FRAME
	Params         [7]float64 // NaN if absent; latitude [deg], longitude [deg] and altitude [m] are the last three
	Jump           int        // number for jumps, from 1

	node *yamldoc.Node
}

// Area is an area of the fence: a polygon or, without corners, a circle. The vehicle may fly inside each of inclusion,
// outside of the others.
type Area struct {
	Inclusion bool
	Corners   []earth.Position
	Centre    earth.Position
	Radius    float64 // [m]
}

// maxItems bounds the items of a mission, and the corners of a fence: those of MAVLink's protocol have 16 bits, boards
// store fewer than 3,000.
const maxItems = 10_000

// The codes of diagnostics.
const (
	codeNotPlan = "not-a-plan"
	codeItem    = "unknown-item"
	codeLeftOut = "left-out"
	codeRange   = "out-of-range"
	codeVehicle = "unknown-vehicle"
)

// rotors are the vehicles without wings (MAV_TYPE): with 2 to 4, 6, 8, 10, 12 rotors or coaxial ones.
var rotors = map[int]bool{2: true, 3: true, 4: true, 13: true, 14: true, 15: true, 29: true, 35: true}

// winged are the vehicles with wings: aeroplanes, and those that take off vertically.
var winged = map[int]bool{1: true, 19: true, 20: true, 21: true, 22: true, 23: true, 24: true, 25: true}

// others are the names of other kinds.
var others = map[int]string{0: "a generic vehicle", 5: "an antenna", 6: "a ground station", 7: "an airship",
	8: "a balloon", 9: "a rocket", 10: "a ground rover", 11: "a boat", 12: "a submarine"}

// Read reads a plan of QGroundControl. Keys that it does not need are ignored, as other ground stations add some. If
// the list has an error, there is no file.
func Read(src *diag.Source) (*File, diag.List) {
	r := &reader{Reader: yamldoc.NewReader(src), file: &File{source: src, places: map[string]*yamldoc.Node{}}}
	if root := r.Parse("a plan of QGroundControl is a JSON object with \"fileType\": \"Plan\""); root != nil {
		r.root(root)
	}
	if r.Diags.HasErrors() {
		return nil, r.Diags.Sorted()
	}
	return r.file, r.Diags.Sorted()
}

type reader struct {
	*yamldoc.Reader
	file *File
}

func (r *reader) root(root *yamldoc.Node) {
	if kind := root.Entry("fileType"); kind == nil || kind.Value != "Plan" {
		r.Add(root, codeNotPlan, "save the plan in QGroundControl as a .plan file", `this is not a plan of QGroundControl: `+
			`it has no "fileType": "Plan"`)
		return
	}
	if v := root.Entry("version"); v != nil && v.Value != "1" {
		r.Add(v, "unknown-version", "", "version %s of the format is not known; known: 1", v.Value)
		return
	}
	if m := r.want(root, "mission", yamldoc.Mapping); m != nil {
		r.mission(m)
	}
	if fence := root.Entry("geoFence"); fence != nil {
		r.file.places[partFence] = fence
		r.fence(fence)
	}
	if rally := root.Entry("rallyPoints"); rally != nil {
		r.file.places[partRally] = rally
		r.list(rally, "points", func(n *yamldoc.Node) {
			at, h := r.place(n, 3)
			r.file.Rally = append(r.file.Rally, Spot{at, h})
		})
	}
}

func (r *reader) mission(m *yamldoc.Node) {
	if v := m.Entry("version"); v != nil && v.Value != "2" {
		r.Add(v, "unknown-version", "open the plan in QGroundControl and save it again",
			"version %s of the mission is not known; known: 2", v.Value)
		return
	}
	r.vehicle(m)
	if home := r.want(m, "plannedHomePosition", yamldoc.Sequence); home != nil {
		at, h := r.place(home, 3)
		r.file.Home = Spot{at, h}
	}
	r.list(m, "items", r.item)
}

// vehicle reads the firmware and the type of the vehicle. An absent type is that of an aeroplane.
func (r *reader) vehicle(m *yamldoc.Node) {
	firmware, kind := r.whole(m, "firmwareType", 0), r.whole(m, "vehicleType", 1)
	r.file.PX4 = firmware == 12 // MAV_AUTOPILOT_PX4
	if firmware != 0 && firmware != 3 && !r.file.PX4 {
		r.Add(m.Entry("firmwareType"), codeVehicle, "those of ArduPilot (3), PX4 (12) and generic autopilots (0) are",
			"plans for the autopilot %d (MAV_AUTOPILOT) cannot be imported", firmware)
	}
	if r.file.Copter = rotors[kind]; r.file.Copter || winged[kind] {
		return
	}
	r.Add(m.Entry("vehicleType"), codeVehicle, "those for aeroplanes and rotorcraft are",
		"a plan for %s (MAV_TYPE %d) cannot be imported", cmp.Or(others[kind], "a vehicle of an unknown kind"), kind)
}

// item reads one item, or those into which a complex one is expanded.
func (r *reader) item(n *yamldoc.Node) {
	kind := ""
	if k := n.Entry("type"); k != nil {
		kind = k.Value
	}
	switch kind {
	case "SimpleItem":
		r.simple(n)
	case "ComplexItem":
		name := "?"
		if k := n.Entry("complexItemType"); k != nil {
			name = k.Value
		}
		within := n.Entry("TransectStyleComplexItem")
		if within == nil || within.Entry("Items") == nil {
			r.Add(n, codeItem, "open the plan in QGroundControl, replace the item by waypoints and save it",
				"the complex item %s does not contain the items into which it is expanded", diag.Visible(name))
			return
		}
		r.list(within, "Items", r.simple)
	default:
		r.Add(n, codeItem, "", "an item is a SimpleItem or a ComplexItem")
	}
}

func (r *reader) simple(n *yamldoc.Node) {
	item := MissionItem{Command: r.whole(n, "command", -1), Frame: r.whole(n, "frame", 3), node: n,
		Jump: r.whole(n, "doJumpId", 0)}
	params := r.want(n, "params", yamldoc.Sequence)
	if params == nil {
		return
	}
	if len(params.Items) != len(item.Params) {
		r.Add(params, "wrong-type", "", "an item has 7 parameters, not %d", len(params.Items))
		return
	}
	for i, p := range params.Items {
		item.Params[i] = r.value(p, "a parameter")
	}
	if at := (earth.Position{Lat: item.Params[4], Lon: item.Params[5]}); item.Command < 100 && !inside(at) {
		r.Add(n, codeRange, "", "an item's latitude or longitude is out of range")
	}
	r.file.Items = append(r.file.Items, item)
	if len(r.file.Items) == maxItems+1 {
		r.Add(n, "too-large", "", "the mission has more than %d items", maxItems)
	}
}

func (r *reader) fence(n *yamldoc.Node) {
	if v := n.Entry("version"); v != nil && v.Value != "2" {
		r.Add(v, "unknown-version", "open the plan in QGroundControl and save it again",
			"version %s of the fence is not known; known: 2", v.Value)
		return
	}
	if back := n.Entry("breachReturn"); back != nil && !back.IsNull() {
		r.Diags = append(r.Diags, diag.Diagnostic{Source: r.Source, Offset: back.Offset, Length: back.Length,
			Severity: diag.Warning, Code: codeLeftOut, Text: "the breach return point of the fence is left out",
			Hint: "use rally points"})
	}
	corners := 0
	r.list(n, "polygons", func(n *yamldoc.Node) {
		p := Area{Inclusion: r.inclusion(n)}
		r.list(n, "polygon", func(n *yamldoc.Node) {
			at, _ := r.place(n, 2)
			p.Corners = append(p.Corners, at)
		})
		if corners += len(p.Corners); corners > maxItems {
			r.Add(n, "too-large", "", "the fence has more than %d corners", maxItems)
		}
		if len(p.Corners) < 3 {
			r.Add(n, codeRange, "", "a polygon has at least 3 corners, not %d", len(p.Corners))
		}
		r.file.Fence = append(r.file.Fence, p)
	})
	r.list(n, "circles", func(n *yamldoc.Node) {
		c := Area{Inclusion: r.inclusion(n)}
		if within := r.want(n, "circle", yamldoc.Mapping); within != nil {
			if centre := r.want(within, "center", yamldoc.Sequence); centre != nil {
				c.Centre, _ = r.place(centre, 2)
			}
			if c.Radius = r.number(within, "radius"); !(c.Radius > 0) {
				r.Add(within, codeRange, "", "the radius of a circle must be positive")
			}
		}
		r.file.Fence = append(r.file.Fence, c)
	})
}

func (r *reader) inclusion(n *yamldoc.Node) bool {
	if v := n.Entry("inclusion"); v != nil {
		return r.Boolean(v, "inclusion")
	}
	r.Add(n, "missing-key", "", `an area of the fence needs "inclusion": true or false`)
	return false
}

// want returns an entry that must be there, of a kind; nil with a diagnostic.
func (r *reader) want(n *yamldoc.Node, key string, kind yamldoc.Kind) *yamldoc.Node {
	e := n.Entry(key)
	if e == nil || e.Kind != kind {
		if e == nil {
			e = n
		}
		r.Add(e, "missing-key", "", "%q must be %s", key, map[yamldoc.Kind]string{
			yamldoc.Mapping: "an object", yamldoc.Sequence: "a list", yamldoc.Scalar: "a value"}[kind])
		return nil
	}
	return e
}

// list visits the values of an entry that may be absent.
func (r *reader) list(n *yamldoc.Node, key string, visit func(*yamldoc.Node)) {
	if e := n.Entry(key); e != nil && !e.IsNull() {
		r.Sequence(e, strconv.Quote(key), visit)
	}
}

// place reads [latitude, longitude] or [latitude, longitude, height].
func (r *reader) place(n *yamldoc.Node, count int) (at earth.Position, h float64) {
	if n.Kind != yamldoc.Sequence || len(n.Items) != count {
		r.Add(n, "wrong-type", "", "a position must be a list of %d numbers", count)
		return at, 0
	}
	values := [3]float64{}
	for i, item := range n.Items {
		values[i] = r.value(item, "a coordinate")
	}
	at, h = earth.Position{Lat: values[0], Lon: values[1]}, values[2]
	if !inside(at) || h-h != 0 || math.IsNaN(at.Lat+at.Lon) {
		r.Add(n, codeRange, "latitudes are from -90 to 90 degrees, longitudes from -180 to 180",
			"this is not a position on the earth")
	}
	return at, h
}

// inside reports whether no coordinate is out of range; NaN, "not given", is not.
func inside(at earth.Position) bool { return !(math.Abs(at.Lat) >= 90) && !(math.Abs(at.Lon) > 180) }

// number reads an entry; NaN if it is absent.
func (r *reader) number(n *yamldoc.Node, key string) float64 {
	if e := n.Entry(key); e != nil {
		return r.value(e, strconv.Quote(key))
	}
	return math.NaN()
}

// value reads a number, or NaN for null.
func (r *reader) value(n *yamldoc.Node, what string) float64 {
	if n.Kind == yamldoc.Scalar && n.IsNull() {
		return math.NaN()
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if n.Kind != yamldoc.Scalar || err != nil || v-v != 0 {
		r.Add(n, "not-a-number", "", "%s must be a number", what)
	}
	return v
}

func (r *reader) whole(n *yamldoc.Node, key string, absent int) int {
	e := n.Entry(key)
	if e == nil || e.IsNull() {
		return absent
	}
	v, err := strconv.Atoi(e.Value)
	if err != nil || v < 0 || v > math.MaxUint16 {
		r.Add(e, "not-a-number", "", "%q must be a whole number", key)
	}
	return v
}
