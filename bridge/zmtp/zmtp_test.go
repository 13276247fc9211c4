package zmtp

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// unhex returns the bytes of a text in hex digits, blanks left out.
func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What clients send, as the specification has it (https://rfc.zeromq.org/spec/23).
const (
	hello = "ff 0000000000000001 7f 03 00 4e554c4c 00000000000000000000000000000000 00" +
		"00000000000000000000000000000000000000000000000000000000000000"
	readyREQ = "04 26 05 5245414459 0b 536f636b65742d54797065 00000003 524551 08 4964656e74697479 00000000"
	readySUB = "04 19 05 5245414459 0b 736f636b65742d74797065 00000003 535542"
	readyREP = "04 19 05 5245414459 0b 536f636b65742d54797065 00000003 524550"
)

// echo answers with the frames of the request in reverse order.
func echo(request [][]byte) (answer [][]byte) {
	for _, f := range request {
		answer = append([][]byte{f}, answer...)
	}
	return answer
}

// fake is the connection of a client that sends some bytes and no more.
type fake struct {
	net.Conn
	sent     io.Reader
	received bytes.Buffer
}

func (f *fake) Read(b []byte) (int, error)       { return f.sent.Read(b) }
func (f *fake) Write(b []byte) (int, error)      { return f.received.Write(b) }
func (f *fake) SetDeadline(time.Time) error      { return nil }
func (f *fake) SetWriteDeadline(time.Time) error { return nil }

// talk serves a client that sends these bytes and no more, and returns what it receives, and why it is served no more.
func talk(sent []byte, answer func([][]byte) [][]byte) (received []byte, err error) {
	c := &fake{sent: bytes.NewReader(sent)}
	err = serve(c, answer)
	return c.received.Bytes(), err
}

// dial connects to a new server.
func dial(t *testing.T, answer func([][]byte) [][]byte) net.Conn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go Serve(l, answer)
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// Each byte of a conversation is that of the specification: greeting, READY, a request of two frames behind two
// addresses, one of a long frame, and a heartbeat.
func TestBytes(t *testing.T) {
	long := bytes.Repeat([]byte{7}, 256)
	sent := unhex(t, hello+readyREQ+"01 01 41 01 02 4243 01 00 01 01 61 00 02 6263"+"04 09 04 50494e47 0064 7879"+
		"01 00 02 0000000000000100")
	got, err := talk(append(sent, long...), echo)
	want := unhex(t, hello+strings.Replace(readyREQ, "524551", "524550", 1)+"01 01 41 01 02 4243 01 00 01 02 6263 00 01 61"+
		"04 07 04 504f4e47 7879"+"01 00 02 0000000000000100")
	if want = append(want, long...); !bytes.Equal(got, want) || !errors.Is(err, io.EOF) {
		t.Errorf("%v, received % x\nwanted   % x", err, got, want)
	}
}

// A PUB socket greets subscribers, and says nothing more.
func TestSubscriber(t *testing.T) {
	got, err := talk(unhex(t, hello+readySUB+"00 01 01 00 03 01 4e4e"), nil)
	if want := unhex(t, hello+strings.Replace(readyREQ, "524551", "505542", 1)); !bytes.Equal(got, want) || !errors.Is(err, io.EOF) {
		t.Errorf("%v, received % x\nwanted   % x", err, got, want)
	}
}

// Clients that break the protocol are dropped, and cause no answer.
func TestDropped(t *testing.T) {
	for name, c := range map[string]struct {
		sent   string
		answer func([][]byte) [][]byte
	}{
		"a browser":       {hex.EncodeToString([]byte("GET / HTTP/1.1\r\nHost: 127.0.0.1:1667\r\nAccept: text/html, */*\r\n\r\n")), echo},
		"version 2":       {strings.Replace(hello, "7f 03", "7f 01", 1) + readyREQ, echo},
		"a password":      {strings.Replace(hello, "4e554c4c 00", "504c41494e", 1) + readyREQ, echo},
		"no command":      {hello + "00" + readyREQ[2:], echo},
		"wrong socket":    {hello + readyREP, echo},
		"no subscriber":   {hello + readyREQ, nil},
		"no type":         {hello + "04 06 05 5245414459", echo},
		"short property":  {hello + "04 0a 05 5245414459 0b 536f63", echo},
		"short value":     {hello + "04 18 05 5245414459 0b 536f636b65742d54797065 00000003 5245", echo},
		"reserved flag":   {hello + readyREQ + "08 00", echo},
		"command goes on": {hello + readyREQ + "05 00", echo},
		"too long":        {hello + readyREQ + "02 0000000000100001", echo},
		"immense":         {hello + readyREQ + "02 ffffffffffffffff", echo},
		"many frames":     {hello + readyREQ + strings.Repeat("01 00", mostFrames) + "00 00", echo},
	} {
		got, err := talk(unhex(t, c.sent), func(frames [][]byte) [][]byte {
			t.Errorf("%s: a request of %d frames", name, len(frames))
			return frames
		})
		if c.answer == nil {
			got, err = talk(unhex(t, c.sent), nil)
		}
		if !errors.Is(err, ErrProtocol) || len(got) > 160 {
			t.Errorf("%s: %v after % x", name, err, got)
		}
	}
}

// A client that never takes its answers is dropped; meanwhile another one is answered.
func TestNeverReads(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: it takes the server's patience")
	}
	large := make([]byte, 1<<20)
	c := dial(t, func([][]byte) [][]byte { return [][]byte{large} })
	_, err := c.Write(unhex(t, hello+readyREQ+strings.Repeat("01 00 00 00", 64)))
	if err != nil {
		t.Fatal(err)
	}
	other, err := net.Dial("tcp", c.RemoteAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // only read
	_ = other.SetDeadline(time.Now().Add(patience / 2))
	_, _ = other.Write(unhex(t, hello+readyREQ+"01 00 00 00"))
	if n, err := io.CopyN(io.Discard, other, 64+40+2+9+1<<20); err != nil {
		t.Errorf("the other client is not answered: %d bytes, %v", n, err)
	}
	_ = c.SetDeadline(time.Now().Add(10 * patience))
	for err == nil {
		_, err = c.Write(unhex(t, "01 00 00 00"))
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("the client that does not read is not dropped")
	}
}

// FuzzClient: whatever a client sends, the server ends, holds at most the largest message, and what it understands as a
// message is written again with the same frames.
func FuzzClient(f *testing.F) {
	f.Add(unhex(f, hello+readyREQ+"01 00 00 01 61"))
	f.Add(unhex(f, hello+readySUB+"00 01 01"))
	f.Add(unhex(f, "01 01 41 01 00 02 0000000000000003 616263 04 09 04 50494e47 0064 7879"))
	begun := unhex(f, hello+readyREQ)
	f.Fuzz(func(t *testing.T, sent []byte) {
		understood := func(frames [][]byte) [][]byte {
			size := 0
			for _, b := range frames {
				size += len(b)
			}
			if size > mostBytes || len(frames) > mostFrames {
				t.Errorf("a message of %d frames, %d bytes", len(frames), size)
			}
			if len(frames) > 0 {
				again, err := message(bufio.NewReader(bytes.NewReader(appendMessage(nil, frames))), nil)
				if err != nil || !bytes.Equal(bytes.Join(again, nil), bytes.Join(frames, nil)) || len(again) != len(frames) {
					t.Errorf("%q becomes %q, %v", frames, again, err)
				}
			}
			return nil
		}
		for _, b := range [][]byte{sent, append(begun[:len(begun):len(begun)], sent...)} {
			if _, err := talk(b, understood); err == nil {
				t.Error("it does not end")
			}
		}
		_, _ = talk(sent, nil)
	})
}
