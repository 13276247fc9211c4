package temporal

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/expr"
)

// foreign are the operators of other notations, and what is written instead.
var foreign = map[string][]string{
	"write `always`":     {"G", "[]", "□", "globally", "henceforth", "whenever", "forever"},
	"write `eventually`": {"F", "<>", "◇", "finally", "sometime", "sometimes", "someday"},
	"a property is about every run: write `always`":           {"AG"},
	"a property is about every run: write `eventually`":       {"AF"},
	"a property is about every run: leave it out":             {"A"},
	"write `never c`: its counterexample is a run that has c": {"EF", "E", "EG"},
	"there is no next instant: write `within 10 [s] c`":       {"X", "AX", "EX", "next", "○"},
	"write `a until b`":                                        {"U", "AU", "EU"},
	"for a W b, write `b before (not a)`":                      {"W", "unless"},
	"for a R b, write `(a and b) before (not b)`":              {"R", "V", "release", "releases"},
	"write `always (a -> eventually b)`":                       {"~>", "leadsto", "leads"},
	"there are no operators of the past: write `after c, ...`": {"H", "O", "S", "Y", "once", "historically", "since"},
	"a property is about every run: leave out the probability": {"P", "Pr", "Pmin", "Pmax"},
	"write `->`":                    {"=>", "implies", "→", "⇒", "==>"},
	"write `(a -> b) and (b -> a)`": {"<->", "<=>", "↔", "iff"},
	"write `and`":                   {"∧", `/\`},
	"write `or`":                    {"∨", `\/`},
	"write `not`":                   {"¬"},
}

// bounded are the hints for operators with an interval of time, by those for operators without one.
var bounded = map[string]string{
	"write `always`":     "with an interval of time, write `for 5 [s] c`",
	"write `eventually`": "with an interval of time, write `within 5 [s] c`",
}

// foreignAt finds the operators of other notations, and the words of this one whatever their letter case is.
var foreignAt = func() *regexp.Regexp {
	var signs, all []string
	for _, list := range foreign {
		signs = append(signs, list...)
	}
	slices.SortFunc(signs, func(a, b string) int { return len(b) - len(a) })
	for _, sign := range append(signs, words...) {
		text := regexp.QuoteMeta(sign)
		if unicode.IsLetter(rune(sign[0])) && sign[0] < utf8.RuneSelf {
			text = `(?:\b|^)` + text + `(?:\b|_)`
		}
		if slices.Contains(words, sign) {
			text = "(?i:" + text + ")"
		}
		all = append(all, text)
	}
	return regexp.MustCompile(strings.Join(all, "|"))
}()

// foreign returns a mistake for each operator of another notation in a text that is not valid.
func (r *reader) foreign(text string) (list []*expr.Error) {
	for _, at := range foreignAt.FindAllStringIndex(text, -1) {
		sign := strings.TrimSuffix(text[at[0]:at[1]], "_")
		hint := "write `" + strings.ToLower(sign) + "`"
		for h, signs := range foreign {
			if slices.Contains(signs, sign) {
				hint = h
			}
		}
		limited := bounded[hint]
		if strings.HasPrefix(strings.TrimLeft(text[at[1]:], " "), "[") && limited != "" {
			hint = limited
		} else if slices.Contains(words, sign) {
			continue
		}
		_, signal := r.scope[sign]
		if signal || r.tasks != nil && len(r.tasks.Resolve(sign)) > 0 || strings.HasSuffix(text[:at[0]], ".") {
			continue
		}
		list = append(list, &expr.Error{Offset: at[0], Length: len(sign), Code: expr.CodeSyntax,
			Text: fmt.Sprintf("%q is an operator of another notation", sign), Hint: hint})
	}
	return list
}
