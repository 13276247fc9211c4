package codegen

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/expr"
)

//go:embed runtime/canopy_vehicle.h
var vehicleHeader string

//go:embed runtime/canopy_equations.h
var equationsHeader string

//go:embed runtime/canopy_solar.c
var solarSource string

// Vehicle returns a vehicle in C99 with all files that it includes, of which canopy_vehicle.h is what a program needs:
// the vehicle of these equations or, if they are nil, the one of this name that is Go code. All that the C file defines
// is the constant canopy_vehicle NAME_vehicle, where NAME is the name as an identifier. A comment says from what it was
// made. A vehicle has at most 65,535 numbers of each kind.
func Vehicle(name, made string, e *expr.System) ([]File, error) {
	files := []File{{"canopy_vehicle.h", vehicleHeader}, {"canopy_functions.h", functions}}
	if e == nil {
		if name != "solar" {
			return nil, fmt.Errorf("the vehicle %s is Go code, of which there is no program in C", name)
		}
		return append(files, File{"canopy_solar.c", solarSource}), nil
	}
	resets := 0
	for i := range e.Events {
		resets += len(e.Events[i].Resets)
	}
	if n := max(len(e.Units), len(e.Ranges), e.Inputs, len(e.Outputs), len(e.Switches), resets,
		len(e.Events)+2*len(e.Cells)); n > math.MaxUint16 {
		return nil, fmt.Errorf("the vehicle %s has %d numbers of a kind; C supports at most %d", name, n, math.MaxUint16)
	}
	w := &vehicle{System: e}
	id := identifier(name)
	return append(files, File{"canopy_equations.h", equationsHeader},
		File{id + ".c", comment(made) + "\n" + w.text(id)}), nil
}

// vehicle writes the tables of a vehicle.
type vehicle struct {
	*expr.System
	functions, tables strings.Builder
	n                 int               // functions
	known             []*expr.Tabulated // tables
}

// function writes an expression as a function with a comment, and returns its name.
func (w *vehicle) function(c *expr.Code, held bool, about string) string {
	same := func(signal int) int { return signal }
	text := inC.body(c, false, held, terms{place: same, table: func(t *expr.Tabulated) string {
		i := slices.Index(w.known, t)
		if i < 0 {
			i = len(w.known)
			w.known = append(w.known, t)
			w.functions.WriteString(tableText(fmt.Sprintf("table%d", i), t))
		}
		return fmt.Sprintf("table%d", i)
	}})
	w.n++
	name, sides := fmt.Sprintf("f%d", w.n), ""
	if held {
		sides = ", const bool *above"
	}
	fmt.Fprintf(&w.functions, "\n%s\nstatic double %s(const double *s%s) {\n", comment(about), name, sides)
	for _, unused := range []string{"s", "above"} {
		if !strings.Contains(text, unused+"[") && (held || unused == "s") {
			fmt.Fprintf(&w.functions, "  (void)%s;\n", unused)
		}
	}
	w.functions.WriteString(text + "}\n")
	return name
}

// formula writes an expression as a canopy_formula.
func (w *vehicle) formula(c *expr.Code, about string) string {
	plain, held := w.function(c, false, about), "NULL"
	if !slices.Equal(c.Program(true), c.Program(false)) {
		held = w.function(c, true, about+", held")
	}
	return "{" + plain + ", " + held + "}"
}

// list writes a constant array, and returns its name. An element may need other arrays, which come before.
func (w *vehicle) list(of, name string, n int, text func(i int) string) string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = text(i)
	}
	define(&w.tables, of, name, n, func(i int) string { return rows[i] })
	return pointer(name, n)
}

func (w *vehicle) text(id string) string {
	formulas := func(name string, list []*expr.Code) string {
		return w.list("canopy_formula", name, len(list),
			func(i int) string { return w.formula(list[i], fmt.Sprintf("%s[%d]", name, i)) })
	}
	limits := func(l [2]float64) string { return "{" + inC.constant(l[0]).text + ", " + inC.constant(l[1]).text + "}" }
	order := func(name string, list []int, of string, n int) string {
		name = w.list("uint16_t", name, len(list), func(i int) string { return fmt.Sprint(list[i]) })
		return fmt.Sprintf("{%s, %s, %d, %d}", name, of, len(list), n)
	}
	var switches []*expr.Code
	for i := range w.Switches {
		switches = append(switches, w.Switches[i].Difference())
	}
	fields := []string{
		w.list("canopy_parameter", "parameters", len(w.Units), func(i int) string {
			scale, per := w.Units[i].Factor()
			return "{" + limits(w.Limits[i]) + ", " + inC.constant(scale).text + ", " + inC.constant(per).text + "}"
		}),
		w.list("canopy_limits", "ranges", len(w.Ranges), func(i int) string { return limits(w.Ranges[i]) }),
		w.list("canopy_value", "starts", len(w.Initial),
			func(i int) string { return w.function(w.Initial[i], false, fmt.Sprintf("starts[%d]", i)) }),
		formulas("values", w.Outputs),
		order("derive", w.Derive, formulas("rates", w.Derivatives), len(w.Derivatives)),
		order("all", w.All, "NULL", 0),
		order("related", w.Related, formulas("indicators", switches), len(switches)),
		w.list("canopy_event", "events", len(w.Events), func(i int) string {
			resets := w.Events[i].Resets
			about := fmt.Sprintf("events[%d]", i)
			of := w.list("canopy_reset", fmt.Sprintf("resets%d", i), len(resets), func(k int) string {
				return fmt.Sprintf("{%d, %s}", resets[k].State, w.function(resets[k].Value, false, about+", a reset"))
			})
			return fmt.Sprintf("{%s, %s, %d}", w.formula(w.Events[i].Condition, about), of, len(resets))
		}),
		w.list("canopy_cell", "cells", len(w.Cells), func(i int) string {
			points, clamp := w.Cells[i].Axis()
			of := w.list("double", fmt.Sprintf("points%d", i), len(points),
				func(k int) string { return inC.constant(points[k]).text })
			return fmt.Sprintf("{%s, %s, %d, %t}", w.formula(w.Cells[i].Argument(), fmt.Sprintf("cells[%d]", i)), of,
				len(points), clamp)
		}),
	}
	sizes := []int{len(w.Units), len(w.Ranges), w.Inputs, len(w.Outputs)}
	for _, n := range append(sizes, len(w.Events), len(w.Cells)) {
		fields = append(fields, fmt.Sprint(n))
	}
	memory := len(w.Events) + 2*len(w.Cells)
	return fmt.Sprintf("#include \"canopy_equations.h\"\n%s%s\nstatic const canopy_equations equations = {%s};\n\n"+
		"extern const canopy_vehicle %[4]s_vehicle;\n\nconst canopy_vehicle %[4]s_vehicle = {%d, %d, %d, %d, %d, %d, "+
		"%d * sizeof(double), create, initial, begin, derivatives, output, zeros, react};\n", w.functions.String(),
		w.tables.String(), strings.Join(fields, ", "), id, sizes[0], sizes[1], sizes[2], sizes[3], len(switches), memory,
		1+sizes[0]+sizes[1]+sizes[2]+sizes[3]+memory)
}
