package plan

import (
	"github.com/canopy-uav/canopy/executive"
	"github.com/canopy-uav/canopy/expr"
)

// Coder makes the code of a plan's leaves for an executive: a mission, an analysis and a running program each have
// their own signals. Its functions are called with expressions that the plan gives.
type Coder struct {
	Observed func(*expr.Expr, expr.Variable) *expr.Code // whose value is followed: relations are events
	Once     func(*expr.Expr, expr.Variable) *expr.Code // that is evaluated at an instant
	Slot     func(a Assignment) (int, expr.Variable)    // that an assignment writes
}

// Compile adds the plan's leaves to a program.
func (c Coder) Compile(p *executive.Program, leaves []Leaf) {
	optional := func(code func(*expr.Expr, expr.Variable) *expr.Code, want expr.Variable) func(*expr.Expr) *expr.Code {
		return func(e *expr.Expr) *expr.Code {
			if e == nil {
				return nil
			}
			return code(e, want)
		}
	}
	condition := optional(c.Observed, expr.Variable{Type: expr.Boolean})
	duration := optional(c.Once, expr.Number(expr.Second))
	assignments := func(code func(*expr.Expr, expr.Variable) *expr.Code, list []Assignment) []executive.Assignment {
		var all []executive.Assignment
		for _, a := range list {
			slot, v := c.Slot(a)
			assignment := executive.Assignment{Slot: slot}
			if !a.Unset {
				assignment.Value, assignment.Known = code(a.Value, v), condition(a.Known)
			}
			all = append(all, assignment)
		}
		return all
	}
	for _, l := range leaves {
		out := executive.Leaf{Task: l.Task, Condition: !p.Tree.Kind(l.Task).Acts(), Lenient: l.Lenient,
			Until: l.Until, Entry: assignments(c.Once, l.Entry), Exit: assignments(c.Once, l.Exit),
			EntryTime: duration(l.EntryTime), ExitTime: duration(l.ExitTime)}
		out.Formulas = [executive.Criteria]*expr.Code{executive.On: condition(l.On), executive.Off: condition(l.Off),
			executive.Entered: condition(l.EntryUntil), executive.Exited: condition(l.ExitUntil),
			executive.Done: condition(l.Done), executive.Failed: condition(l.Failed),
			executive.SuccessIf: condition(l.SuccessIf), executive.FailureIf: condition(l.FailureIf)}
		p.Add(out, assignments(c.Observed, l.Write))
	}
}
