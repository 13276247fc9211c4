package record

import (
	"bytes"
	"testing"

	"github.com/foxglove/mcap/go/mcap"
)

// TestLibraryWritesTheSame writes a log of several chunks again, by the MCAP library: its bytes are the same, to the
// last checksum and index.
func TestLibraryWritesTheSame(t *testing.T) {
	h := small()
	var f files
	long(t, h, &f)

	var again bytes.Buffer
	options := &mcap.WriterOptions{Chunked: true, ChunkSize: chunkSize, IncludeCRC: true, OverrideLibrary: true}
	w, err := mcap.NewWriter(&again, options)
	must(t, err)
	must(t, w.WriteHeader(&mcap.Header{Library: "canopy"}))
	start, err := logTime(h.Start)
	must(t, err)
	for _, a := range h.Attachments {
		must(t, w.WriteAttachment(&mcap.Attachment{LogTime: start, CreateTime: start, Name: a.Name,
			MediaType: a.MediaType, DataSize: uint64(len(a.Data)), Data: bytes.NewReader(a.Data)}))
	}
	for id := uint16(1); id <= summaryChannel; id++ {
		must(t, w.WriteSchema(&mcap.Schema{ID: id, Name: "canopy" + topics[id], Encoding: "jsonschema",
			Data: h.schemaOf(int(id))}))
		must(t, w.WriteChannel(&mcap.Channel{ID: id, SchemaID: id, Topic: topics[id], MessageEncoding: "json"}))
	}
	options.ChunkSize = 0 // the message on /run has its own chunk
	_, err = eachRecord(bytes.NewReader(f.mcap.Bytes()), func(op opcode, body []byte) error {
		if op != opChunk {
			return nil
		}
		records, err := chunk(body)
		must(t, err)
		return eachMessage(records, map[uint16]string{}, func(_ string, m message) error {
			err := w.WriteMessage(&mcap.Message{ChannelID: m.channel, Sequence: m.sequence, LogTime: m.time,
				PublishTime: m.time, Data: m.data})
			options.ChunkSize = chunkSize
			return err
		})
	})
	must(t, err)
	must(t, w.Close())
	if len(h.Attachments) == 0 || len(w.ChunkIndexes) < 3 {
		t.Fatalf("the log has %d attachments and %d chunks: it tests little", len(h.Attachments), len(w.ChunkIndexes))
	}
	if !bytes.Equal(again.Bytes(), f.mcap.Bytes()) {
		t.Errorf("the library writes %d other bytes, ours are %d", again.Len(), f.mcap.Len())
	}
}
