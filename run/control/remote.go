package control

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/autopilot/link"
)

// A run can listen at an address beside its socket. There the server speaks first, a greeting with a number that it
// never uses again. A request is signed with HMAC-SHA256 (RFC 2104) over the greeting and the request, so that a copy
// of it is worth nothing on another connection, and a request for one run nothing for another. On the loopback address,
// a run can be watched without a signature. On any other one, everything is signed and encrypted by TLS 1.3.

// Credential signs requests from other programs and computers.
type Credential [sha256.Size]byte

// shortest is the length of a token [bytes]; a random one of this length cannot be guessed.
const shortest = 16

// ErrToken reports a token that is too short.
var ErrToken = fmt.Errorf("a token has %d characters or more", shortest)

// NewCredential returns the key of a token that both ends have. The error is ErrToken.
func NewCredential(token string) (*Credential, error) {
	if len(token) < shortest {
		return nil, ErrToken
	}
	k := Credential(sha256.Sum256([]byte("canopy control 1\n" + token)))
	return &k, nil
}

// sign returns the signature of a request after a greeting.
func (k *Credential) sign(g greeting, demand string) []byte {
	h := hmac.New(sha256.New, k[:])
	for _, part := range []string{g.Nonce, g.Run, demand} {
		fmt.Fprintf(h, "%d\n%s", len(part), part)
	}
	return h.Sum(nil)
}

// greeting is what a server says first.
type greeting struct {
	Run   string `json:"run"`
	Nonce string `json:"nonce"`
}

// signed is a request with its signature; without one, Signature is empty.
type signed struct {
	Demand    string `json:"demand"` // the request, as JSON
	Signature []byte `json:"signature,omitempty"`
}

// Exposure describes where a run listens beside its socket.
type Exposure struct {
	Address     string           // HOST:PORT; port 0: any that is free
	Run         string           // the run, as its operators are told
	Key         *Credential      // of those who may command it; nil: nobody may
	Certificate *tls.Certificate // needed unless the address is a loopback one

	listener net.Listener // nil: it is not claimed
	public   bool         // other computers reach the address
}

// ErrExposed reports an address that other computers reach, and that is not protected.
var ErrExposed = errors.New("other computers reach this address: it needs a token and a certificate")

// ErrUnsigned is wrapped by the errors of requests without a valid signature.
var ErrUnsigned = errors.New("the request is not signed with the token of the run")

// Limits of an offer, whose clients may be anybody.
const (
	remoteAtOnce = 8       // connections, beside watchers
	remoteMost   = 4 << 20 // bytes of a request
)

// Claim occupies the address, before there is a run. Whoever connects waits until it is offered. The error wraps
// ErrExposed or is that of the network. Release gives it back.
func (o *Exposure) Claim() error {
	at, err := net.ResolveTCPAddr("tcp", o.Address)
	if err != nil {
		return link.Plain(err)
	}
	o.public = !at.IP.IsLoopback()
	if o.public && (o.Key == nil || o.Certificate == nil) {
		return fmt.Errorf("%s: %w", o.Address, ErrExposed)
	}
	l, err := net.ListenTCP("tcp", at)
	if err != nil {
		return link.Plain(err)
	}
	o.Address, o.listener = l.Addr().String(), l
	if o.Certificate != nil {
		o.listener = tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{*o.Certificate},
			MinVersion: tls.VersionTLS13})
	}
	return nil
}

// Release gives back an address that was claimed, unless a server has done so.
func (o *Exposure) Release() { _ = o.listener.Close() }

// Offer lets the run listen at an address that was claimed, beside its socket.
func (s *Server) Offer(o *Exposure) {
	s.listeners = append(s.listeners, o.listener)
	go s.accept(o.listener, remoteAtOnce, func(c net.Conn) (Demand, error) { return o.receive(c, o.public) })
}

// receive greets a client, and reads its request.
func (o *Exposure) receive(c net.Conn, public bool) (Demand, error) {
	g := greeting{Run: o.Run, Nonce: rand.Text()}
	if err := json.NewEncoder(c).Encode(g); err != nil {
		return Demand{}, err
	}
	return o.open(g, c, public)
}

