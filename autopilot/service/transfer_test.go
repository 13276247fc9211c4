package service_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/autopilot/service"
)

// planner stores a fence as ArduPilot does missions (items replace the old ones one by one) or as PX4 does (all at once). It repeats its requests after 1 s and gives up after 8 s.
type planner struct {
	mute
	atomic   bool
	old      bool // requests by MISSION_REQUEST
	refuses  int  // the item of this number, if positive
	items    []*mav.MessageMissionItemInt
	staged   []*mav.MessageMissionItemInt
	want     int // the next item; -1: no upload
	count    int
	asked    int64
	began    int64
	accepted int
}

const fenceType = mav.MAV_MISSION_TYPE_FENCE

func (p *planner) ack(r mav.MAV_MISSION_RESULT) {
	p.out = append(p.out, &mav.MessageMissionAck{TargetSystem: 1, TargetComponent: 191, Type: r, MissionType: fenceType})
}

func (p *planner) ask(now int64) {
	p.asked = now
	if p.old {
		p.out = append(p.out, &mav.MessageMissionRequest{TargetSystem: 1, TargetComponent: 191, Seq: uint16(p.want),
			MissionType: fenceType})
	} else {
		p.out = append(p.out, &mav.MessageMissionRequestInt{TargetSystem: 1, TargetComponent: 191, Seq: uint16(p.want),
			MissionType: fenceType})
	}
}

func (p *planner) due() int64 {
	if p.want < 0 {
		return math.MaxInt64
	}
	return min(p.asked+1*sec, p.began+8*sec)
}

func (p *planner) wake(now int64) {
	switch {
	case p.want < 0:
	case now >= p.began+8*sec:
		p.want = -1
		p.ack(mav.MAV_MISSION_OPERATION_CANCELLED)
	case now >= p.asked+1*sec:
		p.ask(now)
	}
}

func (p *planner) receive(now int64, m frame.Message) {
	switch m := m.(type) {
	case *mav.MessageMissionCount:
		p.want, p.count, p.staged, p.began = 0, int(m.Count), nil, now
		if !p.atomic {
			p.items = p.items[:min(len(p.items), p.count)]
		}
		p.ask(now)
	case *mav.MessageMissionItemInt:
		switch {
		case p.want < 0:
			p.ack(mav.MAV_MISSION_ERROR)
			return
		case int(m.Seq) != p.want:
			p.ack(mav.MAV_MISSION_INVALID_SEQUENCE)
			return
		case p.refuses > 0 && p.want == p.refuses:
			p.want = -1
			p.ack(mav.MAV_MISSION_INVALID_PARAM3)
			return
		}
		kept := *m
		if !p.atomic {
			kept.Z = float32(math.Round(float64(kept.Z)*100) / 100)
			p.items = append(p.items[:min(len(p.items), p.want):min(len(p.items), p.want)], append([]*mav.MessageMissionItemInt{&kept},
				p.items[min(len(p.items), p.want+1):]...)...)
		}
		p.staged = append(p.staged, &kept)
		p.began = now
		if p.want++; p.want < p.count {
			p.ask(now)
			return
		}
		p.want = -1
		p.items = p.staged
		p.accepted++
		p.ack(mav.MAV_MISSION_ACCEPTED)
	case *mav.MessageMissionClearAll:
		p.want, p.items = -1, nil
		p.ack(mav.MAV_MISSION_ACCEPTED)
	case *mav.MessageMissionRequestList:
		if p.want >= 0 {
			p.ack(mav.MAV_MISSION_DENIED)
			return
		}
		p.out = append(p.out, &mav.MessageMissionCount{TargetSystem: 1, TargetComponent: 191, Count: uint16(len(p.items)),
			MissionType: fenceType})
	case *mav.MessageMissionRequestInt:
		if p.want < 0 && int(m.Seq) < len(p.items) {
			item := *p.items[m.Seq]
			item.TargetSystem, item.TargetComponent, item.Seq = 1, 191, m.Seq
			p.out = append(p.out, &item)
		}
	}
}

// has returns what the vehicle stores.
func (p *planner) has() []service.Item {
	var items []service.Item
	for _, m := range p.items {
		items = append(items, service.Item{Command: uint16(m.Command), Frame: byte(m.Frame),
			Params: [4]float32{m.Param1, m.Param2, m.Param3, m.Param4}, X: m.X, Y: m.Y, Z: m.Z})
	}
	return items
}

// route draws a list.
func route(t *rapid.T, name string) []service.Item {
	var items []service.Item
	for i := range rapid.IntRange(0, 6).Draw(t, name) {
		items = append(items, service.Item{Command: 16, Frame: 3, X: -353632610 + int32(i)*1000, Y: 1491652300,
			Z: float32(rapid.IntRange(50, 60).Draw(t, "altitude")) + 0.123})
	}
	return items
}

