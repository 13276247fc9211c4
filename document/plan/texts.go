package plan

import (
	"cmp"
	"strings"
)

// texts describes elements that are no kinds, and attributes that are no parameters of kinds: those of some elements
// with the element, those with numbers without them.
var texts = map[string]string{
	"BehaviorTree": "A tree of tasks: its ID is its name, its other attributes are defaults of its ports.",
	"Control":      "A node with children: its ID is its kind.",
	"Decorator":    "A node with one child: its ID is its kind.",
	"SubTree":      "Is replaced by the tree with this ID. Other attributes are ports of the tree.",

	"Script":            "Executes a script, and succeeds.",
	"ScriptCondition":   "Is true while its condition holds.",
	"SetBlackboard":     "Gives an entry a value, and succeeds.",
	"UnsetBlackboard":   "Takes the value of an entry away, and succeeds.",
	"WasEntryUpdated":   "Succeeds if an entry was written since this was asked before, else fails.",
	"SkipUnlessUpdated": "Runs its child if an entry was written since the child was started before, else is skipped.",
	"WaitValueUpdate":   "Waits until an entry is written again, then runs its child.",
	"LoopInt":           "Runs its child for each integer of a queue.",
	"LoopDouble":        "Runs its child for each number of a queue.",
	"LoopBool":          "Runs its child for each truth value of a queue.",
	"LoopString":        "Runs its child for each text of a queue.",
	"TestNode":          "Waits, executes scripts, and returns a status: a stub for tests.",
	"ManualSelector":    "Runs the child whose number a signal has.",
	"UtilitySelector":   "Runs the child with the highest utility that does not fail, at any time.",

	"name": "the name of the task in drawings, logs and properties",
	"ID":   "the name of the tree, or of the type of the leaf",

	"on":         "becomes true when this condition holds",
	"off":        "stays true until this condition holds",
	"until":      "stays true until this task has ended",
	"unknown":    "its value while it is unknown: failure, hold or success",
	"write":      "assignments that hold while it is active: slot := value; ...",
	"entry":      "assignments that are made once, when it is activated",
	"exit":       "assignments that are made once, when it ends or is deactivated",
	"entry_time": "the duration of its entry procedure [s]",
	"exit_time":  "the duration of its exit procedure [s]",

	"entry_until": "its entry procedure lasts until this condition holds",
	"exit_until":  "its exit procedure lasts until this condition holds",
	"done":        "it has ended well when this condition holds",
	"failed":      "it has ended badly when this condition holds",

	"timeout": "the time after which it fails, with a unit: 30 [s]",
	"retry":   "the number of attempts after which it fails; -1: no limit",
	"every":   "it is run again and again, at most once in this time, with a unit: 30 [s]",

	"_failureIf":   "it fails instead of running if this condition holds",
	"_successIf":   "it succeeds instead of running if this condition holds",
	"_skipIf":      "it is skipped instead of running if this condition holds",
	"_while":       "it is skipped whenever this condition does not hold, also while it runs",
	"_onSuccess":   "assignments that are made when it has succeeded",
	"_onFailure":   "assignments that are made when it has failed",
	"_post":        "assignments that are made when it has succeeded or failed",
	"_onHalted":    "assignments that are made when it is deactivated without having ended",
	"_description": "a note for people",
	"_autoremap":   "true: entries and ports with the same names are those of the tree around it",

	"code": "the script", "key": "the name of the entry", "output_key": "the name of the entry",
	"SetBlackboard.value": "the value: a literal, or {entry}",
	"value":               "the entry that gets each value",
	"queue":               "the values, with semicolons between them, or {entry}",
	"if_empty":            "its result when no value is left: SUCCESS, FAILURE, SKIPPED or RUNNING",

	"WasEntryUpdated.entry": "the name of the entry", "SkipUnlessUpdated.entry": "the name of the entry",
	"WaitValueUpdate.entry": "the name of the entry",

	"return_status":  "its result: SUCCESS, FAILURE or RUNNING",
	"async_delay":    "the time that it takes [ms]",
	"success_script": "the script that is executed if it succeeds",
	"failure_script": "the script that is executed if it fails",
	"post_script":    "the script that is executed in any case, after the other one",

	"choice":        "the number of the child, from 1: an expression",
	"margin":        "by how much a utility must exceed that of the child that runs",
	"utility_":      "the utility of this child: an expression",
	"variable":      "what is compared with the cases",
	"case_":         "the value with which this child runs",
	"if":            "the condition under which its child runs",
	"catch_on_halt": "true: the assignments of its last child are also made on a halt",
}

// textOf describes an attribute of an element; "": there is nothing to say.
func textOf(element, attribute string) string {
	return cmp.Or(texts[element+"."+attribute], texts[attribute], texts[strings.TrimRight(attribute, "123456")])
}
