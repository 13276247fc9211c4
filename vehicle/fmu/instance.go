package fmu

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/canopy-uav/canopy/snapshot"
	"github.com/canopy-uav/canopy/vehicle/model"
)

// instance is an FMU as the simulator sees it.
//
// The FMU keeps discrete states of its own, so its values are those after its last event only. The memory that the
// simulator holds has the number of that event: with another number, outputs are those before the event, and
// derivatives are not numbers, so that they differ from those after it.
type instance struct {
	u       *Unit
	vehicle *model.Vehicle
	start   Start
	given   []float64 // parameters

	process Process // nil: it has not been needed
	err     error   // why it has failed
	ended   string  // why it has ended the simulation
	refused error   // the last values that it discarded

	held []float64 // memory

	number  float64   // of the last event
	next    float64   // event, or communication point [s]; +Inf: none
	at      float64   // time of the last event, or of the end of the last step of a co-simulation [s]
	wants   bool      // it wants an event at the end of a completed step
	below   []bool    // by event indicator: it was not positive after the last event
	handled []bool    // the sides of the simulation when it reacted last
	sides   []bool    // that are held
	last    []float64 // the commands of the last event or step,
	recent  []float64 // and of the last evaluation
	initial []float64 // states
	outputs []float64 // of a co-simulation since its last step, or of an FMU that has ended the simulation
	left    []float64 // before the last event

	point   []byte // time, states and inputs of the last evaluation, as in a request
	history []byte // requests that changed the state, as frames
	saved   []byte // the state as the FMU serialises it
	state   serial
	request []byte // scratch

	asked, habit uint32 // what was asked since the last preparation, and before
	ready        []byte // answers that were prepared,
	prepared     []byte // to this request
}

// serial is what is known of the state that an FMU serialises.
type serial uint8

const (
	untried serial = iota
	proved         // a fresh process goes on from it
	useless
)

// Places in the memory. A memory has finite values: without a next event, its time is never.
const (
	ofNumber = iota
	ofNext
)

const never = -1

// What an evaluation is asked for; unmoved leaves the FMU where it is.
const (
	askRates uint32 = 1 << iota
	askIndicators
	askOutputs
	unmoved
)

// What the FMU told.
const (
	toldEnd = 1 << iota
	toldStates
	toldEvent
)

const (
	maxHistory = 1 << 28 // bytes
	sameTime   = 1e-12   // of times, or seconds if they are small
)

func (u *Unit) instance(of *model.Vehicle, start Start, parameters []float64) (model.Instance, error) {
	if len(parameters) != len(of.Parameters) {
		panic("fmu: wrong number of parameters")
	}
	for i, p := range of.Parameters {
		if err := p.Check(parameters[i]); err != nil {
			return nil, err
		}
	}
	if err := u.whole(of, parameters); err != nil {
		return nil, err
	}
	v := &instance{u: u, vehicle: of, start: start, given: slices.Clone(parameters), next: math.Inf(1),
		below: make([]bool, u.nz), handled: make([]bool, u.nz), initial: make([]float64, u.nx),
		outputs: make([]float64, u.no), left: make([]float64, u.no)}
	if u.serialises {
		v.state = untried
	} else {
		v.state = useless
	}
	for _, c := range of.Commands {
		v.last = append(v.last, c.Default)
	}
	v.recent = slices.Clone(v.last)
	return v, nil
}

// up starts the process if there is none, and reports whether it can be asked.
func (v *instance) up() bool {
	if v.process == nil && v.err == nil {
		var a *answer
		if v.process, a, v.err = v.begin(); v.err == nil {
			v.told(a, 0, v.initial)
			v.point = inputs(v.u.place(v.point[:0], 0, v.initial), v.u.continuous, v.last)
			v.fetch(0)
			copy(v.left, v.outputs)
		}
	}
	return v.err == nil
}

// begin starts a process with an instance at the start.
func (v *instance) begin() (Process, *answer, error) {
	if v.start == nil {
		return nil, nil, ErrNative
	}
	p, err := v.start(v.u)
	if err != nil {
		return nil, nil, err
	}
	a, err := p.Call(Load, v.u.load(p, v.given))
	if err != nil {
		err = fmt.Errorf("the FMU %s was to start: %w", v.u.Name, err)
	}
	return p, &answer{a}, err
}

// told takes what the FMU answered at an event: the time of the next one, its states, and the sides of its indicators.
func (v *instance) told(a *answer, t float64, y []float64) {
	flags := a.flags()
	v.next = a.number()
	a.states(v.u, y, v.u.Interface == ModelExchange && (flags&toldStates != 0 || v.number == 0))
	for i := range v.below {
		v.below[i] = !(a.number() > 0)
	}
	if v.number++; v.u.Interface == CoSimulation {
		v.next = v.u.Step
	}
	v.end(flags, t)
}

