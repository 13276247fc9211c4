package verify

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/declare"
	"github.com/canopy-uav/canopy/internal/cputime"
)

// scaled is a family of plans of any number of tasks a0, a1, ..., and a property of them.
type scaled struct {
	name     string
	property func(n int) string
	text     func(n int) string
}

// children returns a composite with n children.
func children(composite string, n int, child func(i int) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<%s name=%q>", composite, "list")
	for i := range n {
		b.WriteString(child(i))
	}
	kind, _, _ := strings.Cut(composite, " ")
	return b.String() + "</" + kind + ">"
}

func firstBeforeLast(n int) string { return fmt.Sprintf("a0 before a%d", n-1) }

func lastTwo(n int) string { return fmt.Sprintf("a%d before a%d", n-2, n-1) }

// scaledFamilies are plans as missions have them.
var scaledFamilies = []scaled{
	{"no memory", func(int) string { return "a1 before a0" }, func(n int) string {
		return children("ReactiveFallback", n, func(i int) string {
			return fmt.Sprintf(`<ReactiveSequence><Condition name="c%[1]d" on="x%[1]d ge 1"/><Action name="a%[1]d" write="u := %[1]d"/>`+
				`</ReactiveSequence>`, i)
		})
	}},
	{"hysteresis, own signals", func(int) string { return "a1 before a0" }, func(n int) string {
		return children("ReactiveFallback", n, func(i int) string {
			return fmt.Sprintf(`<ReactiveSequence><Condition name="c%[1]d" on="x%[1]d ge 2" off="x%[1]d lt 1"/>`+
				`<Action name="a%[1]d" write="u := %[1]d"/></ReactiveSequence>`, i)
		})
	}},
	{"hysteresis, one signal", func(int) string { return "a1 before a0" }, func(n int) string {
		return children("ReactiveFallback", n, func(i int) string {
			return fmt.Sprintf(`<ReactiveSequence><Condition name="c%[1]d" on="x lt %[2]d" off="x ge %[3]d"/>`+
				`<Action name="a%[1]d" write="u := %[1]d"/></ReactiveSequence>`, i, 2*i, 2*i+3)
		})
	}},
	{"sequence with memory", firstBeforeLast, func(n int) string {
		return `<ReactiveFallback><ReactiveSequence><Condition name="low" on="soc lt 0.2"/><Action name="home" write="u := -1"/>` +
			`</ReactiveSequence>` + children("Sequence", n, func(i int) string {
			return fmt.Sprintf(`<Fallback><Condition name="c%[1]d" on="y%[1]d ge 1"/>`+
				`<Action name="a%[1]d" done="x%[1]d ge 1" write="u := %[1]d"/></Fallback>`, i)
		}) + `<Action name="rest" write="u := -2"/></ReactiveFallback>`
	}},
	{"entry times in a sequence", lastTwo, func(n int) string {
		return children("Sequence", n, func(i int) string {
			return fmt.Sprintf(`<Action name="a%[1]d" entry_time="1 [s]" done="x%[1]d ge 1" write="u := %[1]d"/>`, i)
		})
	}},
	{"parallel branches with entry times", lastTwo, func(n int) string {
		return children("Parallel", 2, func(k int) string {
			return children("Sequence", n/2, func(i int) string {
				return fmt.Sprintf(`<Action name="a%[1]d" entry_time="%[2]d [s]" done="x%[1]d ge 1" write="u%[3]d := %[1]d"/>`,
					k*(n/2)+i, 2+k, k)
			})
		})
	}},
	{"guards and legs with times", lastTwo, func(n int) string {
		return "<ReactiveFallback>" + children("ReactiveFallback", 5, func(i int) string {
			return fmt.Sprintf(`<ReactiveSequence><Condition name="g%[1]d" on="s%[1]d lt 1" off="s%[1]d ge 2"/>`+
				`<Action name="safe%[1]d" entry_time="2 [s]" exit_time="1 [s]" write="u := -%[1]d"/></ReactiveSequence>`, i)
		}) + children("Sequence", n, func(i int) string {
			return fmt.Sprintf(`<Action name="a%[1]d" entry_time="2 [s]" exit_time="1 [s]" done="x%[1]d ge 1" write="u := %[1]d"/>`, i)
		}) + `<Action name="rest" write="u := -9"/></ReactiveFallback>`
	}},
	{"fallbacks with retries", firstBeforeLast, func(n int) string {
		return children("Sequence", n, func(i int) string {
			return fmt.Sprintf(`<RetryUntilSuccessful num_attempts="3"><Fallback><Action name="a%[1]d" done="x%[1]d ge 2"`+
				` failed="x%[1]d lt 1" write="u := %[1]d"/><Action name="b%[1]d" done="y%[1]d ge 2" failed="y%[1]d lt 1" write="u := %[1]d"/>`+
				`</Fallback></RetryUntilSuccessful>`, i)
		})
	}},
	{"scripts and entries", firstBeforeLast, func(n int) string {
		return `<Sequence><Script code="legs := 0"/>` + children("Sequence", n, func(i int) string {
			return fmt.Sprintf(`<Script code="mode := %[2]d; legs := legs + 1"/><Fallback><Condition name="c%[1]d" on="mode gt %[2]d"/>`+
				`<Action name="a%[1]d" done="x%[1]d ge 1" write="u := %[1]d"/></Fallback>`, i, i%4)
		}) + fmt.Sprintf(`<Condition name="all" on="legs ge %d"/></Sequence>`, n)
	}},
	{"timers in sequences", firstBeforeLast, func(n int) string {
		return children("Sequence", n, func(i int) string {
			return fmt.Sprintf(`<ForceSuccess><Timeout msec="60000"><Sequence><Sleep msec="2000"/>`+
				`<Action name="a%[1]d" done="x%[1]d ge 1" write="u := %[1]d"/></Sequence></Timeout></ForceSuccess>`, i)
		})
	}},
}

