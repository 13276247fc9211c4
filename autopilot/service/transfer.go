package service

import (
	"errors"
	"fmt"
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

// Storage is one of the lists of items that a vehicle stores: MAV_MISSION_TYPE.
type Storage uint8

// The lists.
const (
	FenceList Storage = 1 + iota
	RallyList
)

// String returns the list's name.
func (l Storage) String() string {
	switch l {
	case FenceList:
		return "fence"
	case RallyList:
		return "rally points"
	}
	return "unknown list"
}

// Item is one item of a list. In the frames of the globe X and Y are latitude and longitude in 1e-7 degrees, and Z is
// the altitude in m.
type Item struct {
	Command uint16 // MAV_CMD
	Frame   byte   // MAV_FRAME
	Params  [4]float32
	X, Y    int32
	Z       float32
}

// Transfer is the end of a transfer. If Err is nil, Items is what the vehicle has stored; after an upload it was
// compared with what was sent. If not, it wraps [ErrTransfer]; what the vehicle has then is unknown: ArduPilot
// replaces its items one by one.
type Transfer struct {
	List  Storage
	Items []Item
	Err   error
}

// ErrTransfer reports a list that could not be transferred.
var ErrTransfer = errors.New("the transfer failed")

// Transfers sends lists of items to the vehicle and reads them back. One transfer is under way at a time; others wait.
//
// An upload ends well only if the list that is read back equals what was sent, within the precision of the vehicle's
// storage: an acknowledgement may be lost, late, or that of another exchange.
type Transfers struct {
	outbox
	ends  Ends
	queue []*transfer
	ended []Transfer
}

// phase is what a transfer waits for.
type phase uint8

const (
	waiting  phase = iota // for its turn, or for the next round
	counting              // for the first request of an item
	sending               // for the next request, or the acknowledgement
	clearing              // for the acknowledgement
	listing               // for the number of items
	fetching              // for an item
)

// transfer is a transfer under way.
type transfer struct {
	list  Storage
	write bool
	items []Item // to be sent

	phase    phase
	wait     timer
	tries    int
	rounds   int
	last     int  // the item that was requested last
	all      bool // all items were requested
	accepted bool
	got      []Item
	count    int
}

// NewTransfers returns a machine.
func NewTransfers(e Ends) *Transfers { return &Transfers{ends: e} }

// Upload replaces a list. Without items it is cleared.
func (t *Transfers) Upload(now Clock, l Storage, items []Item) {
	t.begin(now, &transfer{list: l, write: true, items: items})
}

// Download reads a list.
func (t *Transfers) Download(now Clock, l Storage) { t.begin(now, &transfer{list: l}) }

func (t *Transfers) begin(now Clock, x *transfer) {
	t.queue = append(t.queue, x)
	if len(x.items) > math.MaxUint16 {
		t.end(x, fmt.Errorf("%v: %d items are too many: %w", x.list, len(x.items), ErrTransfer))
	}
	t.Wake(now)
}

// Ended returns the transfers that ended, and forgets them.
func (t *Transfers) Ended() []Transfer { return Taken(&t.ended) }

func (t *Transfers) end(x *transfer, err error) {
	done := Transfer{List: x.list, Err: err}
	if err == nil {
		done.Items = x.got
	}
	t.ended, t.queue = append(t.ended, done), without(t.queue, x)
}

// Receive takes a frame.
func (t *Transfers) Receive(now Clock, f frame.Frame) {
	if len(t.queue) > 0 && t.ends.hears(f) {
		x := t.queue[0]
		switch m := f.Message.(type) {
		case *mav.MessageMissionRequest:
			t.requested(now, x, Storage(m.MissionType), int(m.Seq), f.Late)
		case *mav.MessageMissionRequestInt:
			t.requested(now, x, Storage(m.MissionType), int(m.Seq), f.Late)
		case *mav.MessageMissionAck:
			if Storage(m.MissionType) == x.list {
				t.acknowledged(now, x, m.Type)
			}
		case *mav.MessageMissionCount:
			if Storage(m.MissionType) == x.list && x.phase == listing {
				x.count, x.got = int(m.Count), nil
				t.fetch(now, x)
			}
		case *mav.MessageMissionItemInt:
			if Storage(m.MissionType) == x.list && x.phase == fetching && int(m.Seq) == len(x.got) {
				x.got = append(x.got, Item{Command: uint16(m.Command), Frame: byte(m.Frame),
					Params: [4]float32{m.Param1, m.Param2, m.Param3, m.Param4}, X: m.X, Y: m.Y, Z: m.Z})
				t.fetch(now, x)
			}
		}
	}
	t.Wake(now)
}

// requested sends an item. A request while the list is read back without an acknowledgement shows that the vehicle
// still waits for items. A late request of an earlier item is not answered: the vehicle has got on.
func (t *Transfers) requested(now Clock, x *transfer, l Storage, sequence int, late bool) {
	if l != x.list || !x.write || sequence >= len(x.items) || late && sequence < x.last ||
		x.phase == waiting || x.phase == fetching || x.accepted {
		return
	}
	x.phase = sending
	x.last = sequence
	x.all = x.all || sequence == len(x.items)-1
	x.wait.set(now, transferSilent)
	if x.all {
		x.wait.set(now, transferEnd)
	}
	i := x.items[sequence]
	t.send(&mav.MessageMissionItemInt{
		TargetSystem: t.ends.Vehicle.System, TargetComponent: t.ends.Vehicle.Component,
		Seq: uint16(sequence), Frame: mav.MAV_FRAME(i.Frame), Command: common.MAV_CMD(i.Command),
		Param1: i.Params[0], Param2: i.Params[1], Param3: i.Params[2], Param4: i.Params[3],
		X: i.X, Y: i.Y, Z: i.Z, MissionType: mav.MAV_MISSION_TYPE(x.list),
	})
}

// acknowledged takes an acknowledgement. It may be a late one, or one of a go-to command of another station.
func (t *Transfers) acknowledged(now Clock, x *transfer, result mav.MAV_MISSION_RESULT) {
	switch {
	case result == mav.MAV_MISSION_ACCEPTED:
		if x.phase == sending && x.all || x.phase == clearing {
			x.accepted = true
			t.readBack(now, x)
		}
	case result == mav.MAV_MISSION_INVALID_SEQUENCE: // an item was received twice; the transfer continues
	case x.phase == counting, x.phase == sending, x.phase == clearing:
		reason := fmt.Sprintf("refused: %v", result)
		if x.phase == sending {
			reason = fmt.Sprintf("item %d refused: %v", x.last, result)
		}
		switch result {
		case mav.MAV_MISSION_ERROR, mav.MAV_MISSION_DENIED,
			mav.MAV_MISSION_OPERATION_CANCELLED: // another exchange was under way, or a message got lost
			t.again(now, x, reason)
		case mav.MAV_MISSION_NO_SPACE: // or an ArduPilot that was started just now
			if t.again(now, x, reason); x.phase == waiting {
				x.wait.set(now, transferSpace)
			}
		default:
			t.end(x, fmt.Errorf("%v: %s: %w", x.list, reason, ErrTransfer))
		}
	}
}

// again waits for the next round of a transfer, or ends it.
func (t *Transfers) again(now Clock, x *transfer, reason string) {
	if x.rounds++; x.rounds == transferRounds {
		t.end(x, fmt.Errorf("%v: %s: %w", x.list, reason, ErrTransfer))
		return
	}
	x.phase = waiting
	x.wait.set(now, transferWait)
}

// start begins a round.
func (t *Transfers) start(now Clock, x *transfer) {
	x.tries, x.last, x.all, x.accepted = 0, 0, false, false
	switch {
	case !x.write:
		t.readBack(now, x)
		return
	case len(x.items) == 0:
		x.phase = clearing
	default:
		x.phase = counting
	}
	t.repeat(now, x)
}

// readBack asks for the vehicle's list.
func (t *Transfers) readBack(now Clock, x *transfer) {
	x.phase, x.tries = listing, 0
	t.repeat(now, x)
}

// fetch asks for the next item, or compares the items when all are there.
func (t *Transfers) fetch(now Clock, x *transfer) {
	if len(x.got) < x.count {
		x.phase, x.tries = fetching, 0
		t.repeat(now, x)
		return
	}
	t.send(&mav.MessageMissionAck{
		TargetSystem: t.ends.Vehicle.System, TargetComponent: t.ends.Vehicle.Component,
		MissionType: mav.MAV_MISSION_TYPE(x.list)})
	if x.write {
		if d := Compare(x.items, x.got); d != "" {
			t.again(now, x, "the vehicle's list differs: "+d)
			return
		}
	}
	t.end(x, nil)
}

// repeat sends the message of a phase that the vehicle is to answer.
func (t *Transfers) repeat(now Clock, x *transfer) {
	to, l := t.ends.Vehicle, mav.MAV_MISSION_TYPE(x.list)
	x.tries++
	x.wait.set(now, transferWait)
	switch x.phase {
	case counting:
		t.send(&mav.MessageMissionCount{TargetSystem: to.System, TargetComponent: to.Component,
			Count: uint16(len(x.items)), MissionType: l})
	case clearing:
		t.send(&mav.MessageMissionClearAll{TargetSystem: to.System, TargetComponent: to.Component, MissionType: l})
	case listing:
		t.send(&mav.MessageMissionRequestList{TargetSystem: to.System, TargetComponent: to.Component, MissionType: l})
	case fetching:
		x.wait.set(now, transferItem)
		t.send(&mav.MessageMissionRequestInt{TargetSystem: to.System, TargetComponent: to.Component,
			Seq: uint16(len(x.got)), MissionType: l})
	default:
		panic("service: a phase without a message")
	}
}

// Wake repeats what got no answer.
func (t *Transfers) Wake(now Clock) {
	for len(t.queue) > 0 {
		x := t.queue[0]
		switch {
		case x.phase == waiting && (!x.wait.on || x.wait.over(now)):
			t.start(now, x)
		case !x.wait.over(now):
			return
		case x.phase == sending && x.all: // the acknowledgement may be lost
			t.readBack(now, x)
		case x.phase == sending:
			t.again(now, x, fmt.Sprintf("no request after item %d", x.last))
		case x.tries < transferTries:
			t.repeat(now, x)
		case x.phase == clearing:
			t.readBack(now, x)
		default:
			t.again(now, x, "no answer")
		}
	}
}

// Due returns the reading of the wall clock at which Wake is to be called.
func (t *Transfers) Due() int64 {
	if len(t.queue) == 0 {
		return math.MaxInt64
	}
	return t.queue[0].wait.due()
}
