package studio

import (
	"context"
	"errors"
	"net/http"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/canopy-uav/canopy/editor/lsp"
	"github.com/canopy-uav/canopy/internal/files"
)

// proposal is what may replace a part of a text.
type proposal struct {
	edit
	Detail string `json:"detail"` // may be empty
}

// desk answers what is asked about names in the documents as they are edited.
func (s *Studio) desk(x request) *lsp.Desk {
	return lsp.NewDesk(lsp.Files{
		Open: func(name string) ([]byte, error) { return files.Read(name, mostText) },
		List: func(string) []string { return []string{filepath.Base(s.Mission)} }, // others are not asked about
	}, x.with(x.Text))
}

// complete proposes what may be written at a place.
func (s *Studio) complete(w http.ResponseWriter, x request) {
	list, in := []proposal{}, units(x.Text)
	for _, p := range s.desk(x).Complete(x.Name, byteOf(x.Text, x.At)) {
		list = append(list, proposal{edit{in(p.At), in(p.End), p.New}, p.Detail})
	}
	send(w, list)
}

// rename sends the edits that give what is at a place another name, by document.
func (s *Studio) rename(w http.ResponseWriter, x request) {
	changes, err := s.desk(x).Rename(x.Name, byteOf(x.Text, x.At), x.New)
	if err != nil {
		refuse(w, http.StatusUnprocessableEntity, err.Error())
		return
	}
	all := map[string][]edit{}
	for name, list := range changes {
		text, err := files.Read(name, mostText)
		if edited, ok := x.with(x.Text)[name]; ok {
			text, err = []byte(edited), nil
		}
		if err != nil || !s.contains(name) {
			refuse(w, http.StatusUnprocessableEntity, name+" has this name, too, but cannot be edited here")
			return
		}
		in := units(string(text))
		for _, e := range list {
			all[name] = append(all[name], edit{in(e.At), in(e.End), e.New})
		}
	}
	send(w, all)
}

// head is a document as the last commit has it.
type head struct {
	Text string `json:"text"`
	Why  string `json:"why"` // there is none; "": there is one
}

// mostGit is the longest time that git may take.
const mostGit = 5 * time.Second

// committed sends a document as the last commit has it. Git only reads, and nothing waits for it.
func (s *Studio) committed(w http.ResponseWriter, x request) {
	s.mutex.Unlock()
	defer s.mutex.Lock()
	ctx, cancel := context.WithTimeout(context.Background(), mostGit)
	defer cancel()
	git := exec.CommandContext(ctx, "git", "-C", filepath.Dir(x.Name), "cat-file", "blob",
		"HEAD:./"+filepath.Base(x.Name))
	git.Env = append(git.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	text, err := git.Output()
	var failed *exec.ExitError
	switch {
	case err == nil && len(text) <= mostText:
		send(w, head{Text: string(text)})
	case err == nil:
		send(w, head{Why: "The last commit has a file that is too large to be shown here."})
	case errors.Is(err, exec.ErrNotFound):
		send(w, head{Why: "There is no program git on this computer."})
	case ctx.Err() != nil:
		send(w, head{Why: "Git takes too long."})
	case errors.As(err, &failed):
		send(w, head{Why: "Git has no last commit of this file: " + string(failed.Stderr)})
	default:
		send(w, head{Why: "Git cannot be asked: " + err.Error()})
	}
}

// byteOf returns the byte of a place in a text that browsers count.
func byteOf(text string, unit int) int {
	in := units(text)
	for at := range text {
		if in(at) >= unit {
			return at
		}
	}
	return len(text)
}
