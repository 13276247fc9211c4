package adapter

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"

	"github.com/canopy-uav/canopy/autopilot/service"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// The commands of items, and the one that enables the fence: MAV_CMD.
const (
	fenceEnable       = 207
	polygonInclusion  = 5001
	polygonExclusion  = 5002
	circleInclusion   = 5003
	circleExclusion   = 5004
	rallyPoint        = 5100
	fenceEnableEvery  = second      // while the autopilot refuses it: a new fence is indexed first
	fenceEnableWithin = 10 * second // then it is not enabled
	homeMoves         = 5           // [m] that home, from which positions count, may be estimated otherwise
)

// progress is how far the vehicle's memory of a list is known to be the mission's.
type progress uint8

const (
	unread  progress = iota
	reading          // the vehicle's list
	writing          // ours
	stored           // the vehicle has it
	spoilt           // it has another one, or an unknown one
)

// fenced reports whether the mission has a fence.
func (a *Adapter) fenced() bool { return !a.options.Fence.Empty() }

// placed reports whether the vehicle gets something whose place depends on home.
func (a *Adapter) placed() bool { return a.listed(service.FenceList) || a.listed(service.RallyList) }

func (a *Adapter) homed() bool { return a.facts.home != nil }

// listed reports whether the mission has items of a list.
func (a *Adapter) listed(l service.Storage) bool {
	if l == service.FenceList {
		return a.options.Fence.Items() > 0
	}
	return len(a.options.Rally) > 0
}

// elsewhere reports whether home is not where the mission is to be flown.
func (a *Adapter) elsewhere() bool {
	site := a.options.Site
	return site != nil && a.facts.home != nil && math.Hypot(a.facts.plane.Local(*site)) > SiteRadius
}

// items returns the mission's items of a list. Home must be known.
func (a *Adapter) items(l service.Storage) (list []service.Item) {
	item := func(command uint16, frame byte, at earth.Coordinates, param, h float64) {
		p := a.plane().Global(at.North, at.East)
		list = append(list, service.Item{Command: command, Frame: frame, Params: [4]float32{float32(param)},
			X: service.Degrees(p.Lat), Y: service.Degrees(p.Lon), Z: float32(h)})
	}
	if l == service.RallyList {
		for _, r := range a.options.Rally {
			item(rallyPoint, globalRelative, r.Coordinates, 0, r.H)
		}
		return list
	}
	for _, x := range a.options.Fence.Areas {
		polygon, circle := uint16(polygonInclusion), uint16(circleInclusion)
		if x.Forbidden {
			polygon, circle = polygonExclusion, circleExclusion
		}
		for _, c := range x.Corners {
			item(polygon, global, c, float64(len(x.Corners)), 0)
		}
		if len(x.Corners) == 0 {
			item(circle, global, x.Centre, x.Radius, 0)
		}
	}
	return list
}

// lists are the steps of the attachment that give the vehicle the mission's fence and rally points.
var lists = []step{
	{name: "home", needed: (*Adapter).placed, begin: (*Adapter).askHome, done: (*Adapter).homed, within: 10 * second,
		why: homeless},
	storing(service.FenceList),
	storing(service.RallyList),
	{name: "position", needed: func(a *Adapter) bool { return a.enables() && !a.located() }, done: (*Adapter).located,
		within: 10 * second, why: unlocated},
	{name: "fence enabled", needed: (*Adapter).enables, begin: (*Adapter).askFence, again: (*Adapter).askFence,
		done: (*Adapter).fenceShown, within: fenceEnableWithin, late: func(*Adapter) {}},
}

// storing is the step that reads a list of the vehicle and replaces it if it is another one.
func storing(l service.Storage) step {
	return step{name: l.String(), needed: func(a *Adapter) bool { return a.listed(l) && !a.elsewhere() },
		begin: func(a *Adapter) {
			a.attachment.lists[l] = reading
			a.transfers.Download(a.now, l)
		},
		done:   func(a *Adapter) bool { return a.attachment.lists[l] >= stored },
		within: 600 * second, late: func(a *Adapter) { a.spoil(l, l.String()+": the transfer does not end") }}
}

