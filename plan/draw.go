package plan

import (
	"io"

	"canopy/bt"
)

// Text draws the tree with box-drawing characters. statuses, indexed by task, are shown behind the names; nil: none.
func Text(w io.Writer, p *Plan, statuses []bt.Status) error { return nil }

// DOT writes the tree as a Graphviz graph.
func DOT(w io.Writer, p *Plan) error { return nil }

// SVG draws the tree as a self-contained picture. statuses, indexed by task, colour the nodes; nil: the kinds do.
func SVG(w io.Writer, p *Plan, statuses []bt.Status) error { return nil }
