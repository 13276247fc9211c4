package service

// Times in nanoseconds.
const (
	millisecond = 1_000_000
	second      = 1000 * millisecond
)

// The figures of the services. "Guide" is the MAVLink developer guide; of the others, the public sources and
// measurements on a simulated ArduPlane were read. A figure without a source is Canopy's own.
const (
	retryFloor = 20 * millisecond // at 50 times real time, a second of the vehicle

	// Heartbeats.
	beatPeriod = 1 * second         // guide; ArduPilot sends with the same period
	beatLost   = 3500 * millisecond // guide: 4 to 5 periods; MAVSDK: 3 s
	beatFloor  = 250 * millisecond  // a computer may be busy so long

	// The clock map.
	mapBlock     = 500 * millisecond // of each such time the fastest sample is kept
	mapBlocks    = 16
	mapRate      = 1 * second        // the rate of the vehicle's clock is measured over at least this time
	mapReal      = 0.02              // a rate that differs less from 1 is real time
	mapJitter    = 200 * millisecond // or by what so much delay explains
	mapReordered = 2 * second        // a time that is earlier by less was overtaken
	mapConfirmed = 300 * millisecond // the vehicle's new clock runs so long without a frame of the old one
	mapStep      = 1 * second        // a time that is later by more than this may be a jump of the vehicle's clock
	mapLead      = 500 * millisecond // the map is ahead of the newest time by no more, and the time since it arrived
	mapSlower    = 1 * second        // a clock that is so far behind the map has another rate
	mapSilent    = 3 * second        // after such a silence the vehicle may have rebooted unseen,
	mapBehind    = 10 * second       // if its clock is so far behind; its attachment takes longer
	syncPeriod   = 2 * second
	syncAhead    = 1 * second // a reply that differs more from the map is not in time since boot: PX4 may send other times
	bootWrap     = 600 * second

	// Commands.
	ackIdempotent = 500 * millisecond  // MAVSDK
	ackGuarded    = 1500 * millisecond // the proof is awaited: longer than the heartbeat's period
	ackProgress   = 3 * second         // MAVSDK: after IN_PROGRESS
	ackLimit      = 60 * second        // of a command in progress
	guardedLimit  = 10 * second        // evidence of telemetry is awaited
	commandTries  = 4                  // MAVSDK: 3 retries

	// Parameters.
	paramWait      = 700 * millisecond // the answer of ArduPilot is asynchronous: clients wait 0.5 to 1 s
	paramTries     = 5                 // MAVSDK; 3 are enough on a good link
	paramRounds    = 1                 // set again once if the value differs
	paramTolerance = 1e-6              // a float has 24 bits
	paramWindow    = 4                 // exchanges under way

	// Message rates.
	streamWait   = 1 * second  // for the acknowledgement, and at least for the first message
	streamTries  = 4           // then a refusal or a silence is remembered
	streamAgain  = 30 * second // a stream that stays silent is asked for again after at most this time
	streamSilent = 3           // periods

	// Texts.
	chunkLength = 50         // guide
	chunkWait   = 2 * second // then the text is complete without the chunks that are missing
	textsOpen   = 16         // texts with missing chunks

	// Transfers.
	transferWait   = 1500 * millisecond // guide: for the first reply
	transferItem   = 500 * millisecond  // MAVSDK; guide: 250 ms, which is short for a radio
	transferTries  = 6                  // guide and MAVSDK: 5 retries
	transferEnd    = 3 * second         // ArduPilot repeats its request after 1 s: now its acknowledgement is lost
	transferSilent = 9 * second         // ArduPilot gives up after 8 s
	transferSpace  = 5 * second         // ArduPilot has no space for lists 2 s after its boot
	transferRounds = 3                  // whole transfers
)