// Every transfer ends. An upload that ends well has left its items in the vehicle; a download has them.
func TestTransfersEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := &planner{want: -1, atomic: rapid.Bool().Draw(t, "atomic"), old: rapid.Bool().Draw(t, "old requests"),
			refuses: rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "refused item")}
		x := service.NewTransfers(ends)
		w := newWire(t, x, p)
		w.fresh = func() machine { return service.NewTransfers(ends) }
		var ended []service.Transfer
		finish := func() service.Transfer {
			if !w.run(600*sec, func() bool {
				ended = append(ended, x.Ended()...)
				return len(ended) > 0
			}) {
				t.Fatal("no end")
			}
			e := ended[0]
			ended = ended[1:]
			return e
		}
		good := w.loss == 0 && w.delay == 0 && w.twice == 0
		for range rapid.IntRange(1, 3).Draw(t, "uploads") {
			items := route(t, "items")
			x.Upload(w.now(), service.FenceList, items)
			e := finish()
			refused := p.refuses > 0 && len(items) > 2
			if e.Err == nil {
				if d := service.Compare(items, p.has()); d != "" {
					t.Fatalf("the upload ended well, but %s", d)
				}
				if d := service.Compare(items, e.Items); d != "" {
					t.Fatalf("the upload reports other items: %s", d)
				}
			} else if !errors.Is(e.Err, service.ErrTransfer) {
				t.Fatal(e.Err)
			}
			if good && (e.Err != nil) != refused {
				t.Fatalf("on a good channel: %v; an item is refused: %v", e.Err, refused)
			}
			if refused && e.Err != nil && good && !strings.Contains(e.Err.Error(), "item 2 refused: MAV_MISSION_INVALID_PARAM3") {
				t.Fatal(e.Err)
			}
		}
		w.run(30*sec, func() bool { return false })
		x.Download(w.now(), service.FenceList)
		if e := finish(); e.Err == nil && w.delay == 0 {
			if diff := cmp.Diff(p.has(), e.Items); diff != "" && len(p.has())+len(e.Items) > 0 {
				t.Fatal(diff)
			}
		} else if good && e.Err != nil {
			t.Fatal(e.Err)
		}
		if x.Due() != math.MaxInt64 {
			t.Fatal("there is still something to do")
		}
	})
}

// A vehicle that is silent, and a list that is too long.
func TestTransferWithoutAnswer(t *testing.T) {
	x := service.NewTransfers(ends)
	x.Upload(service.Clock{}, service.FenceList, make([]service.Item, 1<<16))
	x.Upload(service.Clock{}, service.RallyList, make([]service.Item, 3))
	for range 100 {
		if x.Due() == math.MaxInt64 {
			break
		}
		x.Wake(service.Clock{Wall: x.Due()})
	}
	var got []string
	for _, e := range x.Ended() {
		got = append(got, e.Err.Error())
	}
	want := []string{"fence: 65536 items are too many: the transfer failed", "rally points: no answer: the transfer failed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(x.Out()); n != 3*6 {
		t.Errorf("%d messages, want 3 rounds of 6", n)
	}
}

// A message about another list, or the acknowledgement of a go-to command, is not taken for one of the transfer.
func TestForeignTransfers(t *testing.T) {
	x := service.NewTransfers(ends)
	var reader frame.Reader
	vehicle := &frame.Writer{System: 1, Component: 1}
	now := service.Clock{}
	x.Upload(now, service.FenceList, make([]service.Item, 2))
	x.Out()
	for _, m := range []frame.Message{
		&mav.MessageMissionAck{MissionType: fenceType},
		&mav.MessageMissionAck{Type: mav.MAV_MISSION_ERROR},
		&mav.MessageMissionRequest{Seq: 1},
		&mav.MessageMissionRequest{Seq: 2, MissionType: fenceType},
		&mav.MessageMissionRequest{TargetSystem: 255, TargetComponent: 190, MissionType: fenceType},
		&mav.MessageMissionCount{Count: 9, MissionType: fenceType},
		&mav.MessageMissionItemInt{MissionType: fenceType},
	} {
		x.Receive(now, frameOf(t, &reader, vehicle, m))
	}
	if len(x.Ended()) > 0 || len(x.Out()) > 0 {
		t.Error("the transfer reacts")
	}
	x.Receive(now, frameOf(t, &reader, vehicle, &mav.MessageMissionRequest{MissionType: fenceType}))
	if n := len(x.Out()); n != 1 {
		t.Errorf("%d messages, want the item", n)
	}
}

func TestCompare(t *testing.T) {
	nan := float32(math.NaN())
	point := service.Item{Command: 16, Frame: 3, X: 100, Y: 200, Z: 80}
	with := func(change func(i *service.Item)) service.Item {
		i := point
		change(&i)
		return i
	}
	for _, c := range []struct {
		sent, got service.Item
		want      string
	}{
		{point, point, ""},
		{point, with(func(i *service.Item) { i.Z = 80.01 }), ""},
		{point, with(func(i *service.Item) { i.Z = 80.1 }), "item 1 has altitude 80.1 instead of 80"},
		{point, with(func(i *service.Item) { i.Z = nan }), "item 1 has altitude NaN instead of 80"},
		{with(func(i *service.Item) { i.Params[3] = nan }), point, ""},
		{with(func(i *service.Item) { i.Params[1] = 30 }), point, "item 1 has parameter 2 0 instead of 30"},
		{with(func(i *service.Item) { i.Frame = 6 }), point, ""},
		{with(func(i *service.Item) { i.Frame = 0 }), point, "item 1 has frame 3 instead of 0"},
		{with(func(i *service.Item) { i.Frame = 2 }), point, "item 1 has frame 3 instead of 2"},
		{with(func(i *service.Item) { i.X = 102 }), point, "item 1 has position 100, 200 instead of 102, 200"},
		{with(func(i *service.Item) { i.X = math.MaxInt32 }), point, ""},
		{with(func(i *service.Item) { i.Command = 21 }), point,
			"item 1 has command MAV_CMD_NAV_WAYPOINT instead of MAV_CMD_NAV_LAND"},
		{service.Item{Command: 5001, Frame: 3, Z: 80}, service.Item{Command: 5001}, ""},
		{service.Item{Command: 5100, Frame: 3, Z: 80.4}, service.Item{Command: 5100, Frame: 3, Z: 80}, ""},
	} {
		if got := service.Compare([]service.Item{c.sent}, []service.Item{c.got}); got != c.want {
			t.Errorf("%+v, %+v: %q, want %q", c.sent, c.got, got, c.want)
		}
	}
	if got := service.Compare(nil, []service.Item{point}); got != "1 items instead of 0" {
		t.Error(got)
	}
}
