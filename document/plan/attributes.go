package plan

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/canopy-uav/canopy/bt"
	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/preprocess"
	"github.com/canopy-uav/canopy/syntax/xmltree"
)

// Names of the attributes of leaves.
const (
	attrOn         = "on"
	attrOff        = "off"
	attrUntil      = "until"
	attrUnknown    = "unknown"
	attrWrite      = "write"
	attrEntry      = "entry"
	attrExit       = "exit"
	attrEntryTime  = "entry_time"
	attrExitTime   = "exit_time"
	attrEntryUntil = "entry_until"
	attrExitUntil  = "exit_until"
	attrDone       = "done"
	attrFailed     = "failed"
	attrSuccessIf  = "_successIf"
	attrFailureIf  = "_failureIf"
)

// Attributes of an action's model that describe the world.
const (
	attrPre  = "pre"
	attrPost = "post"
)

var (
	conditionAttributes = []string{attrOn, attrOff, attrUntil, attrUnknown}
	actionAttributes    = []string{attrWrite, attrEntry, attrExit, attrEntryTime, attrExitTime,
		attrEntryUntil, attrExitUntil, attrDone, attrFailed}
	requests = []string{attrSuccessIf, attrFailureIf} // the preconditions that an action judges by itself
	// editorAttributes are notes of editors, and the remapping of blackboards, which plans do not have: all signals are
	// visible everywhere.
	editorAttributes = []string{"_description", "_fullpath", "_uid", "_collapsed", "_favorite", "_subtreeOnly",
		"_hardcoded", "_external", preprocess.Autoremap, "__shared_blackboard"}
)

// preconditions are the attributes of any node that decide whether it runs, in the order in which they are read, and
// postconditions those that state what is done when it has ended, in the order in which that is done.
var (
	preconditions  []string
	postconditions []string
	attributed     = map[string]bt.Kind{}
)

func init() {
	for _, k := range bt.Kinds() {
		switch {
		case k.Effect() != "":
			postconditions = append(postconditions, k.Effect())
			attributed[k.Effect()] = k
		case k.Attributed():
			preconditions = append(preconditions, k.Condition())
			attributed[k.Condition()] = k
		}
	}
}

// foreignNodes are the nodes of BehaviorTree.CPP that plans do not have, with what to write instead.
var foreignNodes = map[string]string{
	"SequenceStar": `write "SequenceWithMemory"`,
	"FallbackStar": `write "Fallback"`,
}

// checkName reports a name with a character that would break the rows of tables and the lines of logs.
func (d *document) checkName(a *xmltree.Attribute) {
	for i, c := range a.Value {
		if unicode.In(c, unicode.Cc, unicode.Zl, unicode.Zp) {
			at, length := a.Inside(i, utf8.RuneLen(c))
			d.report(at, length, codeName, "write a blank", "a name cannot contain the control character %U", c)
			return
		}
	}
}

// checkAttributes reports the attributes of an element that are given twice or that it does not have. The use of a
// model may have ports in addition.
func (d *document) checkAttributes(e *xmltree.Element, what string, known []string, ports ...string) {
	all, seen := slices.Concat(ports, known), map[string]bool{}
	if d.observe != nil {
		d.observe(e, all)
	}
	if len(e.Attributes) > maxPorts {
		d.reportName(e, xmltree.CodeTooLarge, "", "the element has more than %d attributes", maxPorts)
		return
	}
	for _, a := range e.Attributes {
		switch {
		case seen[a.Name]:
			d.reportAttribute(a, codeDuplicateAttr, "", "the attribute %q is given twice", a.Name)
		case slices.Contains(all, a.Name), slices.Contains(editorAttributes, a.Name),
			a.Name == "xmlns", strings.HasPrefix(a.Name, "xmlns:"), strings.HasPrefix(a.Name, "xsi:"): // of XML itself
		default:
			thing := "attribute"
			if len(ports) > 0 {
				thing = "attribute or port"
			}
			suggest := func() string {
				switch near := diag.DidYouMean(a.Name, all); {
				case near != "" || len(known) == 0:
					return near
				case len(ports) == 0:
					return diag.OneOf("it may have ", known)
				}
				return "its ports are " + diag.Names(ports) + "; it may also have " + diag.Names(known)
			}
			m := diag.Diagnostic{Source: d.source, Offset: a.At, Length: len(a.Name), Code: codeAttribute,
				Text: fmt.Sprintf("%s has no %s %q", what, thing, a.Name), Suggest: suggest}
			if strings.HasPrefix(a.Name, "_") {
				d.unlessProgram(m)
			} else {
				d.once(m)
			}
		}
		seen[a.Name] = true
	}
}
