package bt

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Kind is the kind of a task, named as in BehaviorTree.CPP 4: a row of the table of kinds.
type Kind uint8

// The kinds, in the order of the table's rows.
const (
	Condition Kind = iota
	Action
	Sequence
	Fallback
	ReactiveSequence
	ReactiveFallback
	Parallel
	ReactiveParallel
	Inverter
	ForceSuccess
	ForceFailure
	RetryUntilSuccessful
	RunOnce
	IfThenElse
	Repeat
	Delay
	Timeout
	TryCatch
	WhileDoElse
	Switch2
	Switch3
	Switch4
	Switch5
	Switch6
	KeepRunningUntilFailure
	AsyncSequence
	AsyncFallback
	SequenceWithMemory
	ParallelAll
	AlwaysSuccess
	AlwaysFailure
	Sleep
	UtilitySelector2
	UtilitySelector3
	UtilitySelector4
	Guard
	FailureIf
	SuccessIf
	SkipIf
	While
	Precondition
	OnSuccess
	OnFailure
	Post
	OnHalted
)

// kinds defines all kinds as data. Engines, analyses, readers and drawings use a kind's family and the fields of its
// row; no other file branches on a kind. docs/extending.md explains how to add a row.
var kinds = [...]row{
	Condition: {name: "Condition", family: Leaf, text: "Is judged by its truth value and never activated."},
	Action:    {name: "Action", family: Leaf, acts: true, text: "Asks to be activated, runs, and may end."},

	Sequence: {name: "Sequence", family: Chain, children: some, over: Success, verdict: same, memory: true, symbol: "→",
		text: "Runs its children one after the other until one fails; remembers which have succeeded."},
	Fallback: {name: "Fallback", family: Chain, children: some, over: Failure, verdict: same, memory: true, symbol: "?",
		text: "Runs its children one after the other until one succeeds; remembers which have failed."},
	ReactiveSequence: {name: "ReactiveSequence", family: Chain, children: some, over: Success, verdict: same, symbol: "→",
		text: "Succeeds if all children do; the first that does not decides, at any time."},
	ReactiveFallback: {name: "ReactiveFallback", family: Chain, children: some, over: Failure, verdict: same, symbol: "?",
		text: "Fails if all children do; the first that does not decides, at any time."},

	Parallel: {name: "Parallel", family: Count, children: some, memory: true, symbol: "⇉", params: thresholds,
		text: "Runs all children at the same time and counts how they end; remembers which have ended."},
	ReactiveParallel: {name: "ReactiveParallel", family: Count, children: some, symbol: "⇉", params: thresholds, own: true,
		text: "Runs all children at the same time and counts how they are judged, at any time."},

	Inverter: {name: "Inverter", family: Chain, children: one, over: Accept, verdict: verdicts{Failure, Success, Accept},
		symbol: "¬", text: "Succeeds if its child fails, and fails if it succeeds."},
	ForceSuccess: {name: "ForceSuccess", family: Chain, children: one, over: Accept,
		verdict: verdicts{Success, Success, Accept}, symbol: "+", text: "Succeeds when its child has ended, well or badly."},
	ForceFailure: {name: "ForceFailure", family: Chain, children: one, over: Accept,
		verdict: verdicts{Failure, Failure, Accept}, symbol: "−", text: "Fails when its child has ended, well or badly."},

	RetryUntilSuccessful: {name: "RetryUntilSuccessful", family: Script, children: one, memory: true, symbol: "↻",
		params: []Param{{Name: "num_attempts", Label: "attempts", Type: Times,
			Text: "the number of attempts after which it fails, 0: at once; -1: no limit"}},
		script: Automaton{states: []state{
			{child: 0, on: [2]move{Success: {says: Success}, Failure: {says: Failure, again: true}}, says: Failure}}},
		text: "Runs its child again whenever it has failed, until it succeeds."},
	RunOnce: {name: "RunOnce", family: Script, children: one, memory: true, symbol: "1", runs: true,
		params: []Param{{Name: "then_skip", Label: "then", Type: Choice, Words: []string{"false", "true"}, Default: 2,
			Text: "true: it is skipped from then on; false: it returns the same result from then on"}},
		variants: []Automaton{
			{keeps: true, states: []state{
				{child: 0, on: [2]move{Success: {says: Success, to: 1}, Failure: {says: Failure, to: 2}}},
				{child: nobody, says: Success}, {child: nobody, says: Failure}}},
			{keeps: true, states: []state{
				{child: 0, on: [2]move{Success: {says: Success, to: 1}, Failure: {says: Failure, to: 1}}},
				{child: nobody, says: Skipped}}}},
		text: "Runs its child once; is skipped from then on, or returns its result."},
	IfThenElse: {name: "IfThenElse", family: Script, children: arity{2, 3}, memory: true, symbol: "⎇",
		script: ifThenElse,
		text:   "Runs its second child if the first succeeds, else the third; without a third it fails."},
	Repeat: {name: "Repeat", family: Script, children: one, memory: true, symbol: "⟳",
		params: []Param{{Name: "num_cycles", Label: "cycles", Type: Times,
			Text: "the number of runs after which it succeeds, 0: at once; -1: no limit"}},
		script: repeat,
		text:   "Runs its child again whenever it has succeeded, until it fails."},
	Delay: {name: "Delay", family: Script, children: one, memory: true, symbol: "⏱",
		params: []Param{{Name: "delay_msec", Label: "delay", Type: Duration, Unit: "ms",
			Text: "the time from its activation until it evaluates its child"}},
		script: Automaton{states: []state{
			{child: nobody, says: Accept, after: 1},
			{child: 0, on: asJudged}}},
		text: "Waits for a time, then runs its child."},
	Timeout: {name: "Timeout", family: Script, children: one, memory: true, symbol: "⏱",
		params: []Param{{Name: "msec", Label: "limit", Type: Duration, Unit: "ms",
			Text: "the time from its activation until it fails; 0: no limit"}},
		script: Automaton{states: []state{
			{child: 0, on: asJudged, after: 1},
			{child: nobody, says: Failure}}},
		text: "Runs its child, but fails once the time is over."},
	TryCatch: {name: "TryCatch", family: Script, children: arity{2, -1}, memory: true, symbol: "⚠",
		cleanup: "catch_on_halt",
		script: Automaton{states: []state{
			{child: here, on: [2]move{Success: {step: 1, then: 1, says: Success}, Failure: {says: Accept, to: 2}},
				skip: &move{step: 1, says: Skipped}},
			{child: here, on: [2]move{Success: {step: 1, says: Success}, Failure: {says: Accept, to: 2}},
				skip: &move{step: 1, says: Success}},
			{child: last, on: [2]move{Success: {says: Failure}, Failure: {says: Failure}}, skip: &move{says: Failure}}}},
		text: "Runs its children but the last one after the other; if one fails, it runs the last and fails."},
	WhileDoElse: {name: "WhileDoElse", family: Script, children: arity{2, 3}, symbol: "⎇", script: ifThenElse,
		text: "Does its second child while the first succeeds, else the third, at any time; without a third it fails."},
	Switch2: switchOf(2),
	Switch3: switchOf(3),
	Switch4: switchOf(4),
	Switch5: switchOf(5),
	Switch6: switchOf(6),
	KeepRunningUntilFailure: {name: "KeepRunningUntilFailure", family: Script, children: one, memory: true, symbol: "⟳",
		script: Automaton{states: []state{{child: 0, skip: &move{says: Success, again: true},
			on: [2]move{Success: {says: Success, again: true}, Failure: {says: Failure}}}}},
		text: "Runs its child again whenever it has succeeded; fails when its child fails, and never succeeds."},
	AsyncSequence: {name: "AsyncSequence", family: Chain, children: some, over: Success, verdict: same, memory: true,
		symbol: "→", text: "Is a Sequence: no time passes between two children that end at once."},
	AsyncFallback: {name: "AsyncFallback", family: Chain, children: some, over: Failure, verdict: same, memory: true,
		symbol: "?", text: "Is a Fallback: no time passes between two children that end at once."},
	SequenceWithMemory: {name: "SequenceWithMemory", family: Script, children: some, memory: true, symbol: "→",
		script: Automaton{keeps: true, states: []state{
			{child: here, whole: true, on: [2]move{Success: {step: 1, then: 1, says: Success}, Failure: {says: Failure}},
				skip: &move{step: 1, says: Skipped}},
			{child: here, whole: true, on: [2]move{Success: {step: 1, says: Success}, Failure: {says: Failure}},
				skip: &move{step: 1, says: Success}}}},
		text: "A Sequence that continues where it was, also after a failure or a deactivation, until it has succeeded."},
	ParallelAll: {name: "ParallelAll", family: Count, children: some, memory: true, symbol: "⇉", params: failures,
		text: "Runs all children at the same time until each has ended, then counts the failures."},
	AlwaysSuccess: {name: "AlwaysSuccess", family: Script, symbol: "✓",
		script: Automaton{states: []state{{child: nobody, says: Success}}},
		text:   "Succeeds, at any time."},
	AlwaysFailure: {name: "AlwaysFailure", family: Script, symbol: "✗",
		script: Automaton{states: []state{{child: nobody, says: Failure}}},
		text:   "Fails, at any time."},
	Sleep: {name: "Sleep", family: Script, memory: true, symbol: "⏱",
		params: []Param{{Name: "msec", Label: "time", Type: Duration, Unit: "ms",
			Text: "the time from its activation until it succeeds"}},
		script: Automaton{states: []state{
			{child: nobody, says: Accept, after: 1},
			{child: nobody, says: Success}}},
		text: "Waits for a time, then succeeds."},
	UtilitySelector2: utilitySelectorOf(2),
	UtilitySelector3: utilitySelectorOf(3),
	UtilitySelector4: utilitySelectorOf(4),
	Guard: {name: "Guard", family: Script, children: one, symbol: "⚿", own: true,
		params: []Param{{Name: "resource", Label: "resource", Type: Resource,
			Text: "what its child needs while it is active: no two guards have it at the same time"}},
		script: Automaton{states: []state{{child: 0, on: asJudged}}},
		text:   "Runs its child, which waits while another guard has the same resource."},
	FailureIf: guard("FailureIf", "_failureIf", "✗?", "Fails if its condition holds, else runs its second child.",
		move{says: Failure}, move{says: Accept, to: 1}),
	SuccessIf: guard("SuccessIf", "_successIf", "✓?",
		"Succeeds if its condition holds, else runs its second child.",
		move{says: Success}, move{says: Accept, to: 1}),
	SkipIf: guard("SkipIf", "_skipIf", "↷?", "Is skipped if its condition holds, else runs its second child.",
		move{says: Skipped}, move{says: Accept, to: 1}),
	While: {name: "While", family: Script, children: two, symbol: "⟲?", condition: "_while", own: true,
		script: Automaton{states: []state{
			{child: 0, on: [2]move{Success: {says: Accept, to: 1}, Failure: {says: Skipped}}},
			{child: 1, on: asJudged}}},
		text: "Runs its second child while its condition holds, at any time; is skipped otherwise."},
	Precondition: {name: "Precondition", family: Script, children: two, memory: true, symbol: "⎇", condition: "if",
		params: []Param{{Name: "else", Label: "else", Type: Choice, Default: 1,
			Words: []string{"FAILURE", "SUCCESS", "SKIPPED", "RUNNING"},
			Text:  "its result while the condition does not hold; RUNNING: it waits"}},
		variants: []Automaton{unless(Failure), unless(Success), unless(Skipped), unless(Accept)},
		text:     "Runs its second child if its condition holds when that child is to run."},
	OnSuccess: effect("OnSuccess", "_onSuccess", "✓!",
		"Runs its first child when the second has succeeded; returns as the second.",
		move{says: Accept, to: 1}, move{says: Failure}),
	OnFailure: effect("OnFailure", "_onFailure", "✗!",
		"Runs its first child when the second has failed; returns as the second.",
		move{says: Success}, move{says: Accept, to: 2}),
	Post: effect("Post", "_post", "!", "Runs its first child when the second has ended; returns as the second.",
		move{says: Accept, to: 1}, move{says: Accept, to: 2}),
	OnHalted: {name: "OnHalted", family: Script, children: two, symbol: "■!", effect: "_onHalted", own: true, halts: true,
		script: Automaton{states: []state{{child: 1, on: asJudged}}},
		text:   "Runs its second child; if that is deactivated before it has ended, makes the first's assignments."},
}