func (v *instance) end(flags uint64, t float64) {
	if flags&toldEnd != 0 && v.ended == "" {
		v.ended = fmt.Sprintf("the FMU %s ended the simulation", v.u.Name)
		v.next = math.Inf(1)
		if v.u.Interface == ModelExchange {
			v.fetch(t)
		}
	}
}

// call makes a call. It keeps those that change the state, for a process that is to go on from here.
func (v *instance) call(op Operation, t float64, request []byte) (*answer, bool) {
	if op != Evaluate && v.state != proved && len(v.history) <= maxHistory {
		v.history = binary.LittleEndian.AppendUint32(v.history, uint32(op))
		v.history = binary.LittleEndian.AppendUint32(v.history, uint32(len(request)))
		v.history = append(v.history, request...)
	}
	a, err := v.process.Call(op, request)
	switch {
	case err == nil:
		return &answer{a}, true
	case op == Evaluate && errors.Is(err, ErrDiscard):
		v.refused = err
	default:
		v.err = fmt.Errorf("the FMU %s was to %v at t = %.9g s: %w", v.u.Name, op, t, err)
	}
	return &answer{}, false
}

// Initial implements [model.Instance]. Where no code runs, the states begin as the description says.
func (v *instance) Initial(y []float64) {
	if place := 0; v.start == nil {
		clear(y)
		for _, s := range v.u.states {
			for i := range s.size {
				y[place] = s.begins(i)
				place++
			}
		}
		return
	}
	v.up()
	clear(y[copy(y, v.initial):])
}

// present reports whether the FMU is still in the discrete state that is held.
func (v *instance) present() bool { return v.held == nil || v.held[ofNumber] == v.number }

// ask evaluates something at a point; nil: that is not possible.
func (v *instance) ask(what uint32, t float64, y, commands []float64) *answer {
	if !v.up() || v.ended != "" || !v.present() {
		return nil
	}
	copy(v.recent, commands)
	v.request = v.u.place(first(v.request[:0], what), t, y)
	v.request = inputs(v.request, v.u.continuous, commands)
	v.point = append(v.point[:0], v.request[8:]...)
	v.asked |= what
	if a := v.known(what); a != nil {
		return a
	}
	if a, ok := v.call(Evaluate, t, v.request); ok {
		return a
	}
	return nil
}

// Prepare implements [model.Live]: the process is asked once for all points, for what was asked at those before.
func (v *instance) Prepare(t []float64, y, commands [][]float64) {
	v.habit, v.asked, v.ready = v.asked&(askIndicators|askOutputs), 0, v.ready[:0]
	if v.habit == 0 || !v.up() || v.ended != "" || !v.present() || v.u.Interface == CoSimulation {
		return
	}
	v.prepared = first(v.prepared[:0], v.habit)
	for i := range t {
		v.prepared = inputs(v.u.place(v.prepared, t[i], y[i]), v.u.continuous, commands[i])
	}
	if a, ok := v.call(Evaluate, t[0], v.prepared); ok {
		v.ready = append(v.ready, a.data...)
	}
}

// known returns a prepared answer to the present request; nil: there is none.
func (v *instance) known(what uint32) *answer {
	point, size := len(v.point), 0
	if v.habit&askIndicators != 0 {
		size = 8 * v.u.nz
	}
	begin := 0
	if what == askOutputs {
		begin = size
	}
	if v.habit&askOutputs != 0 {
		size += 8 * v.u.no
	}
	if what&v.habit != what {
		return nil
	}
	for i := 0; (i+1)*size <= len(v.ready) && size > 0; i++ {
		if bytes.Equal(v.prepared[8+i*point:8+(i+1)*point], v.point) {
			return &answer{v.ready[i*size+begin : (i+1)*size]}
		}
	}
	return nil
}

// fetch reads the outputs where the FMU is.
func (v *instance) fetch(t float64) {
	if a, ok := v.call(Evaluate, t, first(nil, askOutputs|unmoved)); ok {
		a.outputs(v.u, v.outputs)
	}
}

func unknown(list []float64) {
	for i := range list {
		list[i] = math.NaN()
	}
}

// Derivatives implements [model.Instance].
func (v *instance) Derivatives(t float64, y, commands, dydt []float64) {
	if v.u.nx == 0 {
		clear(dydt)
		return
	}
	if a := v.ask(askRates, t, y, commands); a != nil {
		a.rates(v.u, dydt)
	} else if unknown(dydt); v.ended != "" && v.present() {
		clear(dydt)
	}
}

