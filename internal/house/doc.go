// Package house holds the rules of this repository as tests: who may import whom, what a document may claim.
package house
