package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/internal/trees"
	"github.com/canopy-uav/canopy/vehicle/fmu"
)

// mistaken are changes of a model description that make it wrong: what is replaced once, with what, in which versions,
// and what the message says.
var mistaken = []struct{ name, versions, old, with, says string }{
	{"unknown attribute", "23", ` causality="output"`, ` causalty="output"`, "has no attribute causalty"},
	{"no name", "23", `(<(?:ScalarVariable|Float64)) name="h"`, `$1`, "needs the attribute name"},
	{"two of one name", "23", `name="soc" valueReference`, `name="h" valueReference`, "two variables h"},
	{"empty name", "23", `name="soc" valueReference`, `name="" valueReference`, "the name is empty"},
	{"one value reference twice", "3", `name="payload" valueReference="5"`, `name="payload" valueReference="1"`,
		"the same value reference"}, // in FMI 2, it would be an alias
	{"reference that is no number", "23", `valueReference="2"`, `valueReference="two"`, "must be a whole number"},
	{"input without start", "23", ` start="6000"`, ``, "needs a start value"},
	{"start of what is calculated", "2", `(name="payload"[^>]*><Real)`, `$1 start="1"`, "must have no start value"},
	{"start of what is calculated", "3", `(name="payload")`, `$1 start="1"`, "must have no start value"},
	{"start that is no number", "23", ` start="6000"`, ` start="high"`, "is no "},
	{"unit that is not defined", "23", `unit="m"`, `unit="ft"`, "the unit ft is not defined"},
	{"unit defined twice", "23", `<Unit name="m">`, `<Unit name="s"><BaseUnit s="1"/></Unit><Unit name="m">`, "defined twice"},
	{"type that is not defined", "23", `declaredType="values of[^"]*"`, `declaredType="State"`, "the type State is not defined"},
	{"item of an enumeration twice", "23", `name="Accept" value="2"`, `name="Accept" value="1"`, "two items"},
	{"parameter that is continuous", "23", `causality="parameter" variability="tunable"`,
		`causality="parameter" variability="continuous"`, "do not go together"},
	{"initial of an input", "23", `causality="input" variability="continuous"`,
		`causality="input" variability="continuous" initial="calculated"`, "has no initial"},
	{"initial that does not fit", "23", `variability="discrete" initial="calculated"`,
		`variability="discrete" initial="guess"`, "do not go with initial"},
	{"enumeration that is continuous", "23", `causality="output" variability="discrete" initial="calculated"( declaredType|><Enum)`,
		`causality="output" variability="continuous" initial="calculated"$1`, "only a floating-point number"},
	{"output that is not listed", "2", `<Unknown index="5"/>\n`, ``, "is missing among the outputs"},
	{"output that is not listed", "3", `<Output valueReference="4"/>\n`, ``, "is missing among the outputs"},
	{"output listed twice", "2", `<Unknown index="5"/>`, `<Unknown index="5"/><Unknown index="5"/>`, "is listed twice"},
	{"output listed twice", "3", `<Output valueReference="4"/>`, `<Output valueReference="4"/><Output valueReference="4"/>`,
		"is listed twice"},
	{"index from 0", "2", `<Unknown index="4"/>`, `<Unknown index="0"/>`, "there is no variable 0"},
	{"input among the outputs", "2", `<Unknown index="4"/>`, `<Unknown index="2"/>`, "is no output"},
	{"initial unknown that is missing", "3", `<InitialUnknown valueReference="4"/>\n`, ``, "missing among the initial unknowns"},
	{"no initial unknowns", "2", `(?s)<InitialUnknowns>.*</InitialUnknowns>`, ``, "missing among the initial unknowns"},
	{"dependency that does not exist", "2", `<Unknown index="4"/>`, `<Unknown index="4" dependencies="999"/>`, "no variable 999"},
	{"number of kinds", "3", `<Output valueReference="4"/>`,
		`<Output valueReference="4" dependencies="1 2" dependenciesKind="fixed"/>`, "2 dependencies, and 1 kinds"},
	{"kinds without dependencies", "23", `<(Output valueReference="4"|Unknown index="5")/>`,
		`<$1 dependenciesKind="fixed"/>`, "without dependencies"},
	{"no independent variable", "3", `causality="independent" variability="continuous"`,
		`causality="local" variability="continuous"`, "no independent variable"},
	{"event indicator that is discrete", "3", `<EventIndicator valueReference="\d+"/>`, `<EventIndicator valueReference="5"/>`,
		"an event indicator must be"},
	{"order of elements", "23", `(?s)(  <UnitDefinitions>.*</UnitDefinitions>\n)(.*</LogCategories>\n)`, `$2$1`, "must come before"},
	{"no interface", "23", `(?s)  <ModelExchange.*?\n  <CoSimulation.*?\n`, ``, "offers no interface"},
	{"identifier", "23", `modelIdentifier="solar_day"`, `modelIdentifier="solar-day"`, "must be an identifier of C"},
	{"no token", "23", `(guid|instantiationToken)="\w+"`, `$1=""`, "is empty"},
	{"no structure", "23", `(?s)  <ModelStructure>.*</ModelStructure>\n`, ``, "needs an element ModelStructure"},
	{"date that is local", "23", `generationTool`, `generationDateAndTime="2026-11-28T21:00:00+01:00" generationTool`, "in UTC"},
	{"truth that is none", "23", `canHandleVariableCommunicationStepSize="true"`, `canHandleVariableCommunicationStepSize="yes"`,
		"must be a boolean"},
	{"version", "23", `fmiVersion="[^"]*"`, `fmiVersion="4.0"`, "is not supported"},
	{"end before the start", "23", `stopTime="[^"]*"`, `stopTime="-1"`, "ends before it begins"},
	{"not XML", "23", `</ModelVariables>`, ``, ""},
}

