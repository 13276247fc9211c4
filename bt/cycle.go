package bt

import "github.com/canopy-uav/canopy/snapshot"

// Status is a task's status.
type Status uint8

// The statuses. A task in Success, Failure, Accept or Skipped is transient: it can be judged without being activated.
const (
	Success      Status = iota // judged, no activation needed
	Failure                    // judged, no activation needed
	Accept                     // asks to be activated
	Activating                 // active; its entry procedure is running
	Running                    // active and initialised
	Finished                   // succeeded; left only by deactivation
	Aborted                    // failed; left only by deactivation
	Deactivating               // its exit procedure is running
	Skipped                    // judged: there is nothing to be done, and its parent passes over it
	Dropped                    // what was left to be done is skipped; left only by deactivation
)

var statusNames = [...]string{"Success", "Failure", "Accept", "Activating", "Running", "Finished", "Aborted",
	"Deactivating", "Skipped", "Dropped"}

func (s Status) String() string { return statusNames[s] }

// State passes the status to the codec.
func (s *Status) State(c *snapshot.Codec) { snapshot.Within(c, s, Success, Dropped) }

// Transient reports whether a task with this status was judged without being activated.
func (s Status) Transient() bool { return s.in(transient) }

// Ended reports whether a task with this status has ended and waits for its deactivation.
func (s Status) Ended() bool { return s.in(ended | 1<<Dropped) }

// room is the number of statuses for which sets and tables have a place. It is a power of two, so that an index modulo
// room needs no check.
const room = 16

// statusSet is a set of statuses, one bit each.
type statusSet uint16

const (
	transient statusSet = judged | 1<<Accept
	judged    statusSet = 1<<Success | 1<<Failure | 1<<Skipped
	good      statusSet = 1<<Success | 1<<Finished
	bad       statusSet = 1<<Failure | 1<<Aborted
	skipped   statusSet = 1<<Skipped | 1<<Dropped
	ended     statusSet = 1<<Finished | 1<<Aborted // with a result that is held
	wanted    statusSet = 1<<Accept | 1<<Activating | 1<<Running
	switching statusSet = 1<<Activating | 1<<Deactivating
)

// Judgement returns the judgement of an effective status: Success if it is good, Failure if it is bad, Skipped if it is
// skipped, Accept if it is undecided.
func (s Status) Judgement() Status { return judgement[s] }

var judgement = [room]Status{
	Success: Success, Finished: Success,
	Failure: Failure, Aborted: Failure,
	Skipped: Skipped, Dropped: Skipped,
	Accept: Accept, Activating: Accept, Running: Accept, Deactivating: Accept,
}

// says returns the effective statuses with this judgement; none for Accept.
func says(judgement Status) statusSet {
	return [...]statusSet{Success: good, Failure: bad, Skipped: skipped, Accept: 0}[judgement]
}

func (s Status) in(set statusSet) bool { return set>>(s%room)&1 != 0 }

// cycle is the status cycle f, the only code that decides a change of status. It returns the status that follows s, or
// s itself if it is stable. The verdict joins the task's flags `returns` and `success`: Success or Failure if the task
// returns, Skipped if it is skipped, Accept if it does not return.
//
// The cycle is that of A. Klöckner, The Modelica BehaviorTrees Library: Mission Planning in Continuous-Time for
// Unmanned Aircraft, 2014, with the transient statuses of his Behavior Trees for UAV Mission Management, 2013.
func cycle(s, verdict Status, active, switching bool) Status {
	switch s {
	case Success, Failure, Skipped:
		return verdict
	case Accept:
		if verdict != Accept {
			return verdict
		}
		if active {
			return Activating
		}
	case Activating:
		if !active {
			return Deactivating
		}
		if !switching {
			return Running
		}
	case Running:
		if !active {
			return Deactivating
		}
		switch verdict {
		case Success:
			return Finished
		case Failure:
			return Aborted
		case Skipped:
			return Dropped
		}
	case Finished, Aborted, Dropped:
		if !active {
			return Deactivating
		}
	case Deactivating:
		if !switching {
			return verdict
		}
	}
	return s
}
