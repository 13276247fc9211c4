package control

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"
)

func key(t testing.TB, token string) *Credential {
	t.Helper()
	k, err := NewCredential(token)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

const secret = "0123456789abcdef"

// TestRemote: at an address beside its socket, a run does what is signed with its token, and only lets itself be watched
// without.
func TestRemote(t *testing.T) {
	certificate, err := SelfSigned(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(certificate.Certificate[0])
	for _, c := range []struct {
		name  string
		offer Exposure
		at    Remote
		want  Progress
		text  string
	}{
		{"signed", Exposure{Key: key(t, secret)}, Remote{Key: key(t, secret)}, Committed, ""},
		{"unsigned", Exposure{Key: key(t, secret)}, Remote{}, Refused, "not signed"},
		{"another token", Exposure{Key: key(t, secret)}, Remote{Key: key(t, secret+"0")}, Refused, "not signed"},
		{"a run without a token", Exposure{}, Remote{Key: key(t, secret)}, Refused, "can only be watched"},
		{"TLS", Exposure{Key: key(t, secret), Certificate: certificate},
			Remote{Key: key(t, secret), Fingerprint: sum[:]}, Committed, ""},
	} {
		answers, o := askAt(t, drive, Demand{Verb: Stop}, func(s *Server, _ Folder) Endpoint {
			c.offer.Address, c.offer.Run = "127.0.0.1:0", "test"
			if err := c.offer.Claim(); err != nil {
				t.Fatal(err)
			}
			s.Offer(&c.offer)
			c.at.Address = c.offer.Address
			return c.at
		})
		if len(answers) != 1 || answers[0].Progress != c.want || !strings.Contains(answers[0].Text, c.text) ||
			(len(o.verbs) == 1) != (c.want == Committed) || strings.HasPrefix(o.from, "127.0.0.1:") != (c.want == Committed) {
			t.Errorf("%s: %+v, %v", c.name, answers, o.verbs)
		}
	}
}

// TestExposed: a run does not listen where other computers reach it without a token and a certificate.
func TestExposed(t *testing.T) {
	for _, o := range []Exposure{{Address: "0.0.0.0:0"}, {Address: ":0", Key: key(t, secret)}, {Address: "[::]:0"}} {
		if err := o.Claim(); !errors.Is(err, ErrExposed) {
			t.Errorf("%s: %v", o.Address, err)
		}
	}
	if _, err := NewCredential("short"); !errors.Is(err, ErrToken) {
		t.Error(err)
	}
}

// TestCertificate: a client that knows the fingerprint of a certificate speaks with no other server.
func TestCertificate(t *testing.T) {
	certificate, err := SelfSigned(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s, _ := listens(t, nil, nil)
	o := Exposure{Address: "127.0.0.1:0", Certificate: certificate}
	if err := o.Claim(); err != nil {
		t.Fatal(err)
	}
	s.Offer(&o)
	err = Send(Remote{Address: o.Address, Fingerprint: make([]byte, sha256.Size)}, Demand{Verb: Stop}, nil)
	if !errors.Is(err, ErrFingerprint) {
		t.Error(err)
	}
}

// TestFollowRemote: a watcher is told the same over an address as over the socket.
func TestFollowRemote(t *testing.T) {
	feed := NewFeed(record.Header{Tasks: []record.Task{{Name: "drive", Initial: bt.Running}}})
	s, dir := listens(t, nil, feed)
	o := Exposure{Address: "127.0.0.1:0"}
	if err := o.Claim(); err != nil {
		t.Fatal(err)
	}
	s.Offer(&o)
	told, ended := make(chan News), make(chan error)
	for _, at := range []Endpoint{dir, Remote{Address: o.Address}} {
		go func() { ended <- Follow(at, func(l News) error { told <- l; return nil }) }()
	}
	for range 2 { // both watch
		if l := <-told; l.Task != "drive" || l.Status != "Running" {
			t.Errorf("%+v", l)
		}
	}
	go feed.End(&record.Summary{Outcome: record.Complete})
	for range 2 {
		if l := <-told; l.Outcome != record.Complete {
			t.Errorf("%+v", l)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

// talk lets an offer greet a client and receive what the client answers.
func talk(t *testing.T, o *Exposure, public bool, answer func(g greeting) []byte) (Demand, error) {
	t.Helper()
	server, client := net.Pipe()
	defer client.Close() //nolint:errcheck // a test
	go func() {
		var g greeting
		_ = json.NewDecoder(client).Decode(&g)
		_, _ = client.Write(answer(g))
	}()
	return o.receive(server, public)
}

// TestSignatures: a request is worth something once, as it was signed, for one run; where other computers listen,
// watching is signed, too.
func TestSignatures(t *testing.T) {
	k := key(t, secret)
	seal := func(g greeting, q Demand) []byte {
		demand, _ := json.Marshal(q)
		x, _ := json.Marshal(signed{string(demand), k.sign(g, string(demand))})
		return x
	}
	stop := Demand{Verb: Stop}
	var copied []byte
	o := &Exposure{Run: "one", Key: k}
	if q, err := talk(t, o, true, func(g greeting) []byte { copied = seal(g, stop); return copied }); err != nil || q != stop {
		t.Fatal(q, err)
	}
	for name, answer := range map[string]func(g greeting) []byte{
		"again":       func(greeting) []byte { return copied },
		"altered":     func(g greeting) []byte { return bytes.Replace(seal(g, stop), []byte("stop"), []byte("resume"), 1) },
		"another run": func(g greeting) []byte { return seal(greeting{"two", g.Nonce}, stop) },
		"unsigned":    func(greeting) []byte { return []byte(`{"demand":"{\"verb\":\"stop\"}"}`) },
	} {
		for _, public := range []bool{false, true} {
			if q, err := talk(t, o, public, answer); !errors.Is(err, ErrUnsigned) {
				t.Errorf("%s: %+v, %v", name, q, err)
			}
		}
	}
	watch := func(greeting) []byte { return []byte(`{"demand":"{\"verb\":\"watch\"}"}`) }
	if _, err := talk(t, o, true, watch); !errors.Is(err, ErrUnsigned) {
		t.Error(err)
	}
	if _, err := talk(t, o, false, watch); err != nil {
		t.Error(err)
	}
}

// FuzzOpen: whatever a client sends, nothing but watching on this computer is done without the signature.
func FuzzOpen(f *testing.F) {
	for _, text := range []string{`{"demand":"{\"verb\":\"stop\"}","signature":"AAAA"}`, `{"demand":"{\"verb\":\"watch\"}"}`,
		`{"demand":"{\"verb\":\"watch\"}","signature":"AA=="}`, `{"demand":1}`, `{}`, `[`, ``} {
		f.Add(text, true)
		f.Add(text, false)
	}
	o := Exposure{Run: "one", Key: key(f, secret)}
	f.Fuzz(func(t *testing.T, text string, public bool) {
		q, err := o.open(greeting{"one", "n"}, io.LimitReader(strings.NewReader(text), 1<<20), public)
		if err == nil && (public || q.Verb != Watch) {
			t.Errorf("%q: %+v", text, q)
		}
	})
}