// guard returns the row of a precondition: a condition that is read until its second child runs, and its moves by the
// condition's judgement.
func guard(name, attribute, symbol, text string, holds, fails move) row {
	return row{name: name, family: Script, children: two, memory: true, symbol: symbol, condition: attribute, own: true,
		script: Automaton{states: []state{{child: 0, on: [2]move{Success: holds, Failure: fails}}, {child: 1, on: asJudged}}},
		text:   text}
}

// effect returns the row of a postcondition: when its second child, the node, has ended, its first child runs, and then
// it returns as the node did.
func effect(name, attribute, symbol, text string, good, bad move) row {
	return row{name: name, family: Script, children: two, memory: true, symbol: symbol, effect: attribute, own: true,
		script: Automaton{states: []state{
			{child: 1, on: [2]move{Success: good, Failure: bad}},
			{child: 0, on: [2]move{Success: {says: Success}, Failure: {says: Accept, to: 3}}},
			{child: 0, on: [2]move{Success: {says: Failure}, Failure: {says: Failure}}},
			{child: nobody, says: Success}}},
		text: text}
}

// unless returns the automaton of a task that returns a status, Accept: none, while its condition does not hold.
func unless(says Status) Automaton {
	return Automaton{states: []state{
		{child: 0, on: [2]move{Success: {says: Accept, to: 1}, Failure: {says: Accept, to: 2}}},
		{child: 1, on: asJudged},
		{child: nobody, says: says}}}
}

