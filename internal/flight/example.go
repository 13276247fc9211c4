package flight

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
)

// Main is the main function of an example: run prints its numbers and writes its pictures into a folder, out/NAME or
// what --out says.
func Main(name string, run func(w io.Writer, dir string) error) {
	dir := flag.String("out", filepath.Join("out", name), "write the pictures into this `folder`")
	flag.Parse()
	if err := run(os.Stdout, *dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Picture writes plots, one below the other, into a file of a folder and says so.
func Picture(w io.Writer, dir, name string, width, height float64, plots ...*plot.Plot) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := WriteSVG(f, width, height, plots...); err != nil {
		_ = f.Close()
		return err
	}
	fmt.Fprintf(w, "picture: %s\n", path)
	return f.Close()
}