// observes reports whether nothing may be changed: the vehicle may fly, somebody must first find out why it rebooted,
// or another one commands it.
func (a *Adapter) observes() bool { return a.armed() || a.attachment.rebooted || a.shared() }

// transferred takes the end of a transfer.
func (a *Adapter) transferred(x service.Transfer) {
	place := &a.attachment.lists[x.List]
	switch {
	case a.state == Lost: // it begins anew when the link is back
	case x.Err != nil:
		a.spoil(x.List, x.Err.Error())
	case *place == writing:
		*place = stored
		a.note(Stored, fmt.Sprintf("%v: uploaded, read back and compared (%d)", x.List, len(x.Items)))
	default:
		difference := a.differs(a.items(x.List), x.Items)
		switch {
		case difference == "":
			*place = stored
			a.note(Stored, fmt.Sprintf("%v: the vehicle has the same (%d)", x.List, len(x.Items)))
		case a.observes():
			a.spoil(x.List, x.List.String()+": the vehicle has another list, which is not changed now: "+difference)
		default:
			*place = writing
			a.transfers.Upload(a.now, x.List, a.items(x.List))
		}
	}
}

func (a *Adapter) spoil(l service.Storage, why string) {
	a.attachment.lists[l] = spoilt
	if l == service.FenceList {
		a.unfence(true, why)
		return
	}
	a.find(true, why)
}

// unfence reports a finding about the mission's fence. A grave one keeps the vehicle from being armed.
func (a *Adapter) unfence(grave bool, text string) {
	if grave && a.attachment.unfenced == "" {
		a.attachment.unfenced = strings.TrimPrefix(text, "fence: ")
	}
	a.find(grave, text)
}

// unlocated is why an area of the fence is not in effect: its place needs the origin of the vehicle's coordinates.
const unlocated = "the vehicle has no position estimate yet"

// enables reports whether the fence is to be enabled by a command.
func (a *Adapter) enables() bool {
	return a.fenced() && a.firmware.switchable && a.attachment.lists[service.FenceList] != spoilt && !a.observes() &&
		!a.elsewhere()
}

// keepFence enables the fence of a vehicle on the ground, whenever it is not shown. In the air, it only says that the
// fence is off: somebody has done that.
func (a *Adapter) keepFence() {
	at := &a.attachment
	switch shown := a.fenceShown(); {
	case !a.fenced():
	case shown:
		at.watched = true
	case at.watched && !a.grounded() && a.fresh(groupStatus) && !a.fenceOn():
		at.watched = false
		a.find(true, "fence: it was switched off in flight: the vehicle does not watch it")
	}
	if a.fenced() && a.firmware.switchable && a.grounded() && at.unfenced == "" && a.located() && !a.fenceShown() &&
		a.passed(at.asked, fenceEnableEvery) {
		at.asked = a.now
		a.askFence()
	}
}

// unfenced returns why the mission's fence is not in effect; "": it is, or there is none. That the vehicle shows it as
// enabled does not show that its areas are loaded: they need a position.
func (a *Adapter) unfenced() string {
	at := &a.attachment
	switch {
	case !a.fenced():
		return ""
	case at.unfenced != "":
		return at.unfenced
	case a.listed(service.FenceList) && at.lists[service.FenceList] != stored:
		return "the vehicle does not have it yet"
	case !a.firmware.switchable:
		return ""
	case !a.located():
		return unlocated
	case !a.fenceShown():
		return notShown
	}
	return ""
}

const notShown = "the vehicle does not show that it is enabled"

