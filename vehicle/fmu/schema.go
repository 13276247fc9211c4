package fmu

import "strings"

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

// variables2 and variables3 are the elements of variables.
const (
	types2 = "Real Integer Boolean String Enumeration"
	types3 = "Float32 Float64 Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Boolean String Binary Enumeration Clock"
)

// The schemas of model descriptions (FMI 2.0.5 and 3.0.2): of each element the attributes, "!" if required, then the
// children in their order: "?" at most one, "*" any number, "+" at least one, none exactly one; "|" separates those of
// which any may come.
var schemas = map[int]map[string]rule{2: schema(`
fmiModelDescription: fmiVersion! modelName! guid! description author version copyright license generationTool generationDateAndTime variableNamingConvention numberOfEventIndicators: ModelExchange? CoSimulation? UnitDefinitions? TypeDefinitions? LogCategories? DefaultExperiment? VendorAnnotations? ModelVariables ModelStructure
ModelExchange: modelIdentifier! needsExecutionTool completedIntegratorStepNotNeeded canBeInstantiatedOnlyOncePerProcess canNotUseMemoryManagementFunctions canGetAndSetFMUstate canSerializeFMUstate providesDirectionalDerivative: SourceFiles?
CoSimulation: modelIdentifier! needsExecutionTool canHandleVariableCommunicationStepSize canInterpolateInputs maxOutputDerivativeOrder canRunAsynchronuously canBeInstantiatedOnlyOncePerProcess canNotUseMemoryManagementFunctions canGetAndSetFMUstate canSerializeFMUstate providesDirectionalDerivative: SourceFiles?
SourceFiles:: File+
File: name!
UnitDefinitions:: Unit+
Unit: name!: BaseUnit? DisplayUnit*
BaseUnit: kg m s A K mol cd rad factor offset
DisplayUnit: name! factor offset
TypeDefinitions:: SimpleType+
SimpleType: name! description: Real|Integer|Boolean|String|Enumeration
LogCategories:: Category+
Category: name! description
DefaultExperiment: startTime stopTime tolerance stepSize
VendorAnnotations:: Tool+
Annotations:: Tool+
Tool: *
ModelVariables:: ScalarVariable+
ScalarVariable: name! valueReference! description causality variability initial canHandleMultipleSetPerTimeInstant: Real|Integer|Boolean|String|Enumeration Annotations?
Real: declaredType quantity unit displayUnit relativeQuantity min max nominal unbounded start derivative reinit
Integer: declaredType quantity min max start
Boolean: declaredType start
String: declaredType start
Enumeration: declaredType quantity min max start: Item*
Item: name! value! description
ModelStructure:: Outputs? Derivatives? InitialUnknowns?
Outputs:: Unknown+
Derivatives:: Unknown+
InitialUnknowns:: Unknown+
Unknown: index! dependencies dependenciesKind
`), 3: schema(strings.NewReplacer(
	"$interface", "modelIdentifier! needsExecutionTool canBeInstantiatedOnlyOncePerProcess canGetAndSetFMUState canSerializeFMUState providesDirectionalDerivatives providesAdjointDerivatives providesPerElementDependencies",
	"$variable", "name! valueReference! description causality variability canHandleMultipleSetPerTimeInstant clocks intermediateUpdate previous declaredType initial",
	"$float", "quantity unit displayUnit relativeQuantity unbounded min max nominal",
	"$clock", "canBeDeactivated priority intervalVariability! intervalDecimal shiftDecimal supportsFraction resolution intervalCounter shiftCounter",
	"$unknown", "valueReference! dependencies dependenciesKind: Annotations?",
	"$types", strings.ReplaceAll(types3, " ", "Type|")+"Type",
	"$elements", strings.ReplaceAll(types3, " ", "|")).Replace(`
fmiModelDescription: fmiVersion! modelName! instantiationToken! description author version copyright license generationTool generationDateAndTime variableNamingConvention: ModelExchange? CoSimulation? ScheduledExecution? UnitDefinitions? TypeDefinitions? LogCategories? DefaultExperiment? ModelVariables ModelStructure Annotations?
ModelExchange: $interface needsCompletedIntegratorStep providesEvaluateDiscreteStates: Annotations?
CoSimulation: $interface canHandleVariableCommunicationStepSize fixedInternalStepSize maxOutputDerivativeOrder recommendedIntermediateInputSmoothness providesIntermediateUpdate mightReturnEarlyFromDoStep canReturnEarlyAfterIntermediateUpdate hasEventMode providesEvaluateDiscreteStates: Annotations?
ScheduledExecution: $interface: Annotations?
UnitDefinitions:: Unit+
Unit: name!: BaseUnit? DisplayUnit* Annotations?
BaseUnit: kg m s A K mol cd rad factor offset
DisplayUnit: name! factor offset inverse: Annotations?
TypeDefinitions:: $types+
Float32Type Float64Type: name! description $float: Annotations?
Int8Type UInt8Type Int16Type UInt16Type Int32Type UInt32Type Int64Type UInt64Type: name! description quantity min max: Annotations?
BooleanType StringType: name! description: Annotations?
BinaryType: name! description mimeType maxSize: Annotations?
EnumerationType: name! description quantity min max: Annotations? Item+
Item: name! value! description: Annotations?
ClockType: name! description $clock: Annotations?
LogCategories:: Category+
Category: name! description: Annotations?
DefaultExperiment: startTime stopTime tolerance stepSize: Annotations?
Annotations: *
ModelVariables:: $elements+
Float32 Float64: $variable $float start derivative reinit: Annotations? Dimension* Alias*
Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64: $variable quantity min max start: Annotations? Dimension* Alias*
Boolean: $variable start: Annotations? Dimension* Alias*
String: $variable: Annotations? Dimension* Start* Alias*
Binary: $variable mimeType maxSize: Annotations? Dimension* Start* Alias*
Enumeration: $variable quantity min max start: Annotations? Dimension* Alias*
Clock: $variable $clock: Annotations? Dimension* Alias*
Dimension: start valueReference
Start: value!
Alias: name! description displayUnit: Annotations?
ModelStructure:: Output* ContinuousStateDerivative* ClockedState* InitialUnknown* EventIndicator*
Output: $unknown
ContinuousStateDerivative: $unknown
ClockedState: $unknown
InitialUnknown: $unknown
EventIndicator: $unknown
`))}

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
	"causality":                {"parameter", "calculatedParameter", "input", "output", "local", "independent", "structuralParameter"},
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
		"whole": "numberOfEventIndicators maxOutputDerivativeOrder valueReference index derivative previous maxSize priority" +
			" resolution intervalCounter shiftCounter kg m s A K mol cd rad value",
		"number": "startTime stopTime tolerance stepSize fixedInternalStepSize factor offset nominal intervalDecimal" +
			" shiftDecimal",
	} {
		for _, name := range strings.Fields(names) {
			forms[name] = form
		}
	}
}
