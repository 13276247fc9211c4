package diag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Limits of the search for a suggestion.
const (
	maxMistakes   = 5      // wrong letters
	maxWord       = 128    // bytes of a name
	maxCandidates = 10_000 // names of about the word's length
)

// Near returns the suggestion ([Diagnostic.Suggest]) for an unknown name; known lists the candidates: the one that is
// similar, else those of which the name is a part or that are a part of it, else all if they are few.
func Near(name string, known func() []string) func() string {
	return func() string {
		names := known()
		if hint := DidYouMean(name, names); hint != "" {
			return hint
		}
		word := strings.ToLower(name)
		related := slices.DeleteFunc(slices.Clone(names), func(other string) bool {
			other = strings.ToLower(other)
			short, long := other, word
			if len(short) > len(long) {
				short, long = long, short
			}
			return len(short) < 3 || !strings.Contains(long, short)
		})
		switch {
		case len(related) == 1:
			return fmt.Sprintf("did you mean %q?", related[0])
		case 1 < len(related) && len(related) <= few:
			return OneOf("did you mean one of ", related) + "?"
		case len(names) <= few:
			return OneOf("known: ", names)
		}
		return ""
	}
}

// few is how many names a hint lists beside those that are similar.
const few = 8

// DidYouMean returns the hint for an unknown word, or "" if no candidate is similar.
func DidYouMean(word string, candidates []string) string {
	if n := Nearest(word, candidates); n != "" {
		return fmt.Sprintf("did you mean %q?", n)
	}
	return ""
}

// Meant returns the word that a hint of DidYouMean or Near suggests alone; ok is false for another hint.
func Meant(hint string) (word string, ok bool) {
	quoted, begins := strings.CutPrefix(hint, "did you mean \"")
	quoted, ends := strings.CutSuffix(quoted, "\"?")
	word, err := strconv.Unquote(`"` + quoted + `"`)
	return word, begins && ends && err == nil
}

// OneOf returns the hint that lists the available names after an introduction; "" if there are none.
func OneOf(words string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return words + Names(names)
}

// Names lists names in a hint: the first 16, with the number of all if there are more.
func Names(names []string) string {
	const most = 16
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, … (%d in all)", strings.Join(names[:most], ", "), len(names))
}

// Nearest returns the candidate most similar to word, the first of several, or "" if none is similar: at most a third
// of the letters wrong and at most five, in a short word one. A swap of neighbours counts once (Damerau 1964,
// restricted edit distance); letter case is ignored.
func Nearest(word string, candidates []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, least := "", min(max(min(1, len(word)-1), len(word)/3), maxMistakes)+1
	word = strings.ToLower(word)
	left := maxCandidates
	for _, c := range candidates {
		if left == 0 {
			break
		}
		if d := len(c) - len(word); d >= least || -d >= least {
			continue
		}
		left--
		if d := distance(word, strings.ToLower(c), least); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance returns the restricted edit distance of two words, or most if it is not smaller. It computes only the band
// of cells that can be smaller (Ukkonen 1985).
func distance(a, b string, most int) int {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	var rows [3][maxWord + 2*maxMistakes + 2]int
	if len(b)+1 > len(rows[0]) || len(a)-len(b) >= most || len(b)-len(a) >= most {
		return most
	}
	before, last, now := rows[0][:len(b)+1], rows[1][:len(b)+1], rows[2][:len(b)+1]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-most), min(len(b), i+most)
		now[from-1] = most
		if from == 1 {
			now[0] = i
		}
		smallest := now[from-1]
		for j := from; j <= to; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			now[j] = min(now[j-1]+1, last[j-1]+cost)
			if j < i+most {
				now[j] = min(now[j], last[j]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
			smallest = min(smallest, now[j])
		}
		if smallest > most {
			return most
		}
		before, last, now = last, now, before
	}
	return min(most, last[len(b)])
}
