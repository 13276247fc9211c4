package record

// Channel is a channel of run.mcap that only flights over a link have. It exists from its first message on.
type Channel int

// The channels.
const (
	Incoming  = Channel(inChannel)       // frames from the link: clocks, addresses, number of the message, bytes
	Outgoing  = Channel(outChannel)      // frames to the link, likewise
	Clocks    = Channel(clockChannel)    // readings of the clocks, once in a second
	Decisions = Channel(decisionChannel) // the input that made the plan decide
	Locations = Channel(locationChannel) // foxglove.LocationFix: where the vehicle is
	Messages  = Channel(logChannel)      // foxglove.Log: events and status changes
)

// SetDate implements [Recorder]. It changes nothing in the log of a run without a date.
func (w *Writer) SetDate(unix int64) {
	if w.mcap.date != 0 && unix > 0 {
		w.mcap.date = uint64(unix)
	}
}

// Message implements [Recorder].
func (w *Writer) Message(c Channel, data []byte) error {
	if w.err != nil {
		return w.err
	}
	stamp, err := w.mcap.stamp(w.header.Start)
	if err == nil {
		err = w.mcap.add(int(c), stamp, data)
	}
	return w.logged(err)
}