// Outputs implements [model.Instance].
func (v *instance) Outputs(t float64, y, commands, out []float64) {
	switch {
	case !v.up():
		unknown(out)
	case !v.present():
		copy(out, v.left)
	case v.u.Interface == CoSimulation || v.ended != "":
		copy(out, v.outputs)
	case len(out) == 0:
	default:
		if a := v.ask(askOutputs, t, y, commands); a != nil {
			a.outputs(v.u, out)
		} else {
			unknown(out)
		}
	}
}

// Memory implements [model.Switching].
func (v *instance) Memory() []float64 {
	v.up()
	return []float64{v.number, v.due()}
}

// due is the time of the next event for the memory, whose values are finite.
func (v *instance) due() float64 {
	if math.IsInf(v.next, 0) {
		return never
	}
	return v.next
}

// Hold implements [model.Switching].
func (v *instance) Hold(above []bool, memory []float64) { v.sides, v.held = above, memory }

// Switches implements [model.Switching]: the event indicators, and the next time event.
func (v *instance) Switches([]bool) []model.Switch {
	var list []model.Switch
	states := make([]int, v.u.nx)
	for i := range states {
		states[i] = i
	}
	for _, text := range v.u.indicators {
		list = append(list, model.Switch{Text: text, Of: -1, Reads: states, Commands: v.u.nc > 0})
	}
	return append(list, model.Switch{Text: "the next time event", Of: -1})
}

// Zeros implements [model.Switching]. FMI counts zero as below, the simulator as above: signs are opposite.
func (v *instance) Zeros(t float64, y, commands []float64, which []int, g []float64) {
	var a *answer
	if which[0] < v.u.nz {
		a = v.ask(askIndicators, t, y, commands)
	}
	for i, k := range which {
		switch {
		case k == v.u.nz && v.held[ofNext] == never:
			g[i] = -1
		case k == v.u.nz:
			g[i] = t - v.held[ofNext]
		case v.ended != "":
			g[i] = 1
			if !v.below[k] {
				g[i] = -1
			}
		case a == nil:
			g[i] = math.NaN()
		default:
			g[i] = -a.at(k)
		}
	}
}

// React implements [model.Switching].
func (v *instance) React(t float64, y, commands, memory []float64, settled bool) bool {
	if !settled || !v.up() || v.ended != "" {
		return false
	}
	due := t >= v.next-sameTime*max(1, math.Abs(t))
	other := !slices.Equal(commands, v.last)
	if v.u.Interface == CoSimulation {
		if due || other && v.u.Fixed == 0 {
			due = v.advance(t, due)
		}
		if t-v.at <= sameTime*max(1, math.Abs(t)) {
			copy(v.last, commands) // they hold during the step that begins here
		}
	} else {
		sides := v.sides[:v.u.nz]
		// An indicator that is zero but for rounding is on one side for the FMU, and may be on the other for the simulation.
		due = due || other || v.wants || !slices.Equal(sides, v.below) && !slices.Equal(sides, v.handled)
		if copy(v.handled, sides); due {
			due = v.handle(t, y, commands)
		}
	}
	if memory[ofNumber], memory[ofNext] = v.number, v.due(); v.u.nx == 0 {
		y[0] = v.number - 1
	}
	return due
}

// handle lets the FMU handle an event.
func (v *instance) handle(t float64, y, commands []float64) bool {
	if t > v.at || v.number == 1 {
		v.Outputs(t, y, v.recent, v.left)
	}
	v.at, v.wants, v.ready = t, false, v.ready[:0]
	completes := uint32(0)
	if v.u.completes {
		completes = 1
	}
	copy(v.last, commands)
	v.request = first(v.request[:0], completes)
	v.request = v.u.place(v.request, t, y)
	v.request = inputs(v.request, v.u.continuous, commands)
	v.request = inputs(v.request, v.u.discrete, commands[v.u.nc:])
	a, ok := v.call(Event, t, v.request)
	if ok {
		v.told(a, t, y)
	}
	return ok
}

// advance makes the step of a co-simulation up to the present, with the commands that it had until now.
func (v *instance) advance(t float64, due bool) bool {
	if due {
		t = v.next
	}
	h := t - v.at
	if v.u.Fixed > 0 {
		h = v.u.Fixed
	}
	if !(h > sameTime*max(1, math.Abs(t))) {
		return false
	}
	others := uint32(0)
	if v.number == 1 || !slices.Equal(v.recent, v.last) {
		others = 1
	}
	copy(v.recent, v.last)
	v.request = first(v.request[:0], others)
	v.request = numbers(v.request, []float64{v.at, h})
	v.request = inputs(v.request, v.u.discrete, v.last)
	a, ok := v.call(Step, t, v.request)
	if !ok {
		return false
	}
	copy(v.left, v.outputs)
	flags := a.flags()
	a.number()
	a.outputs(v.u, v.outputs)
	if v.number, v.at = v.number+1, t; due {
		v.next = t + v.u.Step
	}
	v.end(flags, t)
	return true
}