// repeat runs its child again whenever it has succeeded, without a limit if the kind has no parameter for it.
var repeat = Automaton{states: []state{
	{child: 0, on: [2]move{Success: {says: Success, again: true}, Failure: {says: Failure}}, says: Success}}}

// ifThenElse has three children: a condition, and what is done if it is good or bad.
var ifThenElse = Automaton{states: []state{
	{child: 0, on: [2]move{Success: {says: Accept, to: 1}, Failure: {says: Accept, to: 2}}},
	{child: 1, on: asJudged},
	{child: 2, on: asJudged, says: Failure}}}

// switchOf returns the row of a switch: for each case a condition and what is done if it is the first good one, then
// what is done if all are bad.
func switchOf(cases int) row {
	return row{name: "Switch" + strconv.Itoa(cases), family: Script, symbol: "⑃",
		children: arity{2*cases + 1, 2*cases + 1}, cases: cases,
		script: Automaton{states: []state{
			{child: here, on: [2]move{Success: {says: Accept, to: 1}, Failure: {step: 2, says: Accept, to: 2}}},
			{child: behind, on: asJudged},
			{child: last, on: asJudged}}},
		text: "Does the child of the first case whose condition holds, else the last child, at any time."}
}

// utilitySelectorOf returns the row of a selector of n children by their utilities. Its first children are conditions,
// one for each pair of those, in the order 1-2, 1-3, ..., 2-3, ...: the second of the pair is ahead of the first.
func utilitySelectorOf(n int) row {
	pairs := n * (n - 1) / 2
	return row{name: "UtilitySelector" + strconv.Itoa(n), family: Script, symbol: "⇅", own: true,
		children: arity{pairs + n, pairs + n}, ranked: n, script: ranking(n),
		text: "Does the child that is ahead of the others; if it fails, the one that is ahead of the rest; at any time."}
}

