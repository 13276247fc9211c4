package expr

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// token is one word, number or sign of an expression.
type token struct {
	kind    tokenKind
	text    string
	at, end int     // bytes [at, end) of the source
	value   float64 // of a number
	unit    Unit    // of a number
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenNumber
	tokenName
	tokenText // in quotes
	tokenSign // an operator, a bracket or a reserved word
)

// is reports whether the token is the given sign or reserved word.
func (t token) is(text string) bool { return t.kind == tokenSign && t.text == text }

// reserved lists the words that cannot name a signal.
var reserved = []string{"and", "or", "not", "lt", "le", "gt", "ge", "true", "false", "pi", "if"}

// signs lists the signs, each before its own prefixes. Some are listed only to be rejected with a helpful hint.
var signs = []string{
	"<=", ">=", "==", "!=", "<>", "=<", "=>", "&&", "||", "**", ":=", "->",
	"+", "-", "*", "/", "^", "(", ")", ",", "<", ">", "!", "=", "[", "]", "&", "|",
}

// lexer splits a text into tokens.
type lexer struct {
	src string
	at  int
}

// next returns the next token.
func (l *lexer) next() (token, *Error) {
	rest := strings.TrimLeftFunc(l.src[l.at:], unicode.IsSpace)
	l.at = len(l.src) - len(rest)
	if rest == "" {
		return token{at: l.at, end: l.at}, nil
	}
	if c := rest[0]; '0' <= c && c <= '9' || c == '.' {
		return l.number()
	}
	if rest[0] == '{' {
		return l.blackboard()
	}
	if rest[0] == '"' || rest[0] == '\'' {
		size := strings.IndexByte(rest[1:], rest[0]) + 2
		if size == 1 {
			return token{}, fail(l.at, len(l.src), "the text is not closed", "close the text with the same quote")
		}
		return l.take(token{kind: tokenText, text: rest[1 : size-1]}, size), nil
	}
	if word := wordIn(rest); word != "" {
		if strings.HasSuffix(word, ".") {
			return token{}, fail(l.at, l.at+len(word), fmt.Sprintf("the name %q ends with a dot", word), "")
		}
		kind := tokenName
		if slices.Contains(reserved, word) {
			kind = tokenSign
		}
		return l.take(token{kind: kind, text: word}, len(word)), nil
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s) {
			return l.take(token{kind: tokenSign, text: s}, len(s)), nil
		}
	}
	r, size := utf8.DecodeRuneInString(rest)
	return token{}, fail(l.at, l.at+size, fmt.Sprintf("%q has no meaning here", r), "")
}

// take completes a token of the given size and moves on.
func (l *lexer) take(t token, size int) token {
	t.at, t.end = l.at, l.at+size
	l.at = t.end
	return t
}

// wordIn returns the name or reserved word at the start of a text: a letter or _, then letters, digits, _ and dots.
func wordIn(s string) string {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || r != '.' && !unicode.IsDigit(r)) {
			return s[:i]
		}
	}
	return s
}

// blackboard reads {name}, the notation of BehaviorTree.CPP for a blackboard entry.
func (l *lexer) blackboard() (token, *Error) {
	rest := l.src[l.at:]
	size := strings.IndexByte(rest, '}') + 1
	if size == 0 {
		return token{}, fail(l.at, len(l.src), "{ is not closed", `write "{name}", or just "name"`)
	}
	name := rest[1 : size-1]
	if name == "" || name != wordIn(name) || strings.HasSuffix(name, ".") || slices.Contains(reserved, name) {
		return token{}, fail(l.at, l.at+size, fmt.Sprintf("%q is not the name of a signal", name), "")
	}
	return l.take(token{kind: tokenName, text: name}, size), nil
}

// number reads a number and, if there is one, its unit in brackets.
func (l *lexer) number() (token, *Error) {
	rest := l.src[l.at:]
	size := numberSize(rest)
	if word := wordIn(rest[size:]); word != "" {
		end := size + len(word)
		hint := fmt.Sprintf("did you mean \"%s * %s\"?", rest[:size], word)
		if _, ok := lookup(word); ok {
			hint = fmt.Sprintf("did you mean \"%s [%s]\"?", rest[:size], word)
		}
		return token{}, fail(l.at, l.at+end, fmt.Sprintf("%q is neither a number nor a name", rest[:end]), hint)
	}
	value, err := strconv.ParseFloat(rest[:size], 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return token{}, fail(l.at, l.at+size, fmt.Sprintf("the number %s is too large", rest[:size]), "")
	case err != nil:
		return token{}, fail(l.at, l.at+size, fmt.Sprintf("%q is not a number", rest[:size]), "")
	}
	t := token{kind: tokenNumber, value: value, unit: AnyUnit}
	blank := len(rest[size:]) - len(strings.TrimLeftFunc(rest[size:], unicode.IsSpace))
	if open := size + blank; strings.HasPrefix(rest[open:], "[") {
		length := strings.IndexByte(rest[open:], ']')
		if length < 0 {
			return token{}, fail(l.at+open, len(l.src), "[ is not closed", "write a unit in brackets: 0.8 [m/s]")
		}
		unit, err := parseUnit(rest[open+1 : open+length])
		if err != nil {
			err.Offset += l.at + open + 1
			if slices.Contains(celsius, strings.TrimSpace(rest[open+1:open+length])) {
				err.Hint = fmt.Sprintf("write \"%s [K]\"", strconv.FormatFloat(value+273.15, 'g', 10, 64))
			}
			return token{}, err
		}
		t.unit, size = unit, open+length+1
	}
	if math.IsInf(t.unit.SI(value), 0) {
		return token{}, fail(l.at, l.at+size, fmt.Sprintf("the number %s is too large", rest[:size]), "")
	}
	t.text = rest[:size]
	return l.take(t, size), nil
}

// numberSize returns the length of the number at the start of a text: digits, a fraction, an exponent.
func numberSize(s string) int {
	digits := func(at int) int {
		for at < len(s) && '0' <= s[at] && s[at] <= '9' {
			at++
		}
		return at
	}
	end := digits(0)
	if end < len(s) && s[end] == '.' {
		end = digits(end + 1)
	}
	if end < len(s) && (s[end] == 'e' || s[end] == 'E') {
		power := end + 1
		if power < len(s) && (s[power] == '+' || s[power] == '-') {
			power++
		}
		if last := digits(power); last > power {
			end = last
		}
	}
	return end
}
