package bt

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"canopy/snapshot"
)

// randomTree returns a description with about the given number of tasks.
func randomTree(r *rand.Rand, size int) *Node {
	if size <= 1 {
		if r.IntN(2) == 0 {
			return &Node{Kind: Condition}
		}
		return &Node{Kind: Action}
	}
	d := &Node{Kind: Sequence + Kind(r.IntN(int(ForceFailure-Sequence)+1))}
	if d.Kind.IsDecorator() && r.IntN(2) == 0 {
		d.Kind = Sequence + Kind(r.IntN(6))
	}
	n := 1
	if !d.Kind.IsDecorator() {
		n = 1 + r.IntN(min(size-1, 5))
	}
	rest := size - 1
	for i := range n {
		share := rest / (n - i)
		if n-i > 1 && rest > 1 {
			share = r.IntN(2*share + 1)
		}
		share = max(1, min(share, rest))
		rest -= share
		d.Children = append(d.Children, randomTree(r, share))
	}
	d.SuccessCount, d.FailureCount = -1, 1
	if r.IntN(3) > 0 {
		d.SuccessCount, d.FailureCount = 1+r.IntN(n), 1+r.IntN(n)
	}
	if r.IntN(4) == 0 {
		d.FailureCount = -1 - r.IntN(n)
	}
	return d
}

// randomInput returns an input for a random leaf; useful ones are likelier.
func randomInput(r *rand.Rand, tree *Tree, e *Engine) Input {
	leaves := tree.Leaves()
	t := leaves[r.IntN(len(leaves))]
	if tree.Kind(t) == Condition {
		return Set(t, r.IntN(2) == 0)
	}
	if e != nil {
		switch s := e.Status(t); {
		case s == Activating && r.IntN(2) == 0:
			return Entered(t)
		case s == Running && r.IntN(3) > 0:
			return End(t, Status(r.IntN(2)))
		case s == Deactivating && r.IntN(2) == 0:
			return Exited(t)
		}
	}
	switch r.IntN(6) {
	case 0:
		return End(t, Status(r.IntN(2)))
	case 1:
		return Slow(t, r.IntN(2) == 0, r.IntN(2) == 0)
	case 2:
		return Entered(t)
	case 3:
		return Exited(t)
	}
	return Request(t, Status(r.IntN(3)))
}

// TestRandom compares the engine with the full sweeps of the law on random trees and scripts: the logs with the
// iterations, the commands, and every task's state must be equal after every instant, also after the engine has been
// replaced by a copy, and when it is halted. The invariants are checked as well.
func TestRandom(t *testing.T) {
	trees := 100_000
	if testing.Short() {
		trees = 3_000
	}
	const workers = 2
	for w := range workers {
		t.Run(fmt.Sprint("part", w), func(t *testing.T) {
			t.Parallel()
			most := 0
			for i := w; i < trees && !t.Failed(); i += workers {
				most = max(most, randomRun(t, uint64(i)))
			}
			t.Logf("no instant took more than %d iterations", most)
		})
	}
}

