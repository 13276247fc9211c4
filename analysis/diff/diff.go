// Package diff compares the structure, not the behaviour, of two versions of a plan or a state graph.
//
// Both are lists of parts with a key: the nodes and connections of a tree, the steps and transitions of a graph. Parts
// of two versions with the same key are the same part.
package diff

import (
	"cmp"
	"slices"
)

// ChangeKind is the kind of change of a part.
type ChangeKind string

// The kinds of change.
const (
	Removed ChangeKind = "removed"
	Changed ChangeKind = "changed"
	Added   ChangeKind = "added"
)

// Difference lists the changes from an old version to a new one.
type Difference struct {
	Formalism string       `json:"formalism"` // "plan" or "state graph"
	Counts    []Count      `json:"counts"`    // one for each kind of element
	Changes   []PartChange `json:"changes"`   // by kind of element, then removed, changed, added, then by line
}

// Count is the number of parts of one kind and of their changes.
type Count struct {
	Element string `json:"element"` // "node" and "connection", or "step" and "transition"
	Old     int    `json:"old"`
	New     int    `json:"new"`
	Removed int    `json:"removed"`
	Changed int    `json:"changed"`
	Added   int    `json:"added"`
	Joining int    `json:"joining"` // removed and added ones with an end, node or step, that both versions have
}

// PartChange is one part that is not the same in both versions.
type PartChange struct {
	Op      ChangeKind `json:"op"`
	Element string     `json:"element"`
	Name    string     `json:"name"`
	OldLine int        `json:"old_line,omitempty"` // of the old source, from 1; 0 if it was added
	NewLine int        `json:"new_line,omitempty"` // of the new source; 0 if it was removed
	OldFile string     `json:"old_file,omitempty"` // with the line, if the old source includes it
	NewFile string     `json:"new_file,omitempty"` // with the line, if the new source includes it
	Joining bool       `json:"joining,omitempty"`
	Before  []string   `json:"before,omitempty"` // details only in the old version
	After   []string   `json:"after,omitempty"`  // details only in the new version
}

// part is a node, connection, step or transition of one version.
type part struct {
	element string
	key     string
	name    string
	line    int
	file    string   // "": the source itself
	ends    []string // keys of the parts that it connects
	group   string   // key of the group in which it is ordered: an earlier part has priority
	details []string
}

// compare finds the changes of the parts. The elements are their kinds, in the order of the report.
func compare(formalism string, elements []string, old, updated []part) Difference {
	d := Difference{Formalism: formalism}
	was, is := byKey(old), byKey(updated)
	shifted := shifted(old, updated, is)
	both := func(key string) bool { return was[key] != nil && is[key] != nil }
	for _, element := range elements {
		count := Count{Element: element}
		var changes []PartChange
		for i := range old {
			if p := &old[i]; p.element == element {
				count.Old++
				if q := is[p.key]; q == nil {
					changes = append(changes, PartChange{Op: Removed, Element: element, Name: p.name, OldLine: p.line, OldFile: p.file,
						Joining: slices.ContainsFunc(p.ends, both), Before: p.details})
				} else if c := p.becomes(q, shifted[p.key]); len(c.Before)+len(c.After) > 0 {
					changes = append(changes, c)
				}
			}
		}
		for i := range updated {
			if q := &updated[i]; q.element == element {
				count.New++
				if was[q.key] == nil {
					changes = append(changes, PartChange{Op: Added, Element: element, Name: q.name, NewLine: q.line, NewFile: q.file,
						Joining: slices.ContainsFunc(q.ends, both), After: q.details})
				}
			}
		}
		for _, c := range changes {
			count.add(c)
		}
		slices.SortStableFunc(changes, func(a, b PartChange) int {
			order := []ChangeKind{Removed, Changed, Added}
			return cmp.Or(slices.Index(order, a.Op)-slices.Index(order, b.Op),
				cmp.Compare(a.NewFile, b.NewFile), cmp.Compare(a.NewLine, b.NewLine),
				cmp.Compare(a.OldFile, b.OldFile), cmp.Compare(a.OldLine, b.OldLine))
		})
		d.Counts = append(d.Counts, count)
		d.Changes = append(d.Changes, changes...)
	}
	return d
}

// becomes returns the change of a part, given the same part of the new version.
func (p *part) becomes(q *part, shifted bool) PartChange {
	c := PartChange{Op: Changed, Element: p.element, Name: q.name, OldLine: p.line, NewLine: q.line,
		OldFile: p.file, NewFile: q.file,
		Before: without(p.details, q.details), After: without(q.details, p.details)}
	if shifted {
		c.After = append(c.After, "another place in the order")
	}
	return c
}

func (n *Count) add(c PartChange) {
	switch c.Op {
	case Removed:
		n.Removed++
	case Changed:
		n.Changed++
	case Added:
		n.Added++
	}
	if c.Joining {
		n.Joining++
	}
}

func byKey(parts []part) map[string]*part {
	m := map[string]*part{}
	for i := range parts {
		m[parts[i].key] = &parts[i]
	}
	return m
}

// without returns the details that the others do not have.
func without(details, others []string) []string {
	return slices.DeleteFunc(slices.Clone(details), func(s string) bool { return slices.Contains(others, s) })
}

// shifted finds the parts that both versions have in one group, in another order: all except a longest subsequence that
// keeps its order.
func shifted(old, updated []part, is map[string]*part) map[string]bool {
	place := map[string]int{}
	for i := range updated {
		place[updated[i].key] = i
	}
	groups := map[string][]string{} // keys in the old order
	for i := range old {
		p := &old[i]
		if q := is[p.key]; p.group != "" && q != nil && q.group == p.group {
			groups[p.group] = append(groups[p.group], p.key)
		}
	}
	shifted := map[string]bool{}
	for _, keys := range groups {
		keeps := longestRise(keys, place)
		for _, k := range keys {
			shifted[k] = !keeps[k]
		}
	}
	return shifted
}

// longestRise returns a longest subsequence of keys whose places rise.
func longestRise(keys []string, place map[string]int) map[string]bool {
	length, before := make([]int, len(keys)), make([]int, len(keys))
	last := -1
	for i := range keys {
		length[i], before[i] = 1, -1
		for j := range i {
			if place[keys[j]] < place[keys[i]] && length[j] >= length[i] {
				length[i], before[i] = length[j]+1, j
			}
		}
		if last < 0 || length[i] > length[last] {
			last = i
		}
	}
	rise := map[string]bool{}
	for i := last; i >= 0; i = before[i] {
		rise[keys[i]] = true
	}
	return rise
}
