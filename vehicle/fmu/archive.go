// Package fmu reads Functional Mock-up Units (FMI 2 and 3) and makes vehicles of them.
//
// Reading is pure: no code of an FMU runs. A function of the caller starts the process that runs it, when a simulation
// first asks for a value.
package fmu

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"
	"unicode/utf16"
)

// Limits of an archive.
const (
	maxFiles       = 20_000
	maxContent     = 1 << 30  // bytes of all files together, unpacked
	maxDescription = 64 << 20 // of modelDescription.xml
)

// File is a file of an archive. Its name is a relative path that stays inside, with slashes.
type File struct {
	Name string
	file *zip.File
}

// IsFile reports whether a name is that of an FMU.
func IsFile(name string) bool { return strings.HasSuffix(name, ".fmu") }

// unpack lists the files of an archive. It refuses paths that leave it, links, and too much content.
func unpack(data []byte) ([]File, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) {
		return nil, fmt.Errorf("it is no ZIP archive: %w", err)
	}
	if len(r.File) > maxFiles {
		return nil, fmt.Errorf("the archive has more than %d files", maxFiles)
	}
	var files []File
	content := uint64(0)
	for _, f := range r.File {
		name := path.Clean(strings.ReplaceAll(f.Name, `\`, "/"))
		switch {
		case strings.HasSuffix(f.Name, "/") || name == ".":
			continue
		case !fs.ValidPath(name) || strings.Contains(name, ":"):
			return nil, fmt.Errorf("the archive has the path %q, which leaves it", f.Name)
		case !f.Mode().IsRegular():
			return nil, fmt.Errorf("the archive has %q, which is no regular file", f.Name)
		}
		if content += min(f.UncompressedSize64, maxContent+1); content > maxContent {
			return nil, fmt.Errorf("the archive has more than %d MiB of content", maxContent>>20)
		}
		files = append(files, File{name, f})
	}
	return files, nil
}

// Read returns the content of the file.
func (f File) Read() ([]byte, error) { return f.read(int64(f.file.UncompressedSize64)) }

func (f File) read(most int64) ([]byte, error) {
	r, err := f.file.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	defer r.Close() //nolint:errcheck // only read
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is longer than %d bytes", most)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return data, nil
}

// element is an element of an XML document.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
}

// encoding is that of an XML document, as it says.
var encoding = regexp.MustCompile(`^<\?xml[^>]*?encoding=["']([^"']*)["']`)

// utf8 returns the text of an XML document, which may have any of the encodings that FMUs have.
func utf8(data []byte) (string, error) {
	if len(data) >= 2 && (data[0] == 0xFE && data[1] == 0xFF || data[0] == 0xFF && data[1] == 0xFE) {
		high, units := int(data[0]&1), []uint16{}
		for i := 2; i+1 < len(data); i += 2 {
			units = append(units, uint16(data[i+high])<<8|uint16(data[i+1-high]))
		}
		return string(utf16.Decode(units)), nil
	}
	text := strings.TrimPrefix(string(data), "\ufeff")
	found := encoding.FindStringSubmatch(text)
	if found == nil {
		return text, nil
	}
	switch strings.ToLower(found[1]) {
	case "utf-8", "us-ascii":
		return text, nil
	case "iso-8859-1", "latin1", "windows-1252":
		var b strings.Builder
		for i := range len(text) {
			b.WriteRune(rune(text[i]))
		}
		return b.String(), nil
	}
	return "", fmt.Errorf("the encoding %q is not supported", found[1])
}

// document reads an XML document.
func document(data []byte) (root element, err error) {
	text, err := utf8(data)
	if err != nil {
		return root, err
	}
	d := xml.NewDecoder(strings.NewReader(text))
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it has been converted
	err = d.Decode(&root)
	return root, err
}

// at returns an attribute, "" if there is none.
func (e *element) at(name string) string {
	value, _ := e.has(name)
	return value
}

func (e *element) has(name string) (value string, ok bool) {
	for _, a := range e.Attrs {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value, true
		}
	}
	return "", false
}

// flag reports whether an attribute is true.
func (e *element) flag(name string) bool { v := e.at(name); return v == "true" || v == "1" }

// child returns a child, an empty one if there is none.
func (e *element) child(name string) *element {
	for i := range e.Children {
		if e.Children[i].XMLName.Local == name {
			return &e.Children[i]
		}
	}
	return &element{}
}