// Stepped implements [model.Live].
func (v *instance) Stepped(t float64, y, commands []float64) (react bool) {
	if !v.u.completes || v.u.Interface == CoSimulation || v.err != nil || v.ended != "" || t == v.at {
		return false
	}
	v.request = v.u.place(v.request[:0], t, y)
	v.request = inputs(v.request, v.u.continuous, commands)
	v.ready = v.ready[:0]
	a, ok := v.call(Completed, t, v.request)
	if !ok {
		return false
	}
	flags := a.flags()
	v.wants = flags&toldEvent != 0
	v.end(flags, t)
	return v.wants || v.ended != ""
}

// Undefined implements [model.Switching].
func (v *instance) Undefined() string {
	if v.refused == nil {
		return ""
	}
	return v.refused.Error()
}

// Err implements [model.Live].
func (v *instance) Err() error { return v.err }

// Ended implements [model.Live].
func (v *instance) Ended() string { return v.ended }

// State implements [snapshot.Stateful]. The state of the FMU is what it serialises, if a fresh process goes on from it;
// else the requests that led to it, which are repeated. Both must give the values of the last evaluation again.
func (v *instance) State(c *snapshot.Codec) {
	if !v.up() {
		c.Fail(v.err)
		return
	}
	witness := append(first(nil, askRates|askIndicators|askOutputs), v.point...)
	if v.ended != "" || v.u.Interface == CoSimulation {
		witness = first(nil, askOutputs|unmoved)
	}
	var values []byte
	if !c.Loading() {
		values = v.values(witness)
		v.preserve(witness, values)
	}
	snapshot.Vars(c, &v.ended, &v.number, &v.next, &v.at, &v.wants)
	snapshot.Int(c, &v.state)
	snapshot.Each(c, v.below, snapshot.Bool)
	snapshot.Each(c, v.handled, snapshot.Bool)
	snapshot.Floats(c, v.last, v.recent, v.outputs, v.left)
	for _, b := range []*[]byte{&v.point, &v.history, &v.saved, &witness, &values} {
		snapshot.Bytes(c, b)
	}
	if c.Loading() && !c.Failed() {
		if err := v.restore(witness, values); err != nil {
			c.Fail(fmt.Errorf("the FMU %s: %w", v.u.Name, err))
		}
	}
}

// values asks for the values of a witness; nil: it has none.
func (v *instance) values(witness []byte) []byte {
	a, err := v.process.Call(Evaluate, witness)
	if err != nil {
		return nil
	}
	return bytes.Clone(a)
}

// preserve saves the state of the FMU, and finds out once whether a fresh process goes on from it.
func (v *instance) preserve(witness, values []byte) {
	if v.state == useless {
		return
	}
	a, err := v.process.Call(Save, nil)
	if err != nil {
		v.state = useless
		return
	}
	if v.saved = bytes.Clone(a); v.state == proved {
		return
	}
	v.state = useless
	if fresh, _, err := v.begin(); err == nil {
		if _, err := fresh.Call(Restore, v.saved); err == nil {
			if a, err := fresh.Call(Evaluate, witness); err == nil && bytes.Equal(a, values) {
				v.state, v.history = proved, nil
			}
		}
	}
	if v.state == useless {
		v.saved = nil
	}
}

// restore makes the process, which is at the start, one in the saved state.
func (v *instance) restore(witness, values []byte) error {
	if v.state == proved {
		if _, err := v.process.Call(Restore, v.saved); err != nil {
			return err
		}
	} else if len(v.history) > maxHistory {
		return errors.New("it has had too many events to be simulated again")
	}
	for h := v.history; len(h) >= 8; {
		op, size := Operation(binary.LittleEndian.Uint32(h)), int(binary.LittleEndian.Uint32(h[4:]))
		if op < Event || op > Completed || size > len(h)-8 {
			return snapshot.ErrMismatch
		}
		if _, err := v.process.Call(op, h[8:8+size]); err != nil {
			return err
		}
		h = h[8+size:]
	}
	if !bytes.Equal(v.values(witness), values) {
		return errors.New("it does not come to the same values again")
	}
	return nil
}
