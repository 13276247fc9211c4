package preprocess

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/syntax/xmltree"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// The bounds of a plan with the files that it includes.
const (
	maxIncludes  = 1000
	maxAssembled = 64 << 20 // bytes
)

// Open returns the content of a file that a plan includes, by a path with slashes.
type Open func(name string) ([]byte, error)

// assembler makes one document of format 4 from a document and those that it includes: each stands in the place of the
// element that includes it, without its root element. The result keeps the places of its parts.
type assembler struct {
	open  Open
	found diag.List
	out   diag.Assembly
	path  []string // of the files around the present one, from the outside
	done  map[string]bool
	whole bool // nothing is missing

	surveyed int // lines of the surveys so far
}

// change is an edit of a document, or a file in the place of an element.
type change struct {
	xmltree.Edit
	include *xmltree.Element
}

// Document returns one document of format 4 of a document with those that it includes, whose places are those in the
// files; the document itself if nothing changes. It is whole if nothing of it is missing.
func Document(doc *xmltree.Document, open Open) (src *diag.Source, found diag.List, whole bool) {
	a := &assembler{open: open, done: map[string]bool{}, whole: true}
	changes := a.changes(doc)
	if len(changes) == 0 {
		return doc.Source, a.found, true
	}
	name := path.Clean(doc.Source.Name)
	a.path, a.done[name] = []string{name}, true
	a.write(doc, changes, xmltree.Span{End: len(doc.Source.Text)})
	return a.out.Source(doc.Source.Name), a.found, a.whole
}

// changes returns what changes in a document, in the order of the text.
func (a *assembler) changes(doc *xmltree.Document) []change {
	var all []change
	edits, list := modern(doc)
	a.found = append(a.found, list...)
	for _, e := range edits {
		all = append(all, change{Edit: e})
	}
	if len(edits) == 0 { // format 3 has no library
		all = a.surveys(doc)
	}
	for e := range doc.Root.Elements() {
		if e.Name == ElementInclude {
			all = append(all, change{doc.Remove(e), e})
		}
	}
	slices.SortStableFunc(all, func(x, y change) int { return cmp.Or(cmp.Compare(x.At, y.At), cmp.Compare(x.End, y.End)) })
	return all
}

// write adds a part of a document with its changes.
func (a *assembler) write(doc *xmltree.Document, changes []change, part xmltree.Span) {
	at := part.At
	for _, c := range changes {
		if c.End < at || c.At > part.End {
			continue // outside the part
		}
		a.out.Copy(doc.Source, at, max(at, c.At))
		if c.include != nil {
			a.include(doc, c.include, max(at, c.At))
		} else if c.New != "" {
			a.out.Insert(c.New, doc.Source, c.At)
		}
		at = min(c.End, part.End)
	}
	a.out.Copy(doc.Source, at, part.End)
}

// include adds the content of the file that an element names, if any, with the blanks before the element but not those
// around the content.
func (a *assembler) include(doc *xmltree.Document, e *xmltree.Element, blanks int) {
	fail := func(at xmltree.Span, code, hint, format string, args ...any) {
		a.whole = false
		a.report(doc, at, code, hint, format, args...)
	}
	tag := e.NameSpan()
	file := e.Find("path")
	switch pkg := e.Find("ros_pkg"); {
	case file == nil || file.Value == "":
		fail(tag, codeInclude, `write <include path="other.xml"/>`, "<include> has no path")
		return
	case pkg != nil:
		fail(pkg.Raw, codeInclude, "write the path of the file, relative to this one",
			"the ROS package %q cannot be searched for plans", pkg.Value)
		return
	case a.open == nil && !strings.HasPrefix(file.Value, Library):
		fail(tag, codeInclude, "copy the trees of the other file into this one", "other files are not read here")
		return
	}
	name := path.Clean(file.Value)
	if !path.IsAbs(name) && !strings.HasPrefix(name, Library) {
		name = path.Join(path.Dir(path.Clean(doc.Source.Name)), name)
	}
	if at := slices.Index(a.path, name); at >= 0 {
		fail(file.Raw, codeIncludeCycle, "", "a file cannot include itself: %s",
			strings.Join(append(slices.Clone(a.path[at:]), name), " -> "))
		return
	}
	if a.done[name] { // its trees are there already
		return
	}
	if len(a.done) > maxIncludes || a.out.Len() > maxAssembled {
		fail(file.Raw, xmltree.CodeTooLarge, "", "the plan includes more than %d files or %d MiB", maxIncludes,
			maxAssembled>>20)
		return
	}
	a.done[name] = true
	text, hint, err := a.read(name)
	if err != nil {
		fail(file.Raw, codeInclude, hint, "%s", diag.OfFile(err))
		return
	}
	inner, list := xmltree.Parse(&diag.Source{Name: name, Text: text})
	a.found = append(a.found, list...)
	switch root := inner.Root; {
	case !inner.Whole:
		a.whole = false
	case root == nil || root.Name != ElementRoot:
		fail(file.Raw, codeInclude, Wanted, "%s is not a plan", name)
	default:
		from, to := root.Tag.End, max(root.Tag.End, root.Close.At)
		content := inner.Source.Text[from:to]
		from, to = to-len(strings.TrimLeft(content, Blank)), from+len(strings.TrimRight(content, Blank))
		a.path = append(a.path, name)
		changes := a.changes(inner)
		if from < to {
			a.out.Copy(doc.Source, blanks, e.At)
			a.write(inner, changes, xmltree.Span{At: from, End: to})
		}
		a.path = a.path[:len(a.path)-1]
	}
}

// report adds a mistake in a document.
func (a *assembler) report(doc *xmltree.Document, at xmltree.Span, code, hint, format string, args ...any) {
	a.found = append(a.found, diag.Diagnostic{Source: doc.Source, Offset: at.At, Length: at.Len(), Code: code,
		Text: fmt.Sprintf(format, args...), Hint: hint})
}

// Library begins the path of a library of actions, which the product contains: that of a contract.
const Library = "library:"

// read returns the text of a file or of a library, or an error with a hint.
func (a *assembler) read(name string) (text, hint string, err error) {
	contractName, ok := strings.CutPrefix(name, Library)
	if !ok {
		content, err := a.open(name)
		return string(content), "", err
	}
	var names []string
	for _, c := range contract.Contracts() {
		if c.Name == contractName {
			return c.Library, "", nil
		}
		names = append(names, c.Name)
	}
	hint = cmp.Or(diag.DidYouMean(contractName, names), diag.OneOf("known: ", names))
	return "", hint, fmt.Errorf("there is no contract %q with a library", contractName)
}
