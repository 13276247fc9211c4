// Package groot tells Groot2 of a run: it speaks the protocol of BehaviorTree.CPP's publisher for Groot2.
//
// A request has a frame of 6 bytes (version 2, a letter, a number that the answer repeats) and perhaps another one; the
// answer has the frame, with the 16 bytes that identify the tree behind it, and perhaps another one. docs/bridges.md
// says what each letter gets, and how statuses are mapped.
package groot

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/run/record"
)

// Monitor is the recorder of a run that answers Groot2, from Begin on. It can be used by several goroutines.
type Monitor struct {
	record.Nothing
	mutex    sync.Mutex
	log      record.Header // its tasks include those of earlier plans
	id       []byte        // of the tree, which Groot2 reads again when that changes
	tree     *tree         // of the present plan
	numbers  []bt.Task     // of its tasks in the log
	nodes    [][]int       // by task of the log: its nodes
	statuses []bt.Status   // by task of the log
	codes    []byte        // by node: its number - 1

	t         float64 // [s]
	sample    []float64
	recording bool
	since     float64      // when the recording began [s]
	recorded  []transition // the last ones
}

// transition is a change of the status of a node.
type transition struct {
	t    float64
	node int
	code byte
}

const mostRecorded = 1000 // transitions

// Begin begins with a run of this header. The error is ErrSize.
func (m *Monitor) Begin(h *record.Header) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.log, m.t, m.since, m.sample = *h, h.Start, h.Start, nil
	m.numbers, m.statuses = nil, nil
	for i, t := range h.Tasks {
		m.numbers, m.statuses = append(m.numbers, bt.Task(i)), append(m.statuses, t.Initial)
	}
	return m.begin(h)
}

// begin begins with the plan of a header.
func (m *Monitor) begin(h *record.Header) error {
	t, err := newTree(h)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(t.text))
	m.id, m.tree, m.recorded = sum[:16], t, nil
	m.nodes, m.codes = make([][]int, len(m.log.Tasks)), make([]byte, len(t.tasks))
	for i, task := range t.tasks {
		n := m.numbers[task]
		m.nodes[n] = append(m.nodes[n], i+1)
		m.codes[i] = code(m.statuses[n])
	}
	return nil
}

// The statuses of Groot2. A node that became idle has its earlier status added to wasIdle, where Groot2 asks for all.
const (
	idle byte = iota
	running
	success
	failure
	skipped
	wasIdle byte = 10
)

// code returns the status of a node whose task has a status.
func code(s bt.Status) byte {
	switch s.Judgement() {
	case bt.Success:
		return success
	case bt.Failure:
		return failure
	case bt.Skipped:
		return skipped
	}
	if s == bt.Accept {
		return idle
	}
	return running
}

// Sample implements record.Recorder.
func (m *Monitor) Sample(t float64, values []float64) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.t, m.sample = t, append(m.sample[:0], values...)
	return nil
}

// Status implements record.Recorder.
func (m *Monitor) Status(t float64, _ int, c bt.Change) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.t, m.statuses[c.Task] = t, c.To
	to := code(c.To)
	for _, n := range m.nodes[c.Task] {
		from := m.codes[n-1]
		if from == to || from > wasIdle && to == idle {
			continue
		}
		if m.codes[n-1] = to; to == idle {
			m.codes[n-1] = wasIdle + from
		}
		if m.recording {
			m.recorded = append(m.recorded, transition{t, n, to})
			m.recorded = m.recorded[max(0, len(m.recorded)-mostRecorded):]
		}
	}
	return nil
}

// Plan implements record.Recorder. The error is ErrSize.
func (m *Monitor) Plan(p record.Takeover) error {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.numbers = m.log.Take(p)
	for i, n := range m.numbers {
		if int(n) == len(m.statuses) {
			m.statuses = append(m.statuses, p.Tasks[i].Initial)
		}
		m.statuses[n] = p.Tasks[i].Initial
	}
	h := p.Header(m.log)
	return m.begin(&h)
}

const (
	requestSize = 6
	version     = 2
)

