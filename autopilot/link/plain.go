package link

import (
	"errors"
	"fmt"
	"net"
	"path"
	"strings"
	"syscall"
)

// reasons are the errors of a network in plain words.
var reasons = []struct {
	number syscall.Errno
	text   string
}{
	{syscall.ECONNREFUSED, "no program waits there"},
	{syscall.ECONNRESET, "the other end has closed the connection"},
	{syscall.EPIPE, "the other end has closed the connection"},
	{syscall.EADDRINUSE, "the port is in use by another program; give another one"},
	{syscall.EADDRNOTAVAIL, "this computer does not have this address"},
	{syscall.EACCES, "this user may not use this address; ports below 1024 are for the administrator"},
	{syscall.EPERM, "this computer does not allow it"},
	{syscall.ENETUNREACH, "no network leads there; is this computer connected?"},
	{syscall.EHOSTUNREACH, "no network leads there; is the other computer on?"},
	{syscall.EMFILE, "this program has too many files open"},
}

// plain is an error of a network in plain words.
type plain struct {
	text string
	error
}

func (p plain) Error() string { return p.text }
func (p plain) Unwrap() error { return p.error }

// Plain returns an error of a network in plain words, which wraps it; any other one as it is.
func Plain(err error) error {
	var form *net.AddrError
	var name *net.DNSError
	var late net.Error
	switch {
	case errors.As(err, new(plain)):
		return err
	case errors.As(err, &form) && form.Err == "invalid port":
		return plain{fmt.Sprintf("the port %q is not a number from 0 to 65535", form.Addr), err}
	case errors.As(err, &form):
		return plain{fmt.Sprintf("%q is not HOST:PORT, as in %s:14550", form.Addr, loopback), err}
	case errors.As(err, &name) && strings.Contains(name.Name, "/"):
		return plain{fmt.Sprintf("the port %q is not a number from 0 to 65535", path.Base(name.Name)), err}
	case errors.As(err, &name) && name.IsNotFound:
		return plain{fmt.Sprintf("there is no computer %q; write its name or number correctly", name.Name), err}
	case errors.As(err, &name):
		return plain{fmt.Sprintf("the name server does not say where %q is; write its number", name.Name), err}
	case errors.As(err, &late) && late.Timeout():
		return plain{"there is no answer; is it on, and is the address right?", err}
	}
	for _, r := range reasons {
		if errors.Is(err, r.number) {
			return plain{r.text, err}
		}
	}
	if number := syscall.Errno(0); errors.As(err, &number) {
		return plain{number.Error(), err}
	}
	return err
}
