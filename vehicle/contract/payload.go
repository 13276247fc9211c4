package contract

import (
	_ "embed" // the library is a document
	"math"
	"strings"
)

//go:embed payload.xml
var payloadLibrary string

// equipped returns the library of a class with the actions of the payload: its models and trees behind
// those of the class.
func equipped(library string) string {
	const models, trees = "<TreeNodesModel>\n", "</TreeNodesModel>\n"
	_, more, _ := strings.Cut(payloadLibrary, models)
	actions, more, _ := strings.Cut(more, trees)
	library = strings.Replace(library, trees, strings.TrimLeft(actions, "\n")+trees, 1)
	return strings.TrimSuffix(library, "</root>\n") + strings.TrimLeft(more, "\n")
}

// The states of a gripper, and what can be wanted of it.
var (
	gripped = []string{"none", "grabbed", "released"}
	grips   = []string{"none", "grab", "release"}
)

// payloadSignals are what is seen of the payload.
var payloadSignals = []Signal{
	{Name: "servo", Unit: "1", Type: Real, Source: Servo, Text: "number of the wanted servo; 0 while none is wanted"},
	{Name: "pwm", Unit: "s", Type: Real, Source: Servo, Text: "pulse width at the output of that servo"},
	{Name: "relay", Unit: "1", Type: Real, Source: Relay, Text: "number of the wanted relay; 0 while none is wanted"},
	{Name: "relay_on", Unit: "1", Type: Boolean, Source: Relay, Text: "that relay is on"},
	{Name: "gripper", Unit: "1", Type: Enumeration, Values: gripped, Source: Gripper,
		Text: "what the gripper was seen to do; none: what is wanted of it was not seen yet"},
	{Name: "photos", Unit: "1", Type: Real, Source: Camera, Text: "number of photos that were seen to be taken"},
	{Name: "shooting", Unit: "1", Type: Boolean, Source: Camera,
		Text: "photos are taken in the wanted distance or interval"},
	{Name: "mount_pitch", Unit: "rad", Type: Real, Source: Mount, Text: "pitch of the mount, up"},
	{Name: "mount_yaw", Unit: "rad", Type: Real, Source: Mount, Text: "yaw of the mount from the nose, to the right"},
}

// payloadSlots are what can be wanted of the payload. It is left as it is where nothing is wanted of it.
var payloadSlots = []Slot{
	{Name: "wanted_servo", Unit: "1", Type: Real, Min: 1, Max: 16, Text: "number of a servo; 0: no command"},
	{Name: "wanted_pwm", Unit: "s", Type: Real, Min: 500e-6, Max: 2500e-6, Text: "pulse width of the wanted servo"},
	{Name: "wanted_relay", Unit: "1", Type: Real, Min: 1, Max: 16, Text: "number of a relay, from 1; 0: no command"},
	{Name: "wanted_relay_on", Unit: "1", Type: Boolean, Max: 1, Text: "the wanted relay is to be on"},
	{Name: "wanted_gripper", Unit: "1", Type: Enumeration, Values: grips, Max: 2,
		Text: "what the gripper is to do; none: no command"},
	{Name: "wanted_photos", Unit: "1", Type: Real, Min: 1, Max: 1e6,
		Text: "a photo is taken while fewer than this number were; 0: no command"},
	{Name: "photo_distance", Unit: "m", Type: Real, Min: 0.1, Max: 10000,
		Text: "way between photos that the vehicle takes by itself; 0: none"},
	{Name: "photo_interval", Unit: "s", Type: Real, Min: 0.1, Max: 86400,
		Text: "time between photos that the vehicle takes by itself; 0: none"},
	{Name: "wanted_mount", Unit: "1", Type: Boolean, Max: 1, Text: "point the mount; false: no command"},
	{Name: "wanted_pitch", Unit: "rad", Type: Real, Min: math.Inf(-1), Max: math.Inf(1),
		Text: "pitch of the mount, up"},
	{Name: "wanted_yaw", Unit: "rad", Type: Real, Min: math.Inf(-1), Max: math.Inf(1),
		Text: "yaw of the mount from the nose, to the right"},
}
