package report

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// html renders the log.
func TestSampleDay(t *testing.T) {
	var b bytes.Buffer
	log := sampleLog(t)
	must(t, HTML(&b, log, ""))
	t.Logf("%d samples, %d changes, %d events, %d bytes", len(log.T), len(log.Changes), len(log.Events), b.Len())
	if *keep != "" {
		must(t, os.WriteFile(filepath.Join(*keep, "report.html"), b.Bytes(), 0o644))
	}
	var tab bytes.Buffer
	must(t, Table(&tab, log))
	t.Log("\n" + tab.String())
}
