package oracle

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"canopy/analysis/verify"
)

// property returns the answers to one question.
func property(name string) verify.Question {
	for _, q := range verify.Questions() {
		if q.Name == name {
			return q
		}
	}
	panic("oracle: a question that does not exist")
}

// TestPropertiesAgreeWithTheWitness: no property of runs is proved that a flight violates, none is refuted that all
// flights satisfy, and almost all are decided.
func TestPropertiesAgreeWithTheWitness(t *testing.T) {
	for n, class := range classes {
		t.Run(class.name, func(t *testing.T) {
			counts, wrong, smallest := map[string]int{}, map[string]int{}, map[string]string{}
			cases, limit := effort(250, 400)
			for seed := range uint64(cases) {
				m := Random(rand.New(rand.NewPCG(seed, uint64(51+100*n))), class.shape)
				truth := m.Truth(limit)
				read, diags := m.Read()
				if read == nil {
					t.Fatalf("%v\n%s", diags, m)
				}
				if !truth.Complete || truth.Entered == nil {
					counts["skipped"]++
					continue
				}
				report := func(kind, format string, args ...any) {
					wrong[kind]++
					text := fmt.Sprintf(format, args...) + "\n" + m.String()
					if smallest[kind] == "" || len(text) < len(smallest[kind]) {
						smallest[kind] = text
					}
				}
				for i, f := range property("property").Ask(verify.NewModel(read.Subject())) {
					counts[f.Verdict.String()]++
					seen := truth.Faults[Fault{"always", i}]
					switch {
					case f.Verdict == verify.Proved && seen.Rest && len(f.Unwatched()) == 0:
						report("false proved", "%s", f.Text)
					case f.Verdict == verify.Refuted && !seen.Within && len(f.Unwatched()) == 0 && !truth.Unstable:
						report("false refuted", "%s", f.Text)
					case f.Verdict == verify.Undecided && !truth.Unstable:
						report("unknown", "%s", f.Text)
					case f.Verdict == verify.Refuted && len(f.Unwatched()) == 0 && !truth.Unstable:
						if counts["scripts"]++; f.Script == "" {
							report("script", "none: %s", f.Text)
						} else if why := m.replayed(read, f.Script, func(f *Flight, _ bool) bool { return f.shows(Fault{"always", i}) },
							f.About); why != "" {
							report("script", "%s\n%s\n%s", f.Text, why, f.Script)
						}
					}
				}
			}
			t.Log(counts)
			for kind, text := range smallest {
				if kind != "unknown" || wrong[kind]*50 > cases {
					t.Errorf("%s %d times in %d missions, the smallest:\n%s", kind, wrong[kind], cases, text)
				}
			}
		})
	}
}
