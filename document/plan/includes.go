package plan

import (
	"maps"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/syntax/xmltree"
	"github.com/canopy-uav/canopy/vehicle/contract"
)

// The bounds of a plan with all subtrees expanded: a few subtrees that include each other twice grow without limit.
const (
	maxTasks = 100_000
	maxNames = 256 << 20 // bytes of the paths of all tasks
)

// graph determines which trees include each other.
type graph struct {
	*document
	path   []*tree       // from the tree where the search began
	at     map[*tree]int // the place of each tree on the path
	extent map[*tree]extent
}

// extent is the size of a tree with all subtrees expanded; names is the length of all paths from its root.
type extent struct{ tasks, depth, names int }

// includes cuts cycles, reports them and returns the sizes, with all subtrees expanded, of the main tree and of those
// that it contains.
func (d *document) includes() map[*tree]extent {
	g := &graph{document: d, at: map[*tree]int{}, extent: map[*tree]extent{}}
	if d.main != nil {
		g.visit(d.main)
	}
	used := maps.Clone(g.extent)
	for _, t := range d.order {
		if _, known := g.extent[t]; !known {
			g.visit(t)
		}
	}
	return used
}

// fits reports whether the main tree is expanded, and reports why not.
func (d *document) fits(size extent, mostTasks int) bool {
	switch {
	case size.tasks > mostTasks:
		d.reportName(d.main.element, xmltree.CodeTooLarge,
			"a subtree is written out at each use: let it be used less often, for instance by a condition over a signal",
			"with its subtrees the tree is not expanded beyond %d tasks", mostTasks)
	case size.names > maxNames:
		d.reportName(d.main.element, xmltree.CodeTooLarge, "give the tasks shorter names",
			"with its subtrees the tree is not expanded: the names of its tasks with their paths have more than %d bytes",
			maxNames)
	case size.depth > xmltree.MaxDepth:
		d.reportName(d.main.element, xmltree.CodeTooDeep, "", "with its subtrees the tree is more than %d levels deep",
			xmltree.MaxDepth)
	default:
		return true
	}
	return false
}

func (g *graph) visit(t *tree) extent {
	g.at[t] = len(g.path)
	g.path = append(g.path, t)
	size := extent{}
	if t.root != nil {
		size = g.measure(t.root.core)
	}
	g.path = g.path[:len(g.path)-1]
	delete(g.at, t)
	g.extent[t] = size
	return size
}

func (g *graph) measure(n *node) extent {
	if t := n.subtree; t != nil {
		if at, cyclic := g.at[t]; cyclic {
			var names []string
			for _, p := range g.path[at:] {
				names = append(names, p.id)
			}
			if n := len(names); n > 10 {
				names = slices.Replace(names, 5, n-4, "...")
			}
			g.reportValue(n.element.Find("ID"), codeCycle, "a tree cannot contain itself", "cyclic subtree: %s",
				strings.Join(append(names, t.id), " -> "))
			n.subtree = &tree{id: t.id} // cut, so that the rest can be expanded
			return extent{}
		}
		size, known := g.extent[t]
		if !known {
			size = g.visit(t)
		}
		size.names = min(size.names+size.tasks*len(n.name+"/"), maxNames+1)
		return size
	}
	size := extent{tasks: 1}
	if len(n.entries) > 0 {
		size = extent{tasks: maxVarying, depth: maxVarying}
	}
	for _, c := range n.children {
		child := g.measure(c)
		size.tasks = min(size.tasks+child.tasks, maxTasks+1)
		size.depth = max(size.depth, child.depth)
		size.names = min(size.names+child.names, maxNames+1)
	}
	size.names = min(size.names+size.tasks*len(n.name+"/"), maxNames+1)
	size.depth = min(size.depth+1, xmltree.MaxDepth+1)
	return size
}

// warnUnused warns of the trees that are not used.
func (d *document) warnUnused(used map[*tree]extent) {
	for _, t := range d.order {
		if _, is := used[t]; is || t.frame {
			continue
		}
		if id := t.element.Find("ID"); id != nil && d.trees[t.id] == t && !d.fromLibrary(t.element) {
			d.warn(id.Raw.At, id.Raw.End-id.Raw.At, codeUnusedTree, "", "the tree %q is never used", t.id)
		}
	}
}

// fromLibrary reports whether an element is one of a library, of which a plan uses what it needs: also in a plan that
// is one document, as it is uploaded and recorded.
func (d *document) fromLibrary(e *xmltree.Element) bool {
	file, _ := d.doc.Source.Origin(e.At)
	return strings.HasPrefix(file.Name, preprocess.Library) || slices.ContainsFunc(contract.Contracts(),
		func(c *contract.Contract) bool { return strings.Contains(c.Library, d.doc.Source.Text[e.At:e.End]) })
}