// TestFMUCheck: an FMU that is exported has no mistakes, and each of these changes of its description is found.
func TestFMUCheck(t *testing.T) {
	for version, text := range exportedDescriptions(t, "../../missions/solar-day.yaml") {
		if list := fmuMistakes(text); len(list) > 0 {
			t.Fatalf("FMI %s: %v", version, list)
		}
		for _, m := range mistaken {
			if !strings.Contains(m.versions, version) {
				continue
			}
			place := regexp.MustCompile(m.old).FindStringSubmatchIndex(text)
			if place == nil {
				t.Errorf("FMI %s, %s: there is nothing to change", version, m.name)
				continue
			}
			with := regexp.MustCompile(m.old).ExpandString(nil, m.with, text, place)
			changed := text[:place[0]] + string(with) + text[place[1]:]
			if list := fmuMistakes(changed); !strings.Contains(list.Error(), m.says) ||
				!list.HasErrors() {
				t.Errorf("FMI %s, %s: %v", version, m.name, list)
			}
		}
	}
}

// fmuMistakes returns the mistakes of a description.
func fmuMistakes(text string) diag.List {
	list, err := fmu.Check("m", []byte(text))
	if err != nil {
		return diag.List{{Source: &diag.Source{}, Text: err.Error()}}
	}
	return list
}

// exportedDescriptions returns the description of the FMU of a mission, by version.
func exportedDescriptions(t *testing.T, mission string, flags ...string) map[string]string {
	all := map[string]string{}
	for _, version := range []string{"2", "3"} {
		unit := filepath.Join(t.TempDir(), "m.fmu")
		if _, stderr, status := canopy(append([]string{"export", "fmu", mission, "--fmi", version, "--out", unit},
			flags...)...); status != exitOK {
			t.Fatal(stderr)
		}
		if out, stderr, status := canopy("fmu", "check", unit); status != exitOK || out != unit+": no mistakes\n" {
			t.Fatal(out, stderr)
		}
		data, err := os.ReadFile(filepath.Join(unpacked(t, unit), "modelDescription.xml"))
		must(t, err)
		all[version] = string(data)
	}
	return all
}

// TestFMUCheckNeverPanics: no change of a description makes the check fail otherwise than by a message.
func TestFMUCheckNeverPanics(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, text := range exportedDescriptions(t, "../../missions/solar-day.xml") {
		words := regexp.MustCompile(`[\w.]+|"[^"]*"`).FindAllStringIndex(text, -1)
		for range trees.Count(2000, 200) {
			a, b := words[r.IntN(len(words))], words[r.IntN(len(words))]
			changed := text[:a[0]] + text[b[0]:b[1]] + text[a[1]:]
			if list := fmuMistakes(changed); changed != text && len(list) > 10_000 {
				t.Error(len(list), "mistakes")
			}
		}
	}
}

// TestFMUCheckOfMany: a description with very many outputs and items, none of which are listed, is checked at once: it
// would take minutes if each was sought in a list.
func TestFMUCheckOfMany(t *testing.T) {
	const many = 50_000
	var items, variables, outputs strings.Builder
	for i := range many {
		fmt.Fprintf(&items, `<Item name="i%d" value="%d"/>`, i, i)
		fmt.Fprintf(&variables, `<Enumeration name="v%d" valueReference="%d" causality="output" initial="exact" start="%d" declaredType="T"/>`,
			i, i+1, many-1-i)
		fmt.Fprintf(&outputs, `<Output valueReference="%d"/>`, i+1)
	}
	text := `<?xml version="1.0"?><fmiModelDescription fmiVersion="3.0" modelName="m" instantiationToken="t">` +
		`<ModelExchange modelIdentifier="m"/><TypeDefinitions><EnumerationType name="T">` + items.String() +
		`</EnumerationType></TypeDefinitions><ModelVariables><Float64 name="time" valueReference="0" causality="independent"/>` +
		variables.String() + `</ModelVariables><ModelStructure>` + outputs.String() + `</ModelStructure></fmiModelDescription>`
	if list := fmuMistakes(text); len(list) > 0 {
		t.Errorf("%d mistakes: %.500v", len(list), list)
	}
}

// TestFMUCheckOfOthers: the descriptions of the Reference FMUs have no mistakes.
func TestFMUCheckOfOthers(t *testing.T) {
	folder := os.Getenv("CANOPY_FMUS")
	if folder == "" {
		t.Skip("CANOPY_FMUS names no folder with the sources of the Reference FMUs")
	}
	list, _ := filepath.Glob(filepath.Join(folder, "*", "FMI[23].xml"))
	if len(list) < 15 {
		t.Fatal(list)
	}
	for _, name := range list {
		if _, stderr, status := canopy("fmu", "check", name); status != exitOK {
			t.Error(stderr)
		}
	}
}
