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

// Token is one word, number, sign or quoted text of a text.
type Token struct {
	Text    string
	At, End int // bytes [At, End) of the text that is parsed

	kind  tokenKind
	value float64 // of a number; of a span in seconds, NaN if it is no duration
	unit  Unit    // of a number
	err   *Error  // of what is no token; of a span where no time is expected
}

type tokenKind uint8

const (
	tokenEnd  tokenKind = iota
	tokenStop           // a word or mark of the language around the expressions
	tokenNumber
	tokenSpan // a number with letters: a time such as 12h30m, or a mistake
	tokenName
	tokenText // in quotes
	tokenSign // an operator, a bracket or a reserved word
	tokenWrong
)

// Is reports whether the token is the given sign, reserved word or mark.
func (t Token) Is(text string) bool {
	return (t.kind == tokenSign || t.kind == tokenStop) && t.Text == text
}

// IsEnd reports whether the token is the end of the text.
func (t Token) IsEnd() bool { return t.kind == tokenEnd }

// IsName reports whether the token is a name.
func (t Token) IsName() bool { return t.kind == tokenName }

// Stops reports whether the token is the end of the text, or a mark of the language around the expressions.
func (t Token) Stops() bool { return t.kind <= tokenStop }

// reserved lists the words that cannot name a signal.
var reserved = []string{"and", "or", "not", "lt", "le", "gt", "ge", "true", "false", "pi", "if"}

// signs lists the signs, each before its own prefixes. Some are listed only to be rejected with a helpful hint.
var signs = []string{
	"<=", ">=", "==", "!=", "<>", "=<", "=>", "&&", "||", "**", ":=", "->", "+=", "-=", "*=", "/=", "..",
	"+", "-", "*", "/", "^", "(", ")", ",", "<", ">", "!", "=", "[", "]", "&", "|", "~", "?", ":",
}

// lexer splits a text into tokens.
type lexer struct {
	src   string
	at    int
	marks []string // words and signs of the language around the expressions

	script bool // in the notation of BehaviorTree.CPP
}

// next returns the next token.
func (l *lexer) next() Token {
	rest := strings.TrimLeftFunc(l.src[l.at:], unicode.IsSpace)
	l.at = len(l.src) - len(rest)
	if rest == "" {
		return l.take(Token{}, 0)
	}
	switch c := rest[0]; {
	case '0' <= c && c <= '9' || c == '.' && !strings.HasPrefix(rest, ".."):
		return l.number(rest)
	case c == '{':
		return l.blackboard(rest)
	case c == '"' || c == '\'':
		size := strings.IndexByte(rest[1:], c) + 2
		if size == 1 {
			return l.wrong(len(rest), "the text is not closed", "close the text with the same quote")
		}
		return l.take(Token{kind: tokenText, Text: rest[1 : size-1]}, size)
	}
	if word := l.word(rest); word != "" {
		kind := tokenName
		switch {
		case strings.HasSuffix(word, "."):
			return l.wrong(len(word), fmt.Sprintf("the name %q ends with a dot", word), "")
		case slices.Contains(reserved, word):
			kind = tokenSign
		case slices.Contains(l.marks, word):
			kind = tokenStop
		}
		return l.take(Token{kind: kind, Text: word}, len(word))
	}
	starts := func(sign string) bool { return strings.HasPrefix(rest, sign) }
	if i := slices.IndexFunc(l.marks, starts); i >= 0 {
		return l.take(Token{kind: tokenStop, Text: l.marks[i]}, len(l.marks[i]))
	}
	if i := slices.IndexFunc(signs, starts); i >= 0 {
		return l.take(Token{kind: tokenSign, Text: signs[i]}, len(signs[i]))
	}
	r, size := utf8.DecodeRuneInString(rest)
	return l.wrong(size, fmt.Sprintf("%q has no meaning here", r), "")
}

// take completes a token of the given size and moves on.
func (l *lexer) take(t Token, size int) Token {
	t.At, t.End = l.at, l.at+size
	l.at = t.End
	return t
}

// wrong takes a text of the given size that is no token.
func (l *lexer) wrong(size int, text, hint string) Token {
	return l.take(Token{kind: tokenWrong, err: fail(l.at, l.at+size, text, hint)}, size)
}

// word returns the name or reserved word at the start of a text; in a script, @ may precede a name.
func (l *lexer) word(s string) string {
	if l.script && s[0] == '@' {
		if word := wordIn(s[1:]); word != "" {
			return s[:1+len(word)]
		}
	}
	return wordIn(s)
}

// wordIn returns the name or reserved word at the start of a text: a letter or _, then letters, digits, _ and single
// dots.
func wordIn(s string) string {
	for i, r := range s {
		dot := r == '.' && !strings.HasPrefix(s[i:], "..")
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !dot && !unicode.IsDigit(r)) {
			return s[:i]
		}
	}
	return s
}

