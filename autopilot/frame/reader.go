package frame

// Reader cuts bytes into frames. The zero Reader reads datagrams and accepts frames with and without a signature.
type Reader struct {
	Stream bool // the bytes are a stream: a frame may continue in the bytes of the next call

	Broken  uint64 // bytes that belonged to no frame
	Unknown uint64 // frames whose message the dialect does not contain
	Refused uint64 // frames that Verify did not accept

	verify  *verifier
	codecs  codecs
	rest    []byte // the beginning of a frame of a stream
	senders map[address]*sender
}

// Prepare makes the tables of messages, for which the first frame of each would wait otherwise: 0.1 ms.
func (r *Reader) Prepare(messages ...uint32) { r.codecs.prepare(messages) }

// Open begins anew with the bytes of another connection, and keeps the tables, and the stamps of signatures.
func (r *Reader) Open(stream bool) { *r = Reader{Stream: stream, codecs: r.codecs, verify: r.verify} }

// address is a sender: system, component, and link where that counts.
type address [3]byte

const (
	window  = 64 // a frame that is behind the last one by no more was repeated or overtaken
	restart = 8  // a sender started again if so many frames in a row are late, in order
)

// sender follows the sequence numbers of one component.
type sender struct {
	last     byte
	previous byte // the sequence of the frame before, which may have been late
	run      int  // late frames in a row whose sequence is complete
}

// Read returns the frames in data. Bytes that belong to no frame are skipped and counted. The frames share data.
//
// A frame of an unknown message is taken by its length, provided that another frame or the end of the data follows.
func (r *Reader) Read(data []byte) []Frame {
	if len(r.rest) > 0 {
		data = append(r.rest, data...)
		r.rest = nil
	}
	var frames []Frame
	for len(data) > 0 {
		n := Size(data)
		if n > len(data) && r.Stream {
			r.rest = append(r.rest, data...)
			break
		}
		f, ok := Frame{}, n > 0 && n <= len(data)
		if ok {
			f, ok = r.frame(data[:n:n], data[n:])
		}
		if !ok {
			r.Broken++
			data = data[1:]
			continue
		}
		data = data[n:]
		if r.verify != nil && !r.verify.accept(f) {
			r.Refused++
			continue
		}
		if _, unknown := f.Message.(*Unknown); unknown {
			r.Unknown++
		}
		f.Late = r.late(f)
		frames = append(frames, f)
	}
	return frames
}

// frame decodes one frame.
func (r *Reader) frame(raw, next []byte) (Frame, bool) {
	f, err := r.codecs.decode(raw)
	if err != nil {
		return f, false
	}
	if _, unknown := f.Message.(*Unknown); unknown {
		return f, len(next) == 0 || next[0] == magic1 || next[0] == magic2
	}
	return f, true
}

// late follows the sequence of the frame's sender, and reports whether the frame was repeated or overtaken. A step
// forward of less than half the range is a loss. A step back within the window is a frame that was repeated or
// overtaken, unless a run of such frames shows that the sender started again. Any other step is a new start.
//
// The sequence of an unknown message is not protected by a checksum: it counts only if it is the expected one.
func (r *Reader) late(f Frame) bool {
	key := address{f.System, f.Component}
	s := r.senders[key]
	_, unknown := f.Message.(*Unknown)
	if s == nil {
		if unknown {
			return false
		}
		if r.senders == nil {
			r.senders = map[address]*sender{}
		}
		s = &sender{last: f.Sequence - 1}
		r.senders[key] = s
	}
	step := f.Sequence - s.last
	back := -step
	if unknown && step != 1 {
		return false
	}
	if f.Sequence == s.previous+1 {
		s.run++
	} else {
		s.run = 1
	}
	s.previous = f.Sequence
	if step > 0 && step < 128 || back >= window || s.run >= restart {
		s.last, s.run = f.Sequence, 0
		return false
	}
	return true
}
