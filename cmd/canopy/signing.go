package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/canopy-uav/canopy/autopilot/frame"
	"github.com/canopy-uav/canopy/internal/files"

	"github.com/spf13/cobra"
)

// signingKey is the flag for the key with which frames are signed.
type signingKey struct{ file string }

func (k *signingKey) flag(c *cobra.Command) {
	c.Flags().StringVar(&k.file, "signing-key", "", "the `file` with the key of signed MAVLink frames: 64 hexadecimal "+
		"digits, or a passphrase; then frames are signed, and those without a valid signature are refused")
}

// secret returns the secret of the key, nil if there is none.
func (k *signingKey) secret() (*frame.Secret, error) {
	if k.file == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	text, err := secretText(k.file, "key")
	if err != nil {
		return nil, err
	}
	s := frame.SecretOf(text)
	if digits, err := hex.DecodeString(text); err == nil && len(digits) == len(s) {
		copy(s[:], digits)
	}
	if text == "" || s == (frame.Secret{}) {
		return nil, fmt.Errorf("%s: there is no key: write 64 hexadecimal digits, such as those of: openssl rand -hex 32, "+
			"or a passphrase", k.file)
	}
	return &s, nil
}

// secretText returns the text of a file that only its owner can read, without the space around it.
func secretText(file, what string) (string, error) {
	if info, err := os.Stat(file); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s: other users can read the %s; chmod 600 %[1]s", file, what)
	}
	data, err := files.Read(file, maxSecret)
	return strings.TrimSpace(string(data)), err
}

// maxSecret is the longest file with a secret [bytes].
const maxSecret = 4096
