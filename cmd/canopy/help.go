package main

import (
	_ "embed" // the text of the help
	"fmt"
	"strings"

	"github.com/canopy-uav/canopy/analysis/verify"
	"github.com/canopy-uav/canopy/autopilot/fake"
	"github.com/canopy-uav/canopy/autopilot/link"

	"github.com/spf13/cobra"
)

// helpText is the help of all commands, by group, in the order in which they are listed. A group begins with a line
// "== NAME: what it is for", a command with a line "= " and its usage. Then come a line that says what the command
// does, paragraphs, and examples after a line "Examples:". A word in braces stands for a text of helpPart.
//
//go:embed help.txt
var helpText string

// helpPart returns the text for a word in braces: one of which the program is the source, or that several commands
// share.
func helpPart(word string) string {
	list := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString("  " + line(i) + "\n")
		}
		return strings.TrimSuffix(b.String(), "\n")
	}
	lines := func(text string) string {
		parts := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		return list(len(parts), func(i int) string { return parts[i] })
	}
	switch word {
	case "fakes":
		return strings.Join(fake.FirmwareNames(), ", ")
	case "links":
		return lines(link.Forms())
	case "faults":
		return lines(fake.FaultForms)
	case "vehicles":
		vehicles := fake.FirmwareNames()
		return list(len(vehicles), func(i int) string {
			return fmt.Sprintf("%-11s %s", vehicles[i], fake.Firmware(i).Text())
		})
	case "questions":
		questions := verify.Questions()
		return list(len(questions), func(i int) string {
			return fmt.Sprintf("%-10s %s", questions[i].Name, questions[i].Asks)
		})
	case "forms":
		return list(len(forms), func(i int) string { return fmt.Sprintf("%-6s %s", forms[i].name, forms[i].text) })
	case "listens": // without the end of its first line
		return `
A run that listens is named by its output folder: canopy fly and canopy run --speed listen on a socket in that folder,
which only the user of the run can use. Or it is named by the address HOST:PORT of canopy fly --serve: then a request is
signed with the token of the run, and goes over TLS unless the host is this computer.`[1:]
	}
	panic("canopy: the help has no part " + word)
}

// fillHelp replaces the words in braces of a text.
func fillHelp(text string) string {
	before, rest, ok := strings.Cut(text, "{")
	if !ok {
		return text
	}
	word, rest, _ := strings.Cut(rest, "}")
	return before + helpPart(word) + fillHelp(rest)
}

// addCommands adds commands to the root, each with its help, in groups.
func addCommands(root *cobra.Command, commands ...*cobra.Command) {
	named := map[string]*cobra.Command{}
	for _, c := range commands {
		named[c.Name()] = c
	}
	cobra.EnableCommandSorting = false // the order is that of the help
	for group := range strings.SplitSeq(helpText, "== ") {
		title, pages, _ := strings.Cut(group, "\n")
		id, title, ok := strings.Cut(title, ": ")
		if !ok {
			continue // before the first group
		}
		root.AddGroup(&cobra.Group{ID: id, Title: title + ":"})
		for _, text := range strings.Split("\n"+pages, "\n= ")[1:] {
			usage, text, _ := strings.Cut(text, "\n")
			short, text, _ := strings.Cut(text, "\n\n")
			text, examples, _ := strings.Cut(text, "\n\nExamples:\n")
			name, _, _ := strings.Cut(usage, " ")
			c := named[name]
			c.Use, c.Short, c.Long, c.Example = usage, short, short+".\n\n"+fillHelp(text), strings.TrimRight(examples, "\n")
			if c.GroupID = id; c.Args == nil {
				c.Args = arguments
			}
			root.AddCommand(c)
			delete(named, name)
		}
	}
	if len(named) > 0 {
		panic("canopy: a command has no help")
	}
}
