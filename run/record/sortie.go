package record

import "fmt"

// Sortie is what became of the vehicle in a flight over a link, as telemetry showed it.
type Sortie struct {
	Vehicle Fate   `json:"vehicle"`
	Text    string `json:"text"`             // the reason, or how the vehicle was seen last
	PreArm  string `json:"prearm,omitempty"` // of a vehicle that was never armed: the autopilot's last reason
	Left    string `json:"left,omitempty"`   // that the vehicle did not go on as it was told at the end

	Refused     []string `json:"refused,omitempty"`      // the first refusals, with their times
	MoreRefused int      `json:"more_refused,omitempty"` // and the number of the others
}

// Fate is a kind of end of a flight.
type Fate string

// The fates.
const (
	NotBegun   Fate = "not begun"             // the plan did not start
	NotAsked   Fate = "not asked to fly"      // the plan wanted neither arming nor a mode that flies
	NeverArmed Fate = "never armed"           // although the plan wanted to fly
	NeverFlew  Fate = "never left the ground" // although it was armed
	StillArmed Fate = "still armed"           // on the ground
	Landed     Fate = "landed"                // on the ground, disarmed, after it flew
	InTheAir   Fate = "in the air"            // as it was told to go on
	TakenOver  Fate = "taken over"            // by a pilot, a failsafe or another station
	Observed   Fate = "only observed"         // after a reboot, without a resume, or in the air
	NotHeard   Fate = "not heard"             // nobody knows: no telemetry shows it
)

// maxRefused is the number of refusals that are kept.
const maxRefused = 20

// Refuse adds a refusal.
func (s *Sortie) Refuse(text string) {
	if len(s.Refused) < maxRefused {
		s.Refused = append(s.Refused, text)
	} else {
		s.MoreRefused++
	}
}

// Fault returns what is wrong with the fate of the vehicle, "" if nothing is.
func (s *Sortie) Fault() string {
	switch s.Vehicle {
	case NotAsked, Landed, InTheAir:
		return ""
	}
	return "the vehicle: " + s.String()
}

// Faults returns what keeps the flight from being what its plan wanted, as sentences without a stop.
func (s *Sortie) Faults() (list []string) {
	if text := s.Fault(); text != "" {
		list = append(list, text)
	}
	if s.Left != "" {
		list = append(list, s.Left)
	}
	if n := len(s.Refused) + s.MoreRefused; n > 0 {
		text := fmt.Sprintf("%d refused", n)
		if len(s.Refused) > 0 {
			text += ", first " + s.Refused[0]
		}
		list = append(list, text)
	}
	return list
}

// String returns the fate with its text.
func (s *Sortie) String() string {
	if s.Text == "" {
		return string(s.Vehicle)
	}
	return string(s.Vehicle) + ": " + s.Text
}
