// Package house holds the rules of this repository as tests: which rooms may import which, and what documents may
// state.
package house
