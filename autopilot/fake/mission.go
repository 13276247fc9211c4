package fake

import (
	"math"

	"github.com/canopy-uav/canopy/autopilot/frame"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

const (
	noLists     = silentBoot + 900*millisecond // measured: an ArduPilot refuses transfers 2 s after the boot
	itemsMost   = 700
	itemRepeat  = 1 * second // a request is repeated after this time
	itemTimeout = 8 * second // then the upload is given up
)

// item is a stored item.
type item struct {
	command common.MAV_CMD
	frame   mav.MAV_FRAME
	params  [4]float64
	x, y    int32 // 1e7 deg
	z       float64
}

// peer is the other end of a transfer.
type peer struct{ system, component byte }

// transfer is an upload.
type transfer struct {
	active      bool
	kind        mav.MAV_MISSION_TYPE
	peer        peer
	next, count int
	asked, last int64  // times of the last request and item
	staged      []item // of fence and rally points; the mission's items are stored one by one
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
	from := peer{f.System, f.Component}
	switch m := f.Message.(type) {
	case *mav.MessageMissionCount:
		v.beginUpload(from, m.MissionType, int(m.Count))
	case *mav.MessageMissionItemInt:
		v.uploadItem(from, m)
	case *mav.MessageMissionRequestList:
		v.list(from, m.MissionType)
	case *mav.MessageMissionRequestInt:
		v.download(from, m.MissionType, int(m.Seq))
	case *mav.MessageMissionClearAll:
		v.clearItems(from, m.MissionType)
	case *mav.MessageMissionSetCurrent:
		if int(m.Seq) < len(v.memory.mission()) {
			v.goTo(int(m.Seq))
		}
		v.sendMessage(42)
	}
}

// listless reports whether transfers are refused: just after the boot.
func (v *Autopilot) listless() bool { return !v.firmware.atomic && v.now-v.booted < noLists }

// mission returns the stored mission.
func (m *memory) mission() []item { return m.stored[mav.MAV_MISSION_TYPE_MISSION] }

// kept reports whether there is a list of a kind.
func (m *memory) kept(kind mav.MAV_MISSION_TYPE) bool { return int(kind) < len(m.stored) }

// acknowledge ends a transfer, or refuses it.
func (v *Autopilot) acknowledge(to peer, kind mav.MAV_MISSION_TYPE, result mav.MAV_MISSION_RESULT) {
	v.send(&mav.MessageMissionAck{TargetSystem: to.system, TargetComponent: to.component, Type: result, MissionType: kind})
}

// beginUpload treats MISSION_COUNT. It truncates the stored mission at once.
func (v *Autopilot) beginUpload(from peer, kind mav.MAV_MISSION_TYPE, n int) {
	t := &v.transfer
	result := mav.MAV_MISSION_ACCEPTED
	switch {
	case v.listless():
		result = mav.MAV_MISSION_NO_SPACE
	case !v.memory.kept(kind):
		result = mav.MAV_MISSION_UNSUPPORTED
	case t.active && t.peer != from:
		result = mav.MAV_MISSION_DENIED
	case n > itemsMost:
		result = mav.MAV_MISSION_NO_SPACE
	}
	if result != mav.MAV_MISSION_ACCEPTED {
		v.acknowledge(from, kind, result)
		return
	}
	*t = transfer{active: true, kind: kind, peer: from, count: n, asked: v.now, last: v.now}
	if kind == mav.MAV_MISSION_TYPE_MISSION && !v.firmware.atomic {
		s := &v.memory.stored[kind]
		*s = (*s)[:min(len(*s), n)]
	}
	if n == 0 {
		v.finishUpload()
		return
	}
	v.askItem()
}

// askItem requests the next item.
func (v *Autopilot) askItem() {
	t := &v.transfer
	t.asked = v.now
	if v.firmware.asksInt {
		v.send(&mav.MessageMissionRequestInt{TargetSystem: t.peer.system, TargetComponent: t.peer.component,
			Seq: uint16(t.next), MissionType: t.kind})
		return
	}
	v.send(&mav.MessageMissionRequest{TargetSystem: t.peer.system, TargetComponent: t.peer.component,
		Seq: uint16(t.next), MissionType: t.kind})
}

// uploadItem treats an item of an upload.
func (v *Autopilot) uploadItem(from peer, m *mav.MessageMissionItemInt) {
	t := &v.transfer
	it := item{m.Command, m.Frame, [4]float64{float64(m.Param1), float64(m.Param2), float64(m.Param3),
		float64(m.Param4)}, m.X, m.Y, float64(m.Z)}
	refuse := func(result mav.MAV_MISSION_RESULT) { v.acknowledge(from, m.MissionType, result) }
	switch result := t.refused(it); {
	case !t.active || t.kind != m.MissionType:
		refuse(mav.MAV_MISSION_ERROR)
	case t.peer != from:
		refuse(mav.MAV_MISSION_DENIED)
	case int(m.Seq) != t.next:
		refuse(mav.MAV_MISSION_INVALID_SEQUENCE) // and the transfer goes on
	case result != mav.MAV_MISSION_ACCEPTED:
		t.active = false // a mixture of old and new items is left
		refuse(result)
	default:
		v.storeItem(it.rounded())
	}
}

// storeItem takes the next item of an upload, and asks for the one after it.
func (v *Autopilot) storeItem(it item) {
	t := &v.transfer
	if s := &v.memory.stored[t.kind]; t.kind != mav.MAV_MISSION_TYPE_MISSION || v.firmware.atomic {
		t.staged = append(t.staged, it)
	} else if t.next < len(*s) {
		(*s)[t.next] = it
	} else {
		*s = append(*s, it)
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
func (t *transfer) refused(it item) mav.MAV_MISSION_RESULT {
	fence := it.command >= common.MAV_CMD_NAV_FENCE_RETURN_POINT && it.command <= common.MAV_CMD_NAV_FENCE_CIRCLE_EXCLUSION
	mission := t.kind == mav.MAV_MISSION_TYPE_MISSION
	switch {
	case math.Abs(float64(it.x)) > 90e7 || math.Abs(float64(it.y)) > 180e7:
		return mav.MAV_MISSION_INVALID_PARAM5_X
	case t.kind == mav.MAV_MISSION_TYPE_FENCE && !fence,
		t.kind == mav.MAV_MISSION_TYPE_RALLY && it.command != common.MAV_CMD_NAV_RALLY_POINT,
		mission && (it.command == 9999 || it.command == common.MAV_CMD_SET_CAMERA_MODE):
		return mav.MAV_MISSION_UNSUPPORTED
	case mission && it.command == common.MAV_CMD_DO_JUMP && (it.params[0] < 1 || int(it.params[0]) >= t.count):
		return mav.MAV_MISSION_ERROR
	}
	return mav.MAV_MISSION_ACCEPTED
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
	case common.MAV_CMD_NAV_LOITER_TURNS:
		if it.params[0] >= 1 {
			it.params[0] = math.Floor(min(it.params[0], 255))
		}
		it.params[2] = radius8(it.params[2])
	case common.MAV_CMD_NAV_LOITER_UNLIM, common.MAV_CMD_NAV_LOITER_TO_ALT:
		it.params[2] = radius8(it.params[2])
	case common.MAV_CMD_NAV_LOITER_TIME:
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
	mission := t.kind == mav.MAV_MISSION_TYPE_MISSION
	if !mission || v.firmware.atomic {
		v.memory.stored[t.kind] = t.staged
	}
	if mission {
		// The aeroplane finishes its way to the place of the old item.
		if v.route.current >= len(v.memory.mission()) || v.firmware.atomic {
			v.route = route{started: v.route.started}
			if v.firmware.homeItem {
				v.route.current = 1
			}
		}
	} else if t.kind == mav.MAV_MISSION_TYPE_FENCE && v.firmware.fence.switched {
		v.guard.indexed, v.guard.reported = v.now+indexTime, false
	}
	v.acknowledge(t.peer, t.kind, mav.MAV_MISSION_ACCEPTED)
}

// transferTimes repeats requests and gives up.
func (v *Autopilot) transferTimes() {
	t := &v.transfer
	switch {
	case !t.active:
	case v.now-t.last >= itemTimeout:
		t.active = false
		v.acknowledge(t.peer, t.kind, mav.MAV_MISSION_OPERATION_CANCELLED)
		v.say(mav.MAV_SEVERITY_WARNING, "Mission upload timeout")
	case v.now-t.asked >= itemRepeat:
		v.askItem()
	}
}

// list sends how many items a list has.
func (v *Autopilot) list(from peer, kind mav.MAV_MISSION_TYPE) {
	switch {
	case v.listless():
		v.acknowledge(from, kind, mav.MAV_MISSION_NO_SPACE)
	case v.transfer.active:
		v.acknowledge(from, kind, mav.MAV_MISSION_DENIED)
	case !v.memory.kept(kind):
		v.acknowledge(from, kind, mav.MAV_MISSION_UNSUPPORTED)
	default:
		v.send(&mav.MessageMissionCount{TargetSystem: from.system, TargetComponent: from.component,
			Count: uint16(len(v.memory.stored[kind])), MissionType: kind})
	}
}

// download sends an item.
func (v *Autopilot) download(from peer, kind mav.MAV_MISSION_TYPE, seq int) {
	switch {
	case v.transfer.active:
		v.acknowledge(from, kind, mav.MAV_MISSION_DENIED)
		return
	case !v.memory.kept(kind) || seq >= len(v.memory.stored[kind]):
		v.acknowledge(from, kind, mav.MAV_MISSION_ERROR)
		return
	}
	it := v.memory.stored[kind][seq]
	current := byte(0)
	if kind == mav.MAV_MISSION_TYPE_MISSION {
		if seq == 0 && v.firmware.homeItem && v.homed {
			p, h := v.global(v.home)
			it = item{command: common.MAV_CMD_NAV_WAYPOINT, frame: mav.MAV_FRAME_GLOBAL, x: e7(p.Lat), y: e7(p.Lon), z: h}
		}
		if seq == v.route.current {
			current = 1
		}
	}
	p := it.params
	v.send(&mav.MessageMissionItemInt{TargetSystem: from.system, TargetComponent: from.component, Seq: uint16(seq),
		Frame: it.frame, Command: it.command, Current: current, Autocontinue: 1,
		Param1: float32(p[0]), Param2: float32(p[1]), Param3: float32(p[2]), Param4: float32(p[3]),
		X: it.x, Y: it.y, Z: float32(it.z), MissionType: kind})
}

// clearItems treats MISSION_CLEAR_ALL.
func (v *Autopilot) clearItems(from peer, kind mav.MAV_MISSION_TYPE) {
	all := kind == mav.MAV_MISSION_TYPE_ALL
	result := mav.MAV_MISSION_ACCEPTED
	switch {
	case v.listless():
		v.acknowledge(from, kind, mav.MAV_MISSION_NO_SPACE)
		return
	case (kind == mav.MAV_MISSION_TYPE_MISSION || all) && v.armed && v.mode.conduct == follows:
		result = mav.MAV_MISSION_DENIED
	case all:
		v.memory.stored = [3][]item{}
	case v.memory.kept(kind):
		v.memory.stored[kind] = nil
	default:
		result = mav.MAV_MISSION_UNSUPPORTED
	}
	if len(v.memory.mission()) == 0 {
		v.route = route{}
	}
	v.acknowledge(from, kind, result)
}
