package service

import (
	"fmt"
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// coarse is the precision of parameters, by command and number, where ArduPilot's storage has another one than of the
// rest. 0: they are not stored. Number 7 is the altitude.
var coarse = map[[2]uint16]float64{
	{5000, 7}: 0,   // fences: no altitude
	{5001, 7}: 0,   //
	{5002, 7}: 0,   //
	{5003, 7}: 0,   //
	{5004, 7}: 0,   //
	{5100, 7}: 0.5, // rally points: whole metres
}

// The precision of the rest: parameters are rounded to whole numbers at worst, altitudes to centimetres.
const (
	storedParameter = 0.5
	storedAltitude  = 0.011
)

// precision returns that of a parameter of an item; 0: it is not stored.
func (i Item) precision(number uint16) float64 {
	if p, special := coarse[[2]uint16{i.Command, number}]; special {
		return p
	}
	if number == 7 {
		return storedAltitude
	}
	return storedParameter
}

// onGlobe are the frames in which X and Y are latitude and longitude, with the frame that ArduPilot stores.
var onGlobe = map[byte]byte{0: 0, 3: 3, 5: 0, 6: 3, 10: 10, 11: 10}

// Compare returns the first difference between what was sent and what the vehicle has, or "". Numbers are compared with
// the precision of ArduPilot's storage; what was not a number when it was sent may be any.
func Compare(sent, got []Item) string {
	if len(sent) != len(got) {
		return fmt.Sprintf("%d items instead of %d", len(got), len(sent))
	}
	for i, s := range sent {
		if d := s.differs(got[i]); d != "" {
			return fmt.Sprintf("item %d has %s", i+1, d)
		}
	}
	return ""
}

// differs returns the first difference of two items, or "".
func (i Item) differs(got Item) string {
	if i.Command != got.Command {
		return fmt.Sprintf("command %v instead of %v", mav.MAV_CMD(got.Command), mav.MAV_CMD(i.Command))
	}
	for p, v := range i.Params {
		if apart(v, got.Params[p], i.precision(uint16(p)+1)) {
			return fmt.Sprintf("parameter %d %v instead of %v", p+1, got.Params[p], v)
		}
	}
	frame, globe := onGlobe[i.Frame]
	altitude := i.precision(7)
	switch {
	case altitude > 0 && globe && onGlobe[got.Frame] != frame, !globe && i.Frame != got.Frame:
		return fmt.Sprintf("frame %d instead of %d", got.Frame, i.Frame)
	case away(i.X, got.X), away(i.Y, got.Y):
		return fmt.Sprintf("position %d, %d instead of %d, %d", got.X, got.Y, i.X, i.Y)
	case apart(i.Z, got.Z, altitude):
		return fmt.Sprintf("altitude %v instead of %v", got.Z, i.Z)
	}
	return ""
}

// away reports whether two coordinates differ by more than rounding. The largest number is any.
func away(sent, got int32) bool {
	d := int64(sent) - int64(got)
	return sent != math.MaxInt32 && max(d, -d) > 1
}

// apart reports whether two numbers differ by more than the precision. One that is not a number equals any, and so does
// one that is not stored.
func apart(sent, got float32, precision float64) bool {
	return sent == sent && precision > 0 && !(math.Abs(float64(sent)-float64(got)) <= precision)
}
