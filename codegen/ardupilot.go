package codegen

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/bt"
)

//go:embed runtime/ardupilot.lua
var ardupilot string

// autopilots are the contracts for whose signals ArduPilot has bindings: the modes, as in package adapter.
var autopilots = map[string]struct {
	modes   map[int]int // of the contract, by their numbers in ArduPilot
	numbers map[int]int // that are commanded, by the modes of the contract
	before  string      // a condition for a mode to be commanded
	guided  int
	takeOff string // what takes off in the guided mode
}{
	"copter": {
		map[int]int{0: 1, 1: 1, 13: 1, 2: 2, 5: 2, 16: 2, 4: 3, 3: 4, 6: 6, 21: 6, 27: 6, 17: 7, 9: 8},
		map[int]int{1: 0, 2: 2, 3: 4, 4: 3, 5: 17, 6: 6, 7: 17, 8: 9},
		"", 3, "vehicle:start_takeoff(w.target_h)",
	},
	"plane": {
		map[int]int{0: 1, 2: 2, 3: 2, 4: 2, 5: 2, 6: 2, 7: 2, 15: 3, 10: 4, 12: 5, 1: 5, 11: 6, 21: 6, 13: 7, 26: 8},
		map[int]int{1: 0, 2: 2, 3: 15, 4: 10, 5: 12, 6: 11, 7: 13, 8: 26},
		`(wanted_mode ~= 7 or param:set("TKOFF_ALT", w.target_h)) and `, 3, "false",
	},
}

// sources are the functions that signals are read with, by the word in which their values are, and whether these are
// known.
var sources = map[string]struct{ words, known string }{
	"position": {"local at, speed = ahrs:get_relative_position_NED_home(), ahrs:get_velocity_NED()",
		"at ~= nil and speed ~= nil"},
	"battery":  {"local charge = battery:capacity_remaining_pct(0)", "charge ~= nil"},
	"mode":     {"", "true"},
	"landed":   {"", "true"},
	"attitude": {"", "ahrs:healthy()"},
	"gps":      {"", "true"},
	"home":     {"", "true"},
	"health":   {"", "true"},
	"air":      {"local airspeed = ahrs:airspeed_estimate()", "airspeed ~= nil"},
}

// bindings are the signals of contracts in ArduPilot, with their sources. What is not known is not a number.
var bindings = map[string]struct{ source, value string }{
	"north":           {"position", "at and at:x() or nan"},
	"east":            {"position", "at and at:y() or nan"},
	"h":               {"position", "at and -at:z() or nan"},
	"v_north":         {"position", "speed and speed:x() or nan"},
	"v_east":          {"position", "speed and speed:y() or nan"},
	"climb":           {"position", "speed and -speed:z() or nan"},
	"groundspeed":     {"position", "speed and math.sqrt(speed:x() ^ 2 + speed:y() ^ 2) or nan"},
	"airspeed":        {"air", "airspeed or nan"},
	"heading":         {"attitude", "ahrs:get_yaw() % (2.0 * math.pi)"},
	"roll":            {"attitude", "ahrs:get_roll()"},
	"battery":         {"battery", "charge and charge / 100.0 or nan"},
	"battery_voltage": {"battery", "battery:voltage(0)"},
	"mode":            {"mode", "mode()"},
	"armed":           {"mode", "arming:is_armed()"},
	"in_air":          {"landed", "vehicle:get_likely_flying()"},
	"ready":           {"health", "arming:is_armed() or arming:pre_arm_checks()"},
	"estimator_ok":    {"health", "ahrs:healthy()"},
	"gps_ok":          {"gps", "gps:status(gps:primary_sensor()) >= 3"},
	"home_known":      {"home", "ahrs:home_is_set()"},
	"link":            {"mode", "true"},
	"refused":         {"mode", "refused"},
	"loiter_radius":   {"mode", `math.abs(param:get("WP_LOITER_RAD") or nan)`},
}

// ordered are the slots that runtime/ardupilot.lua carries out.
var ordered = map[string]bool{"arm": true, "wanted_mode": true, "target_north": true, "target_east": true,
	"target_h": true}

const scriptHead = `%s-- This script is yours: canopy export lua writes it once, and does not overwrite it.
-- It belongs in APM/scripts, and its plan in APM/scripts/modules.

-- The time between two steps [ms], at most 65535: as often, conditions are judged.
local PERIOD = 100

local plan = require(%q)

-- Stops the script: what is here is for you to write.
local function not_connected(name)
  error("not connected: " .. name)
end

-- What goes wrong in a step: "unsettled", if the plan and its signals keep changing each other%s.
local function failed(fault)
  gcs:send_text(3, %s .. fault)
end
`

