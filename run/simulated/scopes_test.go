package simulated

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// scopeNode is a node of a plan that ends at once, and what BehaviorTree.CPP does at its tick, written down as directly
// as possible: entries in maps, the nodes one after the other.
type scopeNode struct {
	name       string            // of the element
	attributes []string          // as they are written, other than scripts
	number     int               // of cycles, attempts
	key, value string            // of SetBlackboard; the variable of a switch
	tree       *scopeTree        // of a SubTree
	ports      map[string]string // of a SubTree: inner names by outer ones
	auto       bool              // of a SubTree: all other names are those outside
	scripts    map[string]scopeScript
	children   []*scopeNode
}

type scopeTree struct {
	id   string
	root *scopeNode
}

// scopeScript is a script or a condition: its text, and what it does.
type scopeScript struct {
	text string
	run  func(s *scope) any
}

// scope is the blackboard of one use of a tree.
type scope struct {
	*scopeRun
	entries map[string]any
	writes  map[string]int
	outside *scope
	ports   map[string]string
	auto    bool
}

type scopeRun struct {
	scripts   int
	undefined bool // a switch ends at the instant at which its variable is written: another rule (docs/btcpp.md)
}

var errScope = errors.New("an entry that has no value")

// place returns where an entry is stored.
func (s *scope) place(name string) (*scope, string) {
	global, isGlobal := strings.CutPrefix(name, "@")
	outer, isPort := s.ports[name]
	switch {
	case s.outside == nil:
		return s, strings.TrimPrefix(name, "@")
	case isGlobal:
		return s.outside.place("@" + global)
	case isPort:
		return s.outside.place(outer)
	case s.auto && !strings.HasPrefix(name, "_"):
		return s.outside.place(name)
	}
	return s, name
}

func (s *scope) get(name string) any {
	in, name := s.place(name)
	v, ok := in.entries[name]
	if !ok {
		panic(errScope)
	}
	return v
}

func (s *scope) set(name string, v any) {
	in, name := s.place(name)
	in.entries[name] = v
	in.writes[name]++
}

func (s *scope) unset(name string) {
	in, name := s.place(name)
	delete(in.entries, name)
	in.writes[name]++
}

func (s *scope) script(n *scopeNode, attribute string) (v any) {
	if x, ok := n.scripts[attribute]; ok {
		s.scripts++
		return x.run(s)
	}
	return nil
}

const scopeSkipped = "SKIPPED"

// tick returns the result of a node.
func (s *scope) tick(n *scopeNode) string {
	for _, p := range [][2]string{{"_failureIf", "FAILURE"}, {"_successIf", "SUCCESS"}, {"_skipIf", scopeSkipped}} {
		if s.script(n, p[0]) == true {
			return s.ended(n, p[1])
		}
	}
	if s.script(n, "_while") == false {
		return scopeSkipped
	}
	return s.ended(n, s.body(n))
}

func (s *scope) ended(n *scopeNode, result string) string {
	if result == scopeSkipped {
		return result
	}
	s.script(n, map[string]string{"SUCCESS": "_onSuccess", "FAILURE": "_onFailure"}[result])
	s.script(n, "_post")
	return result
}

func scopeResult(good any) string {
	if good == true {
		return "SUCCESS"
	}
	return "FAILURE"
}

// through ticks children until one has a result; without one it is the other result, or skipped.
func (s *scope) through(children []*scopeNode, until, otherwise string) string {
	skipped := true
	for _, c := range children {
		r := s.tick(c)
		if r == until {
			return r
		}
		skipped = skipped && r == scopeSkipped
	}
	if skipped {
		return scopeSkipped
	}
	return otherwise
}

