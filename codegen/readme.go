package codegen

import (
	"fmt"
	"strings"

	"github.com/canopy-uav/canopy/bt"
)

// Settling is what is known of the iterations that a settling can take.
type Settling struct {
	Most    int    // whatever inputs come together, with the last iteration, which changes nothing; 0: it is not proved
	Why     string // it is not proved
	OfOne   int    // the exact maximum for one input, counted likewise
	States  int    // that show it; 0: it was not found
	Missing string // why it was not found
}

// sizes on a processor of 32 bits that aligns a double to 8 bytes, such as a Cortex-M [bytes].
const (
	sizeOfTask      = 40  // canopy_told
	sizeOfLeaf      = 32  // canopy_known
	sizeOfSignal    = 8   // double
	sizeOfStored    = 16  // canopy_stored
	sizeOfExecution = 104 // canopy_execution
	sizeOfPlan      = 80  // canopy_plan
	largestFrame    = 200 // on the stack, with -Os
)

// Readme returns the page about the files of C, for their folder, with a table of the tasks and their places in the
// plan. The arguments that C has, too, are the same as there.
func Readme(name, made string, tree *bt.Tree, place func(bt.Task) string, p *Program, s Settling) File {
	name = fileName(name)
	w := newWriter(name, made, tree, tree.Name)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	row := func(cells ...string) {
		for i, c := range cells {
			cells[i] = cell(c)
		}
		line("| %s |", strings.Join(cells, " | "))
	}
	line("# %s in C\n\n%s\n", cell(name), cell(made))
	line("| file | content |\n|---|---|")
	if p == nil {
		row(name+".h", "a constant for each task, and `"+w.prefix+"_tree`")
		row(name+".c", "the tree: constant tables")
	} else {
		row(name+".h", "a constant for each task and each signal, and the execution, `"+w.prefix+"`")
		row(name+".c", "the tree and its expressions: constant tables and functions")
		row("canopy_program.h, canopy_program.c", "what judges and writes, the same for each plan")
		row("canopy_functions.h", "functions of expressions that C does not have, the same for each plan")
	}
	row("canopy.h, canopy.c", "the engine, the same for each plan")
	row("canopy.hpp", "leaves as objects, in C++17; not needed in C")
	line("\nThe page docs/deploy.md of Canopy describes the functions.")

	line("\n## Time\n")
	switch {
	case s.Most > 0:
		line("**Proved: a settling takes at most %d iterations**, whatever inputs come together. The last one finds that"+
			"\nnothing changes any more. It follows from the structure of the tree. An iteration visits each of the\n%d tasks"+
			" twice.\n\n    cc -DCANOPY_LIMIT=%dU ...\n\nmakes it the bound of the loop; without it, that is 1000. With several"+
			" plans in one program, take the largest one.", s.Most, tree.Len(), s.Most)
	default:
		line("How many iterations a settling can take is **not proved**: %s.\nThe engine gives up after `CANOPY_LIMIT`"+
			" iterations, which is 1000, and says so. An iteration visits each of\nthe %d tasks twice.", cell(s.Why), tree.Len())
	}
	switch {
	case s.States > 0:
		line("\nOne input alone takes at most %d: all %d states that can be reached were explored.", s.OfOne, s.States)
	default:
		line("\nWhat one input alone can take was not found: %s.", cell(s.Missing))
	}
	line("A step has several settlings if outputs of the plan change its inputs; your program gives their largest number.")

	line("\n## Memory\n\nOn a processor of 32 bits that aligns a `double` to 8 bytes, with the time in a `double`:\n")
	line("| | number | bytes each |\n|---|---|---|")
	total := 0
	size := func(what string, n, each int) {
		total += n * each
		line("| %s | %d | %d |", what, n, each)
	}
	if p == nil {
		size("`canopy_plan`", 1, sizeOfPlan)
		size("tasks, `canopy_told`", tree.Len(), sizeOfTask)
	} else {
		g := newProgram(p, w)
		size("`canopy_execution`", 1, sizeOfExecution)
		size("tasks, `canopy_told`", tree.Len(), sizeOfTask)
		size("leaves, `canopy_known`", max(1, len(g.Leaves)), sizeOfLeaf)
		size("signals, `double`", len(g.places), sizeOfSignal)
		size("values that are kept, `canopy_stored`", max(1, len(g.Slots))+max(1, g.Captures), sizeOfStored)
		size("sides of relations, `bool`, and padding", 1, (max(1, len(g.watched()))+7)/8*8)
	}
	line("\nAn execution takes **%d bytes**. There is no heap. The largest frame on the stack has %d bytes on a"+
		"\nCortex-M3: the files `*.su` that\n\n    arm-none-eabi-gcc -mcpu=cortex-m3 -mthumb -std=c99 -Os -fstack-usage"+
		" -c *.c\n\nwrites have all frames. No function calls itself.", total, largestFrame)

	line("\n## Tasks\n\n| task | kind | place | constant |\n|---|---|---|---|")
	for i, number := range w.numbers {
		t := bt.Task(i)
		row(tree.Name(t), tree.Kind(t).String(), place(t), number)
	}
	return File{"README.md", b.String()}
}

// cell returns a text as one line of Markdown, also in a table.
func cell(text string) string {
	text = strings.TrimSuffix(strings.TrimPrefix(comment(text), "/* "), " */")
	return strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`).Replace(text)
}