// differs returns the first difference of the vehicle's list from ours, "" if there is none.
func (a *Adapter) differs(ours, got []service.Item) string {
	near := slices.Clone(got)
	for i := range min(len(ours), len(near)) {
		n, e := a.facts.plane.Local(degrees(ours[i].X, ours[i].Y))
		north, east := a.facts.plane.Local(degrees(near[i].X, near[i].Y))
		if math.Hypot(north-n, east-e) <= homeMoves {
			near[i].X, near[i].Y = ours[i].X, ours[i].Y
		}
	}
	return service.Compare(ours, near)
}

// again lets the transfers that the loss of the link has cut begin anew.
func (a *Adapter) again() {
	for l, p := range a.attachment.lists {
		if p == reading || p == writing {
			a.attachment.lists[l], a.attachment.started = unread, false
			a.transfers = service.NewTransfers(a.options.Ends)
		}
	}
}

// askFence enables the fence, unless it is shown already or a command is under way.
func (a *Adapter) askFence() {
	at := &a.attachment
	if at.enabling == 0 && !a.fenceShown() {
		o := service.Order{ID: fenceEnable, Params: [7]float64{1}}
		at.enabling, _ = a.send(o)
		if at.answer == "" {
			a.note(Commanded, fmt.Sprintf("fence enabled: command %d %v, until it is shown", o.ID, o.Params))
		}
	}
}

// fenceShown reports whether telemetry shows that the fence is enabled: its flag, and its status, which is silent while
// it is not.
func (a *Adapter) fenceShown() bool {
	return a.fresh(groupStatus) && a.fenceOn() && a.fresh(groupFence)
}

// fenceOn reports whether the last status had the fence's flag.
func (a *Adapter) fenceOn() bool {
	return a.facts.status.OnboardControlSensorsEnabled&mav.MAV_SYS_STATUS_GEOFENCE != 0
}

// watchesFence reports what keeps the vehicle from watching the mission's fence.
func (a *Adapter) watchesFence() {
	if !a.fenced() || a.elsewhere() {
		return
	}
	if len(a.facts.parameters) > 0 {
		a.examine(a.firmware.fences, a.unfence)
	} else { // which is a finding already
		a.attachment.unfenced = cmp.Or(a.attachment.unfenced, "the vehicle answers no request for a parameter")
	}
	inclusions := 0
	for _, x := range a.options.Fence.Areas {
		if !x.Forbidden {
			inclusions++
		}
	}
	if a.firmware.either && inclusions > 1 {
		a.unfence(true, "fence: this autopilot lets the vehicle be in any area of inclusion, not in all of them only")
	}
	if a.firmware.switchable && a.attachment.lists[service.FenceList] != spoilt && !a.fenceShown() {
		why := ""
		if a.attachment.answer != "" {
			why = " (" + a.attachment.answer + ")"
		}
		a.find(true, "fence: "+notShown+why)
	}
}

// top returns the greatest height of the mission's fence [m], 0 if it has none.
func (a *Adapter) top() float64 { return a.options.Fence.Top }

// arduFences are the rows of the checklist that count where the mission has a fence.
var arduFences = []check{
	{[]string{"FENCE_ACTION"}, true, on, "a breach of the fence only warns"},
	{[]string{"FENCE_TYPE"}, true, func(a *Adapter, v float64) bool {
		return (int(v)&4 != 0 || a.options.Fence.Items() == 0) && (int(v)&1 != 0 || a.top() == 0)
	}, "it needs 4 for polygons and circles, and 1 for max_h"},
	{[]string{"FENCE_ALT_MAX"}, true, func(a *Adapter, v float64) bool { return a.top() == 0 || v <= a.top() },
		"this is above max_h of the mission's fence"},
}

// px4Fences are those of PX4, whose fence is enabled by its action.
var px4Fences = []check{
	{[]string{"GF_ACTION"}, true, func(_ *Adapter, v float64) bool { return v >= 2 },
		"a breach of the mission's fence has no effect, or only warns"},
	{[]string{"GF_MAX_VER_DIST"}, true, func(a *Adapter, v float64) bool { return a.top() == 0 || v > 0 && v <= a.top() },
		"this is above max_h of the mission's fence, or no limit"},
}