func (s *scope) body(n *scopeNode) string {
	switch n.name {
	case "AlwaysSuccess", "AlwaysFailure":
		return scopeResult(n.name == "AlwaysSuccess")
	case "Script":
		s.script(n, "code")
		return "SUCCESS"
	case "ScriptCondition":
		return scopeResult(s.script(n, "code"))
	case "SetBlackboard":
		s.scripts++
		if from, ok := strings.CutPrefix(n.value, "{"); ok {
			s.set(n.key, s.get(strings.TrimSuffix(from, "}")))
		} else {
			s.set(n.key, n.value)
		}
		return "SUCCESS"
	case "UnsetBlackboard":
		s.unset(n.key)
		return "SUCCESS"
	case "SubTree":
		return (&scope{s.scopeRun, map[string]any{}, map[string]int{}, s, n.ports, n.auto}).tick(n.tree.root)
	case "Sequence":
		return s.through(n.children, "FAILURE", "SUCCESS")
	case "Fallback":
		return s.through(n.children, "SUCCESS", "FAILURE")
	case "TryCatch":
		last := len(n.children) - 1
		r := s.through(n.children[:last], "FAILURE", "SUCCESS")
		if r == "FAILURE" {
			s.tick(n.children[last])
		}
		return r
	case "IfThenElse":
		switch c := s.tick(n.children[0]); {
		case c == scopeSkipped:
			return c
		case c == "SUCCESS":
			return s.tick(n.children[1])
		}
		return s.tick(n.children[2])
	case "Repeat", "RetryUntilSuccessful":
		again := scopeResult(n.name == "Repeat")
		for range n.number {
			if r := s.tick(n.children[0]); r != again {
				return r
			}
		}
		return again
	case "Switch3":
		s.get(n.key) // Canopy needs a value
		in, name := s.place(n.key)
		v, last := fmt.Sprint(in.entries[name]), len(n.children)-1
		i := slices.Index([]string{"1", "2", "3"}, v)
		if i < 0 {
			i = last
		}
		before := in.writes[name]
		defer func() { s.undefined = s.undefined || in.writes[name] != before }()
		return s.tick(n.children[i])
	}
	r := s.tick(n.children[0])
	switch {
	case r == scopeSkipped:
	case n.name == "Inverter":
		return scopeResult(r == "FAILURE")
	case n.name == "ForceSuccess":
		return "SUCCESS"
	case n.name == "ForceFailure":
		return "FAILURE"
	default:
		panic("simulated: a node that does not exist")
	}
	return r
}

func (n *scopeNode) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<%s", n.name)
	for _, a := range n.attributes {
		b.WriteString(" " + a)
	}
	for _, name := range []string{"code", "_failureIf", "_successIf", "_skipIf", "_while", "_onSuccess", "_onFailure", "_post"} {
		if x, ok := n.scripts[name]; ok {
			fmt.Fprintf(&b, ` %s="%s"`, name, strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(x.text))
		}
	}
	if len(n.children) == 0 {
		return b.String() + "/>"
	}
	b.WriteString(">")
	for _, c := range n.children {
		b.WriteString(c.String())
	}
	return b.String() + "</" + n.name + ">"
}

// scopeMaker makes random plans. Entries have types by their names: n, m, k are numbers, s, r texts, b, c Boolean.
type scopeMaker struct {
	*rand.Rand
	trees []*scopeTree
	inner bool // within a subtree
}

var scopeNames = map[string][]string{"number": {"n", "m", "k"}, "text": {"s", "r"}, "boolean": {"b", "c"}}

func (k *scopeMaker) entry(kind string) string {
	names := scopeNames[kind]
	name := names[k.IntN(len(names))]
	if k.inner && name != "k" && k.IntN(8) == 0 {
		return "@" + name
	}
	return name
}

// known returns a number, mostly one that has a value.
func (k *scopeMaker) known() string {
	if k.IntN(12) == 0 {
		return "k"
	}
	return scopeNames["number"][k.IntN(2)]
}

func (k *scopeMaker) pick(words ...string) string { return words[k.IntN(len(words))] }

// condition returns one of entries.
func (k *scopeMaker) condition() scopeScript {
	switch k.IntN(6) {
	case 0:
		b := k.entry("boolean")
		return scopeScript{b, func(s *scope) any { return s.get(b) }}
	case 1:
		b := k.entry("boolean")
		return scopeScript{"!" + b, func(s *scope) any { return s.get(b) == false }}
	case 2:
		t, w := k.entry("text"), k.pick("up", "down")
		return scopeScript{t + " == '" + w + "'", func(s *scope) any { return s.get(t) == w }}
	case 3:
		a, b := k.known(), k.known()
		return scopeScript{a + " < " + b, func(s *scope) any { return s.get(a).(float64) < s.get(b).(float64) }}
	case 4:
		x, y := k.condition(), k.condition()
		return scopeScript{"(" + x.text + ") || (" + y.text + ")", func(s *scope) any {
			first, second := x.run(s), y.run(s) // Canopy reads both
			return first == true || second == true
		}}
	}
	a, n := k.known(), k.IntN(4)
	return scopeScript{fmt.Sprintf("%s >= %d", a, n), func(s *scope) any { return s.get(a).(float64) >= float64(n) }}
}

// statements returns a script of one to three assignments.
func (k *scopeMaker) statements() scopeScript {
	one := k.statement()
	for range k.IntN(3) {
		first, second := one, k.statement()
		one = scopeScript{first.text + "; " + second.text, func(s *scope) any {
			first.run(s)
			return second.run(s)
		}}
	}
	return one
}

