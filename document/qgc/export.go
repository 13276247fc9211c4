package qgc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/syntax/xmltree"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// Export returns a plan of QGroundControl that flies the straight part of a tree of a plan: what it does if each action
// succeeds, one after the other, and no condition intervenes. It is a contingency mission, for the autopilot alone. The
// document is that of the plan, with its library; id names the tree, "" the main one. The list has a warning for all
// that is left out, and an error if nothing is left. The fence and the rally points are those of the mission; the
// greatest height of the fence is left out, too. The scope has the constants of home.
func Export(doc *xmltree.Document, id string, home Spot, copter bool, limits earth.Fence, rally []earth.Refuge,
	scope expr.Scope,
) (text string, list diag.List) {
	x := &exporter{doc: doc, copter: copter, home: home, plane: earth.NewPlane(home.Position), limits: limits,
		rally: rally, scope: scope,
		trees: map[string]*xmltree.Element{}}
	first := ""
	for e := range doc.Root.Elements() {
		if e.Name == "BehaviorTree" {
			if name := value(e, "ID"); name != "" {
				x.trees[name] = e
				if first == "" {
					first = name
				}
			}
		}
	}
	id = cmp.Or(id, value(doc.Root, "main_tree_to_execute"), first)
	tree := x.trees[id]
	if tree == nil {
		x.report(doc.Root, diag.Error, "unknown-tree", "the plan has no tree %q", id)
		return "", x.list
	}
	x.children(tree, nil)
	if len(x.items) == 0 {
		x.report(tree, diag.Error, codeItem, "the tree %q has no action that could be an item of a mission", id)
	}
	if x.list.HasErrors() {
		return "", x.list.Sorted()
	}
	if limits.Top > 0 {
		x.report(doc.Root, diag.Warning, codeLeftOut, "the greatest height of the fence, max_h, is left out: it is a "+
			"parameter of the autopilot")
	}
	return x.text(), x.list.Sorted()
}

type exporter struct {
	doc    *xmltree.Document
	copter bool
	home   Spot
	plane  earth.Plane
	limits earth.Fence
	rally  []earth.Refuge
	scope  expr.Scope
	trees  map[string]*xmltree.Element
	depth  int
	items  []exported
	list   diag.List
}

// maxTrees bounds the depth of subtrees: a plan that was read has no cycle, so that it is never reached.
const maxTrees = 1000

// exported is an item as QGroundControl writes it.
type exported struct {
	Altitude     *float64    `json:"Altitude,omitempty"`
	AltitudeMode int         `json:"AltitudeMode,omitempty"`
	AutoContinue bool        `json:"autoContinue"`
	Command      int         `json:"command"`
	Jump         int         `json:"doJumpId"`
	Frame        int         `json:"frame"`
	Params       [7]*float64 `json:"params"`
	Type         string      `json:"type"`
}

// children visits the children of an element; ports are those of the tree around it.
func (x *exporter) children(e *xmltree.Element, ports map[string]string) {
	for c := range e.Elements() {
		x.visit(c, ports)
	}
}

// visit adds the items of a node.
func (x *exporter) visit(e *xmltree.Element, ports map[string]string) {
	name := e.Name
	switch name {
	case "Action", "Condition", "Control", "Decorator":
		if id := value(e, "ID"); id != "" {
			name = id
		}
	}
	switch name {
	case "Sequence", "SequenceWithMemory", "ReactiveSequence", "AsyncSequence":
		x.children(e, ports)
	case "Fallback", "ReactiveFallback", "AsyncFallback":
		found := false // a child that adds an item; those after it would be tried if it failed
		for c := range e.Elements() {
			if found {
				x.leaveOut(c, "it is an alternative")
				continue
			}
			before := len(x.items)
			x.visit(c, ports)
			found = len(x.items) > before
		}
	case "Repeat":
		x.loop(e, ports)
	case "SubTree":
		x.subtree(e, ports)
	default:
		x.action(name, e, ports)
	}
}

func (x *exporter) loop(e *xmltree.Element, ports map[string]string) {
	rounds, ok := x.number(e, "num_cycles", ports)
	if !ok {
		return
	}
	before := len(x.items)
	x.children(e, ports)
	if len(x.items) == before || rounds == 1 {
		return
	}
	repeat := rounds - 1
	if rounds < 0 {
		repeat = -1
	}
	x.add(cmdJump, 2, float64(before+1), repeat, 0, 0, 0, 0, 0)
}

func (x *exporter) subtree(e *xmltree.Element, ports map[string]string) {
	id := value(e, "ID")
	if slices.Contains(trees, id) {
		x.action(id, e, ports)
		return
	}
	tree := x.trees[id]
	if x.depth++; tree == nil || x.depth > maxTrees {
		panic("qgc: a plan with a subtree that does not exist, or contains itself")
	}
	given := map[string]string{}
	for _, a := range e.Attributes {
		given[a.Name] = resolved(a.Value, ports)
	}
	x.children(tree, given)
	x.depth--
}

