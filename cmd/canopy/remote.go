package main

import (
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/autopilot/link"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/run/control"

	"github.com/spf13/cobra"
)

// tokenVariable is the environment variable with the token, unless a file has it.
const tokenVariable = "CANOPY_TOKEN"

// token is the flag for the token with which requests to a run are signed.
type token struct{ file string }

func (t *token) flag(c *cobra.Command) {
	c.Flags().StringVar(&t.file, "token-file", "",
		"the `file` with the token that signs requests; without it, the token is in the variable "+tokenVariable)
}

// key returns the key of the token, nil if there is none.
func (t *token) key() (*control.Credential, error) {
	text, from := os.Getenv(tokenVariable), tokenVariable
	if t.file != "" {
		from = t.file
		var err error
		if text, err = secretText(t.file, "token"); err != nil {
			return nil, err
		}
	} else if text == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	k, err := control.NewCredential(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w, such as those of: openssl rand -hex 32", from, err)
	}
	return k, nil
}

// reach is the flags with which a command reaches a run.
type reach struct {
	token
	fingerprint string
}

func (r *reach) flags(c *cobra.Command) {
	r.flag(c)
	c.Flags().StringVar(&r.fingerprint, "fingerprint", "", "the SHA-256 of the run's certificate in `hex` digits, as "+
		"canopy fly prints it, if no authority has signed it")
}

// place returns where a run listens.
func (r *reach) place(name string) (control.Endpoint, error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return control.Folder(name), nil
	}
	_, port, err := net.SplitHostPort(name)
	if _, bad := strconv.ParseUint(port, 10, 16); err != nil || bad != nil {
		return control.Folder(name), nil
	}
	at := control.Remote{Address: name}
	if at.Key, err = r.key(); err != nil {
		return nil, err
	}
	if r.fingerprint != "" {
		at.Fingerprint, err = hex.DecodeString(strings.ReplaceAll(r.fingerprint, ":", ""))
		if err != nil || len(at.Fingerprint) != sha256.Size {
			return nil, &usageError{fmt.Sprintf("--fingerprint is %d hexadecimal digits", 2*sha256.Size)}
		}
	}
	return at, nil
}

// serving is the flags with which a run listens beside its socket.
type serving struct {
	token
	address, certificate, private string
}

func (s *serving) flags(c *cobra.Command) {
	c.Flags().StringVar(&s.address, "serve", "", "listen on this `address`, HOST:PORT, for canopy watch and, with a "+
		"token, for canopy upload, stop and resume; other computers need a token and TLS")
	s.flag(c)
	c.Flags().StringVar(&s.certificate, "tls-cert", "", "the `file` with the certificate of --serve (PEM); otherwise a "+
		"new one, whose fingerprint is printed")
	c.Flags().StringVar(&s.private, "tls-key", "", "the `file` with the private key of the certificate (PEM)")
}

// offer claims the address at which a run is to listen; nil: there is none.
func (s *serving) offer(run string) (*control.Exposure, error) {
	if s.address == "" {
		if s.file != "" || s.certificate != "" || s.private != "" {
			return nil, &usageError{"--token-file, --tls-cert and --tls-key need --serve"}
		}
		return nil, nil //nolint:nilnil // there is none
	}
	at, err := net.ResolveTCPAddr("tcp", s.address)
	if err != nil {
		return nil, &usageError{fmt.Sprintf("--serve %s: %v", s.address, link.Plain(err))}
	}
	o := &control.Exposure{Address: s.address, Run: run}
	if o.Key, err = s.key(); err != nil {
		return nil, err
	}
	switch {
	case (s.certificate == "") != (s.private == ""):
		return nil, &usageError{"--tls-cert and --tls-key belong together"}
	case s.certificate != "":
		public, err := files.Read(s.certificate, maxInput)
		private, e := files.Read(s.private, maxInput)
		if err = errors.Join(err, e); err != nil {
			return nil, err
		}
		c, err := tls.X509KeyPair(public, private)
		if err != nil {
			return nil, err
		}
		o.Certificate = &c
	case !at.IP.IsLoopback():
		if o.Certificate, err = control.SelfSigned(time.Now()); err != nil {
			return nil, err
		}
	}
	if !at.IP.IsLoopback() && o.Key == nil {
		return nil, &usageError{fmt.Sprintf("--serve %s: other computers reach this address: it needs a token, "+
			"--token-file or %s", s.address, tokenVariable)}
	}
	if err := o.Claim(); err != nil {
		return nil, fmt.Errorf("--serve %s: %w", s.address, err)
	}
	return o, nil
}

// listen lets a run listen at the address of an offer, if there is one.
func listen(server *control.Server, o *control.Exposure, stderr io.Writer) {
	if o == nil {
		return
	}
	server.Offer(o)
	text := "it can be watched, and commanded with the token"
	if o.Key == nil {
		text = "it can be watched"
	}
	if o.Certificate != nil {
		text += "; the certificate has the fingerprint " + control.Fingerprint(o.Certificate)
	}
	fmt.Fprintf(stderr, "canopy: listens at %s: %s\n", o.Address, text)
}

// verbCommand is a command that sends a request without a plan.
func verbCommand(verb control.Verb) *cobra.Command {
	var r reach
	var asJSON bool
	c := &cobra.Command{
		Use: string(verb),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := r.place(args[0])
			if err != nil {
				return err
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			return send(ctx, args[0], at, control.Demand{Verb: verb}, cmd.OutOrStdout(), asJSON)
		},
	}
	r.flags(c)
	c.Flags().BoolVar(&asJSON, "json", false, "print the answer as a JSON object")
	return c
}
