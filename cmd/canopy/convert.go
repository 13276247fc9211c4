package main

import (
	"io"
	"slices"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/syntax/xmltree"

	"github.com/spf13/cobra"
)

// forms are the forms to which a plan is converted, with the functions that do it.
var forms = []struct {
	name, text string
	convert    func(src *diag.Source) (string, diag.List)
}{
	{"btcpp", "for BehaviorTree.CPP 4: compact form, IDs and models of all leaves, included files in place",
		func(src *diag.Source) (string, diag.List) { return plan.Plain(src, readFile) }},
	{"xml", "format 4, from format 3", preprocess.Modern},
}

// conversion is what canopy convert prints as JSON.
type conversion struct {
	Form  string   `json:"form"`
	Text  string   `json:"text"`
	Notes []remark `json:"notes"` // what BehaviorTree.CPP does not have, and differences between the formats
}

// remark is a diagnostic in JSON.
type remark struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Code   string `json:"code"`
	Text   string `json:"text"`
	Hint   string `json:"hint,omitempty"`
}

func remarks(list diag.List) []remark {
	all := []remark{}
	for _, d := range list {
		line, column := d.Position()
		all = append(all, remark{d.Source.Name, line, column, d.Code, d.Text, d.Advice()})
	}
	return all
}

func convertCommand() *cobra.Command {
	var to string
	var asJSON bool
	var names []string
	for _, f := range forms {
		names = append(names, f.name)
	}
	c := &cobra.Command{
		Use: "convert",
		RunE: func(cmd *cobra.Command, args []string) error {
			i := slices.Index(names, to)
			if i < 0 {
				return &usageError{unknownWord("form", to, names)}
			}
			src, err := planSource(args[0])
			if err != nil {
				return err
			}
			text, list := forms[i].convert(src)
			messages := cmd.ErrOrStderr()
			if asJSON && !list.HasErrors() {
				messages = io.Discard
			}
			if err := accepted(list, messages); err != nil {
				return err
			}
			err = show(cmd.OutOrStdout(), asJSON, conversion{to, text, remarks(list)}, func(w io.Writer) error {
				_, err := io.WriteString(w, text)
				return err
			})
			if err != nil {
				return err
			}
			if slices.ContainsFunc(list, func(d diag.Diagnostic) bool { return d.Code == plan.CodeLost }) {
				return errRefuted
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the result and what it does not have as JSON")
	c.Flags().StringVar(&to, "to", "btcpp", "the `form`: "+strings.Join(names, ", "))
	return c
}

// planSource reads a plan document, with the main tree that the command line chooses.
func planSource(name string) (*diag.Source, error) {
	src, err := source(name)
	if mainTree == "" || err != nil {
		return src, err
	}
	doc, _ := xmltree.Parse(src)
	if doc.Root == nil {
		return src, nil
	}
	chosen := *src
	chosen.Text, err = doc.Apply(doc.Set(doc.Root, "main_tree_to_execute", mainTree))
	return &chosen, err
}

// mainTree is the tree that a command line chooses as the main one of its plans; empty: none.
var mainTree string

// choosesTree lets a command choose the main tree of a plan.
func choosesTree(c *cobra.Command) *cobra.Command {
	c.Flags().StringVar(&mainTree, "tree", "", "the main `tree` of a plan that does not name it, or another one")
	return c
}
