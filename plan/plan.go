// Package plan reads and draws plan documents: behaviour trees in the XML format of BehaviorTree.CPP 4.
package plan

import (
	"canopy/bt"
	"canopy/diag"
	"canopy/expr"
)

// Signal is one real signal that the expressions of a plan may name.
type Signal struct {
	Unit expr.Unit
	Slot bool   // tasks may write it
	Hold bool   // a slot that keeps its last value while nobody writes it; otherwise it returns to its default
	Text string // one line that describes it
}

// Vocabulary is all signals that a plan may name.
type Vocabulary map[string]Signal

// Plan is a plan document that was read without errors: its main tree, every subtree expanded. It is immutable.
type Plan struct {
	Source *diag.Source
	Name   string // the ID of the main tree
	Tree   *bt.Tree
	Leaves []Leaf // in the order of Tree.Leaves
}

// Leaf is what a leaf of the tree means. The expressions that its element does not give are nil.
type Leaf struct {
	Task           bt.Task
	ID             string // its leaf type; the element's name if it has no ID attribute
	Offset, Length int    // the start tag in the source

	On, Off *expr.Expr // Condition: becomes true when On holds, stays true until Off holds; Off nil: true while On holds

	Write                 []Assignment // Action: hold while the task is active
	Entry, Exit           []Assignment // Action: made once at the start of the entry and of the exit procedure
	EntryTime, ExitTime   *expr.Expr   // duration [s] of the entry and of the exit procedure
	EntryUntil, ExitUntil *expr.Expr   // the procedure ends when this holds
	Done, Failed          *expr.Expr   // outcome while active; Failed wins
	SuccessIf, FailureIf  *expr.Expr   // request while transient; FailureIf wins
}

// Assignment gives a slot a value.
type Assignment struct {
	Target         string
	Value          *expr.Expr
	Offset, Length int // the target's name in the source
}

// Read reads a plan document. The list holds all mistakes at once; if one of them is an error there is no plan. Without
// a vocabulary (nil), neither names nor units of signals are checked.
func Read(src *diag.Source, signals Vocabulary) (*Plan, diag.List) { return nil, nil }
