// Package host runs FMUs: each instance lives in a process of its own, a small C program which loads the library.
//
// The user's C compiler makes that program when it is first needed, and the library of an FMU that has sources only.
// Both stay in a folder of the user's cache.
package host

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/canopy-uav/canopy/vehicle/fmu"
)

//go:embed program/host.c
var program []byte

// Host runs FMUs.
type Host struct {
	Cache  string        // the folder for what is compiled and unpacked
	CC     string        // the C compiler with its options; "": cc
	Limit  time.Duration // of one call
	Stderr *os.File      // receives what FMUs print
}

// New returns the host of this user.
func New() *Host { return &Host{CC: os.Getenv("CC"), Limit: time.Minute, Stderr: os.Stderr} }

// ErrCompiler is wrapped by the error of a host without a C compiler.
var ErrCompiler = errors.New("there is no C compiler; install one (apt install gcc) or name one in CC")

// Start starts a process for an instance of an FMU.
func (h *Host) Start(u *fmu.Unit) (fmu.Process, error) {
	if h.Cache == "" {
		dir, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("FMUs need a folder for compiled files: %w", err)
		}
		h = &Host{filepath.Join(dir, "canopy", "fmu"), h.CC, h.Limit, h.Stderr}
	}
	sum := sha256.Sum256(append(program, h.CC...))
	binary := filepath.Join(h.Cache, "host-"+hex.EncodeToString(sum[:8]))
	err := h.once(binary, func(to string) error {
		source := to + ".c"
		defer os.Remove(source) //nolint:errcheck // in the cache
		if err := os.WriteFile(source, program, 0o600); err != nil {
			return err
		}
		return h.compile("", "-std=gnu11", "-O2", "-o", to, source, "-ldl")
	})
	if err != nil {
		return nil, fmt.Errorf("the program that loads FMUs: %w", err)
	}
	p := &process{limit: h.Limit}
	if err = h.unpack(u, p); err == nil {
		err = p.start(binary, h.Stderr)
	}
	if err != nil {
		return nil, fmt.Errorf("the FMU %s: %w", u.Name, err)
	}
	return p, nil
}

// once makes a file or a folder of the cache, unless it exists.
func (h *Host) once(name string, create func(to string) error) error {
	if _, err := os.Stat(name); err == nil {
		return nil
	}
	if err := os.MkdirAll(h.Cache, 0o700); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(h.Cache, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // in the cache
	to := filepath.Join(dir, filepath.Base(name))
	if err := create(to); err != nil {
		return err
	}
	if err := os.Rename(to, name); err != nil {
		if _, there := os.Stat(name); there != nil { // another process has not made it meanwhile
			return err
		}
	}
	return nil
}

// compile runs the C compiler in a folder.
func (h *Host) compile(dir string, arguments ...string) error {
	cc := strings.Fields(h.CC)
	if len(cc) == 0 {
		cc = []string{"cc"}
	}
	if _, err := exec.LookPath(cc[0]); err != nil {
		return fmt.Errorf("%w: %w", ErrCompiler, err)
	}
	c := exec.Command(cc[0], append(cc[1:], arguments...)...)
	c.Dir = dir
	said, err := c.CombinedOutput()
	if err != nil {
		const most = 1000
		return fmt.Errorf("%s: %w: %s", cc[0], err, bytes.TrimSpace(said[:min(most, len(said))]))
	}
	return nil
}

// platform returns the folder of the libraries for this machine.
func platform(version int) string {
	architecture := map[string]string{"amd64": "x86_64", "arm64": "aarch64"}[runtime.GOARCH]
	if version == 3 {
		return "binaries/" + architecture + "-" + runtime.GOOS
	}
	if runtime.GOARCH != "amd64" && runtime.GOOS != "darwin" {
		return "binaries/none"
	}
	return "binaries/" + runtime.GOOS + "64"
}

// unpack unpacks an FMU into the cache, and compiles its library if there is none for this machine.
func (h *Host) unpack(u *fmu.Unit, p *process) error {
	suffix := map[string]string{"darwin": ".dylib"}[runtime.GOOS]
	if suffix == "" {
		suffix = ".so"
	}
	folder, at := filepath.Join(h.Cache, u.Digest), platform(u.Version)
	needed := func(name string) bool {
		return strings.HasPrefix(name, "resources/") || strings.HasPrefix(name, at+"/") || strings.HasPrefix(name, "sources/")
	}
	err := h.once(folder, func(to string) error {
		for _, f := range append(u.Files, fmu.File{}) {
			if !needed(f.Name) {
				continue
			}
			data, err := f.Read()
			if err == nil {
				err = os.MkdirAll(filepath.Dir(filepath.Join(to, f.Name)), 0o700)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(to, f.Name), data, 0o600)
			}
			if err != nil {
				return err
			}
		}
		return os.MkdirAll(to, 0o700)
	})
	if err != nil {
		return err
	}
	if resources := filepath.Join(folder, "resources"); exists(resources) {
		p.resources = resources + "/"
		if u.Version == 2 {
			p.resources = (&url.URL{Scheme: "file", Path: resources}).String()
		}
	} else if u.Version == 2 {
		p.resources = (&url.URL{Scheme: "file", Path: folder}).String()
	}
	if p.library = filepath.Join(folder, at, u.Identifier+suffix); exists(p.library) {
		return nil
	}
	if len(u.Sources.Files) == 0 {
		return fmt.Errorf("it has no library for this machine (%s), and no sources", at)
	}
	if !strings.HasPrefix(u.Sources.Language, "C9") && !strings.HasPrefix(u.Sources.Language, "C1") {
		return fmt.Errorf("it has no library for this machine (%s), and its sources are %s, not C", at, u.Sources.Language)
	}
	p.library = filepath.Join(h.Cache, u.Digest+"-"+u.Identifier+suffix)
	return h.once(p.library, func(to string) error {
		arguments := []string{"-shared", "-fPIC", "-O2", "-w", "-Isources", "-o", to}
		for _, d := range u.Sources.Defines {
			arguments = append(arguments, "-D"+d)
		}
		return h.compile(folder, append(append(arguments, u.Sources.Files...), "-lm")...)
	})
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
