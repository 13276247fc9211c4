package report

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/run/record"
)

// copied returns a copy of a value, with all that it refers to, in which each text is one that a function returns.
// Bytes are left as they are.
func copied[T any](v T, text func(string) string) T {
	to := reflect.New(reflect.TypeFor[T]()).Elem()
	copyInto(to, reflect.ValueOf(v), text)
	return to.Interface().(T)
}

func copyInto(to, from reflect.Value, text func(string) string) {
	switch kind := from.Kind(); {
	case kind == reflect.String:
		to.SetString(text(from.String()))
	case kind == reflect.Struct:
		for i := range from.NumField() {
			copyInto(to.Field(i), from.Field(i), text)
		}
	case kind == reflect.Slice && !from.IsNil() && from.Type().Elem().Kind() != reflect.Uint8:
		to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			copyInto(to.Index(i), from.Index(i), text)
		}
	case kind == reflect.Pointer && !from.IsNil():
		to.Set(reflect.New(from.Type().Elem()))
		copyInto(to.Elem(), from.Elem(), text)
	default:
		to.Set(from)
	}
}

// visible returns a header with all that authors named and wrote as it may be shown: a name in a log may hold what a
// page or terminal obeys instead of showing it.
func visible(h *record.Header) record.Header {
	shown := copied(*h, diag.Visible)
	for i := range shown.Attachments {
		a := &shown.Attachments[i]
		a.Data = []byte(diag.VisibleLines(string(a.Data)))
	}
	return shown
}

// mostText is the maximum length of a text of an event or a summary [bytes]: the log has the rest.
const mostText = 500

// brief returns a text as it may be shown, cut off after mostText.
func brief(text string) string {
	if text = diag.Visible(text); len(text) > mostText {
		cut := mostText
		for !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	return strings.Clone(text) // not the whole of which it is a part
}

// visibleEvent returns an event as it may be shown.
func visibleEvent(e record.Event) record.Event {
	e.Kind, e.Text = brief(e.Kind), brief(e.Text)
	return e
}