// ranking returns the automaton of a selector of n children by their utilities. A state belongs to a set of children
// that are left: it compares the one that is ahead so far with the next one, or does the one that is ahead of all.
func ranking(n int) Automaton {
	type at struct {
		left        int // the set of children that are left
		ahead, next int // next == n: ahead is done
		failed      int // 1: one that is not left
	}
	after := func(left, i int) int { // the next one that is left
		for i++; i < n && left>>i&1 == 0; i++ {
		}
		return i
	}
	number := make([]uint8, n*n<<(n+1)) // by its digits; moves lead to smaller sets, and to later comparisons
	of := func(s at) uint8 { return number[((s.next-1)*n+s.ahead)<<(n+1)|s.left<<1|s.failed] }
	var states []at
	for size := n; size > 0; size-- {
		for i := range n * n << (n + 1) { // next, ahead, left and failed are its digits
			s := at{left: i >> 1 % (1 << n), ahead: i >> (n + 1) % n, next: i>>(n+1)/n + 1, failed: i % 2}
			if bits.OnesCount(uint(s.left)) == size && s.left>>s.ahead&1 == 1 && s.ahead < s.next &&
				(s.next == n || s.left>>s.next&1 == 1) && (size < n || s.failed == 0) {
				number[i] = uint8(len(states))
				states = append(states, s)
			}
		}
	}
	var a Automaton
	for _, s := range states {
		goOn := func(ahead int) move {
			return move{says: Accept, to: of(at{s.left, ahead, after(s.left, s.next), s.failed})}
		}
		if s.next < n {
			pair := s.ahead*(2*n-s.ahead-1)/2 + s.next - s.ahead - 1
			a.states = append(a.states, state{child: int8(pair), on: [2]move{Success: goOn(s.next), Failure: goOn(s.ahead)}})
			continue
		}
		rest := s.left &^ (1 << s.ahead)
		first := after(rest, -1)
		without := func(failed int) move {
			switch {
			case rest != 0:
				return move{says: Accept, to: of(at{rest, first, after(rest, first), failed})}
			case failed == 1:
				return move{says: Failure}
			}
			return move{says: Skipped}
		}
		skip := without(s.failed)
		a.states = append(a.states, state{child: int8(n*(n-1)/2 + s.ahead),
			on: [2]move{Success: {says: Success}, Failure: without(1)}, skip: &skip})
	}
	return a
}