func (k *scopeMaker) statement() scopeScript {
	assign := func(to, text string, value func(s *scope) any) scopeScript {
		return scopeScript{to + " := " + text, func(s *scope) any {
			s.set(to, value(s))
			return nil
		}}
	}
	switch k.IntN(7) {
	case 0:
		w := k.pick("up", "down", "on hold")
		return assign(k.entry("text"), "'"+w+"'", func(*scope) any { return w })
	case 1:
		from := k.entry("text")
		return assign(k.entry("text"), from, func(s *scope) any { return s.get(from) })
	case 2:
		w := k.pick("true", "false")
		return assign(k.entry("boolean"), w, func(*scope) any { return w == "true" })
	case 3:
		from := k.entry("boolean")
		return assign(k.entry("boolean"), "!"+from, func(s *scope) any { return s.get(from) == false })
	case 4:
		to, n := k.entry("number"), 1+k.IntN(3)
		return scopeScript{fmt.Sprintf("%s += %d", to, n), func(s *scope) any {
			s.set(to, s.get(to).(float64)+float64(n))
			return nil
		}}
	case 5:
		c, a, n := k.condition(), k.entry("number"), k.IntN(4)
		return assign(k.entry("number"), fmt.Sprintf("(%s) ? %s : %d", c.text, a, n), func(s *scope) any {
			is, v := c.run(s), s.get(a) // Canopy reads both branches
			if is == true {
				return v
			}
			return float64(n)
		})
	}
	n := k.IntN(5)
	return assign(k.entry("number"), strconv.Itoa(n), func(*scope) any { return float64(n) })
}

func (k *scopeMaker) node(depth int) *scopeNode {
	n := &scopeNode{scripts: map[string]scopeScript{}}
	leaf := depth == 0 || k.IntN(5) == 0
	if leaf {
		k.leaf(n)
	} else {
		k.composite(n, depth)
	}
	for _, name := range []string{"_failureIf", "_successIf", "_skipIf"} {
		if k.IntN(14) == 0 {
			n.scripts[name] = k.condition()
		}
	}
	if leaf && !slices.Contains([]string{"Script", "SetBlackboard", "UnsetBlackboard"}, n.name) && k.IntN(14) == 0 { // what makes it false within it is another rule
		n.scripts["_while"] = k.condition()
	}
	for _, name := range []string{"_onSuccess", "_onFailure", "_post"} {
		if k.IntN(10) == 0 {
			n.scripts[name] = k.statements()
		}
	}
	return n
}

func (k *scopeMaker) leaf(n *scopeNode) {
	switch n.name = k.pick("Script", "Script", "Script", "ScriptCondition", "ScriptCondition", "AlwaysSuccess", "AlwaysFailure",
		"SetBlackboard", "UnsetBlackboard"); n.name {
	case "UnsetBlackboard":
		n.key = k.entry(k.pick("number", "number", "number", "boolean", "text"))
		n.attributes = []string{`key="` + n.key + `"`}
	case "Script":
		n.scripts["code"] = k.statements()
	case "ScriptCondition":
		n.scripts["code"] = k.condition()
	case "SetBlackboard":
		kind := k.pick("number", "boolean") // BehaviorTree.CPP loses texts here
		n.key, n.value = k.entry(kind), "{"+k.entry(kind)+"}"
		n.attributes = []string{`value="` + n.value + `"`, `output_key="` + n.key + `"`}
	}
}

func (k *scopeMaker) composite(n *scopeNode, depth int) {
	children := 1
	switch n.name = k.pick("Sequence", "Sequence", "Sequence", "Fallback", "Fallback", "IfThenElse", "TryCatch", "Repeat",
		"RetryUntilSuccessful", "Switch3", "Inverter", "ForceSuccess", "ForceFailure", "SubTree", "SubTree"); n.name {
	case "Sequence", "Fallback":
		children = 1 + k.IntN(4)
	case "TryCatch":
		children = 2 + k.IntN(2)
	case "IfThenElse":
		children = 3
	case "Repeat", "RetryUntilSuccessful":
		n.number = 1 + k.IntN(3)
		name := map[string]string{"Repeat": "num_cycles", "RetryUntilSuccessful": "num_attempts"}[n.name]
		n.attributes = []string{fmt.Sprintf(`%s="%d"`, name, n.number)}
	case "Switch3":
		children = 4
		n.key = k.known()
		n.attributes = []string{`variable="{` + n.key + `}" case_1="1" case_2="2" case_3="3"`}
	case "SubTree":
		k.subtree(n, depth)
		return
	}
	for range children {
		n.children = append(n.children, k.node(depth-1))
	}
}

