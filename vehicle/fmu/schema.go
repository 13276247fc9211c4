package fmu

import (
	_ "embed"
	"strings"
)

// rule is what an element may have. Of its children, those of one group may come in any order and number, groups in
// their order.
type rule struct {
	attributes map[string]bool // whether it is required
	groups     []group
	open       bool // anything
}

// group is one place among the children of an element.
type group struct {
	names []string
	least bool // at least one
	many  bool
}

// types2 are the elements that a variable of FMI 2 has for its type.
const types2 = "Real Integer Boolean String Enumeration"

// The schemas of model descriptions (FMI 2.0.5 and 3.0.2): of each element the attributes, "!" if required, then the
// children in their order: "?" at most one, "*" any number, "+" at least one, none exactly one; "|" separates those of
// which any may come.
var schemas = map[int]map[string]rule{2: schema(schema2), 3: schema(schema3)}

//go:embed schema2.txt
var schema2 string

//go:embed schema3.txt
var schema3 string

// schema reads the rules of elements, one line for elements that are alike.
func schema(text string) map[string]rule {
	rules := map[string]rule{}
	for line := range strings.Lines(strings.TrimSpace(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		r := rule{attributes: map[string]bool{}, open: strings.TrimSpace(parts[1]) == "*"}
		for _, a := range strings.Fields(parts[1]) {
			name, required := strings.CutSuffix(a, "!")
			r.attributes[name] = required
		}
		if len(parts) == 3 {
			for _, g := range strings.Fields(parts[2]) {
				names := strings.TrimRight(g, "?*+")
				end := g[len(names):]
				r.groups = append(r.groups, group{strings.Split(names, "|"), end == "" || end == "+", end == "*" || end == "+"})
			}
		}
		for _, name := range strings.Fields(parts[0]) {
			rules[name] = r
		}
	}
	return rules
}

// words are the values of attributes that have a few.
var words = map[string][]string{
	"causality": {"parameter", "calculatedParameter", "input", "output", "local", "independent",
		"structuralParameter"},
	"variability":              {"constant", "fixed", "tunable", "discrete", "continuous"},
	"initial":                  {"exact", "approx", "calculated"},
	"intervalVariability":      {"constant", "fixed", "tunable", "changing", "countdown", "triggered"},
	"variableNamingConvention": {"flat", "structured"},
}

// forms are the types of attributes: as there is one for a name, whatever the element. Others are texts.
var forms = map[string]string{}

func init() {
	for form, names := range map[string]string{
		"boolean": "needsExecutionTool completedIntegratorStepNotNeeded canBeInstantiatedOnlyOncePerProcess" +
			" canNotUseMemoryManagementFunctions canGetAndSetFMUstate canSerializeFMUstate providesDirectionalDerivative" +
			" canGetAndSetFMUState canSerializeFMUState providesDirectionalDerivatives providesAdjointDerivatives" +
			" providesPerElementDependencies needsCompletedIntegratorStep providesEvaluateDiscreteStates" +
			" canHandleVariableCommunicationStepSize canInterpolateInputs canRunAsynchronuously providesIntermediateUpdate" +
			" mightReturnEarlyFromDoStep canReturnEarlyAfterIntermediateUpdate hasEventMode relativeQuantity unbounded reinit" +
			" canHandleMultipleSetPerTimeInstant intermediateUpdate canBeDeactivated supportsFraction inverse",
		"whole number": "numberOfEventIndicators maxOutputDerivativeOrder valueReference index derivative previous maxSize" +
			" priority resolution intervalCounter shiftCounter kg m s A K mol cd rad value",
		"number": "startTime stopTime tolerance stepSize fixedInternalStepSize factor offset nominal intervalDecimal" +
			" shiftDecimal",
	} {
		for _, name := range strings.Fields(names) {
			forms[name] = form
		}
	}
}