// resolved returns the value of a port with those of the ports of the tree around it that it names.
func resolved(text string, ports map[string]string) string {
	var pairs []string
	for name, v := range ports {
		if name = "{" + name + "}"; name == text {
			return v
		}
		pairs = append(pairs, name, "("+v+")")
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// The values of ports in the libraries.
var (
	planeDefaults = map[string]map[string]float64{"take_off": {"to_h": 80}, "fly_to": {"to_radius": 0},
		"loiter_turns": {"to_radius": 0}, "loiter_time": {"to_radius": 0}}
	copterDefaults = map[string]map[string]float64{"take_off": {"to_h": 20}, "loiter_turns": {"to_radius": 10},
		"loiter_time": {"to_radius": 0}}
)

// action adds the item of an action of the library.
func (x *exporter) action(name string, e *xmltree.Element, ports map[string]string) {
	all, defaults := true, planeDefaults
	if x.copter {
		defaults = copterDefaults
	}
	port := func(key string) float64 {
		if d, ok := defaults[name][key]; (ok || name == "take_photos" || key == "yaw") && e.Find(key) == nil {
			return d
		}
		v, ok := x.number(e, key, ports)
		all = all && ok
		return v
	}
	at := func() (lat, lon, h float64) {
		p := x.plane.Global(port("to_north"), port("to_east"))
		return p.Lat, p.Lon, port("to_h")
	}
	nan := math.NaN()
	before := len(x.items)
	switch name {
	case "take_off":
		x.add(cmdTakeOff, 3, 0, 0, 0, nan, 0, 0, port("to_h"))
	case "fly_to", "pass_by", "fly_line":
		lat, lon, h := at()
		x.add(cmdWaypoint, 3, 0, 0, 0, nan, lat, lon, h)
	case "align": // the autopilot flies along the line between two items
		p := x.plane.Global(port("from_north"), port("from_east"))
		x.add(cmdWaypoint, 3, 0, 0, 0, nan, p.Lat, p.Lon, port("to_h"))
	case "loiter_turns":
		lat, lon, h := at()
		x.add(cmdLoiterTurns, 3, port("turns"), 0, port("to_radius"), nan, lat, lon, h)
	case "loiter_time":
		lat, lon, h := at()
		x.add(cmdLoiterTime, 3, port("duration"), 0, port("to_radius"), nan, lat, lon, h)
	case "climb_to":
		x.add(cmdLoiterHeight, 3, 0, 0, 0, nan, 0, 0, port("to_h"))
	case "set_speed":
		x.add(cmdSpeed, 2, 1, port("to_speed"), -1, 0, 0, 0, 0)
	case "return_home":
		x.add(cmdReturn, 2, 0, 0, 0, 0, 0, 0, 0)
	case "land":
		x.add(cmdLand, 3, 0, 0, 0, nan, 0, 0, 0)
	case "hold":
		x.add(cmdLoiter, 3, 0, 0, 0, nan, 0, 0, nan)
	case "wait":
		x.add(cmdDelay, 2, port("duration"), -1, -1, -1, 0, 0, 0)
	default:
		if !x.payload(name, port) {
			x.leaveOut(e, "the autopilot's missions have nothing of the kind")
		}
	}
	if !all {
		x.items = x.items[:before]
	}
}

func (x *exporter) add(command, frame int, params ...float64) {
	item := exported{AutoContinue: true, Command: command, Jump: len(x.items) + 1, Frame: frame, Type: "SimpleItem"}
	for i, v := range params {
		if v-v == 0 {
			item.Params[i] = &v
		}
	}
	if frame == 3 && item.Params[6] != nil {
		item.Altitude, item.AltitudeMode = item.Params[6], 1
	}
	x.items = append(x.items, item)
}

// number returns the value of an attribute, which must be a literal, in SI units.
func (x *exporter) number(e *xmltree.Element, key string, ports map[string]string) (float64, bool) {
	text := resolved(value(e, key), ports)
	parsed, err := expr.ParseFor(text, expr.AnyUnit)
	if err == nil {
		if v, ok := parsed.Resolved(x.scope).Constant(); ok && v-v == 0 {
			return v, true
		}
	}
	x.leaveOut(e, fmt.Sprintf("its %s is %q, which is not known before the flight", key, text))
	return 0, false
}

func value(e *xmltree.Element, name string) string {
	if a := e.Find(name); a != nil {
		return a.Value
	}
	return ""
}

func (x *exporter) leaveOut(e *xmltree.Element, why string) {
	name := cmp.Or(value(e, "name"), value(e, "ID"))
	if name != "" {
		name = " " + name
	}
	x.report(e, diag.Warning, codeLeftOut, "<%s>%s is left out: %s", e.Name, diag.Visible(name), why)
}

func (x *exporter) report(e *xmltree.Element, s diag.Severity, code, format string, args ...any) {
	x.list = append(x.list, diag.Diagnostic{Source: x.doc.Source, Offset: e.At + 1, Length: len(e.Name), Severity: s,
		Code: code, Text: fmt.Sprintf(format, args...)})
}

// text returns the document.
func (x *exporter) text() string {
	vehicle := 1 // MAV_TYPE_FIXED_WING
	if x.copter {
		vehicle = 2 // MAV_TYPE_QUADROTOR
	}
	text, err := json.MarshalIndent(object{
		"fileType": "Plan", "version": 1, "groundStation": "Canopy",
		"geoFence":    x.geoFence(),
		"rallyPoints": x.rallyPoints(),
		"mission": object{"version": 2, "firmwareType": 3, "vehicleType": vehicle, "cruiseSpeed": 15, "hoverSpeed": 5,
			"globalPlanAltitudeMode": 1, "plannedHomePosition": []float64{x.home.Lat, x.home.Lon, x.home.H}, "items": x.items},
	}, "", "  ")
	if err != nil {
		panic("qgc: " + err.Error())
	}
	return string(text) + "\n"
}