func (f scaled) subject(tb testing.TB, n int) declare.Subject {
	tb.Helper()
	s := family{text: f.text}.subject(tb, n)
	d, list := declare.ReadFile(&diag.Source{Name: "facts.yaml", Text: "properties: [" + f.property(n) + "]"}, s.Plan)
	if list.HasErrors() {
		tb.Fatal(list)
	}
	s.Declared = d
	return s
}

// BenchmarkScale checks plans of 20, 100 and 300 tasks until four questions are decided, for at most 60 s of work. It
// shows the CPU time, the maximum amount of data, and how many of the questions are open.
func BenchmarkScale(b *testing.B) {
	for _, f := range scaledFamilies {
		for _, n := range []int{20, 100, 300} {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(f.name, " ", "_"), n), func(b *testing.B) {
				s := f.subject(b, n)
				for b.Loop() {
					checkScaled(b, s)
				}
			})
		}
	}
}

// undecidedOf checks a plan within an amount of data [bytes] until four questions are decided. It returns those that are
// not, and the maximum amount of data.
func undecidedOf(s declare.Subject, memory uint64) (open []string, most uint64) {
	open = []string{"complete", "dead", "property", "conflict"}
	asked := 0
	goOn := func() bool {
		if asked++; asked%16 == 0 {
			data := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
			metrics.Read(data)
			most = max(most, data[0].Value.Uint64())
		}
		return most <= memory
	}
	for q, found := range Answers(s, 60, goOn) {
		if !slices.ContainsFunc(found, func(f Finding) bool { return f.Verdict == Undecided }) {
			open = slices.DeleteFunc(open, func(name string) bool { return name == q.Name })
		}
		if len(open) == 0 {
			break
		}
	}
	return open, most
}

func checkScaled(b *testing.B, s declare.Subject) {
	b.Helper()
	const memory = 350 << 20 // as the command has
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(memory))
	runtime.GC()
	begun := cputime.Now()
	open, most := undecidedOf(s, memory)
	b.ReportMetric(cputime.Now()-begun, "s")
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(most)/1e6, "MB")
	b.ReportMetric(float64(len(open)), "open")
}

// Plans of each family are decided.
func TestScaledFamiliesAreDecided(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: fifteen seconds")
	}
	for _, f := range scaledFamilies {
		if open, _ := undecidedOf(f.subject(t, 40), math.MaxInt64); len(open) > 0 {
			t.Errorf("%s: not decided: %v", f.name, open)
		}
	}
}
