package fake

import (
	"math"

	"canopy/autopilot/frame"

	"github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// The kinds of items, MAV_MISSION_TYPE.
const (
	missionItems = iota
	fenceItems
	rallyItems
)

// The commands of fence and rally items.
const (
	cmdFenceReturn        = 5000
	cmdFenceInside        = 5001
	cmdFenceOutside       = 5002
	cmdFenceCircleInside  = 5003
	cmdFenceCircleOutside = 5004
	cmdRally              = 5100
)

// Answers to transfers, MAV_MISSION_RESULT.
const (
	missionAccepted    = 0
	missionError       = 1
	missionUnsupported = 3
	missionNoSpace     = 4
	missionInvalidX    = 10
	missionSequence    = 13
	missionDenied      = 14
	missionCancelled   = 15
)

const (
	noLists     = silentBoot + 900*millisecond // measured: an ArduPilot refuses transfers 2 s after the boot
	itemsMost   = 700
	itemRepeat  = 1 * second // a request is repeated after this time
	itemTimeout = 8 * second // then the upload is given up
)

// item is a stored item.
type item struct {
	command uint16
	frame   byte
	params  [4]float64
	x, y    int32 // 1e7 deg
	z       float64
}

// transfer is an upload.
type transfer struct {
	active            bool
	kind              byte
	system, component byte
	next, count       int
	asked, last       int64  // times of the last request and item
	staged            []item // of fence and rally points; the mission's items are stored one by one
}

// place returns where an item is; false: it has no position.
func (v *Autopilot) place(it item) (place, bool) {
	if it.x == 0 && it.y == 0 {
		return place{}, false
	}
	return v.local(float64(it.x)/1e7, float64(it.y)/1e7, it.z, it.frame)
}

// transferMessage treats the messages of the mission protocol; others are ignored.
func (v *Autopilot) transferMessage(f frame.Frame) {
	switch m := f.Message.(type) {
	case *ardupilotmega.MessageMissionCount:
		if !v.listless(f, byte(m.MissionType)) {
			v.beginUpload(f, byte(m.MissionType), int(m.Count))
		}
	case *ardupilotmega.MessageMissionItemInt:
		it := item{uint16(m.Command), byte(m.Frame), [4]float64{float64(m.Param1), float64(m.Param2), float64(m.Param3),
			float64(m.Param4)}, m.X, m.Y, float64(m.Z)}
		if m.Current == 2 || m.Current == 3 {
			v.guidedItem(f, it, m.Current)
			return
		}
		v.uploadItem(f, byte(m.MissionType), int(m.Seq), it)
	case *ardupilotmega.MessageMissionRequestList:
		if v.listless(f, byte(m.MissionType)) {
			return
		}
		if v.transfer.active {
			v.acknowledge(f.System, f.Component, byte(m.MissionType), missionDenied)
			return
		}
		if int(m.MissionType) >= len(v.memory.stored) {
			v.acknowledge(f.System, f.Component, byte(m.MissionType), missionUnsupported)
			return
		}
		v.send(&ardupilotmega.MessageMissionCount{TargetSystem: f.System, TargetComponent: f.Component,
			Count: uint16(len(v.memory.stored[m.MissionType])), MissionType: m.MissionType})
	case *ardupilotmega.MessageMissionRequestInt:
		v.download(f, byte(m.MissionType), int(m.Seq), true)
	case *ardupilotmega.MessageMissionRequest:
		v.download(f, byte(m.MissionType), int(m.Seq), false)
	case *ardupilotmega.MessageMissionClearAll:
		if !v.listless(f, byte(m.MissionType)) {
			v.clearItems(f, byte(m.MissionType))
		}
	case *ardupilotmega.MessageMissionSetCurrent:
		if int(m.Seq) < len(v.memory.stored[missionItems]) {
			v.goTo(int(m.Seq))
		}
		v.sendMessage(42)
	}
}

// listless refuses a transfer just after the boot.
func (v *Autopilot) listless(f frame.Frame, kind byte) bool {
	refuses := !v.firmware.atomic && v.now-v.booted < noLists
	if refuses {
		v.acknowledge(f.System, f.Component, kind, missionNoSpace)
	}
	return refuses
}

// acknowledge ends a transfer.
func (v *Autopilot) acknowledge(system, component, kind byte, result byte) {
	v.send(&ardupilotmega.MessageMissionAck{TargetSystem: system, TargetComponent: component,
		Type: ardupilotmega.MAV_MISSION_RESULT(result), MissionType: ardupilotmega.MAV_MISSION_TYPE(kind)})
}

// beginUpload treats MISSION_COUNT. It truncates the stored mission at once.
func (v *Autopilot) beginUpload(f frame.Frame, kind byte, n int) {
	t := &v.transfer
	refuse := -1
	switch {
	case int(kind) >= len(v.memory.stored):
		refuse = missionUnsupported
	case t.active && (t.system != f.System || t.component != f.Component):
		refuse = missionDenied
	case n > itemsMost:
		refuse = missionNoSpace
	}
	if refuse >= 0 {
		v.acknowledge(f.System, f.Component, kind, byte(refuse))
		return
	}
	*t = transfer{active: true, kind: kind, system: f.System, component: f.Component, count: n, asked: v.now, last: v.now}
	if kind == missionItems && !v.firmware.atomic {
		s := &v.memory.stored[kind]
		*s = (*s)[:min(len(*s), n)]
	}
	if n == 0 {
		v.finishUpload()
		return
	}
	v.askItem()
}

// askItem requests the next item, with the older message.
func (v *Autopilot) askItem() {
	t := &v.transfer
	t.asked = v.now
	if v.firmware.asksInt {
		v.send(&ardupilotmega.MessageMissionRequestInt{TargetSystem: t.system, TargetComponent: t.component,
			Seq: uint16(t.next), MissionType: ardupilotmega.MAV_MISSION_TYPE(t.kind)})
		return
	}
	v.send(&ardupilotmega.MessageMissionRequest{TargetSystem: t.system, TargetComponent: t.component,
		Seq: uint16(t.next), MissionType: ardupilotmega.MAV_MISSION_TYPE(t.kind)})
}

// uploadItem treats an item of an upload.
func (v *Autopilot) uploadItem(f frame.Frame, kind byte, seq int, it item) {
	t := &v.transfer
	switch {
	case !t.active || t.kind != kind:
		v.acknowledge(f.System, f.Component, kind, missionError)
		return
	case t.system != f.System || t.component != f.Component:
		v.acknowledge(f.System, f.Component, kind, missionDenied)
		return
	case seq != t.next:
		v.acknowledge(f.System, f.Component, kind, missionSequence) // and the transfer goes on
		return
	}
	if result := t.refused(it); result != missionAccepted {
		t.active = false // a mixture of old and new items is left
		v.acknowledge(f.System, f.Component, kind, result)
		return
	}
	it = it.rounded()
	if kind == missionItems && !v.firmware.atomic {
		s := &v.memory.stored[kind]
		if seq < len(*s) {
			(*s)[seq] = it
		} else {
			*s = append(*s, it)
		}
	} else {
		t.staged = append(t.staged, it)
	}
	t.next++
	t.last = v.now
	if t.next < t.count {
		v.askItem()
		return
	}
	v.finishUpload()
}

// refused returns why an item cannot be stored.
func (t *transfer) refused(it item) byte {
	fence := it.command >= cmdFenceReturn && it.command <= cmdFenceCircleOutside
	switch {
	case math.Abs(float64(it.x)) > 90e7 || math.Abs(float64(it.y)) > 180e7:
		return missionInvalidX
	case t.kind == fenceItems && !fence, t.kind == rallyItems && it.command != cmdRally:
		return missionUnsupported
	case t.kind == missionItems && (it.command == 9999 || it.command == 530):
		return missionUnsupported
	case t.kind == missionItems && it.command == cmdJump && (it.params[0] < 1 || int(it.params[0]) >= t.count):
		return missionError
	}
	return missionAccepted
}

// rounded returns an item as the autopilot's storage can represent it.
func (it item) rounded() item {
	it.z = math.Round(it.z*100) / 100
	for i := range it.params {
		if math.IsNaN(it.params[i]) {
			it.params[i] = 0
		}
	}
	switch it.command {
	case cmdLoiterTurns:
		if it.params[0] >= 1 {
			it.params[0] = math.Floor(min(it.params[0], 255))
		}
		it.params[2] = radius8(it.params[2])
	case cmdLoiter, cmdLoiterTo:
		it.params[2] = radius8(it.params[2])
	case cmdLoiterTime:
		it.params[0], it.params[2] = math.Round(min(it.params[0], math.MaxUint16)), 0
	}
	return it
}

// radius8 is a radius in 8 bits: whole metres, above 255 in steps of 10.
func radius8(r float64) float64 {
	if math.Abs(r) > 255 {
		return math.Round(within(r, 2550)/10) * 10
	}
	return math.Round(r)
}

// finishUpload stores what was staged and acknowledges the upload.
func (v *Autopilot) finishUpload() {
	t := &v.transfer
	t.active = false
	if t.kind != missionItems || v.firmware.atomic {
		v.memory.stored[t.kind] = t.staged
	}
	switch t.kind {
	case missionItems:
		v.missionReplaced()
	case fenceItems:
		if v.firmware.fence.switched {
			v.guard.indexed, v.guard.reported = v.now+indexTime, false
		}
	}
	v.acknowledge(t.system, t.component, t.kind, missionAccepted)
}

// transferTimes repeats requests and gives up.
func (v *Autopilot) transferTimes() {
	t := &v.transfer
	switch {
	case !t.active:
	case v.now-t.last >= itemTimeout:
		t.active = false
		v.acknowledge(t.system, t.component, t.kind, missionCancelled)
		v.say(severityWarning, "Mission upload timeout")
	case v.now-t.asked >= itemRepeat:
		v.askItem()
	}
}

// download sends an item.
func (v *Autopilot) download(f frame.Frame, kind byte, seq int, whole bool) {
	if v.transfer.active {
		v.acknowledge(f.System, f.Component, kind, missionDenied)
		return
	}
	if int(kind) >= len(v.memory.stored) || seq >= len(v.memory.stored[kind]) {
		v.acknowledge(f.System, f.Component, kind, missionError)
		return
	}
	it := v.memory.stored[kind][seq]
	if kind == missionItems && seq == 0 && v.firmware.homeItem && v.homed {
		p, h := v.global(v.home)
		it = item{command: cmdWaypoint, frame: frameGlobal, x: e7(p.Lat), y: e7(p.Lon), z: h}
	}
	current := byte(0)
	if kind == missionItems && seq == v.route.current {
		current = 1
	}
	p := it.params
	if whole {
		v.send(&ardupilotmega.MessageMissionItemInt{TargetSystem: f.System, TargetComponent: f.Component, Seq: uint16(seq),
			Frame: ardupilotmega.MAV_FRAME(it.frame), Command: common.MAV_CMD(it.command), Current: current, Autocontinue: 1,
			Param1: float32(p[0]), Param2: float32(p[1]), Param3: float32(p[2]), Param4: float32(p[3]),
			X: it.x, Y: it.y, Z: float32(it.z), MissionType: ardupilotmega.MAV_MISSION_TYPE(kind)})
		return
	}
	v.send(&ardupilotmega.MessageMissionItem{TargetSystem: f.System, TargetComponent: f.Component, Seq: uint16(seq),
		Frame: ardupilotmega.MAV_FRAME(it.frame), Command: common.MAV_CMD(it.command), Current: current, Autocontinue: 1,
		Param1: float32(p[0]), Param2: float32(p[1]), Param3: float32(p[2]), Param4: float32(p[3]),
		X: float32(float64(it.x) / 1e7), Y: float32(float64(it.y) / 1e7), Z: float32(it.z),
		MissionType: ardupilotmega.MAV_MISSION_TYPE(kind)})
}

// clearItems treats MISSION_CLEAR_ALL.
func (v *Autopilot) clearItems(f frame.Frame, kind byte) {
	const all = 255
	result := byte(missionAccepted)
	switch {
	case (kind == missionItems || kind == all) && v.armed && v.mode.conduct == follows:
		result = missionDenied
	case kind == all:
		v.memory.stored = [3][]item{}
	case int(kind) < len(v.memory.stored):
		v.memory.stored[kind] = nil
	default:
		result = missionUnsupported
	}
	if len(v.memory.stored[missionItems]) == 0 {
		v.route = route{}
	}
	v.acknowledge(f.System, f.Component, kind, result)
}

// guidedItem treats an item that is a target (current 2) or a height (3) of guided mode. Its answer looks like that of
// an upload.
func (v *Autopilot) guidedItem(f frame.Frame, it item, current uint8) {
	p, ok := v.place(it)
	if !ok || v.mode.conduct != guided || !v.firmware.targets {
		v.acknowledge(f.System, f.Component, missionItems, missionError)
		return
	}
	if current == 2 {
		v.guidance.target, v.guidance.radius = p, 0
	} else {
		v.guidance.target.h = p.h
	}
	v.acknowledge(f.System, f.Component, missionItems, missionAccepted)
}
