package codegen

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestSizes: the sizes that the page about an exported program states, and those of docs/deploy.md, are those on a
// Cortex-M3.
func TestSizes(t *testing.T) {
	gcc, err := exec.LookPath("arm-none-eabi-gcc")
	if err != nil {
		t.Skip("arm-none-eabi-gcc is not installed")
	}
	dir := t.TempDir()
	text := "#include \"canopy_program.h\"\n"
	for name, size := range map[string]int{"canopy_told": sizeOfTask, "canopy_known": sizeOfLeaf, "double": sizeOfSignal,
		"canopy_stored": sizeOfStored, "canopy_execution": sizeOfExecution, "canopy_plan": sizeOfPlan, "canopy_node": 40,
		"canopy_code": 88} {
		text += fmt.Sprintf("typedef char is_%s[sizeof(%s) == %d ? 1 : -1];\n", name, name, size)
	}
	save(t, dir, []File{{"sizes.c", text}, {"canopy.c", source}, {"canopy.h", header}, {"canopy_program.c", programSource},
		{"canopy_program.h", programHeader}, {"canopy_functions.h", functions}})
	c := exec.Command(gcc, "-mcpu=cortex-m3", "-mthumb", "-std=c99", "-Os", "-fstack-usage", "-c", "sizes.c", "canopy.c",
		"canopy_program.c")
	c.Dir = dir
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	page, err := os.ReadFile("../docs/deploy.md")
	if err != nil {
		t.Fatal(err)
	}
	about := func(what string, stated, is float64) {
		if is > 1.1*stated || is < 0.9*stated {
			t.Errorf("%s is %g, not %g", what, is, stated)
		}
	}
	most := 0
	for _, name := range []string{"canopy", "canopy_program"} {
		frames, err := os.ReadFile(filepath.Join(dir, name+".su"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(frames)) {
			n, _ := strconv.Atoi(strings.Split(line, "\t")[1])
			most = max(most, n)
		}
		m := regexp.MustCompile("`" + name + `.c` + "` has ([0-9.]+) kB").FindSubmatch(page)
		out, err := exec.Command("arm-none-eabi-size", filepath.Join(dir, name+".o")).Output()
		if err != nil || m == nil {
			t.Fatalf("%v: docs/deploy.md does not state the size of %s.c", err, name)
		}
		stated, _ := strconv.ParseFloat(string(m[1]), 64)
		size, _ := strconv.Atoi(strings.Fields(strings.Split(string(out), "\n")[1])[0])
		about(name, 1000*stated, float64(size))
	}
	about("the largest frame", largestFrame, float64(most))
	for _, text := range []string{"40 bytes of constants and 40 bytes of memory", "88 and 32 more", "a signal 8", "frame on the stack has 200 bytes"} {
		if !strings.Contains(strings.Join(strings.Fields(string(page)), " "), text) {
			t.Errorf("docs/deploy.md does not state: %s", text)
		}
	}
}
