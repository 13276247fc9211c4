package bt_test

import "canopy/bt"

// precondition is the decision of the preconditions of plans, and of a Precondition.
func (t *sweptTask) precondition() (returns, success bool, wants []*sweptTask) {
	condition, c := t.children[0], t.children[1]
	if t.branch == 0 {
		switch {
		case condition.skipped():
			return t.skip()
		case condition.asks():
			return false, false, []*sweptTask{condition}
		case !condition.good() && !condition.bad():
			return false, false, nil
		case t.kind == bt.FailureIf && condition.good():
			return true, false, nil
		case t.kind == bt.SuccessIf && condition.good():
			return true, true, nil
		case t.kind == bt.SkipIf && condition.good(), t.kind == bt.While && condition.bad():
			return t.skip()
		case t.kind == bt.Precondition && condition.bad():
			switch t.otherwise {
			case 1, 2:
				return true, t.otherwise == 2, nil
			case 3:
				return t.skip()
			}
			return false, false, nil
		}
	}
	switch {
	case c.skipped():
		return t.skip()
	case c.good(), c.bad():
		return true, c.good(), nil
	case c.asks():
		wants = append(wants, c)
	}
	return false, false, wants
}

// postcondition is the decision of the postconditions of plans.
func (t *sweptTask) postcondition() (returns, success bool, wants []*sweptTask) {
	c := t.children[0]
	switch t.after() {
	case 0:
		switch c = t.children[1]; {
		case c.skipped():
			return t.skip()
		case c.good(), c.bad():
			return true, c.good(), nil
		}
	default:
		switch {
		case c.skipped():
			return t.skip()
		case c.good(), c.bad():
			return true, t.after() == 1, nil
		}
	}
	if c.asks() {
		wants = append(wants, c)
	}
	return false, false, wants
}

// after returns how the node of a postcondition has ended, if its action follows: 1 well, 2 badly, 0 no.
func (t *sweptTask) after() int {
	node := t.children[1]
	switch {
	case t.branch > 0 || t.kind == bt.OnHalted:
		return t.branch
	case node.good() && t.kind != bt.OnFailure:
		return 1
	case node.bad() && t.kind != bt.OnSuccess:
		return 2
	}
	return 0
}