// randomRun makes a tree and runs it; it returns the greatest number of iterations of an instant.
func randomRun(t *testing.T, seed uint64) (most int) {
	r := rand.New(rand.NewPCG(1, seed))
	size, instants := 1+r.IntN(20), 12
	switch {
	case seed%500 == 499:
		size = 5000 // all levels of the worklist
	case seed%50 == 49:
		size = 200
	}
	d := randomTree(r, size)
	tree, err := Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	var initial []Input
	for range r.IntN(4) {
		initial = append(initial, randomInput(r, tree, nil))
	}
	limit := 1000
	if seed%10 == 9 { // cut instants short and go on from there
		limit = 1 + r.IntN(3)
	}
	s := newSweeper(d, initial, limit)
	e := NewEngine(tree, initial, limit)
	c := newChecker(e)
	other := e.Clone()
	compare(t, seed, "initially", d, e, s, Instant{}, 0)
	var inputs []Input
	for i := range instants {
		iterations, settled := s.settle(inputs)
		most = max(most, iterations)
		instant, err := e.Settle(inputs)
		if settled != (err == nil) || !settled && (limit == 1000 || !errors.Is(err, ErrLoop)) {
			t.Fatalf("seed %d, instant %d: settled %v, engine: %v\n%s", seed, i, settled, err, outline(d))
		}
		where := fmt.Sprintf("instant %d, inputs %v", i, inputs)
		compare(t, seed, where, d, e, s, instant, iterations)
		for _, finding := range c.check(e, instant, settled) {
			t.Errorf("seed %d, %s: %s\n%s", seed, where, finding, outline(d))
		}
		if t.Failed() {
			return most
		}
		if r.IntN(4) == 0 { // go on with a copy; whatever then happens to the original must not matter
			if i%2 == 0 {
				other.CopyFrom(e)
			} else {
				reload(t, e, other)
			}
			e, other = other, e
			if _, err := other.Settle([]Input{randomInput(r, tree, other)}); err != nil && limit == 1000 {
				t.Fatal(err)
			}
		}
		if r.IntN(20) == 0 {
			iterations := s.halt()
			instant := e.Halt()
			compare(t, seed, "halted", d, e, s, instant, iterations)
			for _, finding := range c.check(e, instant, true) {
				t.Errorf("seed %d, halted: %s\n%s", seed, finding, outline(d))
			}
		}
		inputs = inputs[:0]
		for range 1 + r.IntN(1+min(3, size/3)) {
			inputs = append(inputs, randomInput(r, tree, e))
		}
	}
	return most
}

func compare(t *testing.T, seed uint64, where string, d *Node, e *Engine, s *sweeper, instant Instant, iterations int) {
	t.Helper()
	if !slices.Equal(instant.Changes, s.changes) || !slices.Equal(instant.Commands, s.commands) ||
		instant.Iterations != iterations {
		t.Fatalf("seed %d, %s:\n engine %v %v %d\n sweeps %v %v %d\n%s", seed, where, instant.Changes, instant.Commands,
			instant.Iterations, s.changes, s.commands, iterations, outline(d))
	}
	for _, task := range s.tasks {
		n := task.number
		result, held := e.Held(n)
		if e.Status(n) != task.status || e.Active(n) != task.active || held != task.held || e.Pinned(n) != task.pinned ||
			held && (result == Success) != task.heldGood {
			t.Fatalf("seed %d, %s: task %d:\n engine %v active %v held %v %v pinned %v\n"+
				" sweeps %v active %v held %v %v pinned %v\n%s",
				seed, where, n, e.Status(n), e.Active(n), held, result, e.Pinned(n),
				task.status, task.active, task.held, task.heldGood, task.pinned, outline(d))
		}
	}
}

// outline writes a description in the notation of the golden files.
func outline(d *Node) string {
	var b strings.Builder
	var write func(d *Node, indent string)
	write = func(d *Node, indent string) {
		fmt.Fprintf(&b, "%s%s", indent, d.Kind)
		if d.Name != "" {
			fmt.Fprintf(&b, " %s", d.Name)
		}
		if d.Kind.IsParallel() {
			fmt.Fprintf(&b, " success=%d failure=%d", d.SuccessCount, d.FailureCount)
		}
		b.WriteByte('\n')
		for _, child := range d.Children {
			write(child, indent+"  ")
		}
	}
	write(d, "")
	return b.String()
}

// reload sets an engine to the saved state of another one of the same tree.
func reload(t *testing.T, from, to snapshot.State) {
	t.Helper()
	saved := snapshot.Save(nil, from)
	if err := snapshot.Load(saved, to); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(snapshot.Save(nil, to), saved) {
		t.Fatal("a restored engine is saved otherwise")
	}
}
