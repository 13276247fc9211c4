package diag

import (
	"errors"
	"io/fs"
	"strings"
)

// systemWords are the words of a system about files, and plain ones.
var systemWords = strings.NewReplacer(
	"no such file or directory", "there is no such file",
	"permission denied", "this user may not do that",
	"operation not permitted", "this user may not do that",
	"not a directory", "a part of the path is a file",
	"is a directory", "it is a folder",
	"file exists", "it exists already",
	"directory not empty", "the folder is not empty",
	"no space left on device", "the disk is full",
	"read-only file system", "the disk is read-only",
	"file name too long", "the name is too long",
	"too many open files", "too many files are open",
	"too many levels of symbolic links", "its links go round in a circle",
	"invalid argument", "the name is not allowed",
	"input/output error", "the disk has an error",
)

// OfFile returns the text of an error; of one about a file it says in plain words what cannot be done, and why.
func OfFile(err error) string {
	text := err.Error()
	var at *fs.PathError
	if !errors.As(err, &at) {
		return text
	}
	what := "cannot write "
	switch at.Op {
	case "open":
		what = "cannot open "
	case "read", "stat", "lstat", "readdirent", "fstat":
		what = "cannot read "
	}
	return strings.Replace(text, at.Error(), what+at.Path+": "+systemWords.Replace(at.Err.Error()), 1)
}
