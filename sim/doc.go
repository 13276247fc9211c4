// Package sim simulates hybrid systems: ordinary differential equations whose right-hand side changes at events.
//
// A System is the immutable description, a Simulator holds all mutable state. Between events the inputs U and the sides
// Above of the indicators (g >= 0 or not) are constant, so that the right-hand side is smooth for the integrator. The
// owner of the simulator drives it, instant by instant:
//
//	for s.T < horizon {
//		segment := s.Advance(horizon)           // record [From, To] with Interpolate
//		if segment.Events or segment.Alarm {
//			repeat {
//				changed := s.Iterate()          // commits the sides
//				react to changed and to the alarm: change U, Y, Watch, Alarm
//			} until nothing changed and nothing is left to do
//		}
//	}
//
// # The step
//
// Advance, complete, with the order of simultaneous events:
//
//	begin
//		if Y was changed, or Restart was called, or an input that Drives or the side of an indicator that Switches
//		was changed, and the derivatives before and now differ at T, at the end of the integrator's step or halfway:
//			restart the integrator at (T, Y)    // otherwise the rest of its step stays valid
//		if anything was changed:
//			evaluate the indicators at T; not finite and watched: stop
//			E := watched indicators whose side differs from Above, in a watched direction
//			commit the sides that differ in the other direction
//		if E or Alarm <= T: return the segment [T, T] with E and the alarm   // one instant
//	step
//		limit := min(until, Alarm)
//		if the integrator's step is used up: make one more, not past limit   // it lands on limit exactly
//			a state is not finite there, or the steps have collapsed: stop
//		end := min(limit, end of the step)
//		in a sliding motion: end := min(end, time at which a rate changes its sign)
//	screen, each watched indicator
//		set it aside for this step if bounds of its quantity over the step exclude its level
//		bounds are those of the dense output, of expressions over it, or an estimate by samples
//	search each indicator that is not set aside, from T to end, through the step and, where necessary, its halves
//		bounds exclude a change, or its rate has one sign: decided by the value at the end of the part
//		locate the first watched change to neighbouring numbers left < right
//		if a change was located: at := the earliest right; go to event
//	no event
//		T := end, Y := states there
//		if a sliding motion ends at T: E := its indicators, if their side changes; return with E
//		commit changes in directions that are not watched
//		return the segment, with the alarm if Alarm = T
//	event
//		at := Alarm if at is within four units in the last place of it    // one instant
//		evaluate all indicators at at; not finite and watched: T := left, stop
//		E := all watched indicators whose side at at is not the one they left, in a watched direction,
//			in declared order                        // one simultaneous set; Above keeps the sides left
//		without those that touch zero: they return before they leave the zone of their accuracy, and keep their side
//		commit the sides that differ in the other direction
//		T := at, Y := states there on the dense output   // the left limit
//		chattering (see chatter): with Stop, or without a sliding motion, return the error with the segment;
//			else the sliding motion begins after the instant
//		return the segment with E, with the alarm if Alarm = T
//
// After an event the rest of the step is kept. If the reaction changed nothing that the derivatives depend on, the next
// Advance searches the rest, with the same samples and the same brackets. Therefore an indicator that is watched only
// for the record changes no bit of the results.
package sim