// open reads a request and verifies its signature.
func (o *Exposure) open(g greeting, r io.Reader, public bool) (Demand, error) {
	var x signed
	if err := json.NewDecoder(io.LimitReader(r, remoteMost)).Decode(&x); err != nil {
		return Demand{}, fmt.Errorf("%w: %w", ErrDemand, err)
	}
	valid := o.Key != nil && hmac.Equal(x.Signature, o.Key.sign(g, x.Demand))
	if public && !valid {
		return Demand{}, ErrUnsigned
	}
	q, err := Parse(strings.NewReader(x.Demand))
	switch {
	case err != nil || valid || q.Verb == Watch && len(x.Signature) == 0:
		return q, err
	case o.Key == nil:
		return q, fmt.Errorf("%w: it has none, and can only be watched", ErrUnsigned)
	}
	return q, ErrUnsigned
}

// Remote is where a run listens beside its socket, as a client sees it.
type Remote struct {
	Address     string      // HOST:PORT
	Key         *Credential // nil: requests are not signed
	Fingerprint []byte      // SHA-256 of the certificate; nil: one that this computer trusts, or none on loopback
}

// ErrUnreached is wrapped by the errors of an address at which no run answers, or none that is trusted.
var ErrUnreached = errors.New("the run cannot be reached")

// ErrFingerprint reports a server with another certificate.
var ErrFingerprint = errors.New("the server has another certificate")

// open implements Endpoint.
func (r Remote) open() (net.Conn, *json.Decoder, sealer, error) {
	host, _, err := net.SplitHostPort(r.Address)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w", ErrUnreached, err)
	}
	c, err := net.DialTimeout("tcp", r.Address, patience)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w; give the HOST:PORT of its --serve", ErrUnreached, link.Plain(err))
	}
	at, ok := c.RemoteAddr().(*net.TCPAddr)
	if loopback := ok && at.IP.IsLoopback(); !loopback || r.Fingerprint != nil {
		c = tls.Client(c, r.trust(host))
	}
	_ = c.SetReadDeadline(time.Now().Add(patience))
	d := json.NewDecoder(c)
	var g greeting
	if err := d.Decode(&g); err != nil {
		c.Close() //nolint:errcheck // it is not used
		switch {
		case errors.As(err, new(*json.SyntaxError)):
			err = errors.New("it does not speak as a run does; if it uses TLS, give its fingerprint")
		case errors.Is(err, io.EOF):
			err = errors.New("it closed the connection: too many are open, or it uses TLS; then give its fingerprint")
		case errors.As(err, new(*tls.CertificateVerificationError)):
			err = errors.New("this computer does not trust its certificate; if the run has made it itself, give its " +
				"--fingerprint")
		}
		return nil, nil, nil, fmt.Errorf("%w: %w", ErrUnreached, link.Plain(err))
	}
	_ = c.SetReadDeadline(time.Time{})
	return c, d, func(q Demand) (any, error) {
		demand, err := json.Marshal(q)
		x := signed{Demand: string(demand)}
		if r.Key != nil {
			x.Signature = r.Key.sign(g, x.Demand)
		}
		return x, err
	}, nil
}

// trust returns how the certificate of a host is verified.
func (r Remote) trust(host string) *tls.Config {
	c := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS13}
	if r.Fingerprint != nil {
		c.InsecureSkipVerify = true // the fingerprint is verified instead
		c.VerifyPeerCertificate = func(raw [][]byte, _ [][]*x509.Certificate) error {
			if sum := sha256.Sum256(raw[0]); !hmac.Equal(sum[:], r.Fingerprint) {
				return fmt.Errorf("%w: its fingerprint is %x", ErrFingerprint, sum)
			}
			return nil
		}
	}
	return c
}

// Fingerprint returns the SHA-256 of a certificate, in hexadecimal digits.
func Fingerprint(c *tls.Certificate) string {
	sum := sha256.Sum256(c.Certificate[0])
	return hex.EncodeToString(sum[:])
}

// SelfSigned returns a new certificate that nobody else has signed, valid for a year from a time on.
func SelfSigned(from time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	c := &x509.Certificate{Subject: pkix.Name{CommonName: "canopy"},
		NotBefore: from.Add(-time.Hour), NotAfter: from.AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	raw, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, nil
}