const leafHead = `
-- What the leaves do. A condition has judge, which returns true or false. An action has poll, called while it is
-- active, which returns "Success", "Failure" or "Running"; it may have judge, called while it is not active, which
-- returns "Success", "Failure" or "Accept", start and stop.
local leaves = {
`

func (w *writer) scriptHead(more string) string {
	return fmt.Sprintf(scriptHead, remark(w.made+"."), w.prefix+"_plan", more, quoted(w.prefix+": "))
}

// signalScript returns the script of a plan whose signals are the user's to connect, but for those of a contract.
func (g *program) signalScript(contract string) string {
	var b strings.Builder
	b.WriteString(g.scriptHead(`, "duration", if a
-- procedure would take a negative time, "unset", if an assignment reads an entry of the blackboard without a value`))
	b.WriteString("\nlocal nan = 0.0 / 0.0\n")
	pilot, known := autopilots[contract]
	if known {
		numbers := func(of map[int]int) string {
			return joined(slices.Sorted(maps.Keys(of)), func(k int) string { return fmt.Sprintf("[%d] = %d", k, of[k]) })
		}
		fmt.Fprintf(&b, ardupilot, numbers(pilot.modes), numbers(pilot.numbers), pilot.before, pilot.guided, pilot.takeOff)
	}
	var words, body strings.Builder
	used := map[string]bool{}
	need := func(source string) {
		if text := sources[source].words; text != "" && !used[source] {
			used[source] = true
			words.WriteString("  " + text + "\n")
		}
	}
	for i := range g.inputs {
		s, name := g.About(g.places[1+i]), g.names[1+i]
		value := "not_connected(" + quoted(name) + ")"
		kind, source, _ := strings.Cut(s.Name, ".")
		from, isSource := sources[source]
		switch bound, ok := bindings[s.Name]; {
		case !known:
		case ok:
			need(bound.source)
			value = bound.value
		case isSource && kind == "known":
			need(source)
			value = from.known
		case isSource && kind == "stamp":
			need(source)
			value = fmt.Sprintf("stamp(%q, %s, time)", source, from.known)
		}
		fmt.Fprintf(&body, "  %s = %s -- %s\n", member("s", name), value, printable(s.About))
	}
	b.WriteString("\n-- Sets all inputs before each step, at a time [s]: numbers and truths. What is unknown is not a" +
		" number.\nlocal function inputs(s, time)\n" + words.String() + body.String() + "end\n")
	b.WriteString("\n-- Carries out what the plan wants, after each step.\nlocal function outputs(w)\n")
	if known {
		b.WriteString("  carry_out(w)\n")
	}
	for i := range g.Slots {
		s, name := g.About(g.places[1+g.inputs+i]), g.names[1+g.inputs+i]
		text := member("w", name) + " -- " + printable(s.About)
		switch initial := inLua.constant(g.Slots[i].Initial).text; {
		case g.Slots[i].Entry || known && ordered[s.Name]:
			fmt.Fprintf(&b, "  -- %s\n", text)
		case s.Truth:
			fmt.Fprintf(&b, "  if %s ~= %t then -- %s\n    not_connected(%s)\n  end\n", member("w", name),
				g.Slots[i].Initial != 0, printable(s.About), quoted(name))
		default:
			fmt.Fprintf(&b, "  if %s ~= %s then -- %s\n    not_connected(%s)\n  end\n", member("w", name), initial,
				printable(s.About), quoted(name))
		}
	}
	b.WriteString("end\n\nreturn plan.schedule(inputs, outputs, failed, PERIOD)\n")
	return b.String()
}

// leafScript returns the script of a tree whose leaves are the user's to write.
func (w *writer) leafScript(l *luaPrinter) string {
	var b strings.Builder
	b.WriteString(w.scriptHead(""))
	b.WriteString(leafHead)
	for i := range w.nodes {
		if w.nodes[i].family != bt.Leaf {
			continue
		}
		what := "judge"
		if w.tree.Kind(bt.Task(i)).Acts() {
			what = "poll"
		}
		fmt.Fprintf(&b, "  %s  %s = {%s = function() not_connected(%s) end},\n", remark(w.about(bt.Task(i))),
			key(l.names[i]), what, quoted(l.names[i]))
	}
	b.WriteString("}\n\nreturn plan.schedule(leaves, failed, PERIOD)\n")
	return b.String()
}