// Family is the rule by which tasks of a kind reach their verdict and pass activity on. Code that distinguishes
// families covers all of them and panics on an unknown one.
type Family uint8

// The families.
const (
	Leaf   Family = iota + 1 // no children: its verdict comes from outside
	Chain                    // the first child not passed over decides, else the last one; it alone is activated
	Count                    // good and bad children are counted; all can be active
	Script                   // an automaton over the children's judgements; one child is activated
)

var families = [...]string{Leaf: "leaf", Chain: "chain", Count: "count", Script: "script"}

func (f Family) String() string { return families[f] }

// row defines a kind.
type row struct {
	name     string
	text     string // its purpose in one line
	family   Family
	children arity
	params   []Param
	symbol   string   // in drawings
	acts     bool     // leaves: can be activated, has an entry and an exit procedure
	over     Status   // chains: the judgement that is passed over; Accept: none
	verdict  verdicts // chains: the task's verdict by the judgement of the deciding child
	script   Automaton
	variants []Automaton // instead of script, by the value of a parameter of the type Choice
	cases    int         // in a plan, this number of conditions may be written as cases of a variable
	ranked   int         // in a plan, conditions compare the utilities of this number of children
	// In a plan, the first child may be written as this attribute; one that begins with _ is an attribute of any node,
	// which is then the second child.
	condition string
	effect    string // the same, for a first child that is an action
	halts     bool   // that action's assignments are made when the task is deactivated without having ended
	cleanup   string // by this attribute of a plan, the last child's assignments are made on a halt, too
	runs      bool   // in a plan, its child runs even if it could be judged at once
	memory    bool   // what has been passed over, counted or reached is kept until the task is deactivated
	own       bool   // BehaviorTree.CPP does not have it
}

// An incomplete row must not be read as some other kind, so the program does not start with one.
func init() {
	for k := range kinds {
		r := &kinds[k]
		if fault := r.fault(); fault != "" || slices.IndexFunc(kinds[:], func(o row) bool { return o.name == r.name }) < k {
			panic(fmt.Sprintf("bt: the row of kind %d %q is not valid: %s", k, r.name, fault))
		}
	}
}

// fault returns what a row lacks, "" if it is complete.
func (r *row) fault() string {
	if r.name == "" || r.text == "" {
		return "name or text"
	}
	if r.family == Leaf {
		if r.children != (arity{}) || len(r.params) > 0 {
			return "a leaf has no children and no parameters"
		}
		return ""
	}
	if r.symbol == "" || r.children.least < 1 && (r.children != childless || r.family != Script) ||
		r.children.most != -1 && r.children.most < r.children.least {
		return "symbol or number of children"
	}
	switch r.family {
	case Chain:
		if r.verdict[Accept] != Accept || r.over > Accept {
			return "verdict of each judgement, or judgement that is passed over"
		}
	case Count:
		if len(r.params) == 0 || &r.params[0] != &thresholds[0] && &r.params[0] != &failures[0] {
			return "thresholds"
		}
	case Script:
		return r.faultyScript()
	default:
		return "family"
	}
	return ""
}

// faultyScript returns what the automata of a script lack.
func (r *row) faultyScript() string {
	i := slices.IndexFunc(r.params, func(p Param) bool { return p.Type == Choice })
	switch {
	case i >= 0 && len(r.variants) != len(r.params[i].Words):
		return "an automaton for each choice"
	case i < 0:
		return r.script.fault(r.children, r.params)
	}
	for v := range r.variants {
		if fault := r.variants[v].fault(r.children, r.params); fault != "" {
			return fault
		}
	}
	return ""
}

// arity is the permitted number of children of a task.
type arity struct{ least, most int }

