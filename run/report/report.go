// Package report presents a run log as an HTML page, tables and plots.
package report

import (
	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/expr"
	"github.com/canopy-uav/canopy/run/record"
	"github.com/canopy-uav/canopy/vehicle/earth"
)

// notes are the notes on the parts that the page leaves out.
type notes struct {
	History []string `json:"history"`
	Table   []string `json:"table"`
}

// data is the input of the page's script: web/src/model/run.ts describes it.
type data struct {
	Mission   string   `json:"mission"`
	Text      string   `json:"text"`
	Verdict   outcome  `json:"verdict"`
	Facts     []fact   `json:"facts"`
	Flight    bool     `json:"flight"` // over a link, not simulated
	Axis      string   `json:"axis"`   // what the time is
	Start     float64  `json:"start"`
	End       float64  `json:"end"`
	Statuses  []string `json:"statuses"`  // names by code
	Transient []bool   `json:"transient"` // by code
	Tasks     []task   `json:"tasks"`
	Lanes     []lane   `json:"lanes"`

	Time    []byte         `json:"time"` // float64s; for signals without times of their own
	Signals []curve        `json:"signals"`
	Plots   []panel        `json:"plots"`
	Changes changes        `json:"changes"`
	Events  []record.Event `json:"events"`
	Gap     []float64      `json:"gap"` // start and end of the omitted events; null if there are none
	Notes   notes          `json:"notes"`

	Properties []property     `json:"properties"`
	Verdicts   *texts         `json:"verdicts"`
	Activities *texts         `json:"activities"`
	Extremes   *texts         `json:"extremes"`
	Parameters *parameterList `json:"parameters"`
	Documents  []document     `json:"documents"`

	Fence []earth.Area        `json:"fence"`
	Rally []earth.Coordinates `json:"rally"`
}

type outcome struct {
	Outcome record.Outcome `json:"outcome"`
	Word    string         `json:"word"`
	At      string         `json:"at"`
	Horizon string         `json:"horizon"`
	Reason  string         `json:"reason"`
}

type fact struct {
	Name  string `json:"name"`
	Text  string `json:"text"`
	Small string `json:"small"`
}

type document struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// texts is a table. Columns that begin with # contain numbers.
type texts struct {
	Title   string     `json:"title"`
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Classes []string   `json:"classes"` // of rows; null if they have none
}

func (t *texts) add(cells ...string) { t.Rows = append(t.Rows, cells) }

// orNil returns nil if the table is empty.
func (t *texts) orNil() *texts {
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

type parameterList struct {
	Text    string `json:"text"`
	Changed *texts `json:"changed"`
	All     *texts `json:"all"`
}

type task struct {
	Name   string    `json:"name"`
	Label  string    `json:"label"`
	Kind   string    `json:"kind"`
	Symbol string    `json:"symbol"`
	Role   plan.Role `json:"role"`
	Parent int       `json:"parent"`
	Note   string    `json:"note"`
	Detail []string  `json:"detail"`
	Leaf   bool      `json:"leaf"`
	Rests  bool      `json:"rests"` // where the plan does not hear it
	On     *logic    `json:"on,omitempty"`
	Off    *logic    `json:"off,omitempty"`
}

// newTask returns a task as far as the header of a log describes it.
func newTask(t *record.Task) task {
	to := task{Name: t.Name, Label: t.Name, Kind: t.Kind, Role: plan.Composite, Parent: t.Parent, Note: t.Kind,
		Detail: []string{}, Rests: t.Rests}
	if kind, known := bt.ParseKind(t.Kind); known {
		to.Symbol, to.Role, to.Leaf = kind.Symbol(), plan.RoleOf(kind), kind.Family() == bt.Leaf
	}
	if t.Detail != "" {
		to.Detail = append(to.Detail, t.Detail)
	}
	if to.Leaf && t.Detail != "" {
		to.Note = t.Detail
	}
	return to
}

type panel struct {
	Title   string `json:"title"`
	Signals []int  `json:"signals"`
}

type curve struct {
	Name   string   `json:"name"`
	Unit   string   `json:"unit"`
	Text   string   `json:"text"`
	Type   string   `json:"type"`
	Names  []string `json:"names"`  // of values
	Time   []byte   `json:"time"`   // float64s; empty if they are those of the log
	Values []byte   `json:"values"` // float32s
}

// property is a property or a fact with its robust satisfaction signal.
type property struct {
	Text    string   `json:"text"`
	Kind    string   `json:"kind"`
	Verdict string   `json:"verdict"`
	Margin  *float64 `json:"margin"`
	At      *float64 `json:"at"`      // if violated: the first time at which it fails
	Decided *float64 `json:"decided"` // null: it is open
	Always  bool     `json:"always"`  // it is violated where the values are negative
	Time    []byte   `json:"time"`    // float64s
	Values  []byte   `json:"values"`  // float32s
}

// changes are the status changes by column, in order of occurrence. Of the first ones, it is known what they follow
// from: the change that is so many places before or, if that is 0, a reason; "": it is not known.
type changes struct {
	Back []int    `json:"back"`
	Why  []string `json:"why"`

	T     []float64 `json:"t"`
	Micro []int     `json:"micro"`
	Task  []bt.Task `json:"task"`
	From  []int     `json:"from"`
	To    []int     `json:"to"`
}

// logic is the Boolean structure of a condition. What is neither a threshold nor a combination is opaque.
type logic struct {
	Op     string  `json:"op"`
	Signal string  `json:"signal,omitempty"`
	Limit  float64 `json:"limit,omitempty"`
	Args   []logic `json:"args,omitempty"`
}

func newLogic(l *expr.Logic) logic {
	to := logic{Op: "opaque"}
	switch l.Op {
	case expr.LogicTruth:
		to.Op = map[bool]string{false: "false", true: "true"}[l.Value]
	case expr.LogicThreshold:
		to = logic{Op: "threshold", Signal: l.Signal, Limit: l.Limit}
	case expr.LogicNot, expr.LogicAnd, expr.LogicOr:
		to.Op = map[expr.LogicOp]string{expr.LogicNot: "not", expr.LogicAnd: "and", expr.LogicOr: "or"}[l.Op]
	case expr.LogicProposition, expr.LogicRelation:
	}
	for i := range l.Args {
		to.Args = append(to.Args, newLogic(&l.Args[i]))
	}
	return to
}
