// Package translate turns plans into state graphs, and teleo-reactive programs and And-Or trees into plans.
//
// [Graph] finds the states of a tree by settling it with all inputs from all states, merges those that cannot be
// distinguished, and connects them by transitions. docs/translate.md has the formats, the guarantees and the limits.
package translate