// counts returns the thresholds of a Count with n children, whose first parameter may be written as a negative number.
func (r *row) counts(params []int, negative bool, n int32) Counts {
	first := int32(params[0])
	switch {
	case len(r.params) == len(failures):
		return Counts{Enough: n - first + 1, TooMany: first, Quorum: n}
	case first == 0: // reached whatever the children are
		return Counts{TooMany: n + 1, Lenient: true}
	}
	return Counts{Enough: first, TooMany: min(int32(params[1]), n-first+1), Lenient: negative}
}

var (
	childless = arity{}
	one       = arity{1, 1}
	two       = arity{2, 2}
	some      = arity{1, -1}
)

// verdicts maps a judgement, Success, Failure or Accept, to another one.
type verdicts [Accept + 1]Status

var same = verdicts{Success, Failure, Accept}

// Param is a parameter of a kind. Its values are whole numbers, in its unit.
type Param struct {
	Name    string // the attribute of a plan
	Label   string // its name in a drawing
	Type    ParamType
	Default int      // 0: it must be given
	Zero    bool     // of a number of children: 0 is valid
	Unit    string   // "": none
	Text    string   // its meaning in one line
	Words   []string // of a Choice
}

// ParamType is the type of a parameter: what its values mean, and which are valid.
type ParamType uint8

// The types.
const (
	Children ParamType = iota // a number of children: of n children 1..n, or 0; a negative value c means n + 1 + c
	Times                     // a number of runs: 0 and more; -1: no limit
	Duration                  // a time [ms]: 0 and more
	Choice                    // one of some words: its number, from 1
	Resource                  // a resource: its number, from 1
)

// maxDuration is the maximum of a duration [ms], about 30 years.
const maxDuration = 1e12

var thresholds = []Param{
	{Name: "success_count", Label: "success", Default: -1, Zero: true,
		Text: "the number of good children that make it succeed; -1: all"},
	{Name: "failure_count", Label: "failure", Default: 1,
		Text: "the number of bad children that make it fail; -1: all"},
}

// failures is the threshold of a parallel that waits for all its children.
var failures = []Param{
	{Name: "max_failures", Label: "failure", Default: 1, Zero: true,
		Text: "the number of bad children that make it fail, once all have ended; -1: all"},
}

// Resolve returns the value that a written value means in a task of n children, and whether it is valid.
func (p *Param) Resolve(value, n int) (resolved int, ok bool) {
	switch p.Type {
	case Children:
		written := value
		if value < 0 {
			value += n + 1
		}
		return value, value >= 1 && value <= n || value == 0 && written == 0 && p.Zero
	case Times:
		return value, value >= -1 && value <= math.MaxInt32
	case Duration:
		return value, value >= 0 && value <= maxDuration
	case Choice:
		return value, value >= 1 && value <= len(p.Words)
	case Resource:
		return value, value >= 1 && value <= math.MaxInt32
	}
	panic(unknownType)
}

// Range describes the valid values in a task of n children.
func (p *Param) Range(n int) string {
	switch p.Type {
	case Children:
		if p.Zero {
			return fmt.Sprintf("0..%d", n)
		}
		return fmt.Sprintf("1..%d", n)
	case Times:
		return "0, 1, ... or -1"
	case Duration:
		return "0, 1, ..."
	case Resource:
		return "1, 2, ..."
	case Choice:
		return strings.Join(p.Words, ", ")
	}
	panic(unknownType)
}

const unknownType = "bt: a parameter of an unknown type"

// Format writes a value with its unit.
func (p *Param) Format(value int) string {
	if p.Unit == "" {
		return p.Write(value)
	}
	return p.Write(value) + " [" + p.Unit + "]"
}

// Write writes a value as an attribute of a plan.
func (p *Param) Write(value int) string {
	if p.Type == Choice {
		return p.Words[value-1]
	}
	return strconv.Itoa(value)
}

func (k Kind) String() string { return kinds[k].name }

// ParseKind returns the kind with the given name.
func ParseKind(s string) (Kind, bool) {
	i := slices.IndexFunc(kinds[:], func(r row) bool { return r.name == s })
	return Kind(max(i, 0)), i >= 0
}

