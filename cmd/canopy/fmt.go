package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/internal/files"
	"github.com/canopy-uav/canopy/syntax/xmltree"

	"github.com/spf13/cobra"
)

func fmtCommand() *cobra.Command {
	var write, check bool
	c := &cobra.Command{
		Use: "fmt",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &usageError{cmd.CommandPath() + " takes one PLAN or more; 0 given"}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if write && check {
				return &usageError{"-w and --check exclude each other"}
			}
			if write && slices.Contains(args, standardInput) {
				return &usageError{"-w cannot rewrite the standard input"}
			}
			var docs []*xmltree.Document
			var mistakes diag.List
			for _, name := range args {
				doc, list, err := readXML(name)
				if err != nil {
					return err
				}
				docs, mistakes = append(docs, doc), append(mistakes, list...)
			}
			if mistakes.HasErrors() {
				return mistakes
			}
			differ := 0
			for i, name := range args {
				text := docs[i].Canonical()
				switch {
				case !write && !check:
					if _, err := io.WriteString(cmd.OutOrStdout(), text); err != nil {
						return failed(err)
					}
					continue
				case text == docs[i].Source.Text:
					continue
				}
				differ++
				fmt.Fprintln(cmd.OutOrStdout(), diag.Visible(name))
				if write {
					if err := files.Save(name, []byte(text)); err != nil {
						return failed(err)
					}
				}
			}
			if check && differ > 0 {
				return failed(fmt.Errorf("%s not in the canonical layout; `canopy fmt -w` rewrites them",
					map[bool]string{true: "1 file is", false: fmt.Sprintf("%d files are", differ)}[differ == 1]))
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&write, "write", "w", false, "rewrite the files that differ, and list them")
	c.Flags().BoolVar(&check, "check", false, "list the files that differ")
	return c
}

// readXML reads an XML document.
func readXML(name string) (*xmltree.Document, diag.List, error) {
	src, err := source(name)
	if err != nil {
		return nil, nil, err
	}
	doc, list := xmltree.Parse(src)
	if doc.Root == nil && doc.Whole {
		list = append(list, diag.Diagnostic{Source: src, Code: "not-xml", Text: "this is not a plan"})
	}
	return doc, list, nil
}
