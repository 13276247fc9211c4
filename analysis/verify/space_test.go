package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/document/plan"
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
			switch r.IntN(3) {
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
			default:
				s = d.not(sets[a])
				for k := range want {
					want[k] = !tables[a][k]
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

// A check that is to stop stops soon, wherever it is, and yields no answer that means nothing.
func TestAnswersStop(t *testing.T) {
	body := ""
	for i := range 100 {
		body += fmt.Sprintf(`<Condition ID="c%d" on="x ge %d"/>`, i, i)
	}
	p, diags := plan.Read(&diag.Source{Text: `<root BTCPP_format="4"><BehaviorTree ID="main"><Sequence>` + body +
		`<Action ID="a"/></Sequence></BehaviorTree></root>`}, nil)
	if p == nil {
		t.Fatal(diags)
	}
	whole := 0
	for range Answers(declare.Subject{Plan: p}, 60, func() bool { whole++; return true }) {
	}
	for _, calls := range []int{0, 1, 500, whole / 2, whole - 1} {
		n, before, answers := 0, 0, 0
		goOn := func() bool { n++; return n <= calls }
		for range Answers(declare.Subject{Plan: p}, 60, goOn) {
			answers, before = answers+1, n
		}
		if before > calls || n > calls+whole/10 || answers == len(Questions()) {
			t.Errorf("after %d of %d calls: %d calls, %d answers, the last after %d", calls, whole, n, answers, before)
		}
	}
}