// enclosed returns the size of a text up to its closing bracket, or up to the end of an assignment if that comes first.
func enclosed(s string, closing byte) (size int, closed bool) {
	switch i := strings.IndexAny(s, ";"+string(closing)); {
	case i < 0:
		return len(s), false
	case s[i] == ';':
		return i, false
	default:
		return i + 1, true
	}
}

// blackboard reads {name} or {@name}, the notation of BehaviorTree.CPP for a blackboard entry, or {path} of a task.
func (l *lexer) blackboard(rest string) Token {
	size, closed := enclosed(rest, '}')
	if !closed {
		return l.wrong(size, "{ is not closed", `write "{name}", or just "name"`)
	}
	name := rest[1 : size-1]
	if !IsName(strings.TrimPrefix(name, "@")) && !strings.Contains(name, "/") { // the path of a task
		return l.wrong(size, fmt.Sprintf("%q is not the name of a signal", name), "")
	}
	return l.take(Token{kind: tokenName, Text: name}, size)
}

// number reads a number and, if there is one, its unit in brackets, or a clock time with its seconds, 13:57:06.
func (l *lexer) number(rest string) Token {
	if clock := clockTime.FindStringSubmatch(rest); clock != nil && clock[5] != "" && !l.script {
		if seconds := clockSeconds(clock); !math.IsNaN(seconds) {
			return l.take(Token{kind: tokenNumber, Text: clock[0], value: seconds, unit: Second}, len(clock[0]))
		}
		return l.wrong(len(clock[0]), fmt.Sprintf("%q is not a time", clock[0]), TimeForms)
	}
	size := numberSize(rest)
	value, err := strconv.ParseFloat(rest[:size], 64)
	if hex := hexSize(rest); hex > size {
		var n uint64
		size = hex
		if n, err = strconv.ParseUint(rest[:size], 0, 64); err == nil && n > MaxInteger { // no real represents all exactly
			err = strconv.ErrRange
		}
		value = float64(n)
	}
	if word := wordIn(rest[size:]); word != "" {
		return l.span(rest[:size], word)
	}
	const tooLarge = "the number %s is too large"
	switch {
	case errors.Is(err, strconv.ErrRange):
		return l.wrong(size, fmt.Sprintf(tooLarge, rest[:size]), "")
	case err != nil:
		return l.wrong(size, fmt.Sprintf("%q is not a number", rest[:size]), "")
	}
	t := Token{kind: tokenNumber, value: value, unit: AnyUnit}
	open := len(rest) - len(strings.TrimLeftFunc(rest[size:], unicode.IsSpace))
	if strings.HasPrefix(rest[open:], "[") {
		length, closed := enclosed(rest[open:], ']')
		if !closed {
			l.at += open
			return l.wrong(length, "[ is not closed", "write a unit in brackets: 0.8 [m/s]")
		}
		size = open + length
		text := rest[open+1 : size-1]
		unit, err := parseUnit(text)
		if err != nil {
			err.Offset += l.at + open + 1
			if slices.Contains(celsius, strings.TrimSpace(text)) {
				err.Hint = fmt.Sprintf("write \"%s [K]\"", strconv.FormatFloat(value+273.15, 'g', 10, 64))
			}
			return l.take(Token{kind: tokenWrong, err: err}, size)
		}
		t.unit = unit
	}
	if math.IsInf(t.unit.SI(value), 0) {
		return l.wrong(size, fmt.Sprintf(tooLarge, rest[:size]), "")
	}
	t.Text = rest[:size]
	return l.take(t, size)
}

// span reads a number with the letters that follow it.
func (l *lexer) span(number, word string) Token {
	text := number + word
	hint := fmt.Sprintf("did you mean \"%s * %s\"?", number, word)
	if _, ok := lookup(word); ok {
		hint = fmt.Sprintf("did you mean \"%s [%s]\"?", number, word)
	}
	t := l.wrong(len(text), fmt.Sprintf("%q is neither a number nor a name", text), hint)
	t.kind, t.Text, t.value = tokenSpan, text, spanSeconds(text)
	return t
}

// numberSize returns the length of the number at the start of a text: digits, a fraction, an exponent.
func numberSize(s string) int {
	digits := func(at int) int { return len(s) - len(strings.TrimLeft(s[at:], "0123456789")) }
	end := digits(0)
	if end < len(s) && s[end] == '.' && !strings.HasPrefix(s[end:], "..") {
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

// hexSize returns the length of the hexadecimal number at the start of a text, 0 if there is none.
func hexSize(s string) int {
	if len(s) < 3 || s[0] != '0' || s[1]|0x20 != 'x' {
		return 0
	}
	end := len(s) - len(strings.TrimLeft(s[2:], "0123456789abcdefABCDEF"))
	if end == 2 {
		return 0
	}
	return end
}
