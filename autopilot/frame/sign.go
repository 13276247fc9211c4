package frame

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
)

// Secret is the secret of signed frames.
type Secret [32]byte

// SecretOf derives a secret from a passphrase by SHA-256.
func SecretOf(passphrase string) Secret { return sha256.Sum256([]byte(passphrase)) }

// epoch is the beginning of signatures' time stamps, 2015-01-01 UTC, in nanoseconds since 1970; tick is their unit.
const (
	epoch = 1420070400e9
	tick  = 10e3

	minute = 60e9 / tick
)

// Stamp returns the time stamp of signatures at a time in nanoseconds since 1970: units of 10 µs since 2015.
func Stamp(unix int64) uint64 { return uint64(max(unix-epoch, 0)) / tick }

// signer signs the frames of one link. Its time stamps increase strictly, whatever the clock does.
type signer struct {
	secret Secret
	link   byte
	last   uint64
}

// Sign makes the writer sign its frames. Link distinguishes the links of one sender. No stamp is below after, which is
// the last stamp of an earlier session, or 0.
func (w *Writer) Sign(secret Secret, link byte, after uint64) {
	w.sign = &signer{secret: secret, link: link, last: after}
}

// Signed returns a frame of version 2 that has no signature, with one. The writer signs. A frame of a message that the
// dialect does not contain is returned as it is.
func (w *Writer) Signed(raw []byte, unix int64) []byte {
	_, id, _, end := header(raw)
	k := w.codecs.of(id)
	if k == nil || raw[0] != magic2 || raw[2] != 0 {
		return raw
	}
	raw = append(make([]byte, 0, len(raw)+signature), raw[:end]...)
	raw[2] = signed
	return w.sign.append(binary.LittleEndian.AppendUint16(raw, sum(raw, end, k.CRCExtra())), unix)
}

func (s *signer) append(raw []byte, unix int64) []byte {
	s.last = max(s.last+1, Stamp(unix))
	var stamp [8]byte
	binary.LittleEndian.PutUint64(stamp[:], s.last)
	raw = append(raw, s.link)
	raw = append(raw, stamp[:6]...)
	return append(raw, digest(s.secret, raw)...)
}

// digest returns the signature of a frame up to and including its stamp.
func digest(secret Secret, raw []byte) []byte {
	h := sha256.New()
	h.Write(secret[:])
	h.Write(raw)
	return h.Sum(nil)[:6]
}

// verifier accepts frames by their signatures.
type verifier struct {
	secret Secret
	last   map[address]uint64 // stamps, by system, component and link
	start  uint64             // a sender that is new must not be older
}

// radioStatus is the message that telemetry radios insert. They have no secret.
const radioStatus = 109

// Verify makes the reader refuse frames without a valid signature, except RADIO_STATUS. The stamps of each sender on
// each link must increase strictly; the first one must not be more than a minute before unix (nanoseconds since 1970),
// nor before the newest one.
func (r *Reader) Verify(secret Secret, unix int64) {
	r.verify = &verifier{secret: secret, last: map[address]uint64{}, start: Stamp(unix) - min(Stamp(unix), minute)}
}

func (v *verifier) accept(f Frame) bool {
	if f.Message.GetID() == radioStatus {
		return true
	}
	if !f.Signed() {
		return false
	}
	at, end := len(f.Raw)-signature, len(f.Raw)-6
	if subtle.ConstantTimeCompare(digest(v.secret, f.Raw[:end]), f.Raw[end:]) == 0 {
		return false
	}
	sender := address{f.System, f.Component, f.Raw[at]}
	var wide [8]byte
	copy(wide[:6], f.Raw[at+1:])
	stamp := binary.LittleEndian.Uint64(wide[:])
	last, known := v.last[sender]
	if !known && stamp < v.start || known && stamp <= last {
		return false
	}
	v.last[sender] = stamp
	v.start = max(v.start, stamp-min(stamp, minute))
	return true
}

// Signed reports whether the frame has a signature, with whatever secret.
func (f Frame) Signed() bool { return len(f.Raw) > header2 && f.Raw[0] == magic2 && f.Raw[2] == signed }

// setupSigning is the message that contains a secret.
const setupSigning = 256

// Public returns what may be recorded of a frame that is sent: all of it, or its head if it contains a secret.
func Public(raw []byte) []byte {
	if len(raw) > header2 && raw[0] == magic2 && uint32(raw[7])|uint32(raw[8])<<8|uint32(raw[9])<<16 == setupSigning {
		return raw[:header2]
	}
	return raw
}

// Strip returns a frame as it may be logged: without its signature, with the checksum that belongs to that. It returns
// nil for frames that must not be logged: those that contain a secret, and signed ones of messages that are unknown.
func (r *Reader) Strip(f Frame) []byte {
	raw := f.Raw
	switch _, id, _, end := header(raw); {
	case id == setupSigning:
		return nil
	case !f.Signed():
		return raw
	default:
		k := r.codecs.of(id)
		if k == nil {
			return nil
		}
		raw = append([]byte(nil), raw[:end]...)
		raw[2] = 0
		return binary.LittleEndian.AppendUint16(raw, sum(raw, end, k.CRCExtra()))
	}
}