// subtree makes a use of a tree, an old one or a new one.
func (k *scopeMaker) subtree(n *scopeNode, depth int) {
	if len(k.trees) > 0 && k.IntN(3) == 0 {
		n.tree = k.trees[k.IntN(len(k.trees))]
	} else {
		inner := k.inner
		k.inner = true
		root := k.node(depth - 1)
		k.inner = inner
		n.tree = &scopeTree{fmt.Sprintf("t%d", len(k.trees)), k.around(root)}
		k.trees = append(k.trees, n.tree)
	}
	n.ports, n.auto = map[string]string{}, k.IntN(3) == 0
	n.attributes = []string{`ID="` + n.tree.id + `"`}
	for _, kind := range []string{"number", "text", "boolean"} {
		for _, name := range scopeNames[kind] {
			if name == "k" || k.IntN(3) > 0 {
				continue
			}
			outer := scopeNames[kind][k.IntN(2)]
			if n.ports[name] = outer; name == outer && k.IntN(2) == 0 {
				outer = "="
			}
			n.attributes = append(n.attributes, fmt.Sprintf(`%s="{%s}"`, name, outer))
		}
	}
	if n.auto {
		n.attributes = append(n.attributes, `_autoremap="true"`)
	}
}

// around returns the root of a tree: before the node, a script creates its entries, sometimes all but the last number,
// which is written in the end.
func (k *scopeMaker) around(n *scopeNode) *scopeNode {
	first, last := k.script(true, k.IntN(6) > 0), k.script(false, true)
	return &scopeNode{name: "Sequence", children: []*scopeNode{first, n, last}}
}

// script returns one that writes all entries of a tree and the last number, or some of them.
func (k *scopeMaker) script(all, last bool) *scopeNode {
	var text []string
	var sets []func(s *scope)
	for _, kind := range []string{"number", "text", "boolean"} {
		for _, name := range scopeNames[kind] {
			if name == "k" && !last || name != "k" && !all {
				continue
			}
			n := k.IntN(4)
			word := map[string]string{"number": strconv.Itoa(n), "text": "'up'", "boolean": "true"}[kind]
			value := map[string]any{"number": float64(n), "text": "up", "boolean": true}[kind]
			text = append(text, name+" := "+word)
			sets = append(sets, func(s *scope) { s.set(name, value) })
		}
	}
	return &scopeNode{name: "Script", scripts: map[string]scopeScript{"code": {strings.Join(text, "; "), func(s *scope) any {
		for _, f := range sets {
			f(s)
		}
		return nil
	}}}}
}

// scopePlan returns a random plan as the trees of a document, and its result with the entries of the main tree; false if
// BehaviorTree.CPP defines none.
func scopePlan(r *rand.Rand) (text, want string, ok bool) {
	k := &scopeMaker{Rand: r}
	root := k.around(k.node(1 + r.IntN(3)))
	text = `<BehaviorTree ID="main">` + root.String() + `</BehaviorTree>`
	for _, t := range k.trees {
		text += `<BehaviorTree ID="` + t.id + `">` + t.root.String() + `</BehaviorTree>`
	}
	main := &scope{scopeRun: &scopeRun{}, entries: map[string]any{}, writes: map[string]int{}}
	want = func() (want string) {
		defer func() {
			if e := recover(); e == errScope { //nolint:errorlint // it is that value
				want = "error"
			} else if e != nil {
				panic(e)
			}
		}()
		return main.tick(root)
	}()
	if want == "error" {
		return text, want, !main.undefined
	}
	var entries []string
	for name, v := range main.entries {
		switch x := v.(type) {
		case bool:
			v = map[bool]int{true: 1}[x]
		case string:
			v = "'" + x + "'"
		}
		entries = append(entries, fmt.Sprintf("%s = %v", name, v))
	}
	slices.Sort(entries)
	return text, strings.Join(append([]string{want}, entries...), ", "), main.scripts < 60 && !main.undefined
}

// TestRandomScopes: random plans of scripts, subtrees and remapped entries that end at once have the result and leave the
// entries that a dumb interpreter of BehaviorTree.CPP's tick finds.
func TestRandomScopes(t *testing.T) {
	n, compared, failed := 10000, 0, 0
	if testing.Short() {
		n = 500
	}
	unset := regexp.MustCompile(`, \w+ = unset`)
	for seed := range uint64(n) {
		text, want, ok := scopePlan(rand.New(rand.NewPCG(seed, 5)))
		if !ok {
			continue
		}
		got, err := left(text)
		if err != nil {
			got = "error"
			failed++
		}
		if compared++; unset.ReplaceAllString(got, "") != want {
			t.Errorf("seed %d: %s, %v; the interpreter: %s\n%s", seed, got, err, want, text)
		}
	}
	t.Logf("%d plans, %d end with an error", compared, failed)
	if compared < n*4/5 || failed < n/100 || failed > n/10 {
		t.Errorf("%d of %d plans, %d with an error", compared, n, failed)
	}
}