// Kinds returns all kinds.
func Kinds() []Kind {
	all := make([]Kind, len(kinds))
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// Family returns the rule by which tasks of the kind reach their verdict.
func (k Kind) Family() Family { return kinds[k].family }

// Acts reports whether tasks of the kind are leaves that can be activated; other leaves are only judged.
func (k Kind) Acts() bool { return kinds[k].acts }

// Judged reports whether tasks of the kind are leaves that are only judged: conditions.
func (k Kind) Judged() bool { return kinds[k].family == Leaf && !kinds[k].acts }

// Arity returns the minimum and the maximum number of children; most is -1 if there is no limit.
func (k Kind) Arity() (least, most int) { return kinds[k].children.least, kinds[k].children.most }

// Params returns the parameters. The caller must not change the slice.
func (k Kind) Params() []Param { return kinds[k].params }

// Text returns the purpose of the kind in one line.
func (k Kind) Text() string { return kinds[k].text }

// Childless reports whether tasks of the kind have no children, although they are no leaves: they decide by themselves.
func (k Kind) Childless() bool { return kinds[k].family != Leaf && kinds[k].children == childless }

// Again returns the judgement of its child after which a task of the kind runs it again, a number of times.
func (k Kind) Again() (judgement Status, ok bool) {
	r := &kinds[k]
	if !slices.ContainsFunc(r.params, func(p Param) bool { return p.Type == Times }) {
		return 0, false
	}
	if r.script.states[0].on[Success].again {
		return Success, true
	}
	return Failure, true
}

// Cases returns the number of conditions that a plan may write as cases of a variable: they are the first, the third
// and so on of the children.
func (k Kind) Cases() int { return kinds[k].cases }

// Ranked returns the number of children among which tasks of the kind select by utilities, 0: they do not. They are the
// last ones; those before compare each two of them.
func (k Kind) Ranked() int { return kinds[k].ranked }

// Condition returns the attribute by which a plan may write the first child, a condition; "": none. One that begins
// with _ is a precondition: an attribute of any node, which is then the second child.
func (k Kind) Condition() string { return kinds[k].condition }

// Attributed reports whether a plan may write tasks of the kind as an attribute of any node.
func (k Kind) Attributed() bool {
	return strings.HasPrefix(kinds[k].condition, "_") || kinds[k].effect != ""
}

// Effect returns the attribute of any node by which a plan may write the first child, an action; "": none. The node is
// the second child.
func (k Kind) Effect() string { return kinds[k].effect }

// Halts reports whether the assignments of the first child, an action that never runs, are made when a task of the kind
// is deactivated without having ended.
func (k Kind) Halts() bool { return kinds[k].halts }

// Cleanup returns the attribute by which a plan may state that the assignments of the last child, an action, are also
// made when a task of the kind is deactivated without having ended; "": none.
func (k Kind) Cleanup() string { return kinds[k].cleanup }

// Runs reports whether the child of a task of the kind is run in a plan even if it could be judged at once.
func (k Kind) Runs() bool { return kinds[k].runs }

// Own reports whether BehaviorTree.CPP does not have the kind.
func (k Kind) Own() bool { return kinds[k].own }

// Repeats reports whether tasks of the kind can run a child again that has ended.
func (k Kind) Repeats() bool {
	return kinds[k].family == Script &&
		slices.ContainsFunc(kinds[k].script.states, func(s state) bool { return s.on[0].again || s.on[1].again })
}

// Timer reports whether tasks of the kind have a timer.
func (k Kind) Timer() bool {
	return kinds[k].script.timed()
}

// Limits reports whether the timer of tasks of the kind is a limit: it runs while their child does.
func (k Kind) Limits() bool { return k.Timer() && kinds[k].script.states[0].child != nobody }

// Symbol returns the kind's symbol in drawings; leaves have none.
func (k Kind) Symbol() string { return kinds[k].symbol }

// Memory reports whether tasks of the kind pin the children they have passed over or counted until they are
// deactivated.
func (k Kind) Memory() bool { return kinds[k].memory }

// Over returns the judgement of a child that tasks of a chain pass over, Success or Failure; Accept if they pass
// over none.
func (k Kind) Over() Status {
	if r := &kinds[k]; r.family == Chain {
		return r.over
	}
	return Accept
}

// Verdict returns the verdict of a chain (Success, Failure, Skipped or Accept) for a judgement of the child that
// decides. It panics if the kind is not a chain.
func (k Kind) Verdict(judgement Status) Status {
	r := &kinds[k]
	if r.family != Chain {
		panic("bt: only a chain maps the judgement of one child")
	}
	if judgement == Skipped {
		return Skipped
	}
	return r.verdict[judgement]
}
