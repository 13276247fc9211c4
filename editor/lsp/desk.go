package lsp

import (
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Desk answers what an editor in the same program asks about documents.
type Desk struct{ server *server }

// NewDesk returns a desk for documents, with the texts of those that are being edited, by name.
func NewDesk(files Files, texts map[string]string) *Desk {
	return &Desk{&server{files: files, buffers: texts, known: map[string]plan.Vocabulary{}}}
}

// Proposal is what may replace a part of a text.
type Proposal struct {
	xmltree.Edit
	Detail string // may be empty
}

// Complete proposes what may be written at a byte of a document.
func (d *Desk) Complete(file string, at int) []Proposal {
	text := d.server.text(file)
	list := []Proposal{}
	for _, x := range d.server.complete(request{file: file, text: text, offset: min(at, len(text))}) {
		list = append(list, Proposal{x.Edit.in(text), x.Detail})
	}
	return list
}

// Rename returns the edits that give what is at a byte of a document another name, by document. The error says why
// there is no such name, or what is wrong with it.
func (d *Desk) Rename(file string, at int, name string) (map[string][]xmltree.Edit, error) {
	text := d.server.text(file)
	changes, wrong := d.server.renamed(request{file: file, text: text, offset: min(at, len(text)), NewName: name})
	if wrong != nil {
		return nil, wrong
	}
	all := map[string][]xmltree.Edit{}
	for file, list := range changes {
		for _, e := range list {
			all[file] = append(all[file], e.in(d.server.text(file)))
		}
	}
	return all, nil
}

// in returns an edit of a text by bytes.
func (e textEdit) in(text string) xmltree.Edit {
	at, end := offset(text, e.Range.Start), offset(text, e.Range.End)
	return xmltree.Edit{Span: xmltree.Span{At: at, End: end}, New: e.NewText}
}
