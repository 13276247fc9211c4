package fake

import (
	"math"

	mav "github.com/bluenviron/gomavlib/v3/pkg/dialects/ardupilotmega"
)

// The types of parameters.
const (
	int8Type  = mav.MAV_PARAM_TYPE_INT8
	int16Type = mav.MAV_PARAM_TYPE_INT16
	int32Type = mav.MAV_PARAM_TYPE_INT32
	realType  = mav.MAV_PARAM_TYPE_REAL32
)

// parameter is a row of the table of parameters.
type parameter struct {
	name  string
	kind  mav.MAV_PARAM_TYPE
	value float64 // after delivery
}

// memory is what the autopilot keeps without power.
type memory struct {
	values []float64 // of the parameters
	names  map[string]int
	stored [3][]item // mission, fence, rally points
}

// value returns a parameter; 0 if the firmware does not have it.
func (v *Autopilot) value(name string) float64 {
	i, ok := v.memory.names[name]
	if !ok {
		return 0
	}
	return v.memory.values[i]
}

// Set sets a parameter, as before the flight; false: the firmware has no such parameter.
func (v *Autopilot) Set(name string, value float64) bool {
	if _, ok := v.memory.names[name]; !ok {
		return false
	}
	v.set(name, value)
	return true
}

// Parameters returns the names of the firmware's parameters.
func (v *Autopilot) Parameters() []string {
	var names []string
	for _, p := range v.firmware.parameters {
		names = append(names, p.name)
	}
	return names
}

// set stores a value as the parameter's type can represent it.
func (v *Autopilot) set(name string, value float64) {
	i, ok := v.memory.names[name]
	if !ok {
		return
	}
	if least, most, whole := limits(v.firmware.parameters[i].kind); whole {
		value = max(least, min(most, math.Round(value)))
	} else {
		value = float64(float32(value))
	}
	v.memory.values[i] = value
	if name == v.firmware.fence.enable {
		v.guard.fenced = value != 0
	}
}

// limits returns the range of an integer type.
func limits(kind mav.MAV_PARAM_TYPE) (least, most float64, whole bool) {
	switch kind {
	case int8Type:
		return math.MinInt8, math.MaxInt8, true
	case int16Type:
		return math.MinInt16, math.MaxInt16, true
	case int32Type:
		return math.MinInt32, math.MaxInt32, true
	}
	return 0, 0, false
}

// setParameter treats PARAM_SET. The answer follows in a later turn of the loop; there is none for an unknown name or a
// value that is not finite.
func (v *Autopilot) setParameter(m *mav.MessageParamSet) {
	i, ok := v.memory.names[m.ParamId]
	if v.firmware.bytewise && (!ok || m.ParamType != v.firmware.parameters[i].kind) {
		v.say(mav.MAV_SEVERITY_INFO, "[pm] unknown param, or of another type: %s", m.ParamId)
		return
	}
	x := float64(m.ParamValue)
	if v.firmware.bytewise && ok && v.firmware.parameters[i].kind != realType {
		x = float64(int32(math.Float32bits(m.ParamValue)))
	}
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return
	}
	v.set(m.ParamId, x)
	v.echoes = append(v.echoes, i)
}

// readParameter treats PARAM_REQUEST_READ.
func (v *Autopilot) readParameter(m *mav.MessageParamRequestRead) {
	i, ok := v.memory.names[m.ParamId]
	if m.ParamIndex >= 0 {
		i, ok = int(m.ParamIndex), int(m.ParamIndex) < len(v.memory.values)
	}
	switch {
	case ok && m.ParamIndex < 0 && !v.firmware.bytewise:
		v.sendParameter(i, math.MaxUint16)
	case ok:
		v.sendParameter(i, i)
	case v.firmware.bytewise:
		v.say(mav.MAV_SEVERITY_INFO, "[pm] unknown param ID: %s", m.ParamId)
	}
}

// sendParameters sends what was set, and the next parameter of a list.
func (v *Autopilot) sendParameters() {
	for _, i := range v.echoes {
		v.sendParameter(i, math.MaxUint16)
	}
	v.echoes = v.echoes[:0]
	if v.listing < len(v.memory.values) {
		v.sendParameter(v.listing, v.listing)
		v.listing++
	}
}

func (v *Autopilot) sendParameter(i, index int) {
	p := v.firmware.parameters[i]
	x := float32(v.memory.values[i])
	if v.firmware.bytewise && p.kind != realType {
		x = math.Float32frombits(uint32(int32(v.memory.values[i])))
	}
	v.send(&mav.MessageParamValue{ParamId: p.name, ParamValue: x,
		ParamType:  p.kind,
		ParamCount: uint16(len(v.memory.values)), ParamIndex: uint16(index)})
}
