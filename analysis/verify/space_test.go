package verify

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// TestDiagrams compares random sets over five variables with tables of their members.
func TestDiagrams(t *testing.T) {
	const n = 5
	type table [1 << n]bool
	r := rand.New(rand.NewPCG(5, 5))
	for range 20 {
		d := newDiagrams(n)
		sets, tables := []set{d.all(), d.none()}, make([]table, 2)
		for k := range tables[0] {
			tables[0][k] = true
		}
		for i := range n {
			var own table
			for k := range own {
				own[k] = k>>i&1 == 1
			}
			sets, tables = append(sets, d.variable(i)), append(tables, own)
		}
		for step := range 100 {
			a, b := r.IntN(len(sets)), r.IntN(len(sets))
			var s set
			var want table
			switch r.IntN(4) {
			case 0:
				s = d.and(sets[a], sets[b])
				for k := range want {
					want[k] = tables[a][k] && tables[b][k]
				}
			case 1:
				s = d.or(sets[a], sets[b])
				for k := range want {
					want[k] = tables[a][k] || tables[b][k]
				}
			case 2:
				s = d.not(sets[a])
				for k := range want {
					want[k] = !tables[a][k]
				}
			default:
				hidden := r.Perm(n)[:r.IntN(n+1)]
				mask := 0
				for _, v := range hidden {
					mask |= 1 << v
				}
				s = d.hide(sets[a], hidden)
				for k := range want {
					for m := range tables[a] {
						want[k] = want[k] || tables[a][m] && m&^mask == k&^mask
					}
				}
			}
			sets, tables = append(sets, s), append(tables, want)
			if has := slices.Contains(want[:], true); d.empty(s) == has {
				t.Fatalf("step %d: empty is %v", step, !has)
			}
			for k := range want {
				member := d.all()
				for i := range n {
					v := d.variable(i)
					if k>>i&1 == 0 {
						v = d.not(v)
					}
					member = d.and(member, v)
				}
				if d.empty(d.and(s, member)) == want[k] {
					t.Fatalf("step %d: member %05b, want %v", step, k, want[k])
				}
			}
		}
	}
}

// TestDiagramsKeepAll is for the race detector (`make race`): what the space would not keep, the garbage collector would
// take beside its work.
func TestDiagramsKeepAll(t *testing.T) {
	const n = 40
	for range 30 {
		d := newDiagrams(n)
		a := d.all()
		for i := range n - 1 {
			a = d.or(d.and(a, d.variable(i)), d.not(d.variable(i+1)))
		}
		var hidden []int
		for i := range n {
			if hidden = append(hidden, i); i%5 == 0 {
				runtime.GC()
			}
			if d.empty(d.hide(a, hidden)) {
				t.Fatal("a set is empty that was not")
			}
		}
	}
}
