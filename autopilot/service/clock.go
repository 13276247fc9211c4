// Package service contains the MAVLink microservices as state machines: commands, parameters, transfers of missions,
// fences and rally points, message rates, heartbeats, the map between clocks, texts and the set-up of signatures.
//
// Every machine is pure: it receives frames and clock readings and returns messages. The caller passes each frame to
// Receive and calls Wake when Due is reached; Out returns the messages to be sent.
package service

// Clock is one reading of all clocks, in nanoseconds.
type Clock struct {
	Wall    int64 // monotonic, since the program's start
	Unix    int64 // since 1970; may step
	Vehicle int64 // since the vehicle's boot, by the clock map; 0: unknown
}
