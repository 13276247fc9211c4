// Package schema writes, for the editors of texts, what the readers of documents accept: JSON Schemas of YAML documents
// and an XML Schema of plans.
package schema

import (
	"encoding/json"
	"io"

	"github.com/canopy-uav/canopy/syntax/yamldoc"
)

// JSON writes the JSON Schema of documents with a shape.
func JSON(w io.Writer, title string, shape *yamldoc.Shape) error {
	s := object(shape, "#", map[*yamldoc.Shape]string{})
	s["$schema"], s["title"] = "https://json-schema.org/draft/2020-12/schema", title
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(s)
}

// object returns the schema of a shape. Around holds where the shapes around it are.
func object(s *yamldoc.Shape, at string, around map[*yamldoc.Shape]string) map[string]any {
	if s.Same != nil {
		return map[string]any{"$ref": around[s.Same]}
	}
	if !s.Known() {
		return map[string]any{}
	}
	around[s] = at
	types, is := scalars(s), map[string]any{}
	if s.Items != nil {
		types, is["items"] = append(types, "array"), object(s.Items, at+"/items", around)
	}
	switch {
	case s.Keys != nil:
		entries := map[string]any{}
		for name, value := range s.Keys {
			entries[name] = object(value, at+"/properties/"+name, around)
		}
		types, is["properties"], is["additionalProperties"] = append(types, "object"), entries, false
	case s.Names != nil:
		types, is["additionalProperties"] = append(types, "object"), object(s.Names, at+"/additionalProperties", around)
	}
	if is["type"] = types; s.Words == nil {
		return is
	}
	words := map[string]any{"enum": s.Words}
	if len(types) == 0 {
		return words
	}
	return map[string]any{"anyOf": []any{words, is}}
}

// scalars returns the types of the scalars of a shape. A text may be written without quotation marks, as a number; a
// number may be a text with its unit.
func scalars(s *yamldoc.Shape) []string {
	types := []string{}
	text := s.Text && s.Words == nil
	if text || s.Number {
		types = append(types, "string", "number")
	}
	if text || s.Boolean {
		types = append(types, "boolean")
	}
	if text || s.Null {
		types = append(types, "null")
	}
	return types
}