// Answer answers a request.
func (m *Monitor) Answer(request [][]byte) [][]byte {
	if len(request) == 0 || len(request[0]) != requestSize {
		return refused("wrong request header")
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	head := append(append([]byte{version}, request[0][1:]...), m.id...)
	letter := request[0][1]
	if two := strings.IndexByte("BIRUr", letter) >= 0; two && len(request) != 2 {
		return refused("must be 2 parts message")
	}
	switch letter {
	case 'T':
		return [][]byte{head, []byte(m.tree.text)}
	case 'S':
		return [][]byte{head, m.all()}
	case 'B':
		return [][]byte{head, m.blackboards(strings.Split(string(request[1]), ";"))}
	case 'r':
		return m.record(head, string(request[1]))
	case 't':
		list := m.transitions()
		m.recorded = nil
		return [][]byte{head, list}
	case 'D': // there are no hooks
		return [][]byte{head, []byte("[]")}
	case 'A', 'X':
		return [][]byte{head}
	case 'I':
		return refused("this run is only watched: it has no breakpoints, and no results can be replaced")
	case 'R', 'U':
		return refused("Node ID not found")
	}
	return refused("Request not recognized")
}

func refused(why string) [][]byte { return [][]byte{[]byte("error"), []byte(why)} }

// all returns the statuses of all nodes: number and status of each.
func (m *Monitor) all() []byte {
	var b []byte
	for _, n := range m.tree.order {
		b = append(binary.LittleEndian.AppendUint16(b, uint16(n)), m.codes[n-1])
	}
	return b
}

// record begins or ends a recording of transitions. The answer to the beginning is its time in microseconds: that of
// the run, and of the day, if the run has one.
func (m *Monitor) record(head []byte, what string) [][]byte {
	if m.recorded = nil; what != "start" {
		m.recording = false
		return [][]byte{head}
	}
	m.recording, m.since = true, m.t
	unix := micros(m.t)
	if m.log.Date != 0 {
		unix = m.log.Date/1000 + micros(m.t-m.log.Start)
	}
	return [][]byte{head, strconv.AppendInt(nil, unix, 10)}
}

func micros(t float64) int64 { return int64(math.Round(t * 1e6)) }

// transitions returns the recorded transitions: 6 bytes with the time since the recording began in microseconds, the
// number of the node and its status.
func (m *Monitor) transitions() []byte {
	var b []byte
	for _, x := range m.recorded {
		at := len(b)
		b = binary.LittleEndian.AppendUint64(b, uint64(micros(x.t-m.since)))[:at+6]
		b = append(binary.LittleEndian.AppendUint16(b, uint16(x.node)), x.code)
	}
	return b
}

// blackboards returns what is known beside the statuses of Groot2, for each named use of a subtree: the statuses of its
// tasks as Canopy has them and, of the main tree, the time and the signals.
func (m *Monitor) blackboards(names []string) []byte {
	var wanted []use
	for _, u := range m.tree.uses {
		if slices.Contains(names, u.path) {
			wanted = append(wanted, u)
		}
	}
	if len(wanted) == 0 {
		return []byte{packedNil}
	}
	b := packMap(nil, len(wanted))
	for _, u := range wanted {
		var entries bytes.Buffer
		n := len(u.tasks)
		for _, task := range u.tasks {
			log := m.numbers[task]
			entries.Write(packText(packText(nil, "status of "+m.log.Tasks[log].Name), m.statuses[log].String()))
		}
		if u.path == m.tree.uses[0].path {
			entries.Write(packNumber(packText(nil, "t"), m.t))
			n++
			for i, v := range m.sample {
				if known := v-v == 0; known {
					entries.Write(packSignal(&m.log.Signals[i], v))
					n++
				}
			}
		}
		b = append(packMap(packText(b, u.path), n), entries.Bytes()...)
	}
	return b
}

// packSignal returns the entry of a signal.
func packSignal(s *record.Signal, v float64) []byte {
	b := packText(nil, s.Name)
	text, named := s.Value(v)
	switch {
	case s.Type == "boolean" && named:
		return append(b, packedFalse+byte(v))
	case named:
		return packText(b, text)
	case s.Type == "integer":
		return packInteger(b, int64(v))
	}
	return packNumber(b, v)
}
