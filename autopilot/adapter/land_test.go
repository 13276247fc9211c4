package adapter_test

import (
	"math"

	"github.com/canopy-uav/canopy/autopilot/frame"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
	"github.com/bluenviron/gomavlib/v3/pkg/dialects/common"
)

// landing gives the vehicle a mission with a landing.
func (f *flown) landing() {
	f.t.Helper()
	f.vehicle.Set("RTL_AUTOLAND", 2)
	lat, lon := int32(f.signals["lat"]*180/math.Pi*1e7), int32(f.signals["lon"]*180/math.Pi*1e7)
	station := frame.Writer{System: 255, Component: 190}
	list := []frame.Message{&mav.MessageMissionCount{TargetSystem: 1, TargetComponent: 1, Count: 3}}
	for i, id := range []common.MAV_CMD{16, 189, 21} {
		list = append(list, &mav.MessageMissionItemInt{TargetSystem: 1, TargetComponent: 1, Seq: uint16(i), Command: id,
			Frame: 3, X: lat, Y: lon})
	}
	for _, m := range list {
		data, err := station.Write(m, 0)
		if err != nil {
			f.t.Fatal(err)
		}
		f.vehicle.Receive(data)
	}
}
