package flight

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Main is the main function of an example: run prints its numbers and writes its pictures into a folder, out/NAME or
// that of --out.
func Main(name string, run func(w io.Writer, dir string) error) {
	os.Exit(execute(name, os.Args[1:], os.Stdout, os.Stderr, run))
}

// execute runs an example and returns its exit status.
func execute(name string, args []string, stdout, stderr io.Writer, run func(w io.Writer, dir string) error) int {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(stderr)
	dir := flags.String("out", filepath.Join("out", name), "write the pictures into this `folder`")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "%s takes no arguments; %d given\n", name, flags.NArg())
		return 2
	}
	var text bytes.Buffer
	err := run(&text, *dir)
	_, lost := stdout.Write(text.Bytes())
	if err = errors.Join(err, lost); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

// Try runs an example, for its test: it returns an error unless it prints the texts and draws the picture.
func Try(run func(w io.Writer, dir string) error, dir, picture string, texts ...string) error {
	var out bytes.Buffer
	if err := run(&out, dir); err != nil {
		return err
	}
	for _, text := range texts {
		if !strings.Contains(out.String(), text) {
			return fmt.Errorf("no %q in\n%s", text, &out)
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, picture))
	if err == nil && !bytes.Contains(svg, []byte("<svg")) {
		err = fmt.Errorf("%s is not a picture", picture)
	}
	return err
}

// Picture writes plots, one below the other, into a file of a folder and prints its path.
func Picture(w io.Writer, dir, name string, width, height float64, plots ...*Plot) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := writeSVG(f, width, height, plots...); err != nil {
		_ = f.Close()
		return err
	}
	fmt.Fprintf(w, "picture: %s\n", path)
	return f.Close()
}
