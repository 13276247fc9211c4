package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/autopilot/frame"
)

func TestSigningKey(t *testing.T) {
	digits := strings.Repeat("0f", 32)
	for _, c := range []struct {
		text string
		mode os.FileMode
		want string // of the error
		is   frame.Secret
	}{
		{digits + "\n", 0o600, "", frame.Secret(bytes.Repeat([]byte{15}, 32))},
		{"correct horse\n", 0o400, "", frame.SecretOf("correct horse")},
		{digits[2:], 0o600, "", frame.SecretOf(digits[2:])},
		{"\n", 0o600, "there is no key", frame.Secret{}},
		{strings.Repeat("00", 32), 0o600, "there is no key", frame.Secret{}},
		{strings.Repeat("x", 5000), 0o600, "more than 4096 bytes", frame.Secret{}},
		{digits, 0o640, "other users can read the key", frame.Secret{}},
	} {
		file := filepath.Join(t.TempDir(), "key")
		must(t, os.WriteFile(file, []byte(c.text), c.mode))
		k := signingKey{file}
		switch s, err := k.secret(); {
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), digits)):
			t.Errorf("%.8q: %v, want %q", c.text, err, c.want)
		case err == nil && (c.want != "" || *s != c.is):
			t.Errorf("%.8q: a key, want %q", c.text, c.want)
		}
	}
	for _, args := range [][]string{
		{"fly", "../../missions/circuit-plane.yaml", "--link", "udp:127.0.0.1:0", "--signing-key", "/nothing"},
		{"fake", "plane", "--signing-key", "/nothing"},
	} {
		var out, errors bytes.Buffer
		if status := execute(args, &out, &errors); status != exitInput || !strings.Contains(errors.String(), "/nothing") {
			t.Errorf("%q: status %d, %q", args, status, errors.String())
		}
	}
}
